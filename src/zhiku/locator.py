"""Locators: where text is, printed and parsed as `zhiku://` addresses.

    zhiku://notes/projects/backup.md?doc=12&of=5f3a91c07be2&chars=840-1712#L40-58
    zhiku://papers/wind.pdf?doc=3&of=c81e02d94a17&chars=9120-10233#page=4-5

The path is for people; `doc` finds the document after a move too, `of` tells whether it still says what it said (the
beginning of its content's SHA-256), and `chars` the very words.
"""

from __future__ import annotations

import re

from zhiku.errors import QueryError
from zhiku.frozen import frozen

SCHEME = "zhiku://"
_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/")
CONTENT_DIGITS = 12
_MAX_DOC_ID = (1 << 63) - 1
"""The largest integer that a base's file holds."""

_SPAN = re.compile(r"(\d+)(?:-(\d+))?")


@frozen
class Locator:
    """A place in a document of a base. Lines and pages are 1-based and inclusive, characters 0-based and half-open."""

    base: str
    path: str
    doc_id: int | None = None
    content: str | None = None
    """The first `CONTENT_DIGITS` of the SHA-256 of the document's file as it was indexed."""
    char_start: int | None = None
    char_end: int | None = None
    line_start: int | None = None
    line_end: int | None = None
    page: int | None = None
    page_end: int | None = None

    def __str__(self) -> str:
        query = []
        if self.doc_id is not None:
            query.append(f"doc={self.doc_id}")
        if self.content is not None:
            query.append(f"of={self.content}")
        if self.char_start is not None and self.char_end is not None:
            query.append(f"chars={self.char_start}-{self.char_end}")
        fragment = ""
        if self.page is not None:
            fragment = "#page=" + _span(self.page, self.page_end)
        elif self.line_start is not None:
            fragment = "#L" + _span(self.line_start, self.line_end)
        return f"{SCHEME}{_quote(self.base)}/{_quote(self.path)}{'?' if query else ''}{'&'.join(query)}{fragment}"


def parse_locator(text: str) -> Locator:
    """Return the locator that `text` prints. Raises `QueryError` where it is none."""
    from urllib.parse import parse_qs, unquote, urlsplit  # printing, which every search does, needs none of it

    try:
        parts = urlsplit(text)
        query = {key: values[-1] for key, values in parse_qs(parts.query).items()}
        fragment = unquote(parts.fragment)
        char_start, char_end = _parse_span(query.get("chars"))
        line_start, line_end = _parse_span(fragment[1:] if fragment.startswith("L") else None)
        page, page_end = _parse_span(fragment[5:] if fragment.startswith("page=") else None)
        if not text.startswith(SCHEME) or not parts.netloc or len(parts.path) < 2:
            raise ValueError(text)
        return Locator(
            base=unquote(parts.netloc),
            path=unquote(parts.path[1:], errors="surrogateescape"),
            doc_id=_parse_doc_id(query.get("doc")),
            content=query.get("of"),
            char_start=char_start,
            char_end=char_end,
            line_start=line_start,
            line_end=line_end,
            page=page,
            page_end=page_end,
        )
    except ValueError as error:
        raise QueryError(
            "{locator!r} is not a locator.",
            locator=text,
            hint="a locator looks like zhiku://BASE/PATH#L10-40; search prints one with each hit",
        ) from error


def _quote(text: str) -> str:
    """Return `text` percent-encoded (RFC 3986, section 2.1), with `/` as it is; bytes that are not UTF-8 are kept."""
    data = text.encode("utf-8", "surrogateescape")
    return "".join(chr(byte) if byte in _UNRESERVED else f"%{byte:02X}" for byte in data)


def _span(first: int, last: int | None) -> str:
    return str(first) if last is None or last == first else f"{first}-{last}"


def _parse_doc_id(text: str | None) -> int | None:
    if text is None:
        return None
    if not 0 <= int(text) <= _MAX_DOC_ID:
        raise ValueError(text)
    return int(text)


def _parse_span(text: str | None) -> tuple[int | None, int | None]:
    if text is None:
        return None, None
    match = _SPAN.fullmatch(text)
    if match is None:
        raise ValueError(text)
    return int(match[1]), int(match[2] or match[1])
