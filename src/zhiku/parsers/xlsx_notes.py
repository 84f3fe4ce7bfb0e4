"""Read what is attached to the cells of a sheet: comments in both forms, and the words of charts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from zhiku.parsers.comments import show_comment
from zhiku.parsers.ooxml import Relationship, relationship_id
from zhiku.parsers.ooxml_chart import read_chart
from zhiku.parsers.ooxml_parts import Parts
from zhiku.parsers.sheets import Note
from zhiku.parsers.xml_walk import Attributes, Handlers, attribute, parse_whole

_ROW: Final = re.compile(r"\$?[A-Za-z]{1,3}\$?([1-9][0-9]{0,6})")
_COPY_MARK: Final = "tc="
"""Begins the author of what stands for a threaded comment in programs that know none ([MS-XLSX] 2.1.14)."""


def read_notes(parts: Parts, sheet: str, persons: Mapping[str, str]) -> Iterator[Note]:
    """Yield the comments on a sheet's cells, then its charts; `persons` are the names of who wrote threaded ones."""
    related = list(parts.relationships(sheet).values())
    reader = _CommentReader(persons)
    for kind, part in related:
        if kind in ("comments", "threadedComment"):
            parts.walk(part, reader.handlers())
    yield from reader.notes()
    for kind, part in related:
        if kind == "drawing":
            yield from _read_charts(parts, part)


def read_persons(parts: Parts) -> dict[str, str]:
    """Return the names of those who wrote threaded comments, by id."""
    persons: dict[str, str] = {}

    def add(attributes: Attributes) -> None:
        persons[attribute(attributes, "id")] = attribute(attributes, "displayName")

    handlers = Handlers(starts={"tc:person": add}, ends={}, characters=lambda _: None)
    parts.walk(parts.by_kind.get("person", ""), handlers)
    return persons


class _Comment(NamedTuple):
    place: str
    author: str
    text: list[str]


class _CommentReader:
    """Reads the comments of one sheet, which may be in two parts."""

    def __init__(self, persons: Mapping[str, str]) -> None:
        self._persons = persons
        self._authors: list[str] = []
        self._author: list[str] = []
        self._comments: list[_Comment] = []
        self._into: list[str] | None = None

    def handlers(self) -> Handlers:
        return Handlers(
            starts={
                "s:author": self._start_author,
                "s:comment": self._start_comment,
                "tc:threadedComment": self._start_threaded,
                "s:t": self._start_text,
                "tc:text": self._start_text,
                "s:rPh": lambda _: True,
            },
            ends={"s:author": self._end_author, "s:t": self._end_text, "tc:text": self._end_text},
            characters=self._add,
        )

    def notes(self) -> Iterator[Note]:
        """Yield the comments as they are shown, without what only stands for a threaded one."""
        for place, author, parts in self._comments:
            text = "".join(parts).strip().removeprefix(f"{author}:") if author else "".join(parts)
            found = _ROW.fullmatch(place)
            shown = show_comment(author, text, place.replace("$", ""))
            if found and shown and not author.startswith(_COPY_MARK):
                yield Note(int(found[1]), shown)

    def _start_author(self, _: Attributes) -> None:
        self._into = self._author = []

    def _end_author(self) -> None:
        self._authors.append("".join(self._author))
        self._into = None

    def _start_comment(self, attributes: Attributes) -> None:
        number = parse_whole(attribute(attributes, "authorId"))
        known = number is not None and 0 <= number < len(self._authors)
        self._comments.append(_Comment(attribute(attributes, "ref"), self._authors[number or 0] if known else "", []))

    def _start_threaded(self, attributes: Attributes) -> None:
        author = self._persons.get(attribute(attributes, "personId"), "")
        self._comments.append(_Comment(attribute(attributes, "ref"), author, []))

    def _start_text(self, _: Attributes) -> None:
        self._into = self._comments[-1].text if self._comments else None

    def _end_text(self) -> None:
        self._into = None

    def _add(self, text: str) -> None:
        if self._into is not None:
            self._into.append(text)


def _read_charts(parts: Parts, drawing: str) -> Iterator[Note]:
    places: list[tuple[int, str]] = []
    row = 0
    digits: list[str] | None = None

    def start_row(_: Attributes) -> None:
        nonlocal digits
        digits = []

    def end_row() -> None:
        nonlocal digits, row
        row = max(0, parse_whole("".join(digits or ())) or 0)
        digits = None

    def end_anchor() -> None:
        nonlocal row
        row = 0

    def add(text: str) -> None:
        if digits is not None:
            digits.append(text)

    handlers = Handlers(
        starts={
            "xdr:to": lambda _: True,
            "xdr:row": start_row,
            "c:chart": lambda attributes: places.append((row + 1, relationship_id(attributes))),
        },
        ends={
            "xdr:row": end_row,
            **dict.fromkeys(("xdr:twoCellAnchor", "xdr:oneCellAnchor", "xdr:absoluteAnchor"), end_anchor),
        },
        characters=add,
    )
    parts.walk(drawing, handlers)
    related: dict[str, Relationship] = parts.relationships(drawing) if places else {}
    for line, chart in places:
        if chart in related and (text := read_chart(parts, related[chart].part)):
            yield Note(line, text, floats=True)
