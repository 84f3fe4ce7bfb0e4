"""Turn the printed lines of pages into paragraphs and headings: pure functions over plain values.

Lengths are in points, with the origin at the bottom left of a page, as PDF has them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from zhiku.model import Block, BlockKind, Page
from zhiku.text.pdf_characters import HYPHENS, clean_characters

_HAN: Final = "\u2e80-\u2fdf\u3001-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef"
_IS_HAN: Final = re.compile(f"[{_HAN}]")
_DIGITS: Final = re.compile(r"\d+|^[ivxlc]+$")
_STARTS_PARAGRAPH: Final = re.compile(
    r"\s*(?:[•·●○■□◆◇▪▸►➢✓※*–—-]\s|[①-⑳]|第[一二三四五六七八九十百零〇\d]{1,5}[章节条款编篇部]"
    r"|[（(]?[一二三四五六七八九十]{1,3}[)）、．]|[（(]?\d{1,3}[)）、]|\d{1,3}[.．](?!\d)"
    r"|\d{1,2}(?:\.\d{1,2}){1,4}\.?\s|(?:Chapter|Section|Appendix)\s+\w)"
)
_ENDS_SENTENCE: Final = re.compile(r"[.!?。！？：:；;][\"'”’」』）)]*$")
_NUMBERING: Final = re.compile(r"[\d.．、第章节篇部一二三四五六七八九十百]*$")

EDGE_SHARE: Final = 0.1
"""Running heads and page numbers stand in this share of a page's height at its top and bottom (measured)."""

MIN_REPEATS: Final = 3
"""A line at the edge of at least so many pages, digits aside, is no text of the document."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PrintedLine:
    """A line as printed, in the order of the page's own content."""

    text: str
    left: float
    right: float
    top: float
    bottom: float

    @property
    def size(self) -> float:
        """Return the height of the line, about the size of its font, at least one point."""
        return max(self.top - self.bottom, 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class PrintedPage:
    """The lines of a page, and the share of its area that its largest image takes (0 if not looked for)."""

    page_no: int
    width: float
    height: float
    lines: tuple[PrintedLine, ...] = ()
    image_share: float = 0.0


@dataclass(frozen=True, slots=True)
class OutlineEntry:
    """An entry of the document's own table of contents; the level of the outermost is 1."""

    level: int
    title: str
    page_no: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _PlacedLine:
    """A line with the margins of its column and the level of the heading that it is part of, if any."""

    line: PrintedLine
    page_no: int
    left: float
    right: float
    level: int
    starts_heading: bool


@dataclass
class _Paragraph:
    """What is gathered of a paragraph: its text, by page, and whether it is a heading."""

    level: int = 0
    pieces: list[tuple[int, str]] = field(default_factory=list)

    def add(self, page_no: int, text: str, joint: str) -> None:
        """Append a line, with what stands between it and the line before."""
        if not self.pieces:
            self.pieces.append((page_no, text))
            return
        last_page, last_text = self.pieces[-1]
        last_text = last_text.rstrip(HYPHENS)
        if last_page == page_no:
            self.pieces[-1] = (page_no, f"{last_text}{joint}{text}")
        else:
            self.pieces[-1] = (last_page, last_text + joint)
            self.pieces.append((page_no, text))


def drop_running_lines(pages: Sequence[PrintedPage]) -> list[PrintedPage]:
    """Return the pages without running heads, feet and page numbers."""
    counts = Counter(
        key for page in pages for key in {_running_key(line) for line in page.lines if _is_at_edge(line, page)}
    )
    return [
        replace(
            page,
            lines=tuple(
                line for line in page.lines if counts[_running_key(line)] < MIN_REPEATS or not _is_at_edge(line, page)
            ),
        )
        for page in pages
    ]


def _is_at_edge(line: PrintedLine, page: PrintedPage) -> bool:
    middle = (line.top + line.bottom) / 2
    return not page.height * EDGE_SHARE <= middle <= page.height * (1 - EDGE_SHARE)


def _running_key(line: PrintedLine) -> str:
    return _DIGITS.sub("#", "".join(line.text.lower().split()))


def build_document(
    pages: Sequence[PrintedPage], outline: Iterable[OutlineEntry]
) -> tuple[str, list[Block], list[Page]]:
    """Return text, blocks and page spans; a blank line parts two blocks."""
    text: list[str] = []
    blocks: list[Block] = []
    spans: dict[int, tuple[int, int]] = {}
    size = 0
    for paragraph in _iter_paragraphs(pages, _place_headings(pages, outline)):
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
    return "".join(text), blocks, list(_iter_page_spans(pages, spans))


def _iter_page_spans(pages: Sequence[PrintedPage], spans: Mapping[int, tuple[int, int]]) -> Iterator[Page]:
    end = 0
    for page in pages:
        start, end = spans.get(page.page_no, (end, end))
        yield Page(page_no=page.page_no, char_start=start, char_end=end)


def _place_headings(
    pages: Sequence[PrintedPage], outline: Iterable[OutlineEntry]
) -> dict[tuple[int, int], tuple[int, int]]:
    """Return the number of lines and the level of each heading that is found, by its page and line."""
    by_number = {page.page_no: page for page in pages}
    found: dict[tuple[int, int], tuple[int, int]] = {}
    for entry in outline:
        lines = by_number[entry.page_no].lines if entry.page_no in by_number else ()
        wanted = _heading_key(entry.title)
        for number in range(len(lines) if wanted else 0):
            if (entry.page_no, number) in found:
                continue
            if count := _count_heading_lines(wanted, lines[number : number + 3]):
                found[entry.page_no, number] = (count, min(entry.level, 6))
                break
    return found


def _heading_key(text: str) -> str:
    return "".join(clean_characters(text).casefold().split())


def _count_heading_lines(wanted: str, lines: Sequence[PrintedLine]) -> int:
    key = ""
    for count, line in enumerate(lines, 1):
        key += _heading_key(line.text)
        # Either side may lack the numbering.
        longer, shorter = (key, wanted) if len(key) >= len(wanted) else (wanted, key)
        if _NUMBERING.match(shorter):
            return 0
        if longer.endswith(shorter) and _NUMBERING.match(longer[: len(longer) - len(shorter)]):
            return count
        if not wanted.startswith(key):
            return 0
    return 0


def _iter_paragraphs(
    pages: Sequence[PrintedPage], headings: Mapping[tuple[int, int], tuple[int, int]]
) -> Iterator[_Paragraph]:
    paragraph = _Paragraph()
    before: _PlacedLine | None = None
    for placed in _iter_placed_lines(pages, headings):
        text = placed.line.text
        if before and _is_continued(before, placed):
            paragraph.add(placed.page_no, text, _joint(before.line.text, text))
        else:
            if before:
                yield paragraph
            paragraph = _Paragraph(level=placed.level)
            paragraph.add(placed.page_no, text, "")
        before = placed
    if before:
        yield paragraph


def _iter_placed_lines(
    pages: Sequence[PrintedPage], headings: Mapping[tuple[int, int], tuple[int, int]]
) -> Iterator[_PlacedLine]:
    for page in pages:
        heading_end = level = 0
        for number, (line, margins) in enumerate(zip(page.lines, _find_margins(page), strict=True)):
            heading = headings.get((page.page_no, number))
            if heading:
                heading_end, level = number + heading[0], heading[1]
            yield _PlacedLine(
                line=line,
                page_no=page.page_no,
                left=margins[0],
                right=margins[1],
                level=level if number < heading_end else 0,
                starts_heading=heading is not None,
            )


def _find_margins(page: PrintedPage) -> list[tuple[float, float]]:
    """Return the left and right margin of each line's column; pages have one column or two."""
    sides = [_side(line, page.width) for line in page.lines]
    counts = Counter(sides)
    if min(counts["left"], counts["right"]) < len(sides) / 4:
        sides = ["whole"] * len(sides)
    margins = {}
    for side, least in (("left", 0.3), ("right", 0.8), ("whole", 0.6)):
        members = [line for line, its_side in zip(page.lines, sides, strict=True) if its_side == side]
        if members:
            lefts = sorted(line.left for line in members)
            rights = sorted(line.right for line in members)
            # Short lines alone, as on a title page, do not make a margin.
            right = max(rights[len(rights) * 9 // 10], page.width * least)
            margins[side] = (lefts[len(lefts) // 10], right)
    return [margins[side] for side in sides]


def _side(line: PrintedLine, width: float) -> str:
    if line.right < width * 0.55:
        return "left"
    return "right" if line.left > width * 0.45 else "whole"


def _is_continued(before: _PlacedLine, after: _PlacedLine) -> bool:
    if before.level or after.level:
        return before.level > 0 and after.level > 0 and not after.starts_heading
    first, second = before.line, after.line
    if first.text[-1] in HYPHENS:
        return True
    if _STARTS_PARAGRAPH.match(second.text) or not 0.88 < first.size / second.size < 1.13:
        return False
    is_below = before.page_no == after.page_no and second.top < first.top
    gap = first.bottom - second.top
    if is_below and gap > 1.1 * first.size:
        return False
    if not is_below and _ENDS_SENTENCE.search(first.text):
        return False
    is_indented = second.left > after.left + 1.5 * second.size and first.left < second.left - second.size
    if is_indented and not _STARTS_PARAGRAPH.match(first.text):
        return False
    return _is_full(before, second)


def _is_full(before: _PlacedLine, following: PrintedLine) -> bool:
    """Say whether a line ends for want of room: of 2.2 em (measured) or of the next line's first word."""
    line = before.line
    word = 1 if _IS_HAN.match(following.text) else len(following.text.split(maxsplit=1)[0])
    width = (following.right - following.left) / len(following.text) * word
    return line.right >= before.right - 2.2 * line.size or line.right + width > before.right


def _joint(before: str, after: str) -> str:
    if before[-1] in HYPHENS or (_IS_HAN.match(before[-1]) and _IS_HAN.match(after)):
        return ""
    return " "
