"""Which of a base's index files is the index: each is built whole under a name of its own, then pointed at.

The first is `index.sqlite3`, later ones `index-2.sqlite3` and so on; the file `generation` holds the number of the one
that answers, and is replaced in one step. Without it, that is the first. So a reader that has an older one open keeps
it, on Windows too, where an open file can be neither replaced nor removed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import apsw

from zhiku.errors import Damaged
from zhiku.paths import write_private
from zhiku.stores.sqlite.connection import REBUILD

POINTER = "generation"
_NAME = re.compile(r"index(?:-([1-9]\d*))?\.sqlite3")
_SIDE_FILES = ("-wal", "-shm", "-journal")


def file_of(folder: Path, number: int) -> Path:
    """Return the file of a generation."""
    return folder / ("index.sqlite3" if number == 1 else f"index-{number}.sqlite3")


def current_number(folder: Path) -> int:
    """Return the number of the generation that answers. Raises `Damaged` where the pointer says nothing."""
    pointer = folder / POINTER
    try:
        return int(pointer.read_text("ascii"))
    except FileNotFoundError:
        return 1
    except ValueError as error:
        raise Damaged(
            "{path} is damaged: {cause}.",
            path=pointer,
            cause=error,
            base=folder.name,
            hint=REBUILD,
        ) from error


def next_number(folder: Path) -> int:
    """Return the number of a generation that there is no file of."""
    numbers = [number for number, _ in _files(folder)]
    with suppress(Damaged):
        numbers.append(current_number(folder))
    return max(numbers, default=1) + 1


def point_at(folder: Path, number: int) -> None:
    """Make a generation the one that answers, in one step."""
    write_private(folder / POINTER, f"{number}\n")


def remove_others(folder: Path) -> None:
    """Remove what killed runs left, and older generations unless somebody still reads them. The caller has the lock."""
    current = current_number(folder)
    for number, path in _files(folder):
        if number > current or (number < current and _is_unread(path)):
            remove(path)


def remove(path: Path) -> None:
    """Remove an index file with what SQLite keeps beside it; what is open on Windows stays for the next run."""
    for name in (path.name, *(path.name + ending for ending in _SIDE_FILES)):
        with suppress(PermissionError):
            path.with_name(name).unlink(missing_ok=True)


def _files(folder: Path) -> Iterator[tuple[int, Path]]:
    for path in list(folder.glob("index*.sqlite3")):
        if match := _NAME.fullmatch(path.name):
            yield int(match[1] or 1), path


def _is_unread(path: Path) -> bool:
    """Move what is only in the log into the file; that fails while a reader needs the log."""
    try:
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            is_busy = [row[0] for row in connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")] != [0]
        finally:
            connection.close()
    except apsw.BusyError:
        return False
    except apsw.Error:
        return True  # damaged, so nobody can read it
    return not is_busy
