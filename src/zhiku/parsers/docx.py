"""Read Word documents: what a reader sees of them, paragraph by paragraph."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from zhiku.errors import ParseFailed
from zhiku.model import ParsedDocument, Source
from zhiku.parsers.docx_body import NOTE_FORMATS, BodyReader
from zhiku.parsers.docx_content import Item, number_lines
from zhiku.parsers.docx_numbering import Numberings
from zhiku.parsers.docx_properties import Properties
from zhiku.parsers.docx_styles import Styles
from zhiku.parsers.lines import assemble
from zhiku.parsers.ooxml import DamagedPart, Package, Relationship
from zhiku.parsers.xml_walk import Handlers

_USUAL_MAIN_PART: Final = "word/document.xml"
_USUAL_PROPERTIES: Final = "docProps/core.xml"


class DocxParser:
    """Read the body of a document and its notes, without macros, comments, headers and footers."""

    def parse(self, source: Source, data: bytes) -> ParsedDocument:
        """Return the document; each paragraph, table row and note that holds text counts as a line of the file.

        Raise PasswordNeeded if it is encrypted, UnsupportedFormat if it is of Word 97-2003, TooLarge if it unpacks to
        too much, ParseFailed if it is damaged, no Word document, or declares a document type.
        """
        return _Document(Package(data, source.path), source.path).read()


class _Document:
    """The parts of one document. A damaged part is left out, save the main one."""

    def __init__(self, package: Package, path: str) -> None:
        self._package = package
        self._path = path
        self._damaged: list[str] = []
        of_package = dict(self._relationships("").values())
        self._main = of_package.get("officeDocument", _USUAL_MAIN_PART)
        self._by_id = self._relationships(self._main)
        self._parts = dict(self._by_id.values())
        self._parts["core-properties"] = of_package.get("core-properties", _USUAL_PROPERTIES)

    def read(self) -> ParsedDocument:
        properties, styles = Properties(), Styles()
        numberings = Numberings(styles)
        self._walk(self._parts["core-properties"], properties.handlers())
        self._walk(self._parts.get("styles", ""), styles.handlers())
        self._walk(self._parts.get("numbering", ""), numberings.handlers())
        notes = {kind: self._read_notes(self._parts.get(f"{kind}s", ""), styles) for kind in NOTE_FORMATS}
        body = BodyReader(self._path, styles, numberings, notes=notes, read_drawing=self._read_drawing)
        self._read_main(body)
        text, blocks, numbers = assemble(number_lines(body.items))
        first = next((block.title for block in blocks if block.level == 1), "")
        return ParsedDocument(
            text=text,
            blocks=tuple(blocks),
            title=body.title or properties.title or first,
            metadata=properties.metadata,
            line_numbers=tuple(numbers),
            warnings=tuple(self._iter_warnings(body)),
        )

    def _read_main(self, body: BodyReader) -> None:
        try:
            self._package.walk(self._main, body.handlers())
        except DamagedPart as error:
            raise ParseFailed(
                "{path} is damaged: {cause}",
                path=self._path,
                cause=str(error),
                hint="open it in its own program to check it",
            ) from error
        if not body.is_document:
            raise ParseFailed(
                "{path} is not a Word document", path=self._path, hint="give the file the ending of what it is"
            )

    def _read_notes(self, part: str, styles: Styles) -> dict[str, list[Item]]:
        reader = BodyReader(self._path, styles, Numberings(styles))
        self._walk(part, reader.handlers())
        return reader.notes

    def _read_drawing(self, relationship_id: str) -> list[Item]:
        found = self._by_id.get(relationship_id)
        styles = Styles()
        reader = BodyReader(self._path, styles, Numberings(styles))
        self._walk(found.part if found else "", reader.handlers())
        return reader.items

    def _relationships(self, part: str) -> dict[str, Relationship]:
        try:
            return self._package.relationships(part)
        except DamagedPart:
            self._damaged.append(f"relationships of {part}" if part else "relationships")
            return {}

    def _walk(self, part: str, handlers: Handlers) -> None:
        try:
            self._package.walk(part, handlers)
        except DamagedPart:
            self._damaged.append(part)

    def _iter_warnings(self, body: BodyReader) -> Iterator[str]:
        if self._damaged:
            names = ", ".join(dict.fromkeys(self._damaged))
            yield f"Parts of the file that are damaged and were left out: {names}"
        if body.text.has_hidden_text:
            yield "Hidden text was left out"
        if body.has_foreign_parts:
            yield "Documents of other formats inside this one were left out"
