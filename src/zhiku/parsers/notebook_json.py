"""Take the cells out of a notebook's JSON, and keep on which line of the file each line of a cell stands.

The format is nbformat 4 (https://nbformat.readthedocs.io), and 3, whose cells lie in worksheets.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from zhiku.text.decode import without_controls

_BLANKS: Final = re.compile(r"[ \t\n\r]*")
# Numbers such as NaN are read too; it is what Python programs write.
_DECODER: Final = json.JSONDecoder(strict=False)


@dataclass
class Cell:
    """One cell; `lines` are those of its source, each with the line of the file that it begins on."""

    line: int
    kind: str = ""
    level: int = 1
    """Of a heading cell, which nbformat 3 has."""
    lines: list[tuple[str, int]] = field(default_factory=list)
    outputs: list[Any] = field(default_factory=list)


@dataclass
class Notebook:
    """The cells in order, and what the notebook says of itself."""

    cells: list[Cell] = field(default_factory=list)
    metadata: Mapping[str, Any] = field(default_factory=dict)


def read_notebook(text: str) -> Notebook | None:
    """Return a notebook, or None where the JSON holds no cells. Raises ValueError if it is no JSON."""
    reader = _Reader(text)
    try:
        reader.read()
    except RecursionError as error:
        raise ValueError("it is nested too deep") from error
    return reader.notebook if reader.has_cells else None


class _Reader:
    """Walks along the structure that is known; the rest is left to the JSON decoder."""

    def __init__(self, text: str) -> None:
        self.notebook = Notebook()
        self.has_cells = False
        self._text = text
        self._pos = 0
        self._line = 1
        self._counted_to = 0

    def read(self) -> None:
        sheet = {"cells": self._read_cells}
        self._members(
            {**sheet, "worksheets": lambda: self._items(lambda: self._members(sheet)), "metadata": self._about}
        )
        if self._peek():
            raise json.JSONDecodeError("Extra data", self._text, self._pos)

    def _about(self) -> None:
        metadata = self._value()
        if isinstance(metadata, dict):
            self.notebook.metadata = metadata

    def _read_cells(self) -> None:
        self.has_cells = True
        self._items(self._read_cell)

    def _read_cell(self) -> None:
        self._peek()
        cell = Cell(line=self._line_here())
        self._members(
            {
                "cell_type": lambda: setattr(cell, "kind", str(self._value())),
                "level": lambda: setattr(cell, "level", self._value()),
                "source": lambda: self._read_source(cell),
                "input": lambda: self._read_source(cell),
                "outputs": lambda: setattr(cell, "outputs", self._value()),
            }
        )
        self.notebook.cells.append(cell)

    def _read_source(self, cell: Cell) -> None:
        lines: list[tuple[list[str], int]] = []

        def add() -> None:
            self._peek()
            number = self._line_here()
            value = self._value()
            first, *others = without_controls(value).split("\n") if isinstance(value, str) else [""]
            if lines and any(lines[-1][0]):
                lines[-1][0].append(first)
            else:  # nothing of the line stood before
                lines[-1:] = [([first], number)]
            lines.extend(([part], number) for part in others)

        self._items(add) if self._peek() == "[" else add()
        cell.lines = [("".join(parts), number) for parts, number in lines]

    def _members(self, readers: Mapping[str, Callable[[], None]]) -> None:
        """Read an object, its members by what is given for their names; anything else is passed over."""
        if self._peek() != "{":
            self._value()
            return
        self._pos += 1
        is_first = True
        while self._goes_on("}", is_first):
            is_first = False
            if self._peek() != '"':
                raise json.JSONDecodeError("Expecting property name", self._text, self._pos)
            name = self._value()
            if self._peek() != ":":
                raise json.JSONDecodeError("Expecting ':' delimiter", self._text, self._pos)
            self._pos += 1
            read: Callable[[], object] = readers.get(name, self._value)
            read()

    def _items(self, read: Callable[[], None]) -> None:
        """Read an array, each item by `read`."""
        if self._peek() != "[":
            self._value()
            return
        self._pos += 1
        is_first = True
        while self._goes_on("]", is_first):
            is_first = False
            read()

    def _goes_on(self, end: str, is_first: bool) -> bool:
        sign = self._peek()
        if sign == end:
            self._pos += 1
            return False
        if not is_first:
            if sign != ",":
                raise json.JSONDecodeError("Expecting ',' delimiter", self._text, self._pos)
            self._pos += 1
        return True

    def _value(self) -> Any:
        self._peek()
        try:
            value, self._pos = _DECODER.raw_decode(self._text, self._pos)
        except StopIteration as error:
            raise json.JSONDecodeError("Expecting value", self._text, self._pos) from error
        return value

    def _peek(self) -> str:
        """Pass over blanks and return the character that comes next, or an empty string."""
        match = _BLANKS.match(self._text, self._pos)
        self._pos = match.end() if match else self._pos
        return self._text[self._pos : self._pos + 1]

    def _line_here(self) -> int:
        self._line += self._text.count("\n", self._counted_to, self._pos)
        self._counted_to = self._pos
        return self._line
