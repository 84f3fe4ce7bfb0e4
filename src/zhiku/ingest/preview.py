"""What a run would do, without doing any of it."""

from __future__ import annotations

from pathlib import Path

from zhiku.errors import SourceError
from zhiku.ingest.ahead import load_file
from zhiku.ingest.changes import Change, Changes
from zhiku.ingest.report import Report
from zhiku.ingest.rules import DiscoverRules, Found
from zhiku.ingest.survey import survey_root
from zhiku.model import LedgerEntry


def preview_root(root: Path, rules: DiscoverRules, changes: Changes, *, within: Path | None = None) -> Report:
    """Return the counts that a run would report. Files that differ are read to tell moved ones; none is parsed."""
    report = Report()
    survey = survey_root(root, within, rules, changes)
    report.failed += [entry for entry in survey.notes(root) if entry.outcome == "failed"]
    report.skipped.update(item.reason for item in survey.skipped if not item.failed)
    report.unchanged = changes.settled
    for item in survey.wanted:
        try:
            count_change(report, _judge(item, root, changes), redo=item.path in changes.again)
        except SourceError as error:
            entry = LedgerEntry(
                root=str(root), path=item.path, outcome="failed", code=error.code, message=error.message
            )
            report.failed.append(entry)
    count_gone(report, changes, survey.part)
    return report


def _judge(item: Found, root: Path, changes: Changes) -> Change:
    return changes.forgotten(item) or changes.by_content(load_file(root, item.path)[0])


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
