"""Join the printed lines of a PDF's pages into paragraphs and headings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from zhiku.text.pdf_characters import HYPHENS
from zhiku.text.pdf_headings import Headings
from zhiku.text.pdf_margins import Margins, find_margins
from zhiku.text.pdf_printed import PrintedLine, PrintedPage

MAX_LEADING_EM: Final = 2.4
"""From baseline to baseline, further apart two lines are no paragraph; double spacing of Han text stays below."""

LEADING_SLACK: Final = 1.2
"""A gap larger than the one before it by this factor ends a paragraph."""

FULL_EM: Final = 2.2
"""A line that ends so near to its margin is full (measured on Chinese manuals)."""

TAIL_CHARS: Final = 40
"""Of a line, in which the signs of its end are looked for: no line, however long, is searched twice over."""

_HAN: Final = "\u2e80-\u2fdf\u3001-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef"
_IS_HAN: Final = re.compile(f"[{_HAN}]")
_FIRST_WORD: Final = re.compile(f"[{_HAN}]|[^\\s{_HAN}]+")
_STARTS_ITEM: Final = re.compile(
    r"\s*(?:[•·●○■□◆◇▪▸►➢✓※*–—-]\s|[①-⑳]|[（(]?[一二三四五六七八九十]{1,3}[)）、．]|[（(]?\d{1,3}[)）、]"
    r"|\d{1,3}[.．](?!\d)|\d{1,2}(?:\.\d{1,2}){1,4}\.?\s)"
)
_STARTS_CHAPTER: Final = re.compile(
    r"\s*(?:第[一二三四五六七八九十百零〇\d]{1,5}[章节条款编篇部]|(?:Chapter|Section|Appendix)\s+\w)"
)
_ENDS_SENTENCE: Final = re.compile(r"[.!?。！？：:；;][\"'”’」』）)]*$")
_ENDS_ENTRY: Final = re.compile(r"(?:[.．·…]\s?){3,}\s*\w{1,5}$")
"""The leader and page number of a table of contents."""

_BROKEN_WORD: Final = re.compile(r"[^\W\d_][-\u2010]$")


@dataclass
class Paragraph:
    """What is gathered of a paragraph: its text, by page, and its level if it is a heading."""

    level: int = 0
    is_hidden: bool = False
    """All of it or none: what a reader sees is not joined to what nobody does."""
    pieces: list[tuple[int, str]] = field(default_factory=list)

    def add(self, page_no: int, text: str) -> None:
        """Append a line."""
        if not self.pieces:
            self.pieces.append((page_no, text))
            return
        last_page, last_text = self.pieces[-1]
        last_text, joint = _joined_end(last_text, text)
        if last_page == page_no:
            self.pieces[-1] = (page_no, f"{last_text}{joint}{text}")
        else:
            self.pieces[-1] = (last_page, last_text + joint)
            self.pieces.append((page_no, text))

    def finish(self) -> Paragraph:
        """Write out a hyphen that was to be joined to what never came."""
        page_no, text = self.pieces[-1]
        if text[-1] in HYPHENS:
            self.pieces[-1] = (page_no, text.rstrip(HYPHENS) + "-")
        return self


@dataclass(frozen=True, slots=True, kw_only=True)
class _PlacedLine:
    """A line with the margins of its column and the level of the heading that it is part of, if any."""

    line: PrintedLine
    page_no: int
    left: float
    right: float
    level: int
    starts_heading: bool


def iter_paragraphs(pages: Sequence[PrintedPage], headings: Headings) -> Iterator[Paragraph]:
    """Yield the paragraphs and headings of all pages; a page's notes come after its lines."""
    joiner = _Joiner()
    for page, margins in zip(pages, find_margins(pages), strict=True):
        for placed in _iter_placed_lines(page, margins, headings):
            yield from joiner.add(placed)
        if page.notes:
            yield from joiner.end()
            for note in page.notes:
                yield Paragraph(pieces=[(page.page_no, note)])
    yield from joiner.end()


class _Joiner:
    """Takes line after line and gives each paragraph once it has ended."""

    def __init__(self) -> None:
        self._paragraph = Paragraph()
        self._before: _PlacedLine | None = None
        self._leading = 0.0  # between the last two lines of a paragraph; 0 while its page or column has one

    def add(self, placed: _PlacedLine) -> Iterator[Paragraph]:
        before = self._before
        if before is None or not _is_continued(before, placed, self._leading):
            yield from self.end()
            self._paragraph = Paragraph(level=placed.level, is_hidden=placed.line.is_hidden)
        elif before.page_no == placed.page_no:
            self._leading = max(before.line.baseline - placed.line.baseline, 0.0)
        self._paragraph.add(placed.page_no, placed.line.text)
        self._before = placed

    def end(self) -> Iterator[Paragraph]:
        if self._before is not None:
            yield self._paragraph.finish()
        self._before = None
        self._leading = 0.0


def _iter_placed_lines(page: PrintedPage, margins: Sequence[Margins], headings: Headings) -> Iterator[_PlacedLine]:
    heading_end = level = 0
    for number, (line, (left, right)) in enumerate(zip(page.lines, margins, strict=True)):
        heading = headings.get((page.page_no, number))
        if heading:
            heading_end, level = number + heading[0], heading[1]
        yield _PlacedLine(
            line=line,
            page_no=page.page_no,
            left=left,
            right=right,
            level=level if number < heading_end else 0,
            starts_heading=heading is not None,
        )


def _is_continued(before: _PlacedLine, after: _PlacedLine, leading: float) -> bool:
    if before.line.is_hidden != after.line.is_hidden:
        return False
    if before.level or after.level:
        return before.level > 0 and after.level > 0 and not after.starts_heading
    first, second = before.line, after.line
    if first.text[-1] in HYPHENS:
        return True
    if (
        _STARTS_ITEM.match(second.text)
        or _ENDS_ENTRY.search(first.text[-TAIL_CHARS:])
        or not 0.88 < first.size / second.size < 1.13
    ):
        return False
    if _are_rows(first, second):
        return False
    is_below = before.page_no == after.page_no and second.baseline < first.baseline
    if is_below and not _is_near(first, second, leading):
        return False
    ends_sentence = _ENDS_SENTENCE.search(first.text[-TAIL_CHARS:])
    if ends_sentence and (not is_below or _STARTS_CHAPTER.match(second.text)):
        return False
    may_hang = not leading and not ends_sentence
    return (not is_below or _is_aligned(before, after, may_hang)) and _is_full(before, second)


def _are_rows(first: PrintedLine, second: PrintedLine) -> bool:
    """Say whether the last cells of two lines begin below each other, as those of two rows of a table do."""
    if first.last_cell is None or second.last_cell is None:
        return False
    return abs(first.last_cell - second.last_cell) < second.size / 2


def _is_near(first: PrintedLine, second: PrintedLine, leading: float) -> bool:
    most = min(MAX_LEADING_EM * first.size, leading * LEADING_SLACK or MAX_LEADING_EM * first.size)
    return first.baseline - second.baseline <= most


def _is_aligned(before: _PlacedLine, after: _PlacedLine, may_hang: bool) -> bool:
    """Say whether a line stands below the one before as the next line of a paragraph, item or cell would.

    Only the second line of a paragraph may hang, where the first has not ended a sentence.
    """
    first, second = before.line, after.line
    if first.last_cell is not None and abs(second.left - first.last_cell) < second.size / 2:
        return True
    if second.left < first.left - 4 * second.size:
        return False
    is_indented = second.left > after.left + 1.5 * second.size and first.left < second.left - second.size
    return not is_indented or may_hang or _STARTS_ITEM.match(first.text) is not None


def _is_full(before: _PlacedLine, following: PrintedLine) -> bool:
    """Say whether a line ends for want of room: FULL_EM, or less than the next line's first word takes."""
    line = before.line
    word = _FIRST_WORD.match(following.text.lstrip())
    chars = word.end() if word else 1
    width = (following.right - following.left) / len(following.text) * chars
    return line.right >= before.right - FULL_EM * line.size or line.right + width > before.right


def _joined_end(before: str, after: str) -> tuple[str, str]:
    """Return the end of a line as it stays when the next is joined to it, and what comes between them."""
    if before[-1] in HYPHENS:
        return before.rstrip(HYPHENS), ""
    if _BROKEN_WORD.search(before) and after[0].islower():
        return before[:-1], ""
    return before, "" if _IS_HAN.match(before[-1]) and _IS_HAN.match(after) else " "
