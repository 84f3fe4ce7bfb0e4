"""Walk through XML of unknown origin once, in bounded memory, with no document types, entities or recursion."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, TypeVar
from xml.parsers import expat  # entities are refused with the document type that would declare them

MAX_DEPTH: Final = 20_000
"""Elements open at once; each costs memory inside expat. Tables nested 4,000 deep have been seen in the wild."""

_BUFFER_BYTES: Final = 1 << 18  # neighbouring characters come in one call up to this

_T = TypeVar("_T")

Attributes = Mapping[str, str]
"""The attributes of an element by name, with the namespace and a brace before it where it has one."""


class MalformedXml(Exception):
    """The bytes are not well-formed XML."""


class DoctypeFound(Exception):
    """There is a document type declaration, the only door to entities and other files."""


class TooDeep(Exception):
    """More than MAX_DEPTH elements are open at once."""


@dataclass(frozen=True, kw_only=True)
class Handlers:
    """What to do at which element: by its namespace's prefix in the table of namespaces and its name, `w:p`.

    A start handler that returns True has the element passed over, with all that is in it and without its end.
    """

    starts: Mapping[str, Callable[[Attributes], bool | None]]
    ends: Mapping[str, Callable[[], None]]
    characters: Callable[[str], None]


def attribute(attributes: Attributes, name: str) -> str:
    """Return the attribute of this name, whatever its namespace; an empty string where there is none."""
    return next((value for key, value in attributes.items() if key.rpartition("}")[2] == name), "")


def parse_whole(text: str) -> int | None:
    """Return a whole number as it stands in an attribute, None for anything else."""
    try:
        return int(text) if len(text) <= 10 else None
    except ValueError:
        return None


def walk(
    data: bytes | bytearray,
    handlers: Handlers,
    namespaces: Mapping[str, tuple[str, ...]],
    *,
    allow_doctype: bool = False,
) -> None:
    """Call the handlers from the first element to the last.

    `namespaces` gives for each prefix its addresses. Raise MalformedXml, DoctypeFound or TooDeep; what a handler
    raises passes through. With `allow_doctype` a document type may name a file, which is not opened, but declare
    nothing itself.
    """
    parser = expat.ParserCreate(namespace_separator="}")
    parser.buffer_text = True
    parser.buffer_size = _BUFFER_BYTES
    starts = _by_address(handlers.starts, namespaces)
    ends = _by_address(handlers.ends, namespaces)
    depth = 0
    passed_over = 0  # the depth of the element that is passed over, or 0

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal depth, passed_over
        depth += 1
        if depth > MAX_DEPTH:
            raise TooDeep
        if not passed_over:
            handler = starts.get(name)
            if handler is not None and handler(attributes):
                passed_over = depth

    def end(name: str) -> None:
        nonlocal depth, passed_over
        if not passed_over:
            handler = ends.get(name)
            if handler is not None:
                handler()
        elif depth == passed_over:
            passed_over = 0
        depth -= 1

    def characters(text: str) -> None:
        if not passed_over:
            handlers.characters(text)

    parser.StartDoctypeDeclHandler = _refuse_declarations if allow_doctype else _refuse_doctype
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = characters
    try:
        parser.Parse(data, True)
    except (expat.ExpatError, LookupError, ValueError) as error:  # the latter two: of the encoding that it declares
        raise MalformedXml(str(error)) from error


def _by_address(table: Mapping[str, _T], namespaces: Mapping[str, tuple[str, ...]]) -> dict[str, _T]:
    found = {}
    for name, value in table.items():
        prefix, _, local = name.rpartition(":")
        for address in namespaces[prefix]:
            found[f"{address}}}{local}"] = value
    return found


def _refuse_declarations(_: str, __: str | None, ___: str | None, has_declarations: bool) -> None:
    if has_declarations:
        raise DoctypeFound


def _refuse_doctype(*_: object) -> None:
    raise DoctypeFound
