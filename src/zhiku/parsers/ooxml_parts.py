"""The parts of one Office document by what they are for; one that is damaged is left out, save the main one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from zhiku.errors import ParseFailed
from zhiku.parsers.archive import DamagedPart
from zhiku.parsers.ooxml import Package, Relationship
from zhiku.parsers.ooxml_properties import Properties
from zhiku.parsers.xml_walk import Handlers

_USUAL_PROPERTIES: Final = "docProps/core.xml"


class Parts:
    """What the main part of a package points at: `by_id` of the relationship, and `by_kind`, the last of each."""

    def __init__(self, package: Package, path: str, *, usual_main: str) -> None:
        self._package = package
        self._path = path
        self._damaged: list[str] = []
        self._of_package = dict(self.relationships("").values())
        self.main = self._of_package.get("officeDocument", usual_main)
        self.by_id = self.relationships(self.main)
        self.by_kind = dict(self.by_id.values())

    def relationships(self, part: str) -> dict[str, Relationship]:
        """Return a part's relationships by id; none where they are damaged."""
        try:
            return self._package.relationships(part)
        except DamagedPart:
            self._damaged.append(f"relationships of {part}" if part else "relationships")
            return {}

    def walk(self, part: str, handlers: Handlers) -> None:
        """Walk through a part's XML as far as it goes."""
        try:
            self._package.walk(part, handlers)
        except DamagedPart:
            self._damaged.append(part)

    def walk_main(self, handlers: Handlers) -> None:
        """Walk through the main part's XML; raise ParseFailed if it is damaged."""
        try:
            self._package.walk(self.main, handlers)
        except DamagedPart as error:
            raise ParseFailed(
                "{path} is damaged: {cause}",
                path=self._path,
                cause=str(error),
                hint="open it in its own program to check it",
            ) from error

    def read_properties(self) -> Properties:
        """Return the document's title, author and so on."""
        properties = Properties()
        self.walk(self._of_package.get("core-properties", _USUAL_PROPERTIES), properties.handlers())
        return properties

    def warnings(self) -> Iterator[str]:
        """Yield what was left out, as a text for people."""
        if self._damaged:
            names = ", ".join(dict.fromkeys(self._damaged))
            yield f"Parts of the file that are damaged and were left out: {names}"
