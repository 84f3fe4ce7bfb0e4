"""Split HTML into text and tags, in linear time whatever the input, with the place of each piece.

The standard library's `html.parser` rescans the rest of the page for each unclosed `<!--` or `<a `, and reads
comments and scripts differently from one Python release to the next; the same page must give the same text.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import Final, NamedTuple

RAW_TEXT_TAGS: Final = frozenset(("script", "style", "title", "textarea", "iframe", "noembed", "noframes", "xmp"))
"""Elements in which only their own end tag is markup (HTML Living Standard, 13.2.6.2)."""

_NAME: Final = r"</?([a-zA-Z][^\s/>]*+)"
# A quote counts only after "="; elsewhere it is an ordinary character, as browsers have it.
_TAG: Final = re.compile(_NAME + r"""((?:[^>=]++|=\s*+(?:"[^"]*+"|'[^']*+')?+)*+)>""")
_SIMPLE_TAG: Final = re.compile(_NAME + r"([^<>]*+)>")
# One failure may cost a scan to the end of the page; after this many quotes are no longer honoured.
_MAX_FAILURES: Final = 20
_ATTRIBUTE: Final = re.compile(r"""([^\s=/"'<>]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+)))?""")
_LONG_NUMBER: Final = re.compile(r"&#[xX]?[0-9a-fA-F]{9,};?")

# An element of XML that ends where it begins. A quote without an end is looked for once for each `<` before it.
_EMPTY_ELEMENT: Final = re.compile(r"""<([a-zA-Z][^\s/<>]*+)((?:[^<>"'/]++|"[^"<]*+"|'[^'<]*+'|/(?!>))*+)/>""")


class Tag(NamedTuple):
    """A start or end tag. `attributes` is its text as written; `parse_attributes` reads it."""

    name: str
    attributes: str
    is_end: bool
    char_start: int


class Text(NamedTuple):
    """A piece of text as written, entities and all; `owner` is the raw text element around it, or empty."""

    raw: str
    char_start: int
    owner: str = ""


def iter_markup(page: str) -> Iterator[Tag | Text]:
    """Yield the tags of a page and the text between them, in order, without comments and declarations."""
    scanner = _Scanner(page)
    pos = text_start = 0
    while (pos := page.find("<", pos, scanner.last_close + 1)) >= 0:
        end, tag = scanner.read(pos)
        if not end:
            pos += 1
            continue
        if pos > text_start:
            yield Text(page[text_start:pos], text_start)
        pos = text_start = end
        if tag:
            yield tag
            if tag.name in RAW_TEXT_TAGS and not tag.is_end:
                pos = text_start = scanner.raw_text_end(end, tag.name)
                yield Text(page[end:pos], end, tag.name)
    if text_start < len(page):
        yield Text(page[text_start:], text_start)


class _Scanner:
    """Read one piece of markup at a time; a search that must fail to the end of the page is made once."""

    def __init__(self, page: str) -> None:
        self._page = page
        self._failures = 0
        self._last_comment_close = page.rfind("-->")
        self.last_close = page.rfind(">")

    def read(self, pos: int) -> tuple[int, Tag | None]:
        """Return the end of the markup at `pos` and its tag, if it is one; end 0 where `<` is only text."""
        page = self._page
        following = page[pos + 1 : pos + 2]
        if following in ("!", "?"):
            return self._declaration_end(pos), None
        if following != "/" and not following.isalpha():
            return 0, None
        match = (_TAG if self._failures < _MAX_FAILURES else _SIMPLE_TAG).match(page, pos)
        if match is None:
            self._failures += 1
            return 0, None
        return match.end(), Tag(match.group(1).lower(), match.group(2), following == "/", pos)

    def _declaration_end(self, pos: int) -> int:
        if not self._page.startswith("<!--", pos):
            return self._page.find(">", pos) + 1
        is_closed = pos + 2 <= self._last_comment_close
        return self._page.find("-->", pos + 2) + 3 if is_closed else 0

    def raw_text_end(self, start: int, name: str) -> int:
        """Return where the end tag of a raw text element begins; the end of the page if there is none."""
        match = re.compile(f"</{name}(?=[\\s/>])", re.IGNORECASE).search(self._page, start)
        return match.start() if match else len(self._page)


def close_empty_elements(page: str) -> str:
    """Return a page of XHTML with `<title/>` as `<title></title>`, as HTML, which has no empty elements, needs it."""
    return _EMPTY_ELEMENT.sub(r"<\1\2></\1>", page) if "/>" in page else page


def parse_attributes(raw: str) -> dict[str, str]:
    """Return a tag's attributes, names in lower case, values decoded; the first of a name counts."""
    found: dict[str, str] = {}
    for name, double, single, bare in _ATTRIBUTE.findall(raw):
        found.setdefault(name.lower(), decode_entities(double or single or bare))
    return found


def decode_entities(text: str) -> str:
    """Return `text` with its character references decoded."""
    if "&" not in text:
        return text
    # The standard library reads a number of any length, up to an error.
    return html.unescape(_LONG_NUMBER.sub("\ufffd", text) if "&#" in text else text)


def visible_text(page: str) -> str:
    """Return the text of a piece of HTML; tags, comments, scripts and styles leave only their line ends."""
    parts: list[str] = []
    done = 0
    for piece in iter_markup(page):
        parts.append("\n" * page.count("\n", done, piece.char_start))
        done = piece.char_start
        if isinstance(piece, Text) and piece.owner not in ("script", "style"):
            parts.append(_decode_lines(piece.raw))
            done += len(piece.raw)
    return "".join(parts) + "\n" * page.count("\n", done)


def _decode_lines(text: str) -> str:
    if "&" not in text:
        return text
    return "\n".join(decode_entities(line).replace("\n", " ") for line in text.split("\n"))
