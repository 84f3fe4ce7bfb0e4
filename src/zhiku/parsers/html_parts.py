"""Tell a page's content from its menus, by what its elements are called and how much of their text is links."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final, Literal

from zhiku.parsers.html_elements import NEVER_SHOWN, SURROUNDINGS, VOID, OpenElements
from zhiku.text.markup import Tag, Text, iter_markup, parse_attributes

CONTENT_SHARE: Final = 0.5
"""An element that is called the content is it if it holds so much of the page's text."""

MENU_LINK_SHARE: Final = 0.5
"""An element that is called a menu is one if so much of its text is links."""

_CONTENT_IDS: Final = frozenset(("content", "main", "main-content", "maincontent", "mw-content-text", "bodycontent"))
_MENU_NAME: Final = re.compile(
    r"(?:(?:main|site|page|top|bottom|left|right|side|global|primary|secondary)[-_]?)?"
    r"(?:nav|navbar|navigation|navheader|navfooter|menu|sidebar|breadcrumbs?|pagination|pager|footer|toolbar)",
    re.IGNORECASE,
)
_MENU_ELEMENTS: Final = frozenset(("div", "ul", "ol", "dl", "section", "table", "td", "header", "p"))
_MAY_TELL: Final = re.compile(r"main|content|articlebody|nav|menu|bar|breadcrumb|pag|footer", re.IGNORECASE)
"""What any of these names has: most attributes are not worth reading."""

_Kind = Literal["main", "article", "content", "menu", "surroundings"]
_TIERS: Final[tuple[_Kind, ...]] = ("main", "article", "content")


@dataclass(frozen=True, kw_only=True)
class Parts:
    """Elements of a page, by where their start tags begin."""

    content: frozenset[int] = frozenset()
    """Those that hold the content, none within another; none where the page does not tell."""
    menus: frozenset[int] = frozenset()
    kept: frozenset[int] = frozenset()
    """Forms, asides and the like that hold most of the page's text."""


@dataclass
class _Part:
    """An element that may be a part of the page; `text` and `links` are counted in characters."""

    kind: _Kind
    char_start: int
    is_outermost: bool
    text: int
    links: int


@dataclass
class _Survey:
    """Counts of the page so far; those of an open part are what they were at its start, less than zero."""

    parts: list[_Part] = field(default_factory=list)
    text: int = 0
    links: int = 0
    dropped: int = 0
    in_links: int = 0
    open_of_kind: dict[str, int] = field(default_factory=dict)

    def start(self, tag: Tag) -> _Part | None:
        self.dropped += tag.name in NEVER_SHOWN
        self.in_links += tag.name == "a"
        kind = _kind_of(tag)
        if kind is None:
            return None
        is_outermost = not self.open_of_kind.get(kind)
        self.open_of_kind[kind] = self.open_of_kind.get(kind, 0) + 1
        return _Part(kind, tag.char_start, is_outermost, -self.text, -self.links)

    def leave(self, name: str, part: _Part | None) -> None:
        self.dropped -= name in NEVER_SHOWN
        self.in_links -= name == "a"
        if part:
            self.open_of_kind[part.kind] -= 1
            part.text += self.text
            part.links += self.links
            self.parts.append(part)

    def add(self, text: str) -> None:
        if not self.dropped:
            chars = len(text.strip())
            self.text += chars
            self.links += chars if self.in_links else 0


def find_parts(page: str) -> Parts:
    """Return what can be told of the page's parts, in linear time."""
    survey = _Survey()
    elements = OpenElements[_Part | None](survey.leave)
    for piece in iter_markup(page):
        if isinstance(piece, Text):
            survey.add(piece.raw)
        elif piece.is_end:
            elements.end(piece.name)
        else:
            elements.end_implied(piece.name)
            if piece.name not in VOID:
                elements.start(piece.name, survey.start(piece))
    elements.end_all()
    return _judge(survey)


def _judge(survey: _Survey) -> Parts:
    half = survey.text * CONTENT_SHARE
    kept = [part for part in survey.parts if part.kind == "surroundings" and part.text > half]
    menus = [
        part for part in survey.parts if part.kind == "menu" and part.text and part.links >= part.text * MENU_LINK_SHARE
    ]
    return Parts(content=_choose_content(survey), menus=_starts(menus), kept=_starts(kept))


def _choose_content(survey: _Survey) -> frozenset[int]:
    around = sum(part.text for part in survey.parts if part.kind == "surroundings" and part.is_outermost)
    least = max(survey.text - around, 1) * CONTENT_SHARE
    for kind in _TIERS:
        chosen = [part for part in survey.parts if part.kind == kind and part.is_outermost]
        if sum(part.text for part in chosen) >= least:
            return _starts(chosen)
    return frozenset()


def _starts(parts: list[_Part]) -> frozenset[int]:
    return frozenset(part.char_start for part in parts)


def _kind_of(tag: Tag) -> _Kind | None:
    if tag.name in SURROUNDINGS:
        return "surroundings"
    if tag.name == "main":
        return "main"
    if tag.name == "article":
        return "article"
    if not tag.attributes or not _MAY_TELL.search(tag.attributes):
        return None
    attributes = parse_attributes(tag.attributes)
    names = [attributes.get("id", ""), *attributes.get("class", "").split()]
    if attributes.get("role", "").lower() == "main":
        return "main"
    if names[0].lower() in _CONTENT_IDS or attributes.get("itemprop", "").lower() == "articlebody":
        return "content"
    if tag.name in _MENU_ELEMENTS and any(_MENU_NAME.fullmatch(name) for name in names):
        return "menu"
    return None
