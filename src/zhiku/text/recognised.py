"""What OCR saw on a page, as plain values, and the printed page that it makes.

Lengths are in pixels of the image that was read, with the origin at its top left.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Any, Final

from zhiku.text.pdf_printed import PrintedLine, PrintedPage
from zhiku.text.reading_order import Box, order_rows

Quad = Sequence[tuple[float, float]]
"""The corners of a line, from its top left clockwise as one reads it."""

SAME_SIZE: Final = (0.72, 1.4)
"""Boxes whose height differs from the page's median by these factors at most hold text of one size: without letters
that rise or hang a box is that much lower (measured on rendered Latin text)."""

BASELINE_SHARE: Final = 0.2
"""Of a box's height, below which letters hang."""

CELL_GAP_EM: Final = 2.0
"""Two boxes of a row that are further apart are cells of a table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecognisedLine:
    """A run of text with its box; `score` is the engine's, 0 to 1."""

    text: str
    score: float
    box: Box


@dataclass(frozen=True, slots=True, kw_only=True)
class RecognisedPage:
    """All that OCR saw on one page, upright."""

    width: int
    height: int
    lines: tuple[RecognisedLine, ...] = ()

    @property
    def confidence(self) -> float:
        """Return the mean score of its characters, 0 to 1; 0 where there are none."""
        chars = sum(len(line.text) for line in self.lines)
        return sum(line.score * len(line.text) for line in self.lines) / chars if chars else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return the page as values that JSON holds."""
        lines = [[line.text, round(line.score, 4), *(round(edge, 1) for edge in line.box)] for line in self.lines]
        return {"width": self.width, "height": self.height, "lines": lines}


def page_from_dict(values: Mapping[str, Any]) -> RecognisedPage:
    """Return what `to_dict` made of a page. Raises KeyError, TypeError or ValueError for anything else."""
    lines = tuple(
        RecognisedLine(text=str(text), score=float(score), box=Box(*(float(edge) for edge in edges)))
        for text, score, *edges in values["lines"]
    )
    return RecognisedPage(width=int(values["width"]), height=int(values["height"]), lines=lines)


def upright_boxes(quads: Sequence[Quad]) -> list[Box]:
    """Return the boxes of lines as they would be if the page had not lain askew: turned back by the median slant."""
    angle = _slant(quads)
    cos, sin = math.cos(-angle), math.sin(-angle)
    boxes = []
    for quad in quads:
        points = [(x * cos - y * sin, x * sin + y * cos) for x, y in quad]
        middle = sum(y for _, y in points) / len(points)
        half = _height(quad) / 2
        boxes.append(Box(min(x for x, _ in points), middle - half, max(x for x, _ in points), middle + half))
    return boxes


def _slant(quads: Iterable[Quad]) -> float:
    """Return the angle in radians at which long lines lie; 0 where there are none."""
    angles = []
    for quad in quads:
        (x1, y1), (x2, y2) = quad[0], quad[1]
        if x2 - x1 > 4 * _height(quad):
            angles.append(math.atan2(y2 - y1, x2 - x1))
    return median(angles) if angles else 0.0


def _height(quad: Quad) -> float:
    return (math.dist(quad[0], quad[3]) + math.dist(quad[1], quad[2])) / 2


def print_page(page_no: int, recognised: RecognisedPage, width: float, height: float) -> PrintedPage:
    """Return a page of this size, in points, with the lines that OCR saw in the order in which they are read."""
    area = recognised.width * recognised.height
    scale = math.sqrt(width * height / area) if area > 0 and width * height > 0 else 1.0
    tall = recognised.height * scale
    lines = [_print_row(row, tall, scale) for row in _rows(recognised.lines)]
    return PrintedPage(
        page_no=page_no,
        width=recognised.width * scale,
        height=tall,
        lines=tuple(lines),
        confidence=recognised.confidence,
    )


def _rows(lines: Sequence[RecognisedLine]) -> list[list[RecognisedLine]]:
    """Return the lines row by row, each with boxes of one height if they hold text of one size."""
    if not lines:
        return []
    usual = median(line.box.height for line in lines)
    least, most = (usual * factor for factor in SAME_SIZE)
    evened = [
        RecognisedLine(
            text=line.text,
            score=line.score,
            box=line.box.with_height(usual) if least < line.box.height < most else line.box,
        )
        for line in lines
    ]
    return [[evened[number] for number in row] for row in order_rows([line.box for line in evened])]


def _print_row(row: Sequence[RecognisedLine], height: float, scale: float) -> PrintedLine:
    boxes = [line.box for line in row]
    size = max(box.height for box in boxes)
    last_cell = None
    for before, after in pairwise(boxes):
        if after.left - before.right > CELL_GAP_EM * size:
            last_cell = after.left * scale
    baseline = median(box.bottom for box in boxes) - BASELINE_SHARE * size
    return PrintedLine(
        text=" ".join(line.text.strip() for line in row),
        left=boxes[0].left * scale,
        right=max(box.right for box in boxes) * scale,
        baseline=height - baseline * scale,
        size=max(round(size * scale, 1), 0.1),
        last_cell=last_cell,
    )
