"""Turn the printed lines of pages into a text with blocks and page spans: pure functions over plain values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from zhiku.model import Block, BlockKind, Page
from zhiku.text.pdf_headings import find_headings
from zhiku.text.pdf_paragraphs import iter_paragraphs
from zhiku.text.pdf_printed import OutlineEntry, PrintedPage


class Layout(NamedTuple):
    """The text of a document, its blocks and pages, and the spans that a reader does not see."""

    text: str
    blocks: list[Block]
    pages: list[Page]
    hidden: list[tuple[int, int]]


def build_document(pages: Sequence[PrintedPage], outline: Iterable[OutlineEntry]) -> Layout:
    """Return the document that the lines of these pages make; a blank line parts two blocks."""
    text: list[str] = []
    blocks: list[Block] = []
    spans: dict[int, tuple[int, int]] = {}
    hidden: list[tuple[int, int]] = []
    size = 0
    for paragraph in iter_paragraphs(pages, find_headings(pages, outline)):
        if text:
            text.append("\n\n")
            size += 2
        start = size
        for page_no, piece in paragraph.pieces:
            spans[page_no] = (spans.get(page_no, (size, 0))[0], size + len(piece))
            text.append(piece)
            size += len(piece)
        title = "".join(piece for _, piece in paragraph.pieces) if paragraph.level else ""
        kind: BlockKind = "heading" if paragraph.level else "paragraph"
        blocks.append(Block(kind=kind, char_start=start, char_end=size, level=paragraph.level, title=title))
        if paragraph.is_hidden:
            hidden.append((start, size))
    return Layout("".join(text), blocks, list(_iter_page_spans(pages, spans)), hidden)


def _iter_page_spans(pages: Sequence[PrintedPage], spans: Mapping[int, tuple[int, int]]) -> Iterator[Page]:
    end = 0
    for page in pages:
        start, end = spans.get(page.page_no, (end, end))
        yield Page(page_no=page.page_no, char_start=start, char_end=end)
