"""The fields of a chunk that the lexical index keeps apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from zhiku.model import ChunkTokens
from zhiku.text.analyze import Analyzer


def passage_for_embedding(title: str, section: Sequence[str], text: str) -> str:
    """Return what the embedder is given of a chunk: its document's title and its headings, each once, then its text."""
    context = " › ".join(dict.fromkeys(name for name in (title, *section) if name))
    return f"{context}\n{text}" if context else text


class FieldAnalyzer:
    """Turns the chunks of one document into tokens, field by field; what they share is analyzed once.

    Fields: the chunk's text; the document's title with its aliases and tags; the chain of headings; the file's name.
    """

    def __init__(self, analyzer: Analyzer, path: str, title: str, metadata: Mapping[str, Any]) -> None:
        self._analyzer = analyzer
        self._title = analyzer.tokens("\n".join([title, *metadata.get("aliases", ()), *metadata.get("tags", ())]))
        self._name = analyzer.tokens(PurePosixPath(path).stem)
        self._headings: dict[tuple[str, ...], list[str]] = {}

    def tokens(self, text: str, section: Sequence[str]) -> ChunkTokens:
        """Return the tokens of a chunk of the document."""
        chain = tuple(section)
        if chain not in self._headings:
            self._headings[chain] = self._analyzer.tokens("\n".join(chain))
        return ChunkTokens(
            body=self._analyzer.tokens(text),
            title=self._title,
            heading=self._headings[chain],
            name=self._name,
        )
