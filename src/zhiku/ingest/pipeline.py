"""The write flow: bring an index up to date with the files under a root."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from zhiku.errors import SourceError, ZhikuError
from zhiku.ingest.ahead import FilesAhead, Parsers, Reading
from zhiku.ingest.changes import Changes
from zhiku.ingest.preview import count_change, count_gone
from zhiku.ingest.record import tokens_of
from zhiku.ingest.refusals import Refusals
from zhiku.ingest.report import Report
from zhiku.ingest.rules import DiscoverRules, Found
from zhiku.ingest.survey import Survey, survey_root
from zhiku.model import KnownFile, LedgerEntry, Source
from zhiku.ports import Chunker, WriteSession
from zhiku.text.analyze import Analyzer
from zhiku.text.fields import FieldAnalyzer

log = logging.getLogger(__name__)

CHECKPOINT_S = 2.0
"""A kill loses at most about this much work; fewer, larger commits keep the full-text index in few pieces."""
CHECKPOINT_CHARS = 8_000_000

Progress = Callable[[int, int, str], None]
"""Called with files done, files in all, and the path that comes next."""

Announce = Callable[[Sequence[str]], None]
"""Called with the paths of what is going to be pruned, before it is."""


@dataclass(frozen=True, kw_only=True)
class Tools:
    """What the flow needs of the adapters."""

    rules: DiscoverRules
    chunker: Chunker
    parsers: Parsers
    reader: str
    """Names what the parsers are: with another, a file that could not be read is tried again."""


@dataclass(frozen=True, kw_only=True)
class Options:
    """How a root is brought up to date."""

    within: Path | None = None
    """Only the part of the root at or below this path."""
    check: bool = False
    """Read every file, whatever its size and times say."""
    reparse: bool = False
    """Parse and store every file, also those whose bytes are as they were."""
    again: frozenset[str] = frozenset()
    """The paths of files that are parsed and stored, too, though they are as they were."""
    prune: bool = False
    """Deprecate the documents whose files are gone, or left out by a rule now."""
    announce: Announce | None = None
    progress: Progress | None = None


def update_root(session: WriteSession, root: Path, tools: Tools, options: Options | None = None) -> Report:
    """Bring the index up to date with the files of one root.

    A file that cannot be read or parsed is reported and keeps what was indexed of it before. Ctrl-C ends the
    run after the current file; what is done stays.
    """
    return _Run(session, root, tools, options or Options()).run()


class _Run:
    def __init__(self, session: WriteSession, root: Path, tools: Tools, options: Options) -> None:
        self._session = session
        self._view = session.view()
        self._root = root
        self._tools = tools
        self._options = options
        self._analyzer = Analyzer(bulk=True)
        self._changes = Changes(str(root), self._view, check=options.check or options.reparse, again=options.again)
        self._notes: list[LedgerEntry] = []
        ledger = () if options.check or options.reparse else self._view.ledger(str(root))
        self._refusals = Refusals(ledger, tools.reader)
        self._checkpoint_at = time.monotonic() + CHECKPOINT_S
        self._checkpoint_chars = CHECKPOINT_CHARS
        self.report = Report()

    def run(self) -> Report:
        began = time.monotonic()
        try:
            survey = survey_root(self._root, self._options.within, self._tools.rules, self._changes)
            self.report.unchanged = self._changes.settled
            self._note_skipped(survey)
            self._update_all(survey.wanted)
            for path in self._changes.settled_textless(survey.part):
                self._note_textless(path)
            count_gone(self.report, self._changes, survey.part)
            self._session.put_notes(str(self._root), self._notes, within=survey.part)
            if self._options.prune:
                self._prune(survey.part)
        except KeyboardInterrupt:
            self.report.interrupted = True
            self._session.add_notes(str(self._root), self._notes)
        self.report.elapsed_s = time.monotonic() - began
        return self.report

    def _note_skipped(self, survey: Survey) -> None:
        for entry in survey.notes(self._root):
            self._notes.append(entry)
            if entry.outcome == "failed":
                self.report.failed.append(entry)
        failed = {entry.path for entry in self.report.failed}
        self.report.skipped.update(item.reason for item in survey.skipped if item.path not in failed)

    def _update_all(self, wanted: Sequence[Found]) -> None:
        if not wanted:
            return
        files = FilesAhead(self._root, self._tools.parsers, self._to_be_read(wanted), self._known_content())
        progress = self._options.progress or _silent
        with closing(files):
            for done, item in enumerate(wanted):
                if (refused := self._refusals.recall(item)) is not None:
                    self._refuse(refused)
                    continue
                if (change := self._changes.forgotten(item)) is not None:
                    count_change(self.report, change)
                    continue
                progress(done, len(wanted), item.path)
                self._update(item, files)
                self._maybe_checkpoint()
        progress(len(wanted), len(wanted), "")

    def _to_be_read(self, wanted: Sequence[Found]) -> Iterator[Found]:
        for item in wanted:
            if self._changes.forgotten(item) is None and self._refusals.recall(item) is None:
                yield item

    def _known_content(self) -> frozenset[str]:
        # A file of known content was most likely moved, or only touched: it need not be parsed.
        if self._options.reparse:
            return frozenset()
        again = self._options.again
        return frozenset(known.sha256 for known in self._changes.known.values() if known.path not in again)

    def _update(self, item: Found, files: FilesAhead) -> None:
        source = None
        try:
            reading = files.read(item.path)
            source = reading.source
            self._read(reading)
        except SourceError as error:
            self._fail(item.path, error.code, str(error), source)
        except ZhikuError:
            raise
        except Exception as error:
            # The boundary of one file's work: a fault in a parser must not cost the other files.
            if _is_from_store(error):
                raise
            log.exception("parsing %r failed", item.path)
            self._fail(item.path, "bug", f"{type(error).__name__}: {error}", source)

    def _read(self, reading: Reading) -> None:
        source = reading.source
        change = self._changes.by_content(source)
        format_name = self._tools.parsers.format_of(source.path)
        known = change.known
        redo = self._options.reparse or source.path in self._options.again
        if known is None or redo or change.needs_parsing(format_name):
            self._store(reading, format_name, known)
        else:
            self._keep(known, source)
        count_change(self.report, change, redo=redo)

    def _keep(self, known: KnownFile, source: Source) -> None:
        """Keep a document whose content is as it was; it may be elsewhere, or have been gone for a while."""
        if (known.root, known.look) != (source.root, source.look):
            self._session.touch(known.doc_id, source)
        is_searched = not known.forgotten
        if known.pruned:
            is_searched = self._session.show(known.doc_id, "pruned")
        if is_searched and (known.pruned or _stem(known.path) != _stem(source.path)):  # its name is searched too
            self._session.put_tokens(known.doc_id, tokens_of(self._view, known.doc_id, self._analyzer))
        if known.chunk_count == 0 and is_searched:
            self._note_textless(source.path)

    def _store(self, reading: Reading, format_name: str, replaced: KnownFile | None) -> None:
        source, parsed = reading.source, reading.parse()
        chunks = list(self._tools.chunker.chunk(parsed))
        fields = FieldAnalyzer(self._analyzer, source.path, parsed.title, parsed.metadata)
        tokens = [fields.tokens(chunk.text, chunk.section) for chunk in chunks]
        doc_id = self._session.put(
            source, parsed, chunks, tokens, format_name=format_name, doc_id=replaced.doc_id if replaced else None
        )
        if replaced is not None and replaced.forgotten:
            self._session.hide(doc_id, "forgotten")
        self.report.chunks += len(chunks)
        self.report.chars += len(parsed.text)
        self._checkpoint_chars -= len(parsed.text)
        self.report.warnings += [(source.path, warning) for warning in parsed.warnings]
        if parsed.encoding not in ("", "ascii", "utf-8"):
            self.report.encodings[parsed.encoding] += 1
        if not chunks:
            self._note_textless(source.path)

    def _prune(self, part: str) -> None:
        gone = self._changes.gone(part)
        doomed = [*gone.missing, *gone.left_out]
        if not doomed:
            return
        if self._options.announce:
            self._options.announce([str(Path(known.root, known.path)) for known in doomed])
        for known in doomed:
            self._session.hide(known.doc_id, "pruned")
            self.report.pruned += 1

    def _note_textless(self, path: str) -> None:
        entry = LedgerEntry(
            root=str(self._root), path=path, outcome="textless", code="empty", message="it holds no text"
        )
        self.report.textless.append(entry)
        self._notes.append(entry)

    def _fail(self, path: str, code: str, message: str, source: Source | None) -> None:
        self._refuse(
            LedgerEntry(
                root=str(self._root),
                path=path,
                outcome="failed",
                code=code,
                message=message,
                look=source.look if source else None,
                reader=self._tools.reader,
            )
        )

    def _refuse(self, entry: LedgerEntry) -> None:
        self.report.failed.append(entry)
        self._notes.append(entry)

    def _maybe_checkpoint(self) -> None:
        if time.monotonic() >= self._checkpoint_at or self._checkpoint_chars <= 0:
            self._session.checkpoint()
            self._checkpoint_at = time.monotonic() + CHECKPOINT_S
            self._checkpoint_chars = CHECKPOINT_CHARS


def _silent(done: int, total: int, path: str) -> None:
    pass


def _stem(path: str) -> str:
    return PurePosixPath(path).stem


def _is_from_store(error: Exception) -> bool:
    return type(error).__module__.partition(".")[0] == "apsw"
