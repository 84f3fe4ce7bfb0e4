"""Read Markdown and Obsidian notes: blocks, visible text, links and tags, line for line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set
from functools import cache
from itertools import accumulate
from typing import Any, Final, NamedTuple

from markdown_it import MarkdownIt
from markdown_it.token import Token

from zhiku.model import Block, BlockKind, ParsedDocument, Source
from zhiku.text.decode import decode
from zhiku.text.frontmatter import Frontmatter, read_frontmatter
from zhiku.text.markdown import InlineCleaner
from zhiku.text.markup import visible_text

LONG_LIST_LINES: Final = 40
"""A longer list becomes several blocks, cut between its items, so that a chunk need not hold all of it."""

_KINDS: Final[dict[str, BlockKind]] = {
    "heading_open": "heading",
    "bullet_list_open": "list",
    "ordered_list_open": "list",
    "table_open": "table",
    "fence": "fence",
    "code_block": "fence",
}
_FENCE_OPEN: Final = re.compile(r"(?:`{3,}|~{3,}).*")
_QUOTE_MARKS: Final = re.compile(r"^(?: {0,3}> ?)+")
_CALLOUT: Final = re.compile(r"^\[!([\w-]+)\][+-]?(?:[ \t]+(?=\S))?(.*)")
_ATX_OPEN: Final = re.compile(r"^\s*#{1,6}(?:[ \t]+|$)")
# Closing #s, and the anchors that documentation tools put behind a title: {#id}, {/*id*/}.
_ATX_CLOSE: Final = re.compile(r"(?:[ \t]+#+|[ \t]*\{(?:#[^{}]*|/\*[^{}]*\*/)\})[ \t]*$")
_CELL_BORDER: Final = re.compile(r"(?<!\\)\|")


class _Range(NamedTuple):
    """A top-level block as a half-open range of 0-based lines."""

    kind: BlockKind
    start: int
    end: int
    level: int = 0


class MarkdownParser:
    """Read a note: line n of the text is line n of the file, empty where that holds only markup."""

    def parse(self, source: Source, data: bytes) -> ParsedDocument:
        """Return the document; raise ParseFailed if the bytes are no text."""
        decoded = decode(data, path=source.path)
        lines = decoded.text.split("\n")
        front = read_frontmatter(lines)
        lines[: front.line_count] = [""] * front.line_count
        note = Note(lines)
        blocks = note.read_blocks()
        return ParsedDocument(
            text="\n".join(lines),
            blocks=tuple(blocks),
            title=front.title or next((block.title for block in blocks if block.level == 1), ""),
            metadata=_build_metadata(front, note.inline.tags),
            links=tuple(sorted(note.inline.links, key=lambda link: link.line)),
            encoding=decoded.encoding,
            warnings=decoded.warnings + ((front.warning,) if front.warning else ()),
        )


def _build_metadata(front: Frontmatter, inline_tags: Sequence[str] | dict[str, None]) -> dict[str, Any]:
    metadata: dict[str, Any] = {}
    if front.values:
        metadata["frontmatter"] = dict(front.values)
    if front.raw:
        metadata["frontmatter_raw"] = front.raw
    tags = [tag.lstrip("#") for tag in front.names("tags", "tag", separators=r",，、\s")]
    aliases = front.names("aliases", "alias")
    if tags := [tag for tag in dict.fromkeys([*tags, *inline_tags]) if tag]:
        metadata["tags"] = tags
    if aliases:
        metadata["aliases"] = aliases
    return metadata


class Note:
    """The lines of one note, which become visible text in place while its blocks are read.

    `inline` holds the links and tags that were met.
    """

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        text = "\n".join(lines)
        self.inline = InlineCleaner(text)
        try:
            self._tokens = _block_parser().parse(text)
        except RecursionError:
            self._tokens = []  # every line is then part of a paragraph

    def read_blocks(self) -> list[Block]:
        """Clean all lines and return the blocks in order; together they hold every non-blank character."""
        for token in _iter_leaves(self._tokens):
            self._clean_leaf(token)
        starts = [0, *accumulate(len(line) + 1 for line in self.lines)]
        return [block for part in self._iter_ranges() if (block := self._build_block(part, starts)) is not None]

    def _clean_leaf(self, token: Token) -> None:
        assert token.map is not None
        start, end = token.map
        if token.type == "fence":
            self._clear_fence_marks(start, end, token.markup)
        elif token.type == "html_block":
            self._replace(start, visible_text("\n".join(self.lines[start:end])))
        elif token.type == "hr":
            self.lines[start:end] = [""] * (end - start)
        elif token.type == "table_open":
            self._clean_table(start, end)
        elif token.type == "heading_open":
            self._clear_heading_marks(start, end, token.markup)
        elif token.type == "blockquote_open":
            self._clear_quote_marks(start, end)
        elif token.type == "inline":
            self._replace(start, self.inline.clean("\n".join(self.lines[start:end]), start + 1))

    def _replace(self, start: int, text: str) -> None:
        lines = text.split("\n")
        self.lines[start : start + len(lines)] = lines

    def _clear_fence_marks(self, start: int, end: int, markup: str) -> None:
        self.lines[start] = _FENCE_OPEN.sub("", self.lines[start], count=1)
        last = self.lines[end - 1].strip(" \t>")
        if end - 1 > start and len(last) >= len(markup) and not last.strip(markup[0]):
            self.lines[end - 1] = ""

    def _clear_heading_marks(self, start: int, end: int, markup: str) -> None:
        if markup[0] == "#":
            title = _ATX_OPEN.sub("", self.lines[start])
            self.lines[start] = _ATX_CLOSE.sub("", _ATX_CLOSE.sub("", title))
        else:
            self.lines[end - 1] = ""

    def _clear_quote_marks(self, start: int, end: int) -> None:
        for number in range(start, end):
            line = _QUOTE_MARKS.sub("", self.lines[number])
            self.lines[number] = _CALLOUT.sub(lambda match: match.group(2) or match.group(1), line)

    def _clean_table(self, start: int, end: int) -> None:
        for number in range(start, end):
            row = self.lines[number].strip()
            cells = _CELL_BORDER.split(row.removeprefix("|"))
            if len(cells) > 1 and not cells[-1].strip():
                cells.pop()
            if number == start + 1:
                self.lines[number] = ""
                continue
            cleaned = (self.inline.clean(cell.strip().replace("\\|", "|"), number + 1) for cell in cells)
            self.lines[number] = " | ".join(cleaned)

    def _iter_ranges(self) -> Iterator[_Range]:
        """Yield the top-level blocks; lines outside of them (there should be none) are paragraphs."""
        items = {
            token.map[0] for token in self._tokens if token.type == "list_item_open" and token.level == 1 and token.map
        }
        done = 0
        for token in self._tokens:
            if token.level or token.map is None:
                continue
            start, end = token.map
            kind = _KINDS.get(token.type, "paragraph")
            yield from self._iter_paragraphs(done, start)
            if kind == "list":
                yield from _split_list(start, end, items)
            else:
                yield _Range(kind, start, end, int(token.tag[1]) if kind == "heading" else 0)
            done = end
        yield from self._iter_paragraphs(done, len(self.lines))

    def _iter_paragraphs(self, start: int, end: int) -> Iterator[_Range]:
        begin = start
        for number in range(start, end):
            if not self.lines[number].strip():
                yield _Range("paragraph", begin, number)
                begin = number + 1
        yield _Range("paragraph", begin, end)

    def _build_block(self, part: _Range, starts: Sequence[int]) -> Block | None:
        filled = [number for number in range(part.start, part.end) if self.lines[number].strip()]
        if not filled:
            return None
        first, last = filled[0], filled[-1]
        line = self.lines[first]
        indent = 0 if part.kind == "fence" else len(line) - len(line.lstrip())
        words = " ".join(self.lines[number] for number in filled).split() if part.level else ()
        return Block(
            kind=part.kind,
            char_start=starts[first] + indent,
            char_end=starts[last] + len(self.lines[last].rstrip()),
            level=part.level,
            title=" ".join(words),
        )


def _iter_leaves(tokens: Sequence[Token]) -> Iterator[Token]:
    """Yield the tokens whose lines are cleaned; a table is one of them, and a quote inside a list is not."""
    is_in_table = False
    for token in tokens:
        if token.type in ("table_open", "table_close"):
            is_in_table = token.type == "table_open"
        elif is_in_table:
            continue
        if token.map and not (token.type == "blockquote_open" and token.level):
            yield token


def _split_list(start: int, end: int, items: Set[int]) -> Iterator[_Range]:
    begin = start
    for number in range(start + 1, end):
        if number - begin >= LONG_LIST_LINES and number in items:
            yield _Range("list", begin, number)
            begin = number
    yield _Range("list", begin, end)


@cache
def _block_parser() -> MarkdownIt:
    # References are resolved with the other links: its own rule would swallow footnotes that are one word.
    return MarkdownIt("commonmark").enable("table").disable(["inline", "text_join", "reference"])
