"""Where zhiku keeps its files, and how: private, replaced in one step, one writer at a time; names as they print."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from zhiku.errors import Busy, ConfigError, IndexStateError

PRIVATE_DIR_MODE = 0o700
PRIVATE_FILE_MODE = 0o600
LOCK_FILE = "writer.lock"

_POLL_S = 0.1


def shown_path(path: str) -> str:
    """Return a path that can be stored and printed: bytes that are not UTF-8 as \\xNN."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def make_private_dir(path: Path) -> Path:
    """Create a folder that only its owner can enter, with its parents, and return it."""
    try:
        path.mkdir(mode=PRIVATE_DIR_MODE, parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(
            "the folder {path} cannot be made: {cause}.",
            path=path,
            cause=error.strerror,
            hint="check its permissions, or name another home in ZHIKU_HOME",
        ) from error
    return path


def is_gone(path: Path) -> bool:
    """Return whether nothing bears this name; False where the system does not let us know."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except (OSError, ValueError):
        return False
    return False


Look = tuple[int, int, int] | None
"""What a file looked like; None for one that could not be looked at."""


def look_at(path: Path) -> Look:
    """Return what differs, in all likelihood, once a file is written anew: its number, size and time."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns


@contextmanager
def private_umask() -> Iterator[None]:
    """Let every file made inside, by any library, be its owner's alone."""
    before = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(before)


def write_private(path: Path, text: str) -> None:
    """Replace a file in one step by one that only its owner can read. Raises `IndexStateError` where it cannot."""
    fresh = path.with_name(path.name + ".new")
    try:
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, PRIVATE_FILE_MODE)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)
    except OSError as error:
        fresh.unlink(missing_ok=True)
        raise unwritable(path, error.strerror) from error


def unwritable(path: Path, cause: object) -> IndexStateError:
    """Return the error for a file of a base that cannot be written."""
    return IndexStateError(
        "{path} cannot be written: {cause}. Everything indexed before is kept.",
        path=path,
        cause=cause,
        hint="check the disk and the permissions of its folder, then run the same command again",
    )


@contextmanager
def writer_lock(folder: Path, wait_s: float = 0.0) -> Iterator[None]:
    """Hold the one writer's lock of a folder.

    Raises `Busy`, naming the process that holds it, where it is still held after `wait_s` seconds. The system drops
    the lock of a process that ends, however it ends: none is ever stale.
    """
    try:
        descriptor = os.open(folder / LOCK_FILE, os.O_RDWR | os.O_CREAT, PRIVATE_FILE_MODE)
    except OSError as error:
        raise unwritable(folder / LOCK_FILE, error.strerror) from error
    try:
        if not _lock_within(wait_s, descriptor):
            owner = os.read(descriptor, 64).decode("ascii", "replace").strip("\0 \n") or "unknown"
            raise Busy(
                "another run is writing base {name!r} (process {pid}).",
                name=folder.name,
                pid=owner,
                hint="wait for it to end: run the same command with --wait",
            )
        _write_owner(descriptor)
        yield
    finally:
        os.close(descriptor)


def _lock_within(wait_s: float, descriptor: int) -> bool:
    end = time.monotonic() + wait_s
    while not _try_lock(descriptor):
        if time.monotonic() >= end:
            return False
        time.sleep(_POLL_S)
    return True


def _write_owner(descriptor: int) -> None:
    # On a full disk the lock holds all the same, without a name.
    with suppress(OSError):
        os.ftruncate(descriptor, 0)
        os.write(descriptor, f"{os.getpid()}\n".encode("ascii"))


if sys.platform == "win32":
    import msvcrt

    # Far behind the owner's process id, which others must be able to read.
    _LOCKED_BYTE = 1 << 20

    def _try_lock(descriptor: int) -> bool:
        os.lseek(descriptor, _LOCKED_BYTE, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        finally:
            os.lseek(descriptor, 0, os.SEEK_SET)
        return True

else:
    import fcntl

    def _try_lock(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True
