"""Read the comments on slides, in the form that PowerPoint has used since 2007 and in that of today ([MS-PPTX])."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from zhiku.parsers.comments import show_comment
from zhiku.parsers.ooxml_parts import Parts
from zhiku.parsers.xml_walk import Attributes, Handlers, attribute


def read_authors(parts: Parts) -> dict[str, str]:
    """Return the names of all who commented, by what their comments call them."""
    authors: dict[str, str] = {}

    def add(attributes: Attributes) -> None:
        authors[attribute(attributes, "id")] = attribute(attributes, "name")

    handlers = Handlers(starts={"p:cmAuthor": add, "p188:author": add}, ends={}, characters=lambda _: None)
    for kind in ("commentAuthors", "authors"):
        parts.walk(parts.by_kind.get(kind, ""), handlers)
    return authors


def read_comments(parts: Parts, part: str, authors: Mapping[str, str]) -> Iterator[str]:
    """Yield the comments of a slide, and the replies to each behind it, as they are shown."""
    reader = _CommentReader()
    parts.walk(part, reader.handlers())
    return filter(None, (show_comment(authors.get(author, ""), "".join(text)) for author, text in reader.comments))


class _CommentReader:
    def __init__(self) -> None:
        self.comments: list[tuple[str, list[str]]] = []
        self._open: list[list[str]] = []
        self._in_text = False

    def handlers(self) -> Handlers:
        return Handlers(
            starts={
                "p:cm": self._start,
                "p188:cm": self._start,
                "p188:reply": self._start,
                "a:p": self._start_line,
                "a:br": self._start_line,
                "p:text": self._start_text,
                "a:t": self._start_text,
            },
            ends={
                "p:cm": self._end,
                "p188:cm": self._end,
                "p188:reply": self._end,
                "p:text": self._end_text,
                "a:t": self._end_text,
            },
            characters=self._add,
        )

    def _start(self, attributes: Attributes) -> None:
        text: list[str] = []
        self.comments.append((attribute(attributes, "authorId"), text))
        self._open.append(text)

    def _end(self) -> None:
        self._open.pop()

    def _start_line(self, _: Attributes) -> None:
        if self._open:
            self._open[-1].append("\n")

    def _start_text(self, _: Attributes) -> None:
        self._in_text = True

    def _end_text(self) -> None:
        self._in_text = False

    def _add(self, text: str) -> None:
        if self._in_text and self._open:
            self._open[-1].append(text)
