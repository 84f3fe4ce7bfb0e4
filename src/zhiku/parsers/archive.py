"""Open zip files of unknown origin within limits: which entries there are, and what is in them."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from typing import IO, Final

from zhiku.errors import ParseFailed, PasswordNeeded, TooLarge

MAX_ENTRIES: Final = 20_000
MAX_PART_BYTES: Final = 64 << 20
MAX_UNPACKED_BYTES: Final = 256 << 20
"""Over all parts that are read; pictures and what else is not read cost nothing."""

MAX_RATIO: Final = 200
RATIO_FROM_BYTES: Final = 1 << 20
"""A part that unpacks to more than this may be at most MAX_RATIO times its packed size. The most repetitive document
measured, a table of 12 MB, reaches 38; deflate can reach 1,030."""

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


class DamagedPart(Exception):
    """A part cannot be used, for a cause that its text names; the others may still be good."""


class NoArchive(Exception):
    """The bytes are no zip file at all."""


class Archive:
    """The entries of a zip file, its parts. Their names are compared without regard to case."""

    def __init__(self, data: bytes, path: str) -> None:
        """Raise NoArchive, TooLarge, or ParseFailed if it is cut off or corrupt."""
        self._path = path
        self._size = len(data)
        self._unpacked_bytes = 0
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
            if not data.startswith(b"PK"):
                raise NoArchive from error
            raise ParseFailed(
                "{path} is damaged: {cause}",
                path=path,
                cause="it is cut off or corrupt",
                hint="open it in its own program to check it",
            ) from error
        self._entries = {_normalised(entry.filename): entry for entry in self._zip.infolist()}

    def names(self) -> list[str]:
        """Return the names of all parts, in lower case."""
        return list(self._entries)

    def has(self, part: str) -> bool:
        """Answer whether there is a part of this name."""
        return _normalised(part) in self._entries

    def read(self, part: str) -> bytearray | None:
        """Return a part's bytes, None where there is none of this name.

        Raise DamagedPart; PasswordNeeded or TooLarge where the whole file is not to be trusted.
        """
        entry = self._entries.get(_normalised(part))
        if entry is None:
            return None
        if entry.flag_bits & 1:
            raise needs_password(self._path)
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


def needs_password(path: str) -> PasswordNeeded:
    """Return the error for a file that is encrypted."""
    return PasswordNeeded(
        "{path} is encrypted and needs a password", path=path, hint="save a copy without a password and index that"
    )


def _normalised(name: str) -> str:
    return name.replace("\\", "/").lstrip("/").lower()
