"""Which of a base's index files is the index: each is built whole under another name; the newest whole one answers.

The first is `index.sqlite3`, later ones `index-2.sqlite3` and so on. One that is being built is `index-2.building`, and
gets its name in one step when nobody has it open any more. So a reader that has an older one open keeps it, on Windows
too, where an open file can be neither replaced nor removed; and no note of which one answers can be lost or be wrong.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import apsw

from zhiku.paths import unwritable

FIRST = "index.sqlite3"
_NAME = re.compile(r"index(?:-([1-9]\d*))?\.sqlite3")
_SIDE_FILES = ("-wal", "-shm", "-journal")


def current_file(folder: Path) -> Path:
    """Return the file that answers, or that would be the first."""
    return max(_files(folder), default=(1, folder / FIRST))[1]


def new_file(folder: Path) -> Path:
    """Return where the next one is built."""
    number = max(_files(folder), default=(1, folder))[0] + 1
    return folder / f"index-{number}.building"


def publish(built: Path) -> None:
    """Make a file that was built, and that nobody has open, the one that answers.

    Raises `IndexStateError` where the system does not let us.
    """
    path = built.with_suffix(".sqlite3")
    remove(path)  # a stray log would be taken for its own
    try:
        built.replace(path)
    except OSError as error:
        raise unwritable(path, error.strerror) from error
    if hasattr(os, "O_DIRECTORY"):  # elsewhere a folder cannot be synced
        folder = os.open(built.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def remove_others(folder: Path) -> None:
    """Remove what killed runs left, and older files unless somebody still reads them. The caller has the lock."""
    for path in (*folder.glob("index-*.building*"), *_strays(folder)):
        with suppress(PermissionError):
            path.unlink()
    current = current_file(folder)
    for _, path in list(_files(folder)):
        if path != current and _is_unread(path):
            remove(path)


def remove(path: Path) -> None:
    """Remove an index file with what SQLite keeps beside it; what is open on Windows stays for the next run."""
    for name in (path.name, *(path.name + ending for ending in _SIDE_FILES)):
        with suppress(PermissionError):
            path.with_name(name).unlink(missing_ok=True)


def _files(folder: Path) -> Iterator[tuple[int, Path]]:
    with suppress(OSError):  # a folder that may not be listed: opening the file says why not
        for name in os.listdir(folder):  # noqa: PTH208 - half the time of iterdir, and every search comes by here
            if match := _NAME.fullmatch(name):
                yield int(match[1] or 1), folder / name


def _strays(folder: Path) -> list[Path]:
    """Return what a reader made beside an index that was removed at that moment."""
    beside = [path for ending in _SIDE_FILES for path in folder.glob(f"index*.sqlite3{ending}")]
    return [path for path in beside if not path.with_name(path.name.rpartition("-")[0]).exists()]


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
