"""Read the table of contents of an e-book: of EPUB 3, a list in a page; of EPUB 2, a file of its own (NCX)."""

from __future__ import annotations

from typing import Final, NamedTuple

from zhiku.parsers.xml_walk import Attributes, Handlers, attribute

NAMESPACES: Final = {
    "container": ("urn:oasis:names:tc:opendocument:xmlns:container",),
    "dc": ("http://purl.org/dc/elements/1.1/", "http://purl.org/dc/elements/1.0/"),
    "enc": ("http://www.w3.org/2001/04/xmlenc#",),
    "html": ("http://www.w3.org/1999/xhtml",),
    "ncx": ("http://www.daisy.org/z3986/2005/ncx/",),
    "opf": ("http://www.idpf.org/2007/opf", "http://openebook.org/namespaces/oeb-package/1.0/"),
}
"""The addresses of each namespace of an e-book by its usual prefix."""

MAX_LEVEL: Final = 6
_MAX_CHARS: Final = 300


class Entry(NamedTuple):
    """An entry that points into a part of the book; levels count from 1."""

    part: str
    title: str
    level: int


class NcxReader:
    """The contents of an EPUB 2, to be filled by the handlers; `part` is as written."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self._level = 0
        self._in_text = False
        self._title = ""

    def handlers(self) -> Handlers:
        """Return what reads the part."""
        return Handlers(
            starts={
                "ncx:navPoint": self._start_point,
                "ncx:text": self._start_text,
                "ncx:content": self._add_entry,
                "ncx:pageList": lambda _: True,
                "ncx:navList": lambda _: True,
                "ncx:docTitle": lambda _: True,
                "ncx:docAuthor": lambda _: True,
            },
            ends={"ncx:navPoint": self._end_point, "ncx:text": self._end_text},
            characters=self._add,
        )

    def _start_point(self, _: Attributes) -> None:
        self._level += 1

    def _end_point(self) -> None:
        self._level -= 1

    def _start_text(self, _: Attributes) -> None:
        self._in_text = True
        self._title = ""

    def _end_text(self) -> None:
        self._in_text = False

    def _add(self, text: str) -> None:
        if self._in_text:
            self._title = (self._title + text)[:_MAX_CHARS]

    def _add_entry(self, attributes: Attributes) -> None:
        if title := " ".join(self._title.split()):
            level = min(max(self._level, 1), MAX_LEVEL)
            self.entries.append(Entry(attribute(attributes, "src"), title, level))


class NavReader:
    """The contents of an EPUB 3, likewise: the lists of the `nav` whose type is `toc`.

    An entry that is no link, but only stands above others, has an empty `part`.
    """

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self._level = 0
        self._href: str | None = None
        self._title: str | None = None

    def handlers(self) -> Handlers:
        """Return what reads the part."""
        return Handlers(
            starts={
                "html:nav": self._start_nav,
                "html:ol": self._start_list,
                "html:a": self._start_link,
                "html:span": self._start_label,
            },
            ends={"html:ol": self._end_list, "html:a": self._end_link, "html:span": self._end_label},
            characters=self._add,
        )

    def _start_nav(self, attributes: Attributes) -> bool:
        return "toc" not in attribute(attributes, "type").split()

    def _start_list(self, _: Attributes) -> None:
        self._level += 1

    def _end_list(self) -> None:
        self._level -= 1

    def _start_link(self, attributes: Attributes) -> None:
        self._href = attribute(attributes, "href")
        self._title = ""

    def _end_link(self) -> None:
        self._end_entry(self._href or "")
        self._href = None

    def _start_label(self, _: Attributes) -> None:
        if self._href is None:  # else it is a part of a link
            self._title = ""

    def _end_label(self) -> None:
        if self._href is None:
            self._end_entry("")

    def _end_entry(self, href: str) -> None:
        title = " ".join((self._title or "").split())
        if title and self._level:
            self.entries.append(Entry(href, title, min(self._level, MAX_LEVEL)))
        self._title = None

    def _add(self, text: str) -> None:
        if self._title is not None:
            self._title = (self._title + text)[:_MAX_CHARS]
