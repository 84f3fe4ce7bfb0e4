"""Find the margins that the lines of a PDF keep to: of their column, or of all lines that begin where they do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from zhiku.text.pdf_printed import PrintedLine, PrintedPage

MIN_INSET_LINES: Final = 3
MIN_INSET_SHARE: Final = 0.2
"""Of the lines that begin at one place in the document, so many must end at one place to have a margin of their own."""

MIN_INSET_EM: Final = 10
"""Narrower than this are verses, names and numbers, which end together by chance."""

MAX_BEYOND_SHARE: Final = 0.05
"""Of those lines, so many may go beyond it."""

Margins = tuple[float, float]
_Place = tuple[int, float]


def find_margins(pages: Sequence[PrintedPage]) -> list[list[Margins]]:
    """Return the left and right margin of each line, page by page.

    The left one is that of its column. The right one is that of its column too, unless many lines of the document
    begin in the same place and end before it, as in boxes, quotations and cells.
    """
    insets = _find_insets(pages)
    return [list(_iter_margins(page, insets)) for page in pages]


def _iter_margins(page: PrintedPage, insets: dict[_Place, float]) -> Iterator[Margins]:
    for line, (left, right) in zip(page.lines, _find_columns(page), strict=True):
        yield left, min(right, insets.get(_place(line), right))


def _place(line: PrintedLine) -> _Place:
    """Return where and how large a line is, to within a point or two."""
    return round(line.left / 2), round(line.size * 2) / 2


def _find_insets(pages: Sequence[PrintedPage]) -> dict[_Place, float]:
    groups: dict[_Place, list[PrintedLine]] = {}
    for page in pages:
        for line in page.lines:
            groups.setdefault(_place(line), []).append(line)
    found = {}
    for place, lines in groups.items():
        lines.sort(key=lambda line: line.right)
        margin = lines[len(lines) - 1 - int(len(lines) * MAX_BEYOND_SHARE)].right
        ending = sum(margin - line.size < line.right <= margin for line in lines)
        is_wide = margin - lines[0].left >= MIN_INSET_EM * lines[0].size
        if is_wide and ending >= max(MIN_INSET_LINES, len(lines) * MIN_INSET_SHARE):
            found[place] = margin
    return found


def _find_columns(page: PrintedPage) -> list[Margins]:
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
            # Short lines alone, as on a title page, do not make a margin.
            margins[side] = (lefts[len(lefts) // 10], max(_right_margin(members), page.width * least))
    return [margins[side] for side in sides]


def _side(line: PrintedLine, width: float) -> str:
    if line.right < width * 0.55:
        return "left"
    return "right" if line.left > width * 0.45 else "whole"


def _right_margin(lines: Sequence[PrintedLine]) -> float:
    """Return where most lines end, to within an em, long lines counting more; what juts out beyond is no margin."""
    by_right = sorted(lines, key=lambda line: line.right)
    best = weight = 0.0
    margin = by_right[-1].right
    first = 0
    for line in by_right:
        weight += line.right - line.left
        while by_right[first].right < line.right - line.size:
            weight -= by_right[first].right - by_right[first].left
            first += 1
        if weight >= best:
            best, margin = weight, line.right
    return margin
