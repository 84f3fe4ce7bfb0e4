"""Read the lines of a page through PDFium: their text, place, size, and whether they can be seen."""

from __future__ import annotations

import ctypes
import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pypdfium2.raw as raw

from zhiku.text.pdf_characters import HYPHENS, clean_characters
from zhiku.text.pdf_printed import PrintedLine

WIDE_GAP_EM: Final = 0.6
"""A gap between two Han characters from which it is a space; justified text stays below."""

SPREAD_GAP_EM: Final = 3.0
"""The same where gap follows gap, in a line that is spread to its margin before a long word."""

CELL_GAP_EM: Final = 1.5
"""A gap from which what follows may be another cell of a table."""

MIN_SIZE: Final = 1.5
"""Text of fewer points is not for readers."""

MAX_POINTS: Final = 1e6
"""Pages go up to 14,400 units of at most 75 points (ISO 32000-2, annex C)."""

SAMPLES: Final = 5
"""Characters of a line whose font size is asked for: most of them decide."""

MAX_LOST_SHARE: Final = 0.25
"""Of a page's characters may be controls, which are codes of a font that does not say which characters it shows."""

_CODE: Final = re.compile("[\x00\x01\x03-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")  # \x02 is a hyphen
_LINE: Final = re.compile(r"[^\r\n]+")
_HAN: Final = "\u2e80-\u30ff\u3400-\u9fff\uf900-\uffef"
_HAN_GAP: Final = re.compile(f"[{_HAN}] [{_HAN}]")
_GAP: Final = re.compile(r"(?<=\S) (?=\S)")
_WHITE: Final = 250
"""Of 255, in each colour: paper."""


@dataclass(frozen=True, slots=True)
class PageFrame:
    """The visible part of a page in its own coordinates, and how many degrees it is turned clockwise when shown."""

    left: float
    bottom: float
    right: float
    top: float
    rotation: int

    def place(self, x: float, y: float) -> tuple[float, float]:
        """Return a point as it is shown, from the bottom left of what is shown."""
        if self.rotation == 90:
            return y - self.bottom, self.right - x
        if self.rotation == 180:
            return self.right - x, self.top - y
        if self.rotation == 270:
            return self.top - y, x - self.left
        return x - self.left, y - self.bottom


def iter_lines(text_page: Any, frame: PageFrame) -> Iterator[PrintedLine]:
    """Yield the lines of a page's text in PDFium's order, without those that show nothing."""
    text = text_page.get_text_range()
    is_aligned = len(text) == text_page.count_chars()
    for match in _LINE.finditer(text):
        # The place of each character in PDFium's own list, which may hold characters that its text does not.
        places: Sequence[int] = range(match.start(), match.end())
        if not is_aligned:
            places = [raw.FPDFText_GetCharIndexFromTextIndex(text_page, place) for place in places]
        line = _Line(text_page, frame, match.group(), places).printed()
        if line:
            yield line


def has_lost_text(text_page: Any, lines: Sequence[PrintedLine]) -> bool:
    """Say whether a page with characters shows others than the lines that were read of it."""
    count = text_page.count_chars()
    if sum(len(line.text) for line in lines) >= count * (1 - MAX_LOST_SHARE):
        return False
    text = "".join(text_page.get_text_range().split())
    return len(_CODE.findall(text)) > len(text) * MAX_LOST_SHARE


class _Line:
    def __init__(self, text_page: Any, frame: PageFrame, text: str, places: Sequence[int]) -> None:
        self._text_page = text_page
        self._frame = frame
        self._text = text
        self._places = places
        self._box = raw.FS_RECTF()
        self._size = 1.0
        self._last_cell: float | None = None

    def printed(self) -> PrintedLine | None:
        first = len(self._text) - len(self._text.lstrip())
        last = len(self._text.rstrip()) - 1
        if last < first:
            return None
        self._size = self._font_size(first, last)
        shown = clean_characters(self._without_made_up_spaces())
        if not shown.strip(HYPHENS).strip():
            return None
        left, _ = self._edges(first)
        x, y = ctypes.c_double(), ctypes.c_double()
        raw.FPDFText_GetCharOrigin(self._text_page, self._places[first], x, y)
        return PrintedLine(
            text=shown,
            left=left,
            right=self._edges(last)[1],
            baseline=_sane(self._frame.place(x.value, y.value)[1]),
            size=self._size,
            last_cell=self._last_cell,
            # Not where only the first is, as the white number over a symbol in fonts that draw circled numbers.
            is_hidden=all(self._is_hidden(number) for number in (first, (first + last) // 2, last)),
        )

    def _font_size(self, first: int, last: int) -> float:
        """Return the em of most of the line's characters, at least a tenth of a point."""
        sizes: Counter[float] = Counter()
        matrix = raw.FS_MATRIX()
        for number in range(first, last + 1, max((last - first) // SAMPLES, 1)):
            place = self._places[number]
            if self._text[number] != " " and raw.FPDFText_GetMatrix(self._text_page, place, matrix):
                size = raw.FPDFText_GetFontSize(self._text_page, place) * math.hypot(matrix.c, matrix.d)
                sizes[round(_sane(size), 1)] += 1
        return max(sizes.most_common(1)[0][0] if sizes else 0.0, 0.1)

    def _without_made_up_spaces(self) -> str:
        """Return the text without the spaces that PDFium made of narrow gaps between Han characters."""
        text = self._text
        parts: list[str] = []
        done = 0
        for match in _GAP.finditer(text):
            gap = match.start()
            if raw.FPDFText_IsGenerated(self._text_page, self._places[gap]) != 1:
                continue
            left = self._edges(gap + 1)[0]
            width = left - self._edges(gap - 1)[1]
            if _HAN_GAP.match(text, gap - 1) and width < self._size * _max_gap_em(text, gap):
                parts.append(text[done:gap])
                done = gap + 1
            elif width > CELL_GAP_EM * self._size:
                self._last_cell = left
        return "".join(parts) + text[done:]

    def _edges(self, number: int) -> tuple[float, float]:
        """Return left and right of a character as shown; zeros if it has no place."""
        box = self._box
        if not raw.FPDFText_GetLooseCharBox(self._text_page, self._places[number], box):
            return 0.0, 0.0
        one, _ = self._frame.place(box.left, box.bottom)
        other, _ = self._frame.place(box.right, box.top)
        one, other = _sane(one), _sane(other)
        return min(one, other), max(one, other)

    def _is_hidden(self, number: int) -> bool:
        """Say whether the character is invisible, tiny, transparent or as white as paper."""
        place = self._places[number]
        mode = raw.FPDFTextObj_GetTextRenderMode(raw.FPDFText_GetTextObject(self._text_page, place))
        if mode == raw.FPDF_TEXTRENDERMODE_INVISIBLE or self._size < MIN_SIZE:
            return True
        channels = [ctypes.c_uint() for _ in range(4)]
        if not raw.FPDFText_GetFillColor(self._text_page, place, *channels):
            return False
        *colours, alpha = (channel.value for channel in channels)
        return alpha == 0 or min(colours) > _WHITE


def _sane(points: float) -> float:
    """Return a length, or 0 for what no page holds; damaged files have infinite ones."""
    return points if abs(points) < MAX_POINTS else 0.0


def _max_gap_em(text: str, gap: int) -> float:
    """Return up to which width a gap between two Han characters is none."""
    # Only one or two characters stand between this gap and another.
    is_one_of_several = any(_HAN_GAP.match(text, place) for place in (gap - 4, gap - 3, gap + 1, gap + 2) if place >= 0)
    return SPREAD_GAP_EM if is_one_of_several else WIDE_GAP_EM
