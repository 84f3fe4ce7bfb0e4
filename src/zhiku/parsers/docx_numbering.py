"""The numbers and bullets that Word shows before paragraphs (ECMA-376 part 1, 17.9)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from zhiku.parsers.docx_styles import Style, Styles
from zhiku.parsers.xml_walk import Attributes, Handlers, attribute, parse_whole
from zhiku.text.numerals import format_number

BULLET: Final = "- "
MAX_LABEL_CHARS: Final = 100
"""A bound on what every paragraph of a hostile list may grow by."""

_NO_LIST: Final = "0"
_MAX_LEVEL: Final = 8
_MAX_LINKS: Final = 4  # from one list to the style that stands for it, and on
_PLACE: Final = re.compile("%([1-9])")


@dataclass(kw_only=True)
class _Level:
    start: int = 1
    number_format: str = "decimal"
    text: str = ""
    restart: int | None = None
    """The level, counted from 1, that makes it start anew; 0: none does; None: any above it."""
    gap: str = " "
    is_legal: bool = False
    """Whether all numbers in it are decimal."""
    style_id: str = ""
    digits: int = 1
    """The fewest that a number has, for formats such as `001, 002, 003, ...`."""


@dataclass(kw_only=True)
class _Abstract:
    """A definition of a list that several lists may share: then they share its counters, too."""

    levels: dict[int, _Level] = field(default_factory=dict)
    style_link: str = ""
    """The numbering style that says what this list looks like."""
    counts: dict[int, int] = field(default_factory=dict)


@dataclass(kw_only=True)
class _Numbering:
    abstract_id: str = ""
    starts: dict[int, int] = field(default_factory=dict)
    levels: dict[int, _Level] = field(default_factory=dict)
    begun: set[int] = field(default_factory=set)


class Numberings:
    """The lists of a document, to be filled by the handlers; then each paragraph, in order, asks for its label."""

    def __init__(self, styles: Styles) -> None:
        self._styles = styles
        self._abstracts: dict[str, _Abstract] = {}
        self._numberings: dict[str, _Numbering] = {}
        self._abstract = _Abstract()
        self._numbering: _Numbering | None = None
        self._override = 0
        self._level = _Level()

    def handlers(self) -> Handlers:
        """Return what reads the numbering part."""
        return Handlers(
            starts={
                "w:abstractNum": self._start_abstract,
                "w:num": self._start_numbering,
                "w:abstractNumId": self._set_abstract_id,
                "w:numStyleLink": self._set_style_link,
                "w:lvlOverride": self._start_override,
                "w:startOverride": self._set_start_override,
                "w:lvl": self._start_level,
                "w:start": self._set_start,
                "w:numFmt": self._set_format,
                "w:lvlText": self._set_text,
                "w:lvlRestart": self._set_restart,
                "w:suff": self._set_gap,
                "w:isLgl": self._set_legal,
                "w:pStyle": self._set_style,
                "mc:Fallback": lambda _: True,
            },
            ends={"w:num": self._end_numbering},
            characters=lambda _: None,
        )

    def label(self, style: Style, num_id: str | None, num_level: int | None) -> str:
        """Count a paragraph and return what stands before its text: a number as shown, BULLET, or nothing.

        `num_id` and `num_level` are what the paragraph itself says of its list, None for what its style says.
        """
        if num_id is None:
            num_id = style.num_id
            num_level = num_level if num_level is not None else self._level_of_style(style)
        numbering = self._numberings.get(num_id or _NO_LIST)
        abstract = self._abstract_of(numbering)
        if numbering is None or abstract is None:
            return ""
        level = min(max(num_level or 0, 0), _MAX_LEVEL)
        levels = {**abstract.levels, **numbering.levels}
        if level not in levels:
            return ""
        _count(numbering, abstract.counts, levels, level)
        return _label(levels, abstract.counts, level)

    def _abstract_of(self, numbering: _Numbering | None) -> _Abstract | None:
        for _ in range(_MAX_LINKS):
            abstract = self._abstracts.get(numbering.abstract_id) if numbering else None
            if abstract is None or not abstract.style_link:
                return abstract
            numbering = self._numberings.get(self._styles.style(abstract.style_link).num_id or _NO_LIST)
        return None

    def _level_of_style(self, style: Style) -> int | None:
        """Return the level that names a style as its own, else what the style says."""
        abstract = self._abstract_of(self._numberings.get(style.num_id or _NO_LIST))
        levels = abstract.levels if abstract else {}
        return next((place for place, level in levels.items() if level.style_id == style.style_id), style.num_level)

    def _start_abstract(self, attributes: Attributes) -> None:
        self._abstract = self._abstracts[attribute(attributes, "abstractNumId")] = _Abstract()

    def _start_numbering(self, attributes: Attributes) -> None:
        self._numbering = self._numberings[attribute(attributes, "numId")] = _Numbering()

    def _end_numbering(self) -> None:
        self._numbering = None

    def _set_abstract_id(self, attributes: Attributes) -> None:
        if self._numbering:
            self._numbering.abstract_id = attribute(attributes, "val")

    def _set_style_link(self, attributes: Attributes) -> None:
        self._abstract.style_link = attribute(attributes, "val")

    def _start_override(self, attributes: Attributes) -> None:
        self._override = parse_whole(attribute(attributes, "ilvl")) or 0

    def _set_start_override(self, attributes: Attributes) -> None:
        start = parse_whole(attribute(attributes, "val"))
        if self._numbering and start is not None:
            self._numbering.starts[self._override] = start

    def _start_level(self, attributes: Attributes) -> None:
        self._level = _Level()
        levels = self._numbering.levels if self._numbering else self._abstract.levels
        levels[parse_whole(attribute(attributes, "ilvl")) or 0] = self._level

    def _set_start(self, attributes: Attributes) -> None:
        start = parse_whole(attribute(attributes, "val"))
        self._level.start = 1 if start is None else start

    def _set_format(self, attributes: Attributes) -> None:
        self._level.number_format = attribute(attributes, "val")
        first = attribute(attributes, "format").partition(",")[0].strip()
        self._level.digits = min(len(first), 9) if first.isdecimal() else 1

    def _set_text(self, attributes: Attributes) -> None:
        self._level.text = attribute(attributes, "val")[:MAX_LABEL_CHARS]

    def _set_restart(self, attributes: Attributes) -> None:
        self._level.restart = parse_whole(attribute(attributes, "val"))

    def _set_gap(self, attributes: Attributes) -> None:
        self._level.gap = "" if attribute(attributes, "val") == "nothing" else " "

    def _set_legal(self, attributes: Attributes) -> None:
        self._level.is_legal = attribute(attributes, "val") not in ("0", "false", "off")

    def _set_style(self, attributes: Attributes) -> None:
        self._level.style_id = attribute(attributes, "val")


def _count(numbering: _Numbering, counts: dict[int, int], levels: dict[int, _Level], level: int) -> None:
    """Go on by one at a level, and let those below it start anew."""
    own_start = numbering.starts.get(level)
    is_first = level not in numbering.begun
    numbering.begun.add(level)
    if own_start is not None and (is_first or level not in counts):
        counts[level] = own_start
    else:
        counts[level] = counts[level] + 1 if level in counts else levels[level].start
    for below in [place for place in counts if place > level]:
        restart = levels[below].restart if below in levels else None
        if restart is None or level < restart:
            del counts[below]


def _label(levels: dict[int, _Level], counts: dict[int, int], level: int) -> str:
    shown = levels[level]
    if shown.number_format == "bullet":
        return BULLET

    def number(place: re.Match[str]) -> str:
        at = int(place[1]) - 1
        named = levels.get(at)
        if named is None or at > level or named.number_format in ("none", "bullet"):
            return ""
        number_format = "decimal" if shown.is_legal else named.number_format
        return format_number(counts.get(at, named.start), number_format).zfill(named.digits)

    text = _PLACE.sub(number, shown.text).strip()[:MAX_LABEL_CHARS]
    return text + shown.gap if text else ""
