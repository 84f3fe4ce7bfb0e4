"""Tell how far apart the cells of a binary workbook lie, before calamine takes memory for all that are between them."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from typing import Final

from zhiku.errors import TooLarge
from zhiku.parsers.archive import needs_password

MAX_GRID: Final = 20_000_000
"""Of a workbook's sheets, rows times columns, from the first to the last cell that holds something. Calamine 0.9.1
takes about 70 bytes for each (measured 2026-11-30). An .xls sheet can have 16,777,216."""

# Records of an .xls (MS-XLS 2.3.1): BOF, FilePass, and the cells that hold something; MulRk holds several.
_BOF: Final = 0x0809
_FILE_PASS: Final = 0x002F
_XLS_CELLS: Final = frozenset((0x0006, 0x00BD, 0x00D6, 0x00FD, 0x0203, 0x0204, 0x0205, 0x027E))
_MULTIPLE: Final = 0x00BD
# Of an .xlsb (MS-XLSB 2.3.1): BrtRowHdr, and the cells of its row, from BrtCellRk to BrtFmlaError.
_ROW: Final = 0
_XLSB_CELLS: Final = range(2, 12)
_HEAD: Final = struct.Struct("<HH")
_WORD: Final = struct.Struct("<I")


class _Grid:
    """The smallest rectangle around the cells of a sheet."""

    def __init__(self) -> None:
        self._rows = (1 << 32, -1)
        self._columns = (1 << 32, -1)

    def add(self, row: int, column: int, last: int) -> None:
        self._rows = min(self._rows[0], row), max(self._rows[1], row)
        self._columns = min(self._columns[0], column), max(self._columns[1], last)

    def size(self) -> int:
        return max(0, self._rows[1] - self._rows[0] + 1) * max(0, self._columns[1] - self._columns[0] + 1)


def check_xls(stream: bytes, path: str) -> None:
    """Raise PasswordNeeded if a workbook is encrypted, TooLarge if its cells lie too far apart."""
    grids = [_Grid()]
    for kind, body in _iter_xls_records(stream):
        if kind == _BOF:
            grids.append(_Grid())
        elif kind == _FILE_PASS:
            raise needs_password(path)
        elif kind in _XLS_CELLS and len(body) >= _HEAD.size:
            row, column = _HEAD.unpack_from(body)
            last = int.from_bytes(body[-2:], "little") if kind == _MULTIPLE else column
            grids[-1].add(row, column, last)
    _refuse_large(grids, path)


def check_xlsb(parts: Iterable[bytes | bytearray], path: str) -> None:
    """Raise TooLarge if the cells of a workbook of these parts lie too far apart."""
    grids = []
    for part in parts:
        grids.append(_Grid())
        row = 0
        for kind, body in _iter_xlsb_records(part):
            if len(body) == _WORD.size:
                (place,) = _WORD.unpack(body)
                if kind == _ROW:
                    row = place
                elif kind in _XLSB_CELLS:
                    grids[-1].add(row, place, place)
    _refuse_large(grids, path)


def _refuse_large(grids: Iterable[_Grid], path: str) -> None:
    if sum(grid.size() for grid in grids) > MAX_GRID:
        raise TooLarge(
            "{path} has cells so far apart that there are more than {limit:,}, nearly all of them blank",
            path=path,
            limit=MAX_GRID,
            hint="save it as .xlsx and index that",
        )


def _iter_xls_records(stream: bytes) -> Iterator[tuple[int, memoryview]]:
    """Yield the records of a stream (MS-XLS 2.1.4): their kind, and what they hold."""
    view = memoryview(stream)
    at = 0
    while at + _HEAD.size <= len(view):
        kind, size = _HEAD.unpack_from(view, at)
        at += _HEAD.size
        yield kind, view[at : at + size]
        at += size


def _iter_xlsb_records(part: bytes | bytearray) -> Iterator[tuple[int, memoryview]]:
    """Yield the records of a part (MS-XLSB 2.1.4): their kind, and the first bytes of what they hold."""
    view = memoryview(part)
    at = 0
    while at < len(view):
        kind, at = _number(view, at, 2)
        size, at = _number(view, at, 4)
        yield kind, view[at : at + min(size, _WORD.size)]
        at += size


def _number(view: memoryview, at: int, most: int) -> tuple[int, int]:
    """Return a number of seven bits a byte, and where it ends."""
    value = 0
    for place, byte in enumerate(view[at : at + most]):
        value |= (byte & 0x7F) << 7 * place
        at += 1
        if byte < 0x80:
            break
    return value, at
