"""Read one stream of an OLE file (MS-CFB), in which Office programs of old keep their documents."""

from __future__ import annotations

import struct
from collections.abc import Collection, Iterator
from typing import Final, NamedTuple

from zhiku.parsers.archive import DamagedPart

_END: Final = 0xFFFFFFFA  # from here on, numbers are marks and name no sector
_SHORT_BYTES: Final = 4096  # a shorter stream lies in the sectors of another one, 64 bytes each
_SHORT_SECTOR: Final = 64
_SECTORS: Final = {9: 512, 12: 4096}  # by the power of two that the header gives
_ENTRY: Final = struct.Struct("<64sHB49xIQ")
_FAULT: Final = "its parts cannot be found"


class _Entry(NamedTuple):
    """What the directory says of a stream."""

    name: str
    kind: int
    start: int
    size: int


class OleFile:
    """The streams of an OLE file. What points outside of the file, or in a circle, raises DamagedPart."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        try:
            self._sector = _SECTORS[struct.unpack_from("<H", data, 30)[0]]
            _, directory, _, _, short, _, more, _ = struct.unpack_from("<8I", data, 44)
            self._table = self._read_table(list(struct.unpack_from("<109I", data, 76)), more)
            self._entries = list(self._iter_entries(directory))
        except (struct.error, KeyError, ValueError) as error:
            raise DamagedPart(_FAULT) from error
        self._short_table = short

    def read(self, names: Collection[str]) -> bytes | None:
        """Return the first stream of one of these names, None if there is none."""
        entry = next((entry for entry in self._entries if entry.kind == 2 and entry.name in names), None)
        if entry is None:
            return None
        if entry.size >= _SHORT_BYTES:
            return self._join(entry.start)[: entry.size]
        table = _numbers(self._join(self._short_table))
        stream = self._join(next((entry.start for entry in self._entries if entry.kind == 5), _END))
        places = _chain(table, entry.start)
        short = b"".join(stream[place * _SHORT_SECTOR : (place + 1) * _SHORT_SECTOR] for place in places)
        return short[: entry.size]

    def _read_table(self, places: list[int], more: int) -> tuple[int, ...]:
        """Return which sector follows each; where the table lies is said in the header, and then in sectors of it."""
        count = len(self._data) // self._sector  # there cannot be more
        while more < _END and len(places) < count:
            *further, more = _numbers(self._at(more))
            places += further
        return _numbers(b"".join(self._at(place) for place in places[: max(count, 109)] if place < _END))

    def _iter_entries(self, start: int) -> Iterator[_Entry]:
        directory = self._join(start)
        for at in range(0, len(directory) - 127, 128):
            name, size, kind, first, length = _ENTRY.unpack_from(directory, at)
            shown = name[: max(0, min(size, 64) - 2)].decode("utf-16-le", "replace")
            yield _Entry(shown, kind, first, length & 0xFFFFFFFF if self._sector == 512 else length)

    def _join(self, start: int) -> bytes:
        return b"".join(self._at(place) for place in _chain(self._table, start))

    def _at(self, place: int) -> bytes:
        start = (place + 1) * self._sector
        return self._data[start : start + self._sector]


def _chain(table: tuple[int, ...], place: int) -> Iterator[int]:
    for _ in range(len(table)):
        if place >= _END:
            return
        yield place
        if place >= len(table):
            raise DamagedPart(_FAULT)
        place = table[place]
    if place < _END:
        raise DamagedPart(_FAULT)


def _numbers(raw: bytes) -> tuple[int, ...]:
    return struct.unpack(f"<{len(raw) // 4}I", raw[: len(raw) // 4 * 4])
