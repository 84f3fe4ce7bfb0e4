"""Opening a base's file: modes, pragmas, and SQLite's errors in zhiku's words."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from zhiku.errors import Busy, Damaged, IndexStateError, NewerSchema, ZhikuError
from zhiku.stores.sqlite.schema import APPLICATION_ID, SCHEMA_VERSION, STEPS

PAGE_BYTES = 8192
READ_CACHE_KIB = 16_384
WRITE_CACHE_KIB = 32_768
BUSY_TIMEOUT_MS = 5_000

_REBUILD = "delete {path} and index again: zhiku index"


def open_for_reading(path: Path) -> apsw.Connection:
    """Return a connection that cannot write. Raises `Damaged` where the file is no base or cannot be opened."""
    with translated(path):
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
        try:
            connection.set_busy_timeout(BUSY_TIMEOUT_MS)
            connection.execute(f"PRAGMA cache_size=-{READ_CACHE_KIB}")
            _check_header(connection, path)
        except BaseException:
            connection.close()
            raise
        return connection


def open_for_writing(path: Path) -> apsw.Connection:
    """Return a connection that may write, with the schema in place. The caller holds the base's lock."""
    with translated(path):
        connection = apsw.Connection(str(path))
        try:
            _prepare(connection, path)
        except BaseException:
            connection.close()
            raise
        return connection


def _prepare(connection: apsw.Connection, path: Path) -> None:
    connection.set_busy_timeout(BUSY_TIMEOUT_MS)
    connection.execute(f"PRAGMA page_size={PAGE_BYTES}")
    # Where a file system cannot do WAL, SQLite keeps its rollback journal, which is as safe and lets readers wait.
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=NORMAL")
    connection.execute("PRAGMA foreign_keys=ON")
    connection.execute(f"PRAGMA cache_size=-{WRITE_CACHE_KIB}")
    if _pragma(connection, "user_version") == 0 and _is_empty(connection):
        with connection:
            connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
            for step in STEPS:
                for statement in step:
                    connection.execute(statement)
            connection.execute(f"PRAGMA user_version={SCHEMA_VERSION}")
    _check_header(connection, path)


def _check_header(connection: apsw.Connection, path: Path) -> None:
    if _pragma(connection, "application_id") != APPLICATION_ID:
        raise Damaged("{path} is not the index of a zhiku base.", path=path, hint=_REBUILD)
    version = _pragma(connection, "user_version")
    if version > SCHEMA_VERSION:
        raise NewerSchema(
            "{path} was written by a newer zhiku (schema {version}; this one knows {known}).",
            path=path,
            version=version,
            known=SCHEMA_VERSION,
            hint="upgrade: pip install --upgrade zhiku",
        )


def _pragma(connection: apsw.Connection, name: str) -> int:
    return int(connection.pragma(name))


def _is_empty(connection: apsw.Connection) -> bool:
    return connection.execute("SELECT count(*) FROM sqlite_schema").fetchone() == (0,)


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Raise what SQLite raises as the error that says what it means for this base."""
    try:
        yield
    except (apsw.BusyError, apsw.LockedError) as error:
        raise Busy("another process is writing {path}.", path=path, hint="try again when it has ended") from error
    except apsw.FullError as error:
        raise IndexStateError(
            "the disk is full: {path} could not grow. Everything indexed before is kept.",
            path=path,
            hint="free some space, then run the same command again",
        ) from error
    except apsw.IOError as error:
        raise _unwritable(path, error) from error
    except (apsw.ReadOnlyError, apsw.PermissionsError, apsw.AuthError) as error:
        raise _unwritable(path, error) from error
    except apsw.CantOpenError as error:
        raise Damaged("{path} cannot be opened: {cause}.", path=path, cause=error, hint=_REBUILD) from error
    except (apsw.CorruptError, apsw.NotADBError, apsw.SchemaChangeError) as error:
        raise Damaged("{path} is damaged: {cause}.", path=path, cause=error, hint=_REBUILD) from error
    except apsw.SQLError as error:
        if not str(error).startswith(("no such table", "no such column", "malformed")):
            raise  # our own SQL is wrong, not the file
        raise Damaged("{path} is damaged: {cause}.", path=path, cause=error, hint=_REBUILD) from error


def _unwritable(path: Path, error: apsw.Error) -> ZhikuError:
    return IndexStateError(
        "{path} cannot be written: {cause}. Everything indexed before is kept.",
        path=path,
        cause=error,
        hint="check the disk and the permissions of its folder, then run the same command again",
    )
