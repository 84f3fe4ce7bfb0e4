"""Open packages of Office documents (ECMA-376; ISO/IEC 26300) within limits: their parts, and how these are related."""

from __future__ import annotations

import posixpath
from typing import Final, NamedTuple

from zhiku.errors import ParseFailed, TooLarge, UnsupportedFormat
from zhiku.parsers.archive import Archive, DamagedPart, NoArchive, needs_password
from zhiku.parsers.xml_walk import Attributes, DoctypeFound, Handlers, MalformedXml, TooDeep, attribute, walk

NAMESPACES: Final = {
    "w": (
        "http://schemas.openxmlformats.org/wordprocessingml/2006/main",
        "http://purl.oclc.org/ooxml/wordprocessingml/main",
    ),
    "m": (
        "http://schemas.openxmlformats.org/officeDocument/2006/math",
        "http://purl.oclc.org/ooxml/officeDocument/math",
    ),
    "a": ("http://schemas.openxmlformats.org/drawingml/2006/main", "http://purl.oclc.org/ooxml/drawingml/main"),
    "dgm": (
        "http://schemas.openxmlformats.org/drawingml/2006/diagram",
        "http://purl.oclc.org/ooxml/drawingml/diagram",
    ),
    "p": (
        "http://schemas.openxmlformats.org/presentationml/2006/main",
        "http://purl.oclc.org/ooxml/presentationml/main",
    ),
    "s": (
        "http://schemas.openxmlformats.org/spreadsheetml/2006/main",
        "http://purl.oclc.org/ooxml/spreadsheetml/main",
    ),
    "c": ("http://schemas.openxmlformats.org/drawingml/2006/chart", "http://purl.oclc.org/ooxml/drawingml/chart"),
    "xdr": (
        "http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing",
        "http://purl.oclc.org/ooxml/drawingml/spreadsheetDrawing",
    ),
    # Comments as today's programs write them: [MS-PPTX] and [MS-XLSX].
    "p188": ("http://schemas.microsoft.com/office/powerpoint/2018/8/main",),
    "tc": ("http://schemas.microsoft.com/office/spreadsheetml/2018/threadedcomments",),
    "mc": ("http://schemas.openxmlformats.org/markup-compatibility/2006",),
    "rel": ("http://schemas.openxmlformats.org/package/2006/relationships",),
    "cp": ("http://schemas.openxmlformats.org/package/2006/metadata/core-properties",),
    "dc": ("http://purl.org/dc/elements/1.1/",),
    "dcterms": ("http://purl.org/dc/terms/",),
    # OpenDocument (ISO/IEC 26300)
    "manifest": ("urn:oasis:names:tc:opendocument:xmlns:manifest:1.0", "http://openoffice.org/2001/manifest"),
    "office": ("urn:oasis:names:tc:opendocument:xmlns:office:1.0",),
    "style": ("urn:oasis:names:tc:opendocument:xmlns:style:1.0",),
    "table": ("urn:oasis:names:tc:opendocument:xmlns:table:1.0",),
    "text": ("urn:oasis:names:tc:opendocument:xmlns:text:1.0",),
}
"""The addresses of each namespace by its usual prefix, those of the strict variant (ISO/IEC 29500) among them."""

_WRONG_MARKUP: Final = "the markup of its text is cut off or wrong"
OLE_MARK: Final = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
# Names in an OLE file's directory: of an encrypted package (MS-OFFCRYPTO 2.3.1), of documents of old (MS-DOC 2.1.1,
# MS-XLS 2.1.1, MS-PPT 2.1.1; Excel 5 called it Book, and other programs write capitals).
ENCRYPTED_PACKAGE: Final = "EncryptedPackage".encode("utf-16-le")
WORKBOOK_STREAMS: Final = ("Workbook", "Book", "WORKBOOK", "BOOK")
OLD_WORKBOOKS: Final = tuple(f"{name}\0".encode("utf-16-le") for name in WORKBOOK_STREAMS)
SAVE_ANEW: Final = "open it in its own program and save it in the present format (.docx, .pptx, .xlsx)"
_OLD_WORD: Final = "WordDocument".encode("utf-16-le")
_OLD_SLIDES: Final = "PowerPoint Document".encode("utf-16-le")


class Relationship(NamedTuple):
    """Where a part points at another: the last word of the relation's type, and the other's name."""

    kind: str
    part: str


class Package:
    """The parts of a document. Names of parts are compared without regard to case, as the standard says."""

    def __init__(self, data: bytes, path: str) -> None:
        """Raise PasswordNeeded, UnsupportedFormat, TooLarge or ParseFailed where there is nothing to read."""
        self._path = path
        if data.startswith(OLE_MARK):
            refuse_ole(data, path)
        try:
            self._archive = Archive(data, path)
        except NoArchive as error:
            raise _no_office_document(path) from error

    def has(self, part: str) -> bool:
        """Answer whether there is a part of this name."""
        return self._archive.has(part)

    def read(self, part: str) -> bytearray | None:
        """Return a part's bytes (see `Archive.read`)."""
        return self._archive.read(part)

    def walk(self, part: str, handlers: Handlers, *, allow_doctype: bool = False) -> None:
        """Walk through a part's XML (see `xml_walk.walk`); nothing happens where there is none of this name.

        Raise DamagedPart; ParseFailed or TooLarge where the whole file is not to be trusted.
        """
        data = self.read(part)
        if data is None:
            return
        try:
            walk(data, handlers, NAMESPACES, allow_doctype=allow_doctype)
        except MalformedXml as error:
            raise DamagedPart(_WRONG_MARKUP) from error
        except DoctypeFound as error:
            raise ParseFailed(
                "{path} declares a document type, as no Office program does: it may be an attack",
                path=self._path,
                hint="open it in its own program and save it anew, if you trust it",
            ) from error
        except TooDeep as error:
            raise TooLarge(
                "{path} is nested too deep", path=self._path, hint="exclude it, if it is no document"
            ) from error

    def relationships(self, part: str) -> dict[str, Relationship]:
        """Return a part's relationships to others inside the package, by id; of the package, if the name is empty."""
        folder, name = posixpath.split(part)
        found: dict[str, Relationship] = {}

        def start(attributes: Attributes) -> None:
            if attribute(attributes, "TargetMode") != "External":
                target = posixpath.normpath(posixpath.join("/", folder, attribute(attributes, "Target")))
                kind = attribute(attributes, "Type").rpartition("/")[2]
                found[attribute(attributes, "Id")] = Relationship(kind, target.lstrip("/"))

        handlers = Handlers(starts={"rel:Relationship": start}, ends={}, characters=_ignore)
        self.walk(posixpath.join(folder, "_rels", f"{name}.rels"), handlers)
        return found


def relationship_id(attributes: Attributes) -> str:
    """Return the id of a relationship, `r:id`; an element may have another id besides."""
    return next((value for key, value in attributes.items() if key.endswith("}id")), "")


def refuse_ole(data: bytes, path: str) -> None:
    """Raise what there is to say of an OLE file: that it is encrypted, of an old program, or no document."""
    if ENCRYPTED_PACKAGE in data:
        raise needs_password(path)
    if any(name in data for name in (_OLD_WORD, *OLD_WORKBOOKS, _OLD_SLIDES)):
        raise UnsupportedFormat(
            "{path} is a document of Office 97-2003 whatever its ending",
            path=path,
            hint=SAVE_ANEW,
        )
    raise _no_office_document(path)


def _no_office_document(path: str) -> ParseFailed:
    return ParseFailed("{path} is not an Office document", path=path, hint="give the file the ending of what it is")


def _ignore(text: str) -> None:
    pass
