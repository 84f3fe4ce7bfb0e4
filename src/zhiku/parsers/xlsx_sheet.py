"""Walk through the cells of one sheet: what each of them shows, be it a text, a number, a date or a formula's value."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Final

from zhiku.parsers.sheets import SheetCells, Workbook
from zhiku.parsers.xlsx_tables import CellFormats, SharedStrings
from zhiku.parsers.xml_walk import Attributes, Handlers, attribute, parse_whole
from zhiku.text.cell_format import show_number

_PLACE: Final = re.compile(r"\$?([A-Za-z]{1,3})\$?[0-9]{1,7}")
# What is no cell: how numbers are read aloud, what stands above and below each printed page.
_PASSED_OVER: Final = ("s:rPh", "s:f", "s:headerFooter", "s:extLst", "s:conditionalFormatting", "s:dataValidations")
_TRUE: Final = frozenset(("1", "true"))


@dataclass(frozen=True, kw_only=True)
class CellReading:
    """What it takes to show the cells of a workbook."""

    strings: SharedStrings
    formats: CellFormats
    from_1904: bool = False

    def show(self, kind: str, style: str, value: str) -> str:
        """Return what a cell shows, by its type (ECMA-376 part 1, 18.18.11), its style and its stored value."""
        if kind == "s":
            return self.strings.text(value)
        if kind == "b":
            return "TRUE" if value.strip() in _TRUE else "FALSE"
        if kind in ("", "n"):
            return self._show_number(style, value)
        if kind == "d":  # ISO 8601, in the strict variant
            return value.removesuffix("Z").removesuffix("T00:00:00").replace("T", " ")
        return value

    def _show_number(self, style: str, value: str) -> str:
        try:
            number = float(value)
        except ValueError:
            return value
        if not math.isfinite(number):
            return value
        return show_number(number, self.formats.code(style), from_1904=self.from_1904)


class SheetReader:
    """Reads one sheet into `cells`; a cell's place is taken from its address, else it follows the one before."""

    def __init__(self, reading: CellReading, workbook: Workbook) -> None:
        self.cells = SheetCells()
        self._reading = reading
        self._workbook = workbook
        self._row = 0
        self._column = 0
        self._kind = ""
        self._style = ""
        self._parts: list[str] = []
        self._in_value = False

    def handlers(self) -> Handlers:
        """Return what reads the part."""
        return Handlers(
            starts={
                **dict.fromkeys(_PASSED_OVER, lambda _: True),
                "s:row": self._start_row,
                "s:c": self._start_cell,
                "s:v": self._start_value,
                "s:t": self._start_value,
            },
            ends={"s:c": self._end_cell, "s:v": self._end_value, "s:t": self._end_value},
            characters=self._add,
        )

    def _start_row(self, attributes: Attributes) -> None:
        number = parse_whole(attribute(attributes, "r"))
        self._row = number if number is not None and number > 0 else self._row + 1
        self._column = 0

    def _start_cell(self, attributes: Attributes) -> None:
        # Attributes of cells have no namespace: to look for one in each would take a tenth more time.
        place = _PLACE.fullmatch(attributes.get("r", ""))
        self._column = _column_number(place[1]) if place else self._column + 1
        self._kind = attributes.get("t", "")
        self._style = attributes.get("s", "")
        self._parts.clear()

    def _end_cell(self) -> None:
        value = "".join(self._parts)
        if value and self._row:
            shown = self._reading.show(self._kind, self._style, value)
            self._workbook.count(len(shown))
            self.cells.add(self._row, self._column, shown)
        self._parts.clear()

    def _start_value(self, _: Attributes) -> None:
        self._in_value = True

    def _end_value(self) -> None:
        self._in_value = False

    def _add(self, text: str) -> None:
        if self._in_value:
            self._parts.append(text)


def _column_number(letters: str) -> int:
    number = 0
    for letter in letters.upper():
        number = number * 26 + ord(letter) - ord("A") + 1
    return number
