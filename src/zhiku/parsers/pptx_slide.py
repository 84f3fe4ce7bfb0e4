"""Walk through one slide, or its notes: the text of its shapes and tables, in the order of the file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from zhiku.parsers.ooxml import relationship_id
from zhiku.parsers.ooxml_text import TextReader
from zhiku.parsers.xml_walk import Attributes, Handlers, attribute, parse_whole

CELL_BORDER: Final = " | "
_MAX_INDENT: Final = 8  # PowerPoint has nine levels
_TITLES: Final = frozenset(("title", "ctrTitle"))
# What stands on every slide, and the picture of the slide on its page of notes.
_RUNNING: Final = frozenset(("dt", "ftr", "hdr", "sldNum", "sldImg"))
_PASSED_OVER: Final = ("a:rPr", "a:endParaRPr", "a:tblPr", "a:tblGrid", "a:tcPr", "a:lstStyle", "a:bodyPr", "p:timing")


class SlideLine(NamedTuple):
    """A line as it is shown; those of one shape or table have one `group`."""

    group: int
    text: str
    is_row: bool = False


@dataclass(kw_only=True)
class Slide:
    """What is on a slide, or in its notes; `drawings` are relationships to diagrams and charts, parts of their own."""

    title: str = ""
    is_slide: bool = False
    lines: list[SlideLine] = field(default_factory=list)
    drawings: list[str] = field(default_factory=list)


class SlideReader:
    """Reads slides, notes and diagrams, one after the other; their characters are counted together."""

    def __init__(self, path: str) -> None:
        self._text = TextReader(path, self._write)
        self._slide = Slide()
        self._group = 0
        self._placeholder = ""
        self._paragraphs: list[list[str]] = []
        self._indent = 0
        self._rows: list[list[list[str]]] = []

    def take(self) -> Slide:
        """Return what was read since the last time."""
        slide, self._slide = self._slide, Slide()
        return slide

    def shown(self, text: str) -> list[SlideLine]:
        """Return a text that was read otherwise as lines of a group of its own."""
        self._group += 1
        self._text.count(len(text))
        return [SlideLine(self._group, line) for line in text.split("\n") if line]

    def handlers(self) -> Handlers:
        """Return what reads a part."""
        starts: dict[str, Callable[[Attributes], bool | None]] = {
            **dict.fromkeys(_PASSED_OVER, lambda _: True),
            **self._text.starts(),
            "p:sld": self._start_slide,
            "p:notes": self._start_slide,
            "p:sp": self._start_shape,
            "p:ph": self._set_placeholder,
            "a:p": self._start_paragraph,
            "a:pPr": self._set_indent,
            "a:tbl": self._start_table,
            "a:tr": self._start_row,
            "a:tc": self._start_cell,
            "dgm:relIds": lambda attributes: self._slide.drawings.append(attribute(attributes, "dm")),
            "c:chart": lambda attributes: self._slide.drawings.append(relationship_id(attributes)),
        }
        ends = {
            **self._text.ends(),
            "p:sp": self._end_shape,
            "a:p": self._end_paragraph,
            "a:tr": self._end_row,
            "a:tbl": self._end_shape,
        }
        return Handlers(starts=starts, ends=ends, characters=self._text.add_characters)

    def _start_slide(self, _: Attributes) -> None:
        self._slide.is_slide = True

    def _write(self, text: str) -> None:
        if self._paragraphs:
            self._paragraphs[-1].append(text)

    def _start_shape(self, _: Attributes) -> None:
        self._group += 1
        self._placeholder = ""

    def _end_shape(self) -> None:
        self._group += 1
        self._placeholder = ""

    def _set_placeholder(self, attributes: Attributes) -> None:
        self._placeholder = attribute(attributes, "type") or "obj"

    def _start_paragraph(self, _: Attributes) -> None:
        self._paragraphs.append([])
        self._indent = 0

    def _set_indent(self, attributes: Attributes) -> None:
        level = parse_whole(attribute(attributes, "lvl"))
        self._indent = max(0, min(level or 0, _MAX_INDENT))

    def _end_paragraph(self) -> None:
        lines = [line for line in map(str.strip, "".join(self._paragraphs.pop()).split("\n")) if line]
        if not lines or self._placeholder in _RUNNING:
            return
        if self._rows:
            if self._rows[-1]:
                self._rows[-1][-1] += lines
        elif self._placeholder in _TITLES:
            self._slide.title = " ".join([self._slide.title, *lines]).strip()
        else:
            # A line of text that a break parts goes on below itself.
            indents = [self._indent] + [self._indent + 1] * (len(lines) - 1)
            shown = [f"{'  ' * indent}{line}" for indent, line in zip(indents, lines, strict=True)]
            self._slide.lines += [SlideLine(self._group, line) for line in shown]

    def _start_table(self, _: Attributes) -> None:
        self._group += 1

    def _start_row(self, _: Attributes) -> None:
        self._rows.append([])

    def _start_cell(self, attributes: Attributes) -> None:
        # A cell that another one covers stands for nothing.
        if self._rows and not {attribute(attributes, "hMerge"), attribute(attributes, "vMerge")} & {"1", "true"}:
            self._rows[-1].append([])

    def _end_row(self) -> None:
        cells = [" ".join(" ".join(cell).split()) for cell in self._rows.pop()]
        while cells and not cells[-1]:
            cells.pop()
        if cells:
            self._slide.lines.append(SlideLine(self._group, CELL_BORDER.join(cells), is_row=True))
