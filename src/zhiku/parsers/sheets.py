"""Put the cells of a workbook together: a section for each sheet, a line for each row that holds something."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from zhiku.errors import TooLarge
from zhiku.model import BlockKind, ParsedDocument
from zhiku.parsers.char_budget import CharBudget
from zhiku.parsers.lines import Line, assemble

MAX_CELLS: Final = 2_000_000
"""Of a workbook that hold something."""

CELL_BORDER: Final = " | "
_MAX_BLANKS: Final = 4
"""How many times as many cells as are filled a table may have, and 100 more; else its blank cells are not shown."""


class Cell(NamedTuple):
    """What a cell shows; columns count from 1."""

    column: int
    text: str


class Note(NamedTuple):
    """A text that is attached to a row and shown below it; one that floats, below the table that the row is in."""

    row: int
    text: str
    floats: bool = False


class Row(NamedTuple):
    """A row with its number, its cells from left to right, and what is attached to it."""

    number: int
    cells: list[Cell]
    notes: list[str]


class SheetCells:
    """The cells of one sheet, and what is attached to its rows, given in any order."""

    def __init__(self) -> None:
        self._rows: defaultdict[int, list[Cell]] = defaultdict(list)
        self._notes: defaultdict[int, list[str]] = defaultdict(list)

    def add(self, row: int, column: int, text: str) -> None:
        """Add what a cell shows; line ends in it are blanks."""
        if shown := " ".join(text.split()):
            self._rows[row].append(Cell(column, shown))

    def add_note(self, note: Note) -> None:
        """Add what is attached to a row, of which all cells are there already."""
        row = note.row
        while note.floats and row + 1 in self._rows:
            row += 1
        self._notes[row].append(note.text)

    def blocks(self) -> Iterator[list[Row]]:
        """Yield the runs of rows that no blank row parts."""
        block: list[Row] = []
        for number in sorted({*self._rows, *self._notes}):
            if block and number != block[-1].number + 1:
                yield block
                block = []
            cells = sorted(self._rows.get(number, ()), key=lambda cell: cell.column)
            block.append(Row(number, cells, self._notes.get(number, [])))
        if block:
            yield block


class Workbook:
    """Gathers the sheets that are read, and counts what is not."""

    def __init__(self, path: str, *, hidden_sheets: bool) -> None:
        self._path = path
        self._with_hidden = hidden_sheets
        self._lines: list[Line] = []
        self._group = 0
        self._cells = 0
        self._budget = CharBudget(path)
        self._hidden = 0
        self._others = 0

    def wants(self, *, is_hidden: bool, is_sheet: bool = True) -> bool:
        """Answer whether a sheet is to be read, and count it if not: it is hidden, or none of cells."""
        if not is_sheet:
            self._others += 1
        elif is_hidden and not self._with_hidden:
            self._hidden += 1
        else:
            return True
        return False

    def count_note(self, note: Note) -> None:
        """Count the characters of a note; raise TooLarge where there are too many of all."""
        self._budget.spend(len(note.text))

    def count(self, chars: int, cells: int = 1) -> None:
        """Count cells that hold so many characters each; raise TooLarge where there are too many."""
        self._cells += cells
        if self._cells > MAX_CELLS:
            raise TooLarge(
                "{path} has more than {limit:,} cells that hold something",
                path=self._path,
                limit=MAX_CELLS,
                hint="split it into several files",
            )
        self._budget.spend(chars * cells)

    def add(self, name: str, cells: SheetCells) -> None:
        """Add a sheet, if it holds something: its name as a heading, and its rows by their numbers."""
        blocks = list(cells.blocks())
        if blocks:
            first = blocks[0][0].number
            self._lines.append(Line("heading", self._next_group(), " ".join(name.split()) or "-", first, 1))
        for block in blocks:
            self._add_block(block)

    def _add_block(self, block: list[Row]) -> None:
        group = self._next_group()
        columns = sorted({cell.column for row in block for cell in row.cells})
        filled = sum(len(row.cells) for row in block)
        shows_blanks = len(columns) * len(block) <= _MAX_BLANKS * filled + 100
        kind: BlockKind = "paragraph" if filled <= 1 else "table"
        for row in block:
            if row.cells:
                texts = _in_columns(row.cells, columns) if shows_blanks else [cell.text for cell in row.cells]
                self._lines.append(Line(kind, group, CELL_BORDER.join(texts), row.number))
            for line in (line for note in row.notes for line in note.split("\n")):
                self._lines.append(Line(kind, group, line, row.number))

    def _next_group(self) -> int:
        self._group += 1
        return self._group

    def document(
        self, *, title: str = "", metadata: Mapping[str, Any] | None = None, warnings: Iterable[str] = ()
    ) -> ParsedDocument:
        """Return the document; the line of a row is its number in its sheet."""
        text, blocks, numbers = assemble(self._lines)
        return ParsedDocument(
            text=text,
            blocks=tuple(blocks),
            title=title,
            metadata=metadata or {},
            line_numbers=tuple(numbers),
            warnings=(*warnings, *self._warnings()),
        )

    def _warnings(self) -> Iterator[str]:
        if count := self._hidden:
            yield f"Hidden sheets that were left out: {count}"
        if count := self._others:
            yield f"Sheets of charts, macros or dialogs that were left out: {count}"
        if not self._lines:
            yield "The sheets hold no text"


def column_letters(number: int) -> str:
    """Return how a column is called, from 1: A to Z, AA and so on."""
    letters = ""
    while number > 0:
        number, place = divmod(number - 1, 26)
        letters = chr(ord("A") + place) + letters
    return letters


def _in_columns(row: list[Cell], columns: list[int]) -> list[str]:
    """Return the texts of a row, with an empty one for each blank cell before its last."""
    texts: dict[int, str] = {}
    for cell in row:
        texts[cell.column] = f"{texts[cell.column]} {cell.text}" if cell.column in texts else cell.text
    last = row[-1].column
    return [texts.get(column, "") for column in columns if column <= last]
