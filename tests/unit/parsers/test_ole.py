"""Streams of OLE files are found, and what points in circles or nowhere is damaged."""

from __future__ import annotations

import struct
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sheet_files import OLE_MARK, ole, ole_entry
from zhiku.parsers.archive import DamagedPart
from zhiku.parsers.ole import OleFile

LONG = bytes(range(256)) * 20
END, FREE = 0xFFFFFFFE, 0xFFFFFFFF
TABLE = 512  # where the table of sectors begins in what `ole` returns


def with_short_stream(stream: bytes) -> bytes:
    """Return a file whose stream lies in the short sectors of another one."""
    header = OLE_MARK + bytes(16) + struct.pack("<HHHHH", 0x3E, 3, 0xFFFE, 9, 6) + bytes(6)
    header += struct.pack("<IIIIIIIII", 0, 1, 1, 0, 4096, 2, 1, END, 0) + struct.pack("<109I", 0, *[FREE] * 108)
    table = struct.pack("<128I", 0xFFFFFFFD, END, END, END, *[FREE] * 124)
    directory = ole_entry("Root Entry", 5, child=1, start=3, size=512)
    directory += ole_entry("Book", 2, child=FREE, start=1, size=len(stream))
    short_table = struct.pack("<128I", END, 2, END, *[FREE] * 125)
    return header + table + directory.ljust(512, b"\0") + short_table + (bytes(64) + stream).ljust(512, b"\0")


def test_a_stream_is_found_by_one_of_its_names() -> None:
    file = OleFile(ole("Workbook", LONG))
    assert file.read(("Book", "Workbook"))[: len(LONG)] == LONG
    assert file.read(("Root Entry", "Other")) is None


def test_a_short_stream_is_found() -> None:
    assert OleFile(with_short_stream(b"x" * 100)).read(("Book",)) == b"x" * 100


@pytest.mark.parametrize("place", [2, 900])
def test_a_chain_in_a_circle_or_out_of_the_file_is_damaged(place: int) -> None:
    data = bytearray(ole("Workbook", LONG))
    struct.pack_into("<I", data, TABLE + 4 * 4, place)
    with pytest.raises(DamagedPart):
        OleFile(bytes(data)).read(("Workbook",))


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 1600), st.integers(0, 255)), min_size=1, max_size=8), st.booleans())
def test_flipped_bytes_are_damage_or_a_stream(changes: list[tuple[int, int]], is_short: bool) -> None:
    data = bytearray(with_short_stream(b"x" * 100) if is_short else ole("Book", LONG))
    for at, byte in changes:
        data[at] = byte
    with suppress(DamagedPart):
        OleFile(bytes(data)).read(("Book",))
