"""What a Word document is put together from while it is read: paragraphs, rows, and the boxes that hold them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from zhiku.model import BlockKind
from zhiku.parsers.lines import Line

LONG_LIST_LINES: Final = 40
"""A longer list becomes several blocks, so that a chunk need not hold all of it."""

CELL_BORDER: Final = " | "
_MAX_INDENT: Final = 8


class Item(NamedTuple):
    """A paragraph or a table row as it is shown; the lines of a paragraph stand on lines of their own."""

    kind: BlockKind
    text: str
    level: int = 0
    """Of a heading, from 1; how far a list item is indented, from 0."""
    table: int = 0
    """Which of the document's tables a row belongs to."""


@dataclass(kw_only=True)
class Paragraph:
    """A paragraph that is being read."""

    parts: list[str] = field(default_factory=list)
    style_id: str = ""
    outline: int | None = None
    num_id: str | None = None
    num_level: int | None = None
    is_joined: bool = False
    """Whether its end is deleted, so that it goes on in the next one."""
    after: list[Item] = field(default_factory=list)
    """What is anchored in it: text boxes and drawings."""


@dataclass(kw_only=True)
class Box:
    """What holds paragraphs and tables: the body, a cell, a text box or a note."""

    items: list[Item] = field(default_factory=list)
    open: list[Paragraph] = field(default_factory=list)
    unfinished: Paragraph | None = None
    """A paragraph whose end is deleted."""

    def add(self, items: Iterable[Item]) -> None:
        """Add what is finished, behind the paragraph that it stands in."""
        (self.open[0].after if self.open else self.items).extend(items)


@dataclass(kw_only=True)
class Row:
    """A table row that is being read."""

    cells: list[list[Item]] = field(default_factory=list)
    is_deleted: bool = False

    def items(self, table: int) -> list[Item]:
        """Return the row as one item; what is in it, where it is one box that a page is laid out with."""
        while self.cells and not self.cells[-1]:
            self.cells.pop()
        filled = [cell for cell in self.cells if cell]
        if self.is_deleted or not filled:
            return []
        if len(filled) == 1 and (len(filled[0]) > 1 or filled[0][0].kind == "heading"):
            return filled[0]
        text = CELL_BORDER.join(" ".join(_iter_cell_words(cell)) for cell in self.cells)
        return [Item("table", text, table=table)]


def _iter_cell_words(cell: list[Item]) -> Iterator[str]:
    for item in cell:
        # The rows of a table inside the cell.
        text = item.text.replace(CELL_BORDER, " ") if item.kind == "table" else item.text
        yield from text.split()


def show_paragraph(paragraph: Paragraph, *, label: str, level: int, list_level: int, in_row: bool) -> list[Item]:
    """Return a finished paragraph as an item, or nothing where it is empty.

    `label` is what a list puts before it, `level` that of a heading or 0.
    """
    text = "".join(paragraph.parts).strip()
    if not text:
        # A column of numbers that the program counts.
        return [Item("paragraph", label.rstrip())] if in_row and label.rstrip(" -") else []
    if level:
        return [Item("heading", " ".join((label + text).split()), level)]
    lines = [line for line in map(str.strip, text.split("\n")) if line]
    if label:
        return [Item("list", "\n".join([label + lines[0], *lines[1:]]), list_level)]
    return [Item("paragraph", "\n".join(lines))]


def number_lines(items: Iterable[Item]) -> Iterator[Line]:
    """Yield the lines of a document; each item is one line of the file, and its number their own count."""
    group = 0
    lines_in_list = 0
    last = Item("paragraph", "")
    for number, item in enumerate(items, 1):
        goes_on = item.kind == last.kind == "list" and lines_in_list < LONG_LIST_LINES
        if not goes_on and not (item.kind == last.kind == "table" and item.table == last.table):
            group += 1
            lines_in_list = 0
        lines_in_list += 1
        last = item
        is_list = item.kind == "list"
        indent = "  " * min(item.level, _MAX_INDENT) if is_list else ""
        for place, text in enumerate(item.text.split("\n")):
            shown = f"{indent}{'  ' if is_list and place else ''}{text}"
            yield Line(item.kind, group, shown, number, 0 if is_list else item.level)
