"""What the cells of a workbook point at: texts that they share, and how their numbers are shown."""

from __future__ import annotations

from typing import Final

from zhiku.parsers.xml_walk import Attributes, Handlers, attribute, parse_whole
from zhiku.text.cell_format import BUILTIN_FORMATS

MAX_FORMATS: Final = 100_000  # Excel allows 65,490


class SharedStrings:
    """The texts of a workbook by number, to be filled by the handlers."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._parts: list[str] = []
        self._in_text = False

    def handlers(self) -> Handlers:
        """Return what reads the part of shared strings."""
        return Handlers(
            starts={"s:t": self._start_text, "s:rPh": lambda _: True},  # how Japanese is read aloud
            ends={"s:t": self._end_text, "s:si": self._end_item},
            characters=self._add,
        )

    def text(self, number: str) -> str:
        """Return the text of a number as it stands in a cell; an empty one where there is none."""
        place = parse_whole(number)
        return self._texts[place] if place is not None and 0 <= place < len(self._texts) else ""

    def _start_text(self, _: Attributes) -> None:
        self._in_text = True

    def _end_text(self) -> None:
        self._in_text = False

    def _end_item(self) -> None:
        self._texts.append("".join(self._parts))
        self._parts.clear()

    def _add(self, text: str) -> None:
        if self._in_text:
            self._parts.append(text)


class CellFormats:
    """The formats of a workbook's numbers by cell style, to be filled by the handlers."""

    def __init__(self) -> None:
        self._codes: dict[int, str] = {}
        self._of_styles: list[int] = []
        self._in_styles = False

    def handlers(self) -> Handlers:
        """Return what reads the part of styles."""
        return Handlers(
            starts={
                "s:numFmt": self._add_code,
                "s:cellXfs": self._start_styles,
                "s:xf": self._add_style,
                "s:dxfs": lambda _: True,
            },
            ends={"s:cellXfs": self._end_styles},
            characters=lambda _: None,
        )

    def code(self, style: str) -> str:
        """Return the format of a style's number; an empty one is General."""
        place = parse_whole(style)
        if place is None or not 0 <= place < len(self._of_styles):
            return ""
        number = self._of_styles[place]
        return self._codes.get(number) or BUILTIN_FORMATS.get(number, "")

    def _add_code(self, attributes: Attributes) -> None:
        number = parse_whole(attribute(attributes, "numFmtId"))
        if number is not None:
            self._codes[number] = attribute(attributes, "formatCode")

    def _start_styles(self, _: Attributes) -> None:
        self._in_styles = True

    def _end_styles(self) -> None:
        self._in_styles = False

    def _add_style(self, attributes: Attributes) -> None:
        if self._in_styles and len(self._of_styles) < MAX_FORMATS:
            self._of_styles.append(parse_whole(attribute(attributes, "numFmtId")) or 0)
