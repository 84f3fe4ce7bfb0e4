"""Read web pages: one block per block element, with the source line where each line of its text begins."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any, Final

from zhiku.model import ParsedDocument, Source
from zhiku.parsers.html_elements import NEVER_SHOWN, SURROUNDINGS, VOID, OpenElements
from zhiku.parsers.html_lines import LineBuilder
from zhiku.parsers.html_parts import Parts, find_parts
from zhiku.parsers.lines import Line, assemble
from zhiku.text.decode import Decoded, decode
from zhiku.text.markup import Tag, Text, decode_entities, iter_markup, parse_attributes

SNIFF_BYTES: Final = 2048
"""Where a page's declared encoding is looked for; browsers read half of that (HTML Standard, 13.2.3.2)."""

_CHARSET: Final = re.compile(
    rb"""<(?:meta\s[^>]*?charset|\?xml\s[^>]*?encoding)\s*=\s*["']?\s*([\w.:-]+)""", re.IGNORECASE
)
_BLOCK_NAMES: Final = """
address article aside blockquote body caption center dd details dialog dir div dl dt fieldset figcaption
figure footer form header hgroup hr html legend li main menu nav ol option p section summary ul
"""
_BLOCKS: Final = frozenset(_BLOCK_NAMES.split())
_LISTS: Final = frozenset(("ul", "ol", "menu", "dir"))
_HEADINGS: Final = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
_PREFORMATTED: Final = frozenset(("pre", "xmp", "textarea"))
_ROW_ENDS: Final = frozenset(("tr", "table", "caption")) | _PREFORMATTED
_MAY_HIDE: Final = re.compile(r"\b(?:hidden|role)\b", re.IGNORECASE)
_HIDING_ROLES: Final = frozenset(("navigation", "search", "contentinfo", "complementary", "menu", "menubar"))


class HtmlParser:
    """Read a page without its scripts, menus and other surroundings, unless there is little else."""

    def parse(self, source: Source, data: bytes) -> ParsedDocument:
        """Return the document; raise ParseFailed if the bytes are no text."""
        decoded = decode_page(data, source.path)
        page = read_page(decoded.text)
        text, blocks, numbers = assemble(page.builder.lines)
        return ParsedDocument(
            text=text,
            blocks=tuple(blocks),
            title=page.title or next((block.title for block in blocks if block.level == 1), ""),
            metadata=page.metadata,
            line_numbers=tuple(numbers),
            encoding=decoded.encoding,
            warnings=decoded.warnings + (() if blocks else ("The page holds no text",)),
        )


def decode_page(data: bytes, path: str) -> Decoded:
    """Return a page's text, by the encoding it declares if that is true; raise ParseFailed if the bytes are no text."""
    return decode(data, declared_charset(data), path=path)


def declared_charset(data: bytes) -> str:
    """Return the encoding that a page names, or an empty string."""
    declared = _CHARSET.search(data[:SNIFF_BYTES])
    return declared.group(1).decode("ascii") if declared else ""


def read_page(text: str) -> Page:
    """Return a page whose lines were read, without its surroundings unless there is little else."""
    page = Page(text, find_parts(text))
    page.read()
    # A page that is one big form, say, has its text in what is left out elsewhere.
    if page.shown_chars * 4 < page.hidden_chars:
        page = Page(text, None)
        page.read()
    return page


def read_all_lines(text: str) -> list[Line]:
    """Return the lines of a page that is nothing but content, such as a chapter of a book: nothing is left out."""
    page = Page(text, None)
    page.read()
    return page.builder.lines


class Page:
    """Walk through a page once, with or without its menus, forms and what is hidden.

    What happens to the text within an element is its mode: `drop`, `hide` (without surroundings), or `show` even if
    the element is outside of the page's content.
    """

    def __init__(self, page: str, parts: Parts | None) -> None:
        self.builder = LineBuilder()
        self.title = ""
        self.metadata: dict[str, Any] = {}
        self.shown_chars = 0
        self.hidden_chars = 0
        self._page = page
        self._parts = parts  # None: with surroundings
        self._counted_to = 0
        self._line = 1
        self._elements = OpenElements[str](self._close)
        self._modes: Counter[str] = Counter()

    def read(self) -> None:
        """Fill the builder with the page's lines."""
        for piece in iter_markup(self._page):
            if isinstance(piece, Text):
                self._add_text(piece)
            elif piece.is_end:
                self._elements.end(piece.name)
            else:
                self._start(piece)
        self._elements.end_all()
        self.builder.end_row()

    def _line_at(self, pos: int) -> int:
        self._line += self._page.count("\n", self._counted_to, pos)
        self._counted_to = pos
        return self._line

    def _add_text(self, piece: Text) -> None:
        if piece.owner == "title" and not self.title:
            self.title = " ".join(decode_entities(piece.raw).split())
        if self._modes["drop"]:
            return
        visible = piece.raw.strip()
        if self._is_hidden():
            self.hidden_chars += len(visible)
            return
        self.shown_chars += len(visible)
        if self.builder.pres:
            self.builder.add_preformatted(piece.raw, self._line_at(piece.char_start))
        else:
            indent = piece.raw.index(visible[0]) if visible else 0
            self.builder.add(piece.raw, self._line_at(piece.char_start + indent))

    def _is_hidden(self) -> bool:
        is_outside = self._parts is not None and self._parts.content and not self._modes["show"]
        return bool(self._modes["hide"] or is_outside)

    def _start(self, tag: Tag) -> None:
        name = tag.name
        if name == "meta":
            self._read_meta(tag)
        self._elements.end_implied(name)
        self._enter(name)
        if name not in VOID:
            mode = self._mode_of(tag)
            self._elements.start(name, mode)
            self._modes[mode] += 1

    def _close(self, name: str, mode: str) -> None:
        self._modes[mode] -= 1
        self._leave(name)

    def _enter(self, name: str) -> None:
        builder = self.builder
        if name == "br":
            builder.end_line()
        elif name in ("td", "th"):
            builder.start_cell()
        elif name in _HEADINGS:
            builder.start_heading(int(name[1]))
        elif name in _ROW_ENDS:
            builder.end_row()
        elif name in _BLOCKS:
            builder.end_block()
        if name in _PREFORMATTED:
            builder.pres += 1
        elif name == "li":
            builder.start_item()
        elif name == "table":
            builder.start_outermost()
            builder.tables += 1
        elif name in _LISTS:
            builder.start_outermost()
            builder.lists += 1

    def _leave(self, name: str) -> None:
        builder = self.builder
        if name in ("td", "th"):
            builder.end_cell()
        elif name in _HEADINGS:
            builder.start_heading(0)
        elif name in _ROW_ENDS:
            builder.end_row()
        elif name in _BLOCKS:
            builder.end_block()
        builder.pres -= name in _PREFORMATTED
        builder.tables -= name == "table"
        builder.lists -= name in _LISTS

    def _mode_of(self, tag: Tag) -> str:
        if tag.name in NEVER_SHOWN:
            return "drop"
        if self._parts is None:
            return ""
        if tag.char_start in self._parts.menus or self._is_surroundings(tag):
            return "hide"
        # The heading of the page may stand before its content.
        return "show" if tag.name == "h1" or tag.char_start in self._parts.content else ""

    def _is_surroundings(self, tag: Tag) -> bool:
        if tag.name in SURROUNDINGS:
            return self._parts is not None and tag.char_start not in self._parts.kept
        if not tag.attributes or not _MAY_HIDE.search(tag.attributes):
            return False
        attributes = parse_attributes(tag.attributes)
        is_hidden = "hidden" in attributes or attributes.get("aria-hidden", "").lower() == "true"
        return is_hidden or attributes.get("role", "").lower() in _HIDING_ROLES

    def _read_meta(self, tag: Tag) -> None:
        attributes = parse_attributes(tag.attributes)
        content = " ".join(attributes.get("content", "").split())
        name = attributes.get("name", "").lower()
        if name == "description" and content:
            self.metadata.setdefault("description", content)
        elif name == "keywords" and content:
            words = (word.strip() for word in re.split(r"[,，、;；]", content))
            self.metadata.setdefault("tags", [word for word in dict.fromkeys(words) if word])
