"""Read from a regular file without ever waiting for anything else that bears its name."""

from __future__ import annotations

import errno
import io
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager

_OPEN_FLAGS = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
"""Without them, opening a FIFO that nobody writes to would block for ever."""


def read_regular(path: str) -> tuple[bytes, os.stat_result] | None:
    """Return all of a regular file and its status, or None if it changed meanwhile.

    Raise OSError for anything else, unread.
    """
    with _open_regular(path) as (file, status):
        data = file.readall()
        after = os.fstat(file.fileno())
    before = (status.st_size, status.st_mtime_ns, status.st_ctime_ns)
    is_whole = before == (after.st_size, after.st_mtime_ns, after.st_ctime_ns) and len(data) == after.st_size
    return (data, status) if is_whole else None


def read_head(path: str, max_bytes: int) -> bytes:
    """Return at most the first `max_bytes` of a regular file; raise OSError for anything else, unread."""
    with _open_regular(path) as (file, _):
        pieces: list[bytes] = []
        wanted = max_bytes
        while wanted > 0 and (piece := file.read(wanted)):
            pieces.append(piece)
            wanted -= len(piece)
        return b"".join(pieces)


@contextmanager
def _open_regular(path: str) -> Iterator[tuple[io.FileIO, os.stat_result]]:
    with io.FileIO(path, opener=_open_without_waiting) as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "Not a regular file", path)
        yield file, status


def _open_without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | _OPEN_FLAGS)
