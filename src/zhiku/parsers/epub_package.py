"""Open an e-book (EPUB 2 and 3) within limits: its chapters in reading order, its contents, what is encrypted."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple
from urllib.parse import unquote

from zhiku.errors import ParseFailed, PasswordNeeded
from zhiku.parsers.archive import Archive, DamagedPart, NoArchive
from zhiku.parsers.epub_contents import NAMESPACES, Entry, NavReader, NcxReader
from zhiku.parsers.epub_opf import Item, OpfReader
from zhiku.parsers.xml_walk import Attributes, DoctypeFound, Handlers, MalformedXml, TooDeep, attribute, walk

_CONTAINER: Final = "META-INF/container.xml"
_ENCRYPTION: Final = "META-INF/encryption.xml"
_CHAPTER_TYPES: Final = frozenset(("application/xhtml+xml", "text/html", "text/x-oeb1-document", "application/xml"))
_CHAPTER_ENDINGS: Final = (".xhtml", ".html", ".htm")
# These only keep fonts from being copied (EPUB 3.3, 4.4; Adobe's older way).
_FONT_ALGORITHMS: Final = frozenset(("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC"))
_SCHEMES: Final = {
    "META-INF/rights.xml": "Adobe DRM",
    "META-INF/sinf.xml": "Apple FairPlay",
    "META-INF/license.lcpl": "Readium LCP",
}
"""Files that a kind of protection brings along."""


class Chapter(NamedTuple):
    """A part of the text, and the entries of the contents that point into it."""

    part: str
    entries: tuple[Entry, ...]


class BookPackage:
    """A book's parts. What is damaged, missing, encrypted or outside of it is counted, and left out."""

    def __init__(self, data: bytes, path: str) -> None:
        """Raise TooLarge, PasswordNeeded, or ParseFailed if it is damaged or no e-book."""
        self._path = path
        self.damaged: list[str] = []
        self.encrypted: list[str] = []
        self.missing: list[str] = []
        self.outside = 0
        try:
            self._archive = Archive(data, path)
        except NoArchive as error:
            raise self._no_book() from error
        opf_part = self._find_opf()
        self._folder = posixpath.dirname(opf_part)
        self._opf = OpfReader()
        if not self._walk(opf_part, self._opf.handlers()) or not self._opf.items:
            raise self._no_book()
        self._encrypted_parts = self._find_encrypted()

    @property
    def title(self) -> str:
        """Return the book's title."""
        return self._opf.title

    @property
    def metadata(self) -> Mapping[str, Any]:
        """Return what there is of `author`, `created`, `language` and `tags`."""
        return self._opf.metadata

    def chapters(self) -> list[Chapter]:
        """Return the chapters that can be read, each once. Raise PasswordNeeded if all are encrypted."""
        entries: dict[str, list[Entry]] = {}
        for entry in self._contents():
            entries.setdefault(entry.part, []).append(entry)
        parts = [part for part in dict.fromkeys(map(self._part_of, self._text_items())) if part]
        readable: list[Chapter] = []
        for part in parts:
            if part in self._encrypted_parts:
                self.encrypted.append(part)
            elif not self._archive.has(part):
                self.missing.append(part)
            else:
                readable.append(Chapter(part, tuple(entries.get(part, ()))))
        if self.encrypted and not readable:
            raise PasswordNeeded(
                "{path} is protected by {scheme}: its text is encrypted",
                path=self._path,
                scheme=next((name for part, name in _SCHEMES.items() if self._archive.has(part)), "DRM"),
                hint="index a copy without protection, if there is one",
            )
        return readable

    def read(self, part: str) -> bytes | None:
        """Return a part's bytes, None if it is damaged."""
        try:
            data = self._archive.read(part)
        except DamagedPart:
            data = None
        if data is None:
            self.damaged.append(part)
            return None
        return bytes(data)

    def _find_opf(self) -> str:
        found: list[str] = []

        def add(attributes: Attributes) -> None:
            found.append(attribute(attributes, "full-path"))

        self._walk(_CONTAINER, Handlers(starts={"container:rootfile": add}, ends={}, characters=lambda _: None))
        # Some books lie in a folder of their archive, where no reader looks for them.
        found += [name for name in self._archive.names() if name.endswith(".opf")]
        if not found or not self._archive.has(found[0]):
            raise self._no_book()
        return posixpath.normpath(found[0])

    def _find_encrypted(self) -> frozenset[str]:
        found: set[str] = set()
        algorithm = ""

        def start(_: Attributes) -> None:
            nonlocal algorithm
            algorithm = ""

        def set_algorithm(attributes: Attributes) -> None:
            nonlocal algorithm
            algorithm = algorithm or attribute(attributes, "Algorithm")

        def add(attributes: Attributes) -> None:
            if algorithm not in _FONT_ALGORITHMS:
                found.add(resolve("", attribute(attributes, "URI")) or "")

        starts = {"enc:EncryptedData": start, "enc:EncryptionMethod": set_algorithm, "enc:CipherReference": add}
        self._walk(_ENCRYPTION, Handlers(starts=starts, ends={}, characters=lambda _: None))
        return frozenset(found)

    def _text_items(self) -> list[Item]:
        """Return the items of the spine that are text; of a book without one, all that are."""
        spine = [self._opf.items[item] for item in self._opf.spine if item in self._opf.items]
        chosen = spine or list(self._opf.items.values())
        return [
            item
            for item in chosen
            if item.media_type in _CHAPTER_TYPES or item.href.lower().endswith(_CHAPTER_ENDINGS)
            if not item.is_contents
        ]

    def _part_of(self, item: Item) -> str | None:
        part = resolve(self._folder, item.href)
        self.outside += part is None
        return part

    def _contents(self) -> list[Entry]:
        """Return the table of contents: that of EPUB 3, else that of EPUB 2."""
        items = self._opf.items
        nav = next((item for item in items.values() if item.is_contents), None)
        ncx = items.get(self._opf.contents_id) or next(
            (item for item in items.values() if item.media_type == "application/x-dtbncx+xml"), None
        )
        for item, reader in ((nav, NavReader), (ncx, NcxReader)):
            part = resolve(self._folder, item.href) if item else None
            if part is None or part in self._encrypted_parts:
                continue
            contents = reader()
            self._walk(part, contents.handlers())
            if contents.entries:
                return _resolved(contents.entries, posixpath.dirname(part))
        return []

    def _walk(self, part: str, handlers: Handlers) -> bool:
        """Walk through a part's XML and answer whether that went to its end; one that is damaged is noted."""
        try:
            data = self._archive.read(part)
            if data is None:
                return False
            # Their document types name files of the standards, which are not opened.
            walk(data, handlers, NAMESPACES, allow_doctype=True)
        except (DamagedPart, MalformedXml, DoctypeFound, TooDeep):
            self.damaged.append(part)
            return False
        return True

    def _no_book(self) -> ParseFailed:
        return ParseFailed(
            "{path} is not an e-book in EPUB format", path=self._path, hint="give the file the ending of what it is"
        )


def _resolved(entries: Sequence[Entry], folder: str) -> list[Entry]:
    """Return entries with the parts that they point at; one that points at none belongs to the next one's."""
    found: list[Entry] = []
    part = ""
    for entry in reversed(entries):
        part = (resolve(folder, entry.part) or "") if entry.part else part
        found.append(entry._replace(part=part))
    return found[::-1]


def resolve(folder: str, href: str) -> str | None:
    """Return the part that a reference in a folder means; None where it lies outside of the book."""
    path = unquote(href.partition("#")[0].partition("?")[0]).replace("\\", "/")
    if ":" in path.partition("/")[0]:  # http:, file: and the like
        return None
    part = posixpath.normpath(posixpath.join(folder, path)).lstrip("/")
    return None if part.split("/")[0] == ".." else part.lower()
