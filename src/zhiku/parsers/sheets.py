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


class SheetCells:
    """The cells of one sheet, given in any order."""

    def __init__(self) -> None:
        self._rows: defaultdict[int, list[Cell]] = defaultdict(list)

    def add(self, row: int, column: int, text: str) -> None:
        """Add what a cell shows; line ends in it are blanks."""
        if shown := " ".join(text.split()):
            self._rows[row].append(Cell(column, shown))

    def blocks(self) -> Iterator[list[tuple[int, list[Cell]]]]:
        """Yield the runs of rows that no blank row parts; each row with its number and its cells from left to right."""
        block: list[tuple[int, list[Cell]]] = []
        for number in sorted(self._rows):
            if block and number != block[-1][0] + 1:
                yield block
                block = []
            block.append((number, sorted(self._rows[number], key=lambda cell: cell.column)))
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
            first, _ = blocks[0][0]
            self._lines.append(Line("heading", self._next_group(), " ".join(name.split()) or "-", first, 1))
        for block in blocks:
            self._add_block(block)

    def _add_block(self, block: list[tuple[int, list[Cell]]]) -> None:
        group = self._next_group()
        columns = sorted({cell.column for _, row in block for cell in row})
        filled = sum(len(row) for _, row in block)
        shows_blanks = len(columns) * len(block) <= _MAX_BLANKS * filled + 100
        kind: BlockKind = "paragraph" if filled == 1 else "table"
        for number, row in block:
            texts = _in_columns(row, columns) if shows_blanks else [cell.text for cell in row]
            self._lines.append(Line(kind, group, CELL_BORDER.join(texts), number))

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


def _in_columns(row: list[Cell], columns: list[int]) -> list[str]:
    """Return the texts of a row, with an empty one for each blank cell before its last."""
    texts: dict[int, str] = {}
    for cell in row:
        texts[cell.column] = f"{texts[cell.column]} {cell.text}" if cell.column in texts else cell.text
    last = row[-1].column
    return [texts.get(column, "") for column in columns if column <= last]
