"""Build the lines of a page's text from pieces of text and the borders between them."""

from __future__ import annotations

import re
from typing import Final

from zhiku.parsers.lines import Line
from zhiku.text.markup import decode_entities

_MAX_INDENT: Final = 8
"""List levels shown by indentation: a bound on what each line of a hostile page may grow by."""

_HAN: Final = "\u2e80-\u303f\u3400-\u9fff\uf900-\ufaff\uff00-\uffef"
# Between two Han characters a line end is layout, not a gap between words (CSS Text 3, section 4.1.3).
_HAN_LINE_END: Final = re.compile(rf"(?<=[{_HAN}])[^\S\n]*\n\s*(?=[{_HAN}])")


class LineBuilder:
    """Gather text until a border ends its line, block, cell or row.

    The caller counts the open lists, tables and preformatted elements in `lists`, `tables` and `pres`.
    """

    def __init__(self) -> None:
        self.lines: list[Line] = []
        self.lists = 0
        self.tables = 0
        self.pres = 0
        self._level = 0
        self._marker = ""
        self._group = 0
        self._outer_group = 0  # of the outermost open list or table
        self._parts: list[str] = []  # of the present line
        self._number = 0
        self._ended: list[tuple[str, int]] = []  # the present block's earlier lines, with their numbers
        self._row: list[list[tuple[str, int]]] = []

    def add(self, raw: str, number: int) -> None:
        """Add text as written, whose first visible character stands on line `number` of the page."""
        text = decode_entities(raw)
        if "\n" in text:
            text = _HAN_LINE_END.sub("", text)
        if self._parts or not text.isspace():
            self._number = self._number if self._parts else number
            self._parts.append(text)

    def add_preformatted(self, raw: str, number: int) -> None:
        """Add text whose line ends count."""
        for offset, line in enumerate(raw.split("\n")):
            if offset:
                self.end_line()
            if not self._parts:
                self._number = number + offset
            self._parts.append(decode_entities(line).replace("\n", " "))

    def start_outermost(self) -> None:
        """Begin a block that holds all lines of a list or table, unless one is open."""
        if not self.lists and not self.tables:
            self._outer_group = self._next_group()

    def start_item(self) -> None:
        """Mark the next line as a list item's first."""
        self._marker = "- "

    def start_heading(self, level: int) -> None:
        """Make the next block a heading of `level`; 0 ends that."""
        self.end_row()
        self._level = level

    def end_line(self) -> None:
        """End the present line; outside of preformatted text it stays only if it holds something."""
        text = "".join(self._parts)
        text = text.rstrip() if self.pres else " ".join(text.split())
        if text or self.pres:
            self._ended.append((text, self._number))
        self._parts.clear()

    def end_block(self) -> None:
        """End the present block; inside a table cell or preformatted text only the line."""
        self.end_line()
        if self._level or not (self.tables or self.pres):
            self._emit()

    def start_cell(self) -> None:
        """Begin a table cell; text in the row before it is a cell of its own."""
        if self._parts or self._ended:
            self.end_cell()

    def end_cell(self) -> None:
        """End the present table cell."""
        self.end_block()
        if self.tables and not self.pres:
            self._row.append(self._ended)
            self._ended = []

    def end_row(self) -> None:
        """End whatever is open: block, preformatted text, cell and row."""
        self.end_cell()
        self._emit()
        row, self._row = self._row, []
        while row and not row[-1]:
            row.pop()
        filled = [cell for cell in row if cell]
        if len(filled) == 1 and len(filled[0]) > 1:  # a table made for layout
            for line in filled[0]:
                self._ended = [line]
                self._emit()
        elif filled:
            text = " | ".join(" ".join(line for line, _ in cell) for cell in row)
            self.lines.append(Line("table", self._outer_group, text, filled[0][0][1]))

    def _emit(self) -> None:
        """Make the ended lines a block, or a part of the list that they stand in."""
        lines, self._ended = self._ended, []
        if self.pres:
            lines = _without_blank_ends(lines)
            group = self._next_group()
            self.lines += [Line("fence", group, text, number) for text, number in lines]
        elif not lines:
            return
        elif self._level:
            title = " ".join(text for text, _ in lines).rstrip(" ¶")
            if title:
                self.lines.append(Line("heading", self._next_group(), title, lines[0][1], self._level))
            self._level = 0  # an end tag may be missing; only the first block is the heading
        elif self.lists:
            self._emit_item(lines)
        else:
            group = self._next_group()
            self.lines += [Line("paragraph", group, text, number) for text, number in lines]

    def _emit_item(self, lines: list[tuple[str, int]]) -> None:
        indent = "  " * (min(self.lists, _MAX_INDENT) - 1)
        for text, number in lines:
            self.lines.append(Line("list", self._outer_group, f"{indent}{self._marker or '  '}{text}", number))
            self._marker = ""

    def _next_group(self) -> int:
        self._group += 1
        return self._group


def _without_blank_ends(lines: list[tuple[str, int]]) -> list[tuple[str, int]]:
    filled = [place for place, (text, _) in enumerate(lines) if text]
    return lines[filled[0] : filled[-1] + 1] if filled else []
