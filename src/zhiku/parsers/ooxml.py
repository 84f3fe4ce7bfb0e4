"""Open Office Open XML packages (ECMA-376) within limits: the parts of a zip file, and how they are related."""

from __future__ import annotations

import io
import posixpath
import struct
import zipfile
import zlib
from typing import IO, Final, NamedTuple

from zhiku.errors import ParseFailed, PasswordNeeded, TooLarge, UnsupportedFormat
from zhiku.parsers.xml_walk import Attributes, DoctypeFound, Handlers, MalformedXml, TooDeep, attribute, walk

MAX_ENTRIES: Final = 20_000
MAX_PART_BYTES: Final = 64 << 20
MAX_UNPACKED_BYTES: Final = 256 << 20
"""Over all parts that are read; pictures and what else is not read cost nothing."""

MAX_RATIO: Final = 200
RATIO_FROM_BYTES: Final = 1 << 20
"""A part that unpacks to more than this may be at most MAX_RATIO times its packed size. The most repetitive document
measured, a table of 12 MB, reaches 38; deflate can reach 1,030."""

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
    "mc": ("http://schemas.openxmlformats.org/markup-compatibility/2006",),
    "rel": ("http://schemas.openxmlformats.org/package/2006/relationships",),
    "cp": ("http://schemas.openxmlformats.org/package/2006/metadata/core-properties",),
    "dc": ("http://purl.org/dc/elements/1.1/",),
    "dcterms": ("http://purl.org/dc/terms/",),
}
"""The addresses of each namespace by its usual prefix, those of the strict variant (ISO/IEC 29500) among them."""

_CHUNK_BYTES: Final = 1 << 16
_ENTRY_MARK: Final = b"PK\x01\x02"  # before each entry of a zip file's directory
_ZIP_FAULTS: Final = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    NotImplementedError,
    OSError,
    ValueError,
)
_NOT_UNPACKED: Final = "its text cannot be unpacked"
_WRONG_MARKUP: Final = "the markup of its text is cut off or wrong"
_OLE_MARK: Final = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
# Names in an OLE file's directory: of an encrypted package (MS-OFFCRYPTO 2.3.1), of documents of old (MS-DOC 2.1.1).
_ENCRYPTED_PACKAGE: Final = "EncryptedPackage".encode("utf-16-le")
_OLD_DOCUMENTS: Final = tuple(name.encode("utf-16-le") for name in ("WordDocument", "Workbook", "PowerPoint Document"))


class DamagedPart(Exception):
    """A part cannot be used, for a cause that its text names; the others may still be good."""


class Relationship(NamedTuple):
    """Where a part points at another: the last word of the relation's type, and the other's name."""

    kind: str
    part: str


class Package:
    """The parts of a document. Names of parts are compared without regard to case, as the standard says."""

    def __init__(self, data: bytes, path: str) -> None:
        """Raise PasswordNeeded, UnsupportedFormat, TooLarge or ParseFailed where there is nothing to read."""
        self._path = path
        self._size = len(data)
        self._unpacked_bytes = 0
        if data.startswith(_OLE_MARK):
            _refuse_ole(data, path)
        if data.count(_ENTRY_MARK) > MAX_ENTRIES:
            raise TooLarge(
                "{path} is a zip file of more than {limit:,} entries",
                path=path,
                limit=MAX_ENTRIES,
                hint="exclude it, if it is no document",
            )
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
        except _ZIP_FAULTS as error:
            raise _no_zip(data, path) from error
        self._entries = {_normalised(entry.filename): entry for entry in self._zip.infolist()}

    def has(self, part: str) -> bool:
        """Answer whether there is a part of this name."""
        return _normalised(part) in self._entries

    def walk(self, part: str, handlers: Handlers) -> None:
        """Walk through a part's XML; nothing happens where there is none of this name.

        Raise DamagedPart; ParseFailed or TooLarge where the whole file is not to be trusted.
        """
        data = self._read(part)
        if data is None:
            return
        try:
            walk(data, handlers, NAMESPACES)
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

    def _read(self, part: str) -> bytearray | None:
        entry = self._entries.get(_normalised(part))
        if entry is None:
            return None
        if entry.flag_bits & 1:
            raise _needs_password(self._path)
        if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise DamagedPart(_NOT_UNPACKED)
        try:
            with self._zip.open(entry) as file:
                return self._unpack(file, entry)
        except _ZIP_FAULTS as error:
            raise DamagedPart(_NOT_UNPACKED) from error

    def _unpack(self, file: IO[bytes], entry: zipfile.ZipInfo) -> bytearray:
        most = max(RATIO_FROM_BYTES, MAX_RATIO * min(entry.compress_size, self._size))
        most = min(most, MAX_PART_BYTES, MAX_UNPACKED_BYTES - self._unpacked_bytes)
        if entry.file_size > most:  # no more than that is unpacked, whatever follows
            raise TooLarge(
                "{path} unpacks to much more than a document holds: it may be an attack",
                path=self._path,
                hint="exclude it, or split it into several documents",
            )
        unpacked = bytearray()
        while chunk := file.read(_CHUNK_BYTES):
            unpacked += chunk
        self._unpacked_bytes += len(unpacked)
        return unpacked


def _normalised(name: str) -> str:
    return name.replace("\\", "/").lstrip("/").lower()


def _ignore(text: str) -> None:
    pass


def _needs_password(path: str) -> PasswordNeeded:
    return PasswordNeeded(
        "{path} is encrypted and needs a password", path=path, hint="save a copy without a password and index that"
    )


def _refuse_ole(data: bytes, path: str) -> None:
    if _ENCRYPTED_PACKAGE in data:
        raise _needs_password(path)
    if any(name in data for name in _OLD_DOCUMENTS):
        raise UnsupportedFormat(
            "{path} is a document of Office 97-2003 whatever its ending",
            path=path,
            hint="open it in its own program and save it in the present format (.docx)",
        )


def _no_zip(data: bytes, path: str) -> ParseFailed:
    if data.startswith(b"PK"):
        return ParseFailed(
            "{path} is damaged: {cause}",
            path=path,
            cause="it is cut off or corrupt",
            hint="open it in its own program to check it",
        )
    return ParseFailed("{path} is not an Office document", path=path, hint="give the file the ending of what it is")
