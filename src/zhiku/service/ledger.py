"""The ledger: what was read of each file of a base, what was not, and why."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Final, Literal, get_args

from zhiku.model import Document, LedgerEntry
from zhiku.paths import shown_path
from zhiku.ports import ReadSession
from zhiku.registry import OCR_FORMATS
from zhiku.text.hidden import holds_hidden_text
from zhiku.text.ocr_pages import KEY as OCR_PAGES

FileReading = Literal["ok", "part", "textless", "failed", "skipped"]
"""`part`: some pages of it hold no text that could be read; `textless`: it was read, and there is none at all."""

_UNREAD: Final = ("scan", "garbled", "damaged", "ocr_failed")
_RUN: Final = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?")


@dataclass(frozen=True, kw_only=True)
class PageCounts:
    """How many pages there are, and what was read of them; each counts as one of the four kinds."""

    total: int = 0
    text: int = 0
    ocr: int = 0
    """Pages whose text was recognised in an image."""
    blank: int = 0
    without: int = 0
    """Pages of which nothing was read, and which are not known to be blank: a slide may be one picture."""

    def __add__(self, other: PageCounts) -> PageCounts:
        return PageCounts(**{f.name: getattr(self, f.name) + getattr(other, f.name) for f in fields(self)})


@dataclass(frozen=True, kw_only=True)
class LedgerFile:
    """What a base knows of one file: the document that was made of it, why there is none, or why it is not up to date.

    At least one of `document` and `entry` is there.
    """

    document: Document | None
    entry: LedgerEntry | None
    pages: PageCounts | None
    """None for a file without pages."""

    @property
    def root(self) -> str:
        """Return the root that the file lies in."""
        return self.document.source.root if self.document else self._noted.root

    @property
    def path(self) -> str:
        """Return its path within the root, as it can be printed; empty where the whole root is meant."""
        return shown_path(self.document.source.path) if self.document else self._noted.path

    @property
    def state(self) -> FileReading:
        """Return what became of it when it was looked at last."""
        if self.entry and self.entry.outcome in ("failed", "skipped"):
            return self.entry.outcome
        if self.document is None or self.document.chunk_count == 0:
            return "textless"
        return "part" if self.pages and self.pages.without else "ok"

    @property
    def is_problem(self) -> bool:
        """Return whether something is amiss that is not so by rule or on request."""
        if self.state == "failed":
            return True
        if self.state == "skipped" or (self.document and self.document.hidden_by):
            return False
        is_unembedded = self.entry is not None and self.entry.outcome == "unembedded"
        return self.state != "ok" or is_unembedded or bool(self.warnings) or self.hidden_text

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return what was worked around when it was read."""
        return self.document.warnings if self.document else ()

    @property
    def hidden_text(self) -> bool:
        """Return whether it holds text that its reader does not see."""
        return self.document is not None and holds_hidden_text(self.document, 0, self.document.chars)

    @property
    def _noted(self) -> LedgerEntry:
        assert self.entry is not None
        return self.entry

    def to_dict(self) -> dict[str, Any]:
        """Return everything, for JSON."""
        document, entry = self.document, self.entry
        return {
            "root": self.root,
            "path": self.path,
            "state": self.state,
            "doc_id": document.doc_id if document else None,
            "format": document.format if document else None,
            "encoding": document.encoding if document else None,
            "pages": asdict(self.pages) if self.pages else None,
            "chars": document.chars if document else 0,
            "chunks": document.chunk_count if document else 0,
            "hidden_by": list(document.hidden_by) if document else [],
            "hidden_text": self.hidden_text,
            "warnings": list(self.warnings),
            "indexed_at": document.indexed_at if document else None,
            "code": entry.code if entry else None,
            "message": entry.message if entry else None,
            "tries": entry.tries if entry else None,
            "seen_at": entry.seen_at if entry else None,
        }


def read_ledger(session: ReadSession) -> list[LedgerFile]:
    """Return what is known of every file of a base, by root and path."""
    noted = {(entry.root, entry.path): entry for entry in session.ledger()}
    found = [
        LedgerFile(
            document=document,
            entry=noted.pop((document.source.root, shown_path(document.source.path)), None),
            pages=count_pages(session, document),
        )
        for document in session.documents()
    ]
    gone = [entry for entry in noted.values() if entry.outcome != "unembedded"]  # which says nothing without a document
    found += [LedgerFile(document=None, entry=entry, pages=None) for entry in gone]
    return sorted(found, key=lambda file: (file.root, file.path))


def count_states(files: Iterable[LedgerFile]) -> dict[FileReading, int]:
    """Return how many files are in each state."""
    counts = Counter(file.state for file in files)
    return {state: counts[state] for state in get_args(FileReading)}


def count_pages(session: ReadSession, document: Document) -> PageCounts | None:
    """Return what was read of a document's pages; None where it has none."""
    total = document.page_count
    if not total:
        return None
    # The metadata of other formats is what their author wrote, under any key.
    if document.format not in OCR_FORMATS:
        text = sum(start < end for _, start, end in session.pages(document.doc_id))
        return PageCounts(total=total, text=text, without=total - text)
    ocr = set(_recognised(document.metadata.get(OCR_PAGES), total))
    judged = document.metadata.get("pages")
    verdicts = judged if isinstance(judged, Mapping) else {}
    without = {page_no for verdict in _UNREAD for page_no in _numbers(verdicts.get(verdict), total)} - ocr
    blank = set(_numbers(verdicts.get("blank"), total)) - ocr - without
    text = total - len(ocr) - len(without) - len(blank)
    return PageCounts(total=total, text=text, ocr=len(ocr), blank=len(blank), without=len(without))


def _numbers(runs: object, total: int) -> Iterator[int]:
    """Yield the pages of a text such as `1, 3-5`, up to the last there is."""
    for first, last in _RUN.findall(runs) if isinstance(runs, str) else ():
        yield from range(max(1, int(first)), min(int(last or first), total) + 1)


def _recognised(runs: object, total: int) -> Iterator[int]:
    for run in runs if isinstance(runs, list) else ():
        match run:
            case [int(first), int(last), *_]:
                yield from range(max(1, first), min(last, total) + 1)
