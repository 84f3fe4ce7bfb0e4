"""Put the boxes of text on a page into the order in which they are read: columns one after the other, tables by rows.

OCR does not say in which order what it finds is read. A page is cut at its widest gutter; what crosses the gutter, such
as a title, parts the page into bands, and in each band the left column comes before the right one (an XY-cut, after
Nagy and Seth 1984, that tolerates lines across the gutter).
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import Final, NamedTuple

MIN_GUTTER_EM: Final = 0.8
MIN_COLUMN_ROWS: Final = 3
"""Two columns have at least so many rows each; fewer are cells or captions."""

MAX_CROSSING_SHARE: Final = 0.3
"""Of lines, at most so many cross a gutter, as titles and figures do."""

MIN_ALIGNED_SHARE: Final = 0.7
MAX_ALIGNMENT_EM: Final = 0.35
MIN_FILLED_SHARE: Final = 0.5
FILLED: Final = 0.75
"""Where most rows of one side stand at the height of one of the other, and most of either side's lines leave a quarter
of their column empty, it is a table, and read row by row."""

MIN_COLUMN_EM: Final = 6
"""Of text; narrower columns are of numbers or single words, as in a table."""

MAX_DEPTH: Final = 8
SAME_ROW: Final = 0.5
"""Two boxes stand in one row if their heights overlap by more than this share of the lower one."""


class Box(NamedTuple):
    """Where a run of text stands, with y growing downwards."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def height(self) -> float:
        """Return the height, which is about the em of its text."""
        return self.bottom - self.top

    @property
    def width(self) -> float:
        """Return the width."""
        return self.right - self.left

    @property
    def middle(self) -> float:
        """Return the height of its middle on the page."""
        return (self.top + self.bottom) / 2

    def with_height(self, height: float) -> Box:
        """Return a box of this height around the same middle."""
        return Box(self.left, self.middle - height / 2, self.right, self.middle + height / 2)


def order_rows(boxes: Sequence[Box]) -> list[list[int]]:
    """Return the places of all boxes in `boxes`, row by row in reading order, each row from left to right."""
    if not boxes:
        return []
    em = max(median(box.height for box in boxes), 1e-6)
    return _order(boxes, list(range(len(boxes))), em, MAX_DEPTH)


def _order(boxes: Sequence[Box], numbers: Sequence[int], em: float, depth: int) -> list[list[int]]:
    gutter = _find_gutter(boxes, numbers, em) if depth else None
    if gutter is None:
        return _rows(boxes, numbers)
    crossing = sorted((n for n in numbers if boxes[n].left < gutter < boxes[n].right), key=lambda n: boxes[n].middle)
    rows: list[list[int]] = []
    rest = [n for n in numbers if not boxes[n].left < gutter < boxes[n].right]
    for barrier in _rows(boxes, crossing):
        edge = min(boxes[n].middle for n in barrier)
        above = [n for n in rest if boxes[n].middle < edge]
        rest = [n for n in rest if boxes[n].middle >= edge]
        rows += _order_band(boxes, above, gutter, em, depth)
        rows.append(barrier)
    return rows + _order_band(boxes, rest, gutter, em, depth)


def _order_band(boxes: Sequence[Box], numbers: Sequence[int], gutter: float, em: float, depth: int) -> list[list[int]]:
    left = [n for n in numbers if boxes[n].right <= gutter]
    right = [n for n in numbers if boxes[n].right > gutter]
    return _order(boxes, left, em, depth - 1) + _order(boxes, right, em, depth - 1)


def _find_gutter(boxes: Sequence[Box], numbers: Sequence[int], em: float) -> float | None:
    """Return the middle of the gutter that the fewest boxes cross, of several the widest; None where there is none."""
    if len(numbers) < 2 * MIN_COLUMN_ROWS:
        return None
    found: list[tuple[int, float, float]] = []
    for x in sorted({boxes[n].right for n in numbers}):
        place = x + MIN_GUTTER_EM * em / 2
        left = [boxes[n] for n in numbers if boxes[n].right <= place]
        right = [boxes[n] for n in numbers if boxes[n].left >= place]
        crossing = len(numbers) - len(left) - len(right)
        if min(len(left), len(right)) < MIN_COLUMN_ROWS or crossing > MAX_CROSSING_SHARE * len(numbers):
            continue
        start, end = max(box.right for box in left), min(box.left for box in right)
        if end - start >= MIN_GUTTER_EM * em and not _is_table(left, right, em):
            found.append((crossing, start - end, (start + end) / 2))
    return min(found)[2] if found else None


def _is_table(left: Sequence[Box], right: Sequence[Box], em: float) -> bool:
    few, many = sorted((left, right), key=len)
    aligned = sum(any(abs(one.middle - other.middle) < MAX_ALIGNMENT_EM * em for other in many) for one in few)
    is_aligned = aligned >= MIN_ALIGNED_SHARE * len(few)
    return is_aligned and min(_filled_share(left, em), _filled_share(right, em)) < MIN_FILLED_SHARE


def _filled_share(side: Sequence[Box], em: float) -> float:
    """Return the share of boxes that fill the column of text in which they stand."""
    filled = 0
    for box in side:
        beside = [other for other in side if other.left < box.right and box.left < other.right]
        width = max((other.right for other in beside), default=0) - min((other.left for other in beside), default=0)
        filled += box.width >= FILLED * width and width >= MIN_COLUMN_EM * em
    return filled / len(side)


def _rows(boxes: Sequence[Box], numbers: Sequence[int]) -> list[list[int]]:
    """Return boxes from top to bottom; those at one height are one row, from left to right."""
    rows: list[list[int]] = []
    for number in sorted(numbers, key=lambda n: (boxes[n].middle, boxes[n].left)):
        if rows and all(_are_beside(boxes[number], boxes[other]) for other in rows[-1]):
            rows[-1].append(number)
        else:
            rows.append([number])
    return [sorted(row, key=lambda n: boxes[n].left) for row in rows]


def _are_beside(one: Box, other: Box) -> bool:
    overlap = min(one.bottom, other.bottom) - max(one.top, other.top)
    return overlap > SAME_ROW * min(one.height, other.height)
