"""What the properties of an Office document say of it: title, author, date, keywords."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from typing import Any, Final

from zhiku.parsers.titles import names_something
from zhiku.parsers.xml_walk import Attributes, Handlers

_FIELDS: Final = ("dc:title", "dc:creator", "cp:keywords", "dcterms:created")
_MAX_CHARS: Final = 1_000
_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d)?(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)?)?")
_BETWEEN_KEYWORDS: Final = re.compile(r"[,，、;；]")


class Properties:
    """The core properties of a package, to be filled by the handlers."""

    def __init__(self) -> None:
        self._texts: defaultdict[str, str] = defaultdict(str)
        self._open = ""

    def handlers(self) -> Handlers:
        """Return what reads the part of core properties."""
        return Handlers(
            starts={name: self._start(name) for name in _FIELDS},
            ends=dict.fromkeys(_FIELDS, self._end),
            characters=self._add,
        )

    @property
    def title(self) -> str:
        """Return the title, if it is one that a person gave."""
        title = self._text("dc:title")
        return title if names_something(title) else ""

    @property
    def metadata(self) -> Mapping[str, Any]:
        """Return what there is of `author`, `created` (ISO 8601) and `tags`."""
        created = self._text("dcterms:created")
        words = (word.strip() for word in _BETWEEN_KEYWORDS.split(self._text("cp:keywords")))
        found = {
            "author": self._text("dc:creator"),
            "created": created if _DATE.fullmatch(created) else "",
            "tags": [word for word in dict.fromkeys(words) if word],
        }
        return {name: value for name, value in found.items() if value}

    def _text(self, name: str) -> str:
        return " ".join(self._texts[name].split())

    def _start(self, name: str) -> Any:
        def start(_: Attributes) -> None:
            self._open = name

        return start

    def _end(self) -> None:
        self._open = ""

    def _add(self, text: str) -> None:
        if self._open:
            self._texts[self._open] = (self._texts[self._open] + text)[:_MAX_CHARS]
