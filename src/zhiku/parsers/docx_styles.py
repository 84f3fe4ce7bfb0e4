"""What a Word document's paragraph styles say of headings and lists, through all styles that they are based on."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from zhiku.parsers.xml_walk import Attributes, Handlers, attribute, parse_whole

BODY_LEVEL: Final = 9
"""The outline level of what is no heading (ECMA-376 part 1, 17.3.1.20: levels count from 0)."""

_HEADING_NAME: Final = re.compile(r"(?:heading|标题|標題) ?([1-9])(?:\D.*)?", re.IGNORECASE)
_CHINESE_LEVELS: Final = "一二三四五六七八九"
_CHINESE_NAME: Final = re.compile(f"([{_CHINESE_LEVELS}])[级級](?:标题|標題)")
_TITLE_NAMES: Final = frozenset(("title", "标题", "標題", "文档标题"))


@dataclass(kw_only=True)
class Style:
    """A paragraph style. What is None is left to the style that it is based on."""

    style_id: str
    name: str = ""
    based_on: str = ""
    level: int | None = None
    """The outline level from 0, BODY_LEVEL for none."""
    num_id: str | None = None
    """Of its list; "0" for none."""
    num_level: int | None = None
    is_title: bool | None = None


class Styles:
    """The styles of a document, to be filled by the handlers and then looked up."""

    def __init__(self) -> None:
        self._styles: dict[str, Style] = {}
        self._resolved: dict[str, Style] = {}
        self._default = ""
        self._present: Style | None = None

    def handlers(self) -> Handlers:
        """Return what reads the styles part."""
        return Handlers(
            starts={
                "w:style": self._start_style,
                "w:name": lambda attributes: self._set("name", attribute(attributes, "val")),
                "w:basedOn": lambda attributes: self._set("based_on", attribute(attributes, "val")),
                "w:outlineLvl": lambda attributes: self._set("level", parse_whole(attribute(attributes, "val"))),
                "w:numId": lambda attributes: self._set("num_id", attribute(attributes, "val")),
                "w:ilvl": lambda attributes: self._set("num_level", parse_whole(attribute(attributes, "val"))),
                "w:pPrChange": lambda _: True,  # what it was before a change
                "w:tblStylePr": lambda _: True,
            },
            ends={"w:style": self._end_style},
            characters=lambda _: None,
        )

    def style(self, style_id: str) -> Style:
        """Return a style with all that it takes from those it is based on; the default style, if the id is empty."""
        style_id = style_id or self._default
        if style_id not in self._resolved:
            self._resolve(style_id)
        return self._resolved[style_id]

    def _resolve(self, style_id: str) -> None:
        """Resolve a style and, first, each style below it: a hostile chain may be as long as the file."""
        chain: list[Style] = []
        seen: set[str] = set()
        while style_id not in self._resolved and style_id not in seen:
            seen.add(style_id)
            # Documents without a styles part name the usual styles all the same.
            style = self._styles.get(style_id) or Style(style_id=style_id, name=style_id)
            chain.append(style)
            if not style.based_on:
                break
            style_id = style.based_on
        below = self._resolved.get(style_id)
        for style in reversed(chain):
            below = self._resolved[style.style_id] = _with_base(style, below)

    def _start_style(self, attributes: Attributes) -> None:
        style_id = attribute(attributes, "styleId")
        self._present = Style(style_id=style_id)
        kind = attribute(attributes, "type")
        if kind in ("paragraph", "numbering", ""):
            self._styles[style_id] = self._present
        if kind == "paragraph" and attribute(attributes, "default") in ("1", "true", "on"):
            self._default = style_id

    def _end_style(self) -> None:
        self._present = None

    def _set(self, field: str, value: str | int | None) -> None:
        if self._present is not None:
            setattr(self._present, field, value)


def _with_base(style: Style, base: Style | None) -> Style:
    name = style.name.strip()
    level = style.level if style.level is not None else _level_of_name(name)
    is_title = name.lower() in _TITLE_NAMES
    if base is None:
        base = Style(style_id="")
    return Style(
        style_id=style.style_id,
        name=name,
        level=level if level is not None else base.level,
        num_id=style.num_id if style.num_id is not None else base.num_id,
        num_level=style.num_level if style.num_level is not None else base.num_level,
        is_title=is_title or (base.is_title if level is None else False),
    )


def _level_of_name(name: str) -> int | None:
    if match := _HEADING_NAME.fullmatch(name):
        return int(match[1]) - 1
    if match := _CHINESE_NAME.fullmatch(name):
        return _CHINESE_LEVELS.index(match[1])
    return None


def heading_level(levels: Iterable[int | None]) -> int:
    """Return 1 to 6 for the first outline level that is given, 0 where that is none of a heading."""
    level = next((level for level in levels if level is not None), BODY_LEVEL)
    return min(level + 1, 6) if 0 <= level < BODY_LEVEL else 0
