"""The write flow: bring an index up to date with the files under a root."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from zhiku.errors import SourceError, ZhikuError
from zhiku.ingest.ahead import FilesAhead, Parsers, Reading, is_as_known
from zhiku.ingest.discover import discover, parts_within
from zhiku.ingest.rules import DiscoverRules, Found, Skipped
from zhiku.model import Document, LedgerEntry, ParsedDocument, Source
from zhiku.ports import Chunker, WriteSession
from zhiku.text.analyze import Analyzer
from zhiku.text.fields import FieldAnalyzer

log = logging.getLogger(__name__)

CHECKPOINT_S = 2.0
"""A kill loses at most about this much work; fewer, larger commits keep the full-text index in few pieces."""
CHECKPOINT_CHARS = 8_000_000

# Skipped for what it is and not for where it stands: worth a line in the ledger for each file.
_LISTED_SKIPS = frozenset(
    {"too_large", "unsupported", "not_regular", "link_broken", "link_loop", "link_outside", "unreadable"}
)
# Wanted by the user, yet not in the index.
_FAILED_SKIPS = frozenset({"too_large", "unreadable"})


@dataclass(frozen=True, kw_only=True)
class Tools:
    """What the flow needs of the adapters."""

    rules: DiscoverRules
    chunker: Chunker
    parsers: Parsers


@dataclass(kw_only=True)
class Report:
    """What one run did. Counts are files, but for `chunks`."""

    added: int = 0
    changed: int = 0
    moved: int = 0
    unchanged: int = 0
    missing: int = 0
    """In the index, gone from the disk; nothing is removed for it."""
    skipped: Counter[str] = field(default_factory=Counter)
    """By rule, by the reason's code; a skipped folder counts once."""
    failed: list[LedgerEntry] = field(default_factory=list)
    textless: list[LedgerEntry] = field(default_factory=list)
    warnings: list[tuple[str, str]] = field(default_factory=list)
    """(path, what was worked around)."""
    encodings: Counter[str] = field(default_factory=Counter)
    """Of the files read, where it is not UTF-8."""
    chunks: int = 0
    chars: int = 0
    elapsed_s: float = 0.0
    interrupted: bool = False

    @property
    def read(self) -> int:
        """Return how many files were parsed and stored."""
        return self.added + self.changed


Progress = Callable[[int, int, str], None]
"""Called with files done, files in all, and the path that comes next."""


def _silent(done: int, total: int, path: str) -> None:
    pass


def update_root(
    session: WriteSession,
    root: Path,
    tools: Tools,
    *,
    within: Path | None = None,
    progress: Progress = _silent,
) -> Report:
    """Bring the index up to date with the files of one root, or of the part of it at or below `within`.

    A file that cannot be read or parsed is reported and keeps what was indexed of it before. Ctrl-C ends the
    run after the current file; what is done stays.
    """
    return _Run(session, root, tools, within).run(progress)


class _Run:
    def __init__(self, session: WriteSession, root: Path, tools: Tools, within: Path | None) -> None:
        self._session = session
        self._root = root
        self._within = within
        self._tools = tools
        self._analyzer = Analyzer(bulk=True)
        self._known = session.known_files(str(root))
        self._found: set[str] = set()
        self._noted: set[str] = set()
        self._checkpoint_at = time.monotonic() + CHECKPOINT_S
        self._checkpoint_chars = CHECKPOINT_CHARS
        self.report = Report()

    def run(self, progress: Progress) -> Report:
        began = time.monotonic()
        try:
            self._walk_and_store(progress)
        except KeyboardInterrupt:
            self.report.interrupted = True
        else:
            part = self._within_path()
            self._session.clear_notes(str(self._root), self._noted, part)
            self.report.missing = sum(path not in self._found for path in self._known_at_or_below(part))
        self.report.elapsed_s = time.monotonic() - began
        return self.report

    def _walk_and_store(self, progress: Progress) -> None:
        wanted = []
        for item in discover(self._root, self._within, rules=self._tools.rules):
            if isinstance(item, Skipped):
                self._skip(item)
            else:
                wanted.append(item)
                self._found.add(item.path)
        files = FilesAhead(self._root, self._tools.parsers, self._known, wanted)
        with closing(files):
            for done, item in enumerate(wanted):
                progress(done, len(wanted), item.path)
                self._update(item, files)
                self._maybe_checkpoint()
        progress(len(wanted), len(wanted), "")

    def _skip(self, item: Skipped) -> None:
        if item.failed or item.reason in _FAILED_SKIPS:
            self._found.update(self._known_at_or_below(item.path))  # what could not be read is not gone
            self._fail(item.path, item.reason, item.detail)
            return
        self.report.skipped[item.reason] += 1
        if item.reason in _LISTED_SKIPS:
            self._note(
                LedgerEntry(
                    root=str(self._root),
                    path=item.path,
                    outcome="skipped",
                    code=item.reason,
                    message=item.detail,
                )
            )

    def _known_at_or_below(self, path: str) -> Iterable[str]:
        """Yield what is indexed of a file or folder; of all of the root, if the path is empty."""
        return (known for known in self._known if not path or known == path or known.startswith(path + "/"))

    def _update(self, item: Found, files: FilesAhead) -> None:
        known = self._known.get(item.path)
        if known is not None and is_as_known(item, known):
            self.report.unchanged += 1
            self._note_if_textless(item.path, known.chunk_count)
            return
        try:
            self._read(files.read(item.path), known)
        except SourceError as error:
            self._fail(item.path, error.code, str(error))
        except ZhikuError:
            raise
        except Exception as error:
            # The boundary of one file's work: a fault in a parser must not cost the other files.
            if _is_from_store(error):
                raise
            log.exception("parsing %r failed", item.path)
            self._fail(item.path, "bug", f"{type(error).__name__}: {error}")

    def _read(self, reading: Reading, known: Document | None) -> None:
        source, path = reading.source, reading.source.path
        if known is not None and known.source.sha256 == source.sha256:
            self._session.touch(known.doc_id, source)
            self.report.unchanged += 1
            self._note_if_textless(path, known.chunk_count)
            return
        format_name = self._tools.parsers.format_of(path)
        old = self._moved_from(source) if known is None else None
        if old is not None and (old.format, _stem(old.source.path)) == (format_name, _stem(path)):
            self._move(old, source)
            self._note_if_textless(path, old.chunk_count)
            return
        parsed = reading.parse()
        # A moved document whose name changed is stored anew: its name is searched too, its ending says how to read it.
        self._store(source, parsed, format_name, replaced=old)
        if old is not None:
            self._count_move(old, source)
        self.report.added += known is None and old is None
        self.report.changed += known is not None

    def _moved_from(self, source: Source) -> Document | None:
        """Return the document of this very content whose file is gone from where it was."""
        for document in self._session.documents_with(source.sha256):
            old = document.source
            if not (old.root == source.root and old.path in self._found) and not Path(old.root, old.path).exists():
                return document
        return None

    def _move(self, old: Document, source: Source) -> None:
        self._session.touch(old.doc_id, source)
        self._count_move(old, source)

    def _count_move(self, old: Document, source: Source) -> None:
        if old.source.root == source.root:
            self._known.pop(old.source.path, None)
        self.report.moved += 1

    def _store(self, source: Source, parsed: ParsedDocument, format_name: str, replaced: Document | None) -> None:
        chunks = list(self._tools.chunker.chunk(parsed))
        fields = FieldAnalyzer(self._analyzer, source.path, parsed.title, parsed.metadata)
        tokens = [fields.tokens(chunk.text, chunk.section) for chunk in chunks]
        doc_id = replaced.doc_id if replaced is not None else None
        self._session.put(source, parsed, chunks, tokens, format_name=format_name, doc_id=doc_id)
        self.report.chunks += len(chunks)
        self.report.chars += len(parsed.text)
        self._checkpoint_chars -= len(parsed.text)
        self.report.warnings += [(source.path, warning) for warning in parsed.warnings]
        if parsed.encoding not in ("", "ascii", "utf-8"):
            self.report.encodings[parsed.encoding] += 1
        self._note_if_textless(source.path, len(chunks))

    def _note_if_textless(self, path: str, chunk_count: int) -> None:
        if chunk_count == 0:
            entry = LedgerEntry(
                root=str(self._root), path=path, outcome="textless", code="empty", message="it holds no text"
            )
            self.report.textless.append(entry)
            self._note(entry)

    def _fail(self, path: str, code: str, message: str) -> None:
        entry = LedgerEntry(root=str(self._root), path=path, outcome="failed", code=code, message=message)
        self.report.failed.append(entry)
        self._note(entry)

    def _note(self, entry: LedgerEntry) -> None:
        self._noted.add(entry.path)
        self._session.note(entry)

    def _maybe_checkpoint(self) -> None:
        if time.monotonic() >= self._checkpoint_at or self._checkpoint_chars <= 0:
            self._session.checkpoint()
            self._checkpoint_at = time.monotonic() + CHECKPOINT_S
            self._checkpoint_chars = CHECKPOINT_CHARS

    def _within_path(self) -> str:
        return "/".join(parts_within(self._root, self._within or self._root))


def _stem(path: str) -> str:
    return PurePosixPath(path).stem


def _is_from_store(error: Exception) -> bool:
    return type(error).__module__.partition(".")[0] == "apsw"
