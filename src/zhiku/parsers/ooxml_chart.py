"""Read the words of a chart: its title, what its axes are, and the names of its series and categories.

Its numbers are those of a table, which mostly stands in the same document, and are left out.
"""

from __future__ import annotations

from typing import Final, Literal

from zhiku.parsers.ooxml_parts import Parts
from zhiku.parsers.xml_walk import Attributes, Handlers

MAX_NAMES: Final = 200
"""Of the categories of a chart, as of its series: a chart of more is one of data, whose names nobody reads."""

MAX_NAME_CHARS: Final = 500

_Words = Literal["Chart", "Axes", "Series", "Categories"]
_AXES: Final = ("c:catAx", "c:valAx", "c:dateAx", "c:serAx")
# What holds numbers, or repeats what is told elsewhere.
_PASSED_OVER: Final = (
    "c:val",
    "c:xVal",
    "c:yVal",
    "c:bubbleSize",
    "c:numRef",
    "c:numLit",
    "c:dLbls",
    "c:errBars",
    "c:trendline",
    "c:legend",
    "c:pivotFmts",
    "c:f",
)


def read_chart(parts: Parts, part: str) -> str:
    """Return the words of the chart in a part, in a few lines; an empty text where there are none."""
    reader = _ChartReader()
    parts.walk(part, reader.handlers())
    return reader.text()


class _ChartReader:
    def __init__(self) -> None:
        self._found: dict[_Words, dict[str, None]] = {"Chart": {}, "Axes": {}, "Series": {}, "Categories": {}}
        self._about: _Words | None = None
        self._in_axis = False
        self._in_series = False
        self._in_title = False
        self._in_text = False
        self._parts: list[str] = []

    def handlers(self) -> Handlers:
        return Handlers(
            starts={
                **dict.fromkeys(_PASSED_OVER, lambda _: True),
                **dict.fromkeys(_AXES, self._start_axis),
                "c:title": self._start_title,
                "c:ser": self._start_series,
                "c:tx": self._start_name,
                "c:cat": self._start_categories,
                "a:p": self._part_words,
                "a:br": self._part_words,
                "a:t": self._start_text,
                "c:v": self._start_text,
            },
            ends={
                **dict.fromkeys(_AXES, self._end_axis),
                "c:title": self._end_title,
                "c:ser": self._end_series,
                "c:tx": self._end_name,
                "c:cat": self._end_categories,
                "c:pt": self._end_point,
                "a:t": self._end_text,
                "c:v": self._end_text,
            },
            characters=self._add,
        )

    def text(self) -> str:
        """Return what was found, a line for each kind."""
        if not any(self._found.values()):
            return ""
        (title, *others) = self._found.items()
        lines = [": ".join([title[0], *title[1]][:2])]
        return "\n".join([*lines, *(f"{about}: {'; '.join(names)}" for about, names in others if names)])

    def _start_axis(self, _: Attributes) -> None:
        self._in_axis = True

    def _end_axis(self) -> None:
        self._in_axis = False

    def _start_series(self, _: Attributes) -> None:
        self._in_series = True

    def _end_series(self) -> None:
        self._in_series = False

    def _start_title(self, _: Attributes) -> None:
        self._in_title = True
        self._begin("Axes" if self._in_axis else "Chart")

    def _end_title(self) -> None:
        self._finish()
        self._in_title = False

    def _start_name(self, _: Attributes) -> None:
        if self._in_series and not self._in_title:
            self._begin("Series")

    def _end_name(self) -> None:
        if self._in_series and not self._in_title:
            self._finish()

    def _start_categories(self, _: Attributes) -> None:
        self._begin("Categories")

    def _end_categories(self) -> None:
        self._about = None

    def _end_point(self) -> None:
        if self._about == "Categories":
            self._finish()
            self._begin("Categories")

    def _start_text(self, _: Attributes) -> None:
        self._in_text = True

    def _end_text(self) -> None:
        self._in_text = False

    def _part_words(self, _: Attributes) -> None:
        self._parts.append(" ")

    def _add(self, text: str) -> None:
        if self._in_text and self._about:
            self._parts.append(text)

    def _begin(self, about: _Words) -> None:
        self._about = about
        self._parts = []

    def _finish(self) -> None:
        name = " ".join("".join(self._parts).split())[:MAX_NAME_CHARS]
        if name and self._about and len(self._found[self._about]) < MAX_NAMES:
            self._found[self._about][name] = None
        self._about = None
