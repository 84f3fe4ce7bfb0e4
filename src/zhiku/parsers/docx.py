"""Read Word documents: what a reader sees of them, paragraph by paragraph."""

from __future__ import annotations

from collections.abc import Iterator

from zhiku.errors import ParseFailed
from zhiku.model import ParsedDocument, Source
from zhiku.parsers.docx_body import BodyReader
from zhiku.parsers.docx_content import Item, number_lines
from zhiku.parsers.docx_notes import COMMENT, NOTE_FORMATS, Notes
from zhiku.parsers.docx_numbering import Numberings
from zhiku.parsers.docx_styles import Styles
from zhiku.parsers.lines import assemble
from zhiku.parsers.ooxml import Package
from zhiku.parsers.ooxml_chart import read_chart
from zhiku.parsers.ooxml_parts import Parts


class DocxParser:
    """Read the body of a document with its notes, comments and charts, without macros, headers and footers."""

    def parse(self, source: Source, data: bytes) -> ParsedDocument:
        """Return the document; each paragraph, table row and note that holds text counts as a line of the file.

        Raise PasswordNeeded if it is encrypted, UnsupportedFormat if it is of Word 97-2003, TooLarge if it unpacks to
        too much, ParseFailed if it is damaged, no Word document, or declares a document type.
        """
        return _Document(Package(data, source.path), source.path).read()


class _Document:
    """The parts of one document. A damaged part is left out, save the main one."""

    def __init__(self, package: Package, path: str) -> None:
        self._parts = Parts(package, path, usual_main="word/document.xml")
        self._path = path

    def read(self) -> ParsedDocument:
        parts, styles = self._parts, Styles()
        numberings = Numberings(styles)
        properties = parts.read_properties()
        parts.walk(parts.by_kind.get("styles", ""), styles.handlers())
        parts.walk(parts.by_kind.get("numbering", ""), numberings.handlers())
        notes = Notes()
        for kind in (*NOTE_FORMATS, COMMENT):
            reader = BodyReader(self._path, styles, Numberings(styles))
            parts.walk(parts.by_kind.get(f"{kind}s", ""), reader.handlers())
            notes.add(kind, reader.notes, reader.authors)
        body = BodyReader(self._path, styles, numberings, notes=notes, read_drawing=self._read_drawing)
        parts.walk_main(body.handlers())
        if not body.is_document:
            raise ParseFailed(
                "{path} is not a Word document", path=self._path, hint="give the file the ending of what it is"
            )
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

    def _read_drawing(self, relationship_id: str) -> list[Item]:
        found = self._parts.by_id.get(relationship_id)
        if found is not None and found.kind == "chart":
            text = read_chart(self._parts, found.part)
            return [Item("paragraph", text)] if text else []
        styles = Styles()
        reader = BodyReader(self._path, styles, Numberings(styles))
        self._parts.walk(found.part if found else "", reader.handlers())
        return reader.items

    def _iter_warnings(self, body: BodyReader) -> Iterator[str]:
        yield from self._parts.warnings()
        if body.text.has_hidden_text:
            yield "Hidden text was left out"
        if body.has_foreign_parts:
            yield "Documents of other formats inside this one were left out"
