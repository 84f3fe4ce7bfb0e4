"""Exact search as every door gives it: the matched lines with their places, within limits."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from zhiku.errors import QueryError, ZhikuError
from zhiku.model import Document
from zhiku.ports import ReadSession
from zhiku.retrieve.freshness import file_of
from zhiku.retrieve.grep import LineMatch, grep
from zhiku.text.hidden import holds_hidden_text
from zhiku.text.measure import is_grapheme_boundary
from zhiku.text.ocr_pages import ocr_confidence

DEFAULT_MAX_LINES = 200
DEFAULT_MAX_CHARS_PER_LINE = 300
ELLIPSIS = "…"

Spans = tuple[tuple[int, int], ...]


@dataclass(frozen=True, kw_only=True)
class GrepQuery:
    """What to look for, character for character, with filters and limits."""

    keyword: str
    case_sensitive: bool = False
    source: str | None = None
    """A part of a document's path, or a glob over it."""
    max_lines: int = DEFAULT_MAX_LINES
    max_chars: int | None = None
    """Bound on the text of all lines together."""
    max_chars_per_line: int = DEFAULT_MAX_CHARS_PER_LINE


@dataclass(frozen=True, kw_only=True)
class GrepItem:
    """One line that holds the keyword. A longer line than the limit is cut around the keyword."""

    base: str
    doc_id: int
    path: str
    file: str
    """Absolute."""
    line: int | None
    """Of the file; None where its place is a page."""
    page: int | None
    ocr_confidence: float | None = None
    """How sure OCR was of its page, 0 to 1; None where OCR did not read it."""
    hidden_text: bool = False
    """Whether the line holds text that a reader of the file does not see."""
    text: str
    marks: Spans = field(default=(), repr=False)
    """Spans of `text` that are the keyword; for display, not part of the JSON."""

    @property
    def ocr(self) -> bool:
        """Return whether its page was read by OCR."""
        return self.ocr_confidence is not None


@dataclass(frozen=True, kw_only=True)
class GrepAnswer:
    """The matched lines, by base, document and place. `truncated`: more lines match than the limits let through."""

    keyword: str
    bases: tuple[str, ...]
    truncated: bool
    items: tuple[GrepItem, ...]
    degraded: tuple[ZhikuError, ...] = ()
    """What kept a base from being looked through, though the others were."""

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as every door gives it in JSON."""
        names = ("base", "doc_id", "path", "file", "line", "page", "ocr", "ocr_confidence", "hidden_text", "text")
        return {
            "keyword": self.keyword,
            "bases": list(self.bases),
            "count": len(self.items),
            "truncated": self.truncated,
            "items": [{name: getattr(item, name) for name in names} for item in self.items],
            "degraded": [str(error) for error in self.degraded],
        }


def search_lines(sessions: Mapping[str, ReadSession], query: GrepQuery) -> GrepAnswer:
    """Return the lines of all given bases that hold the keyword. Raises `QueryError` where it is empty."""
    for name in ("max_lines", "max_chars", "max_chars_per_line"):
        value = getattr(query, name)
        if value is not None and value < 1:
            raise QueryError("{name} must be at least 1, not {value}.", name=name, value=value)
    items: list[GrepItem] = []
    left = query.max_chars
    truncated = False
    for item in _iter_items(sessions, query):
        if len(items) == query.max_lines or (left is not None and len(item.text) > left):
            truncated = True
            break
        items.append(item)
        left = None if left is None else left - len(item.text)
    return GrepAnswer(keyword=query.keyword, bases=tuple(sessions), truncated=truncated, items=tuple(items))


def _iter_items(sessions: Mapping[str, ReadSession], query: GrepQuery) -> Iterator[GrepItem]:
    longest = min(query.max_chars_per_line, query.max_chars or query.max_chars_per_line)
    for base, session in sessions.items():
        document: Document | None = None
        pages: list[tuple[int, int, int]] = []
        for match in grep(session, query.keyword, case_sensitive=query.case_sensitive, source=query.source):
            if document is None or document.doc_id != match.doc_id:
                document = session.document(match.doc_id)
                pages = session.pages(match.doc_id)
            if document is not None:
                yield _item(base, document, match, _page_at(pages, match), longest)


def _item(base: str, document: Document, match: LineMatch, page: int | None, longest: int) -> GrepItem:
    text, marks = shorten(match.text, match.spans, longest)
    return GrepItem(
        base=base,
        doc_id=document.doc_id,
        path=document.source.path,
        file=str(file_of(document)),
        line=match.line if page is None else None,
        page=page,
        ocr_confidence=ocr_confidence(document, page, page),
        hidden_text=holds_hidden_text(document, match.char_start, match.char_start + len(match.text)),
        text=text,
        marks=marks,
    )


def _page_at(pages: list[tuple[int, int, int]], match: LineMatch) -> int | None:
    at = match.char_start + match.spans[0][0]
    i = bisect_right(pages, at, key=lambda page: page[1]) - 1
    return pages[i][0] if i >= 0 else None


def shorten(text: str, spans: Spans, max_chars: int) -> tuple[str, Spans]:
    """Return at most `max_chars` of a line, around its first span, with `…` for what is left out."""
    if len(text) <= max_chars:
        return text, spans
    room = max(1, max_chars - 2 * len(ELLIPSIS))
    first, last = spans[0]
    # The keyword stands in the middle; near the line's ends the other side gets the room.
    start = max(0, min(first - max(0, room - (last - first)) // 2, len(text) - room))
    while start < first and not is_grapheme_boundary(text, start):
        start += 1
    end = min(len(text), start + room)
    while end > start + 1 and not is_grapheme_boundary(text, end):
        end -= 1
    before, after = ELLIPSIS * (start > 0), ELLIPSIS * (end < len(text))
    shift = len(before) - start
    marks = tuple((a + shift, min(b, end) + shift) for a, b in spans if start <= a < end)
    return before + text[start:end] + after, marks
