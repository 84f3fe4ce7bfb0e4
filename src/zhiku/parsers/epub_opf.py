"""Read the package document of an e-book: its title and author, its files, and the order in which they are read."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from zhiku.parsers.xml_walk import Attributes, Handlers, attribute

_FIELDS: Final = ("title", "creator", "date", "language", "subject")
_MAX_CHARS: Final = 1_000
_MAX_VALUES: Final = 100


class Item(NamedTuple):
    """A file of the book, as its package names it; `is_contents` is the table of contents of EPUB 3."""

    href: str
    media_type: str
    is_contents: bool


class OpfReader:
    """A package document (EPUB 3.3, 5), to be filled by the handlers."""

    def __init__(self) -> None:
        self.items: dict[str, Item] = {}
        """By id."""
        self.spine: list[str] = []
        self.contents_id = ""
        """Of the table of contents of EPUB 2."""
        self._values: defaultdict[str, list[str]] = defaultdict(list)
        self._open = ""

    def handlers(self) -> Handlers:
        """Return what reads the part."""
        return Handlers(
            starts={
                "opf:item": self._add_item,
                "opf:spine": self._start_spine,
                "opf:itemref": self._add_to_spine,
                **{f"dc:{name}": self._start(name) for name in _FIELDS},
                **{f"dc:{name.capitalize()}": self._start(name) for name in _FIELDS},  # of the time before EPUB
            },
            ends={f"dc:{name}": self._end for each in _FIELDS for name in (each, each.capitalize())},
            characters=self._add,
        )

    @property
    def title(self) -> str:
        """Return the first title."""
        return next(iter(self._texts("title")), "")

    @property
    def metadata(self) -> Mapping[str, Any]:
        """Return what there is of `author`, `created`, `language` and `tags`."""
        found = {
            "author": ", ".join(self._texts("creator")),
            "created": next(iter(self._texts("date")), ""),
            "language": next(iter(self._texts("language")), ""),
            "tags": self._texts("subject"),
        }
        return {name: value for name, value in found.items() if value}

    def _texts(self, name: str) -> list[str]:
        return [text for text in dict.fromkeys(" ".join(value.split()) for value in self._values[name]) if text]

    def _add_item(self, attributes: Attributes) -> None:
        item = Item(
            attribute(attributes, "href"),
            attribute(attributes, "media-type").lower(),
            "nav" in attribute(attributes, "properties").split(),
        )
        self.items[attribute(attributes, "id")] = item

    def _start_spine(self, attributes: Attributes) -> None:
        self.contents_id = attribute(attributes, "toc")

    def _add_to_spine(self, attributes: Attributes) -> None:
        self.spine.append(attribute(attributes, "idref"))

    def _start(self, name: str) -> Callable[[Attributes], None]:
        def start(_: Attributes) -> None:
            if len(self._values[name]) < _MAX_VALUES:
                self._open = name
                self._values[name].append("")

        return start

    def _end(self) -> None:
        self._open = ""

    def _add(self, text: str) -> None:
        if self._open:
            values = self._values[self._open]
            values[-1] = (values[-1] + text)[:_MAX_CHARS]
