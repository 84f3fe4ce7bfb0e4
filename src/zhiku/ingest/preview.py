"""What a run would do, without doing any of it."""

from __future__ import annotations

import logging
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from zhiku.errors import SourceError, ZhikuError
from zhiku.ingest.ahead import FilesAhead
from zhiku.ingest.changes import Change, Changes, FileRecord
from zhiku.ingest.refusals import Refusals
from zhiku.ingest.report import Report
from zhiku.ingest.rules import Found
from zhiku.ingest.survey import survey_root
from zhiku.model import LedgerEntry

if TYPE_CHECKING:
    from zhiku.ingest.pipeline import Options, Tools
    from zhiku.ingest.weigh import Weighing

log = logging.getLogger(__name__)


class Record(FileRecord, Protocol):
    """The part of a read session that a preview needs."""

    def ledger(self, root: str, /) -> list[LedgerEntry]:
        """Return what is not in the index, or has no text, and why."""
        ...


def preview_root(
    record: Record, root: Path, tools: Tools, options: Options, weighing: Weighing | None = None
) -> Report:
    """Return the counts that a run would report. Files that differ are read to tell moved ones.

    None is parsed unless they are to be weighed.
    """
    return _Preview(record, root, tools, options, weighing).run()


class _Preview:
    def __init__(self, record: Record, root: Path, tools: Tools, options: Options, weighing: Weighing | None) -> None:
        self._root = root
        self._tools = tools
        self._options = options
        self._weighing = weighing
        self._changes = Changes(str(root), record, check=options.check, again=options.again)
        self._refusals = Refusals(() if options.check else record.ledger(str(root)), tools.reader)
        self._report = Report()

    def run(self) -> Report:
        report, changes = self._report, self._changes
        survey = survey_root(self._root, self._options.within, self._tools.rules, changes)
        report.failed += [entry for entry in survey.notes(self._root) if entry.outcome == "failed"]
        report.skipped.update(item.reason for item in survey.skipped if not item.failed)
        report.unchanged = changes.settled
        wanted = [item for item in survey.wanted if not self._is_settled_otherwise(item)]
        known_content = frozenset(known.sha256 for known in changes.known.values()) if wanted else frozenset()
        ahead = iter(wanted if self._weighing else ())
        with closing(FilesAhead(self._root, self._tools.parsers, ahead, known_content)) as files:
            for done, item in enumerate(wanted):
                if self._options.progress:
                    self._options.progress(done, len(wanted), item.path)
                self._look_at(item, files)
        count_gone(report, changes, survey.part)
        return report

    def _is_settled_otherwise(self, item: Found) -> bool:
        """Count a file that a run would leave alone: it could not be read before, or was forgotten."""
        if (refused := self._refusals.recall(item)) is not None:
            self._report.failed.append(refused)
        elif (change := self._changes.forgotten(item)) is not None:
            count_change(self._report, change)
        else:
            return False
        return True

    def _look_at(self, item: Found, files: FilesAhead) -> None:
        try:
            reading = files.read(item.path)
            change = self._changes.by_content(reading.source)
            redo = item.path in self._options.again
            if self._weighing:
                self._weighing.add(reading, change, self._tools.parsers.format_of(item.path), redo=redo)
            count_change(self._report, change, redo=redo)
        except SourceError as error:
            self._fail(item.path, error.code, str(error))
        except ZhikuError:
            raise
        except Exception as error:  # as in a run, a fault in a parser must not cost the other files
            log.exception("parsing %r failed", item.path)
            self._fail(item.path, "bug", f"{type(error).__name__}: {error}")

    def _fail(self, path: str, code: str, message: str) -> None:
        entry = LedgerEntry(root=str(self._root), path=path, outcome="failed", code=code, message=message)
        self._report.failed.append(entry)


def count_change(report: Report, change: Change, *, redo: bool = False) -> None:
    """Count a file by what became of it; with `redo` it is read anew though it is as it was."""
    if change.known is not None and change.known.pruned and not change.known.forgotten:
        report.returned += 1
    if change.kind == "same" and redo:
        report.reread += 1
    elif change.kind == "same":
        report.unchanged += 1
    elif change.kind == "changed":
        report.changed += 1
    elif change.kind == "moved":
        report.moved += 1
    elif change.kind == "forgotten":
        report.forgotten += 1
    else:
        report.added += 1


def count_gone(report: Report, changes: Changes, part: str) -> None:
    """List what was not found at or below a part of the root."""
    gone = changes.gone(part)
    report.gone = [known.path for known in gone.missing]
    report.left_out = [known.path for known in gone.left_out]
