"""A folder of documents with a library over it, as the tests of whole flows use it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from zhiku.answer import Answer, Query
from zhiku.ingest.report import Report
from zhiku.service.base import Base
from zhiku.service.library import Library


class Shelf:
    """Documents in `docs`, and a home beside it with one base, `default`, unless named."""

    def __init__(self, folder: Path) -> None:
        self.docs = folder / "docs"
        self.docs.mkdir(parents=True, exist_ok=True)
        self.library = Library(folder / "home")
        self._ticks = 0

    def write(self, path: str, content: str | bytes) -> Path:
        """Write a document; every write has a time of its own, however fast the test is."""
        file = self.docs / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        self._ticks += 1
        stamp = 1_600_000_000 + self._ticks
        os.utime(file, (stamp, stamp))
        return file

    def index(self, *parts: Path, name: str = "default", **options: Any) -> Report:
        """Index all documents, or some parts, by their words, and return the report of the last one."""
        return self.library.index(parts or [self.docs], name, embed=False, **options)[-1].report

    @property
    def base(self) -> Base:
        """Return the base `default`."""
        return self.library.open("default")

    @property
    def index_file(self) -> Path:
        """Return where the base `default` keeps its index."""
        return self.base._store.path

    def search(self, text: str, **limits: Any) -> Answer:
        """Search all bases, by words unless told otherwise."""
        return self.library.search(Query(text=text, **{"mode": "lexical", **limits}), self.library.names())

    def found(self, text: str, **limits: Any) -> list[str]:
        """Return the paths of the hits, best first."""
        return [hit.path for hit in self.search(text, **limits)]

    def grep(self, keyword: str, **limits: Any) -> list[tuple[str, int, str]]:
        """Return (path, line, text) of every line of `default` that holds a keyword."""
        return [(doc.source.path, match.line, match.text) for doc, match in self.base.grep(keyword, **limits)]
