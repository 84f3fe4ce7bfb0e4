"""Opening a base's file: modes, pragmas, and SQLite's errors in zhiku's words."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import apsw

from zhiku.errors import Busy, Damaged, IndexStateError, MigrationNeeded, NewerSchema, NotFound, ZhikuError
from zhiku.paths import unwritable
from zhiku.stores.sqlite.lexical import count_occurrences
from zhiku.stores.sqlite.schema import APPLICATION_ID, OLDEST_MIGRATED, SCHEMA_VERSION, STEPS

PAGE_BYTES = 8192
READ_CACHE_KIB = 16_384
WRITE_CACHE_KIB = 32_768
BUSY_TIMEOUT_MS = 5_000

REPAIR = "mend it: zhiku doctor --repair --base {base}"
REBUILD = "build it anew from the files: zhiku rebuild --base {base}"


class Inconsistent(Exception):
    """What is stored contradicts itself where SQLite sees no fault: inside its values, or between its tables."""


class FrozenConnection(apsw.Connection):
    """A connection that takes the file for one that nobody writes; good for one session."""


def open_for_reading(path: Path) -> apsw.Connection:
    """Return a connection that cannot write. Raises `IndexStateError` where the file is no base or cannot be opened."""
    with translated(path):
        try:
            return _open_for_reading(apsw.Connection, str(path), path)
        except (apsw.IOError, apsw.CantOpenError, apsw.ReadOnlyError):
            if _has(path, "-journal"):
                undo_unfinished(path)
                return _open_for_reading(apsw.Connection, str(path), path)
            # On a full disk or in a folder that is read-only, SQLite cannot make the file that readers and writers
            # share; without a log of writes to read beside it, it does without.
            if _has(path, "-wal"):
                raise
            return _open_for_reading(FrozenConnection, f"{path.absolute().as_uri()}?immutable=1", path)


def _open_for_reading(kind: type[apsw.Connection], name: str, path: Path) -> apsw.Connection:
    connection = kind(name, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
    try:
        connection.set_busy_timeout(BUSY_TIMEOUT_MS)
        connection.execute(f"PRAGMA cache_size=-{READ_CACHE_KIB}")
        connection.register_fts5_function("occurrences", count_occurrences)
        _check_header(connection, path)
    except BaseException:
        connection.close()
        raise
    return connection


def _has(path: Path, ending: str) -> bool:
    beside = path.with_name(f"{path.name}{ending}")
    return beside.exists() and beside.stat().st_size > 0


def open_whole(path: Path) -> apsw.Connection:
    """Return a connection that cannot write, to a file that may be of any schema. The caller holds the base's lock."""
    undo_unfinished(path)
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    connection.set_busy_timeout(BUSY_TIMEOUT_MS)
    return connection


def undo_unfinished(path: Path) -> None:
    """Undo what a killed writer left half written in a file without a log of writes: reading alone cannot.

    SQLite looks first whether that writer is still alive.
    """
    if _has(path, "-journal"):
        with closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)) as connection:
            connection.set_busy_timeout(BUSY_TIMEOUT_MS)
            connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()


def open_for_writing(path: Path) -> apsw.Connection:
    """Return a connection that may write, with the schema of today in place. The caller holds the base's lock."""
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
    is_new = _is_new(connection)
    if not is_new:  # before anything is changed in a file that is no base
        _check_header(connection, path, oldest=OLDEST_MIGRATED)
    connection.execute(f"PRAGMA page_size={PAGE_BYTES}")
    # Where a file system cannot do WAL, SQLite keeps its rollback journal, which is as safe and lets readers wait.
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=NORMAL")
    # What is set aside of pages, to undo half a write, holds text of the user's: it goes into no temporary file.
    connection.execute("PRAGMA temp_store=MEMORY")
    connection.execute("PRAGMA foreign_keys=ON")
    connection.execute(f"PRAGMA cache_size=-{WRITE_CACHE_KIB}")
    if is_new:
        _take_steps(connection, 0, SCHEMA_VERSION)
    for version in range(_pragma(connection, "user_version"), SCHEMA_VERSION):
        _take_steps(connection, version, version + 1)


def _take_steps(connection: apsw.Connection, version: int, wanted: int) -> None:
    """Bring the schema from one version to another in one transaction, together with the number that says so."""
    connection.execute("BEGIN IMMEDIATE")
    connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
    for step in STEPS[version:wanted]:
        for statement in step:
            connection.execute(statement)
    connection.execute(f"PRAGMA user_version={wanted}")
    connection.execute("COMMIT")


def check_record(path: Path) -> None:
    """Raise `IndexStateError` unless the file is a base's, of this schema or an older one."""
    with translated(path), closing(open_whole(path)) as connection:
        _check_header(connection, path, oldest=1)


def needs_migration(path: Path) -> bool:
    """Return whether the file is of an older schema that a writer brings up to date."""
    with translated(path), closing(open_whole(path)) as connection:
        return not _is_new(connection) and OLDEST_MIGRATED <= _pragma(connection, "user_version") < SCHEMA_VERSION


def uses_wal(connection: apsw.Connection) -> bool:
    """Return whether readers are never kept waiting by the writer, which not every file system can do."""
    return str(connection.pragma("journal_mode")) == "wal"


def _check_header(connection: apsw.Connection, path: Path, oldest: int = SCHEMA_VERSION) -> None:
    if _is_new(connection):
        # The first run was killed before it could write anything.
        raise NotFound(
            "base {name!r} holds nothing yet.",
            name=path.parent.name,
            hint="index something: zhiku index PATH --base {name}",
        )
    if _pragma(connection, "application_id") != APPLICATION_ID:
        raise Damaged("{path} is not the index of a zhiku base.", path=path, base=path.parent.name, hint=REBUILD)
    version = _pragma(connection, "user_version")
    if version > SCHEMA_VERSION:
        raise NewerSchema(
            "{path} was written by a newer zhiku (schema {version}; this one knows {known}).",
            path=path,
            version=version,
            known=SCHEMA_VERSION,
            hint="upgrade: pip install --upgrade zhiku",
        )
    if version < oldest:
        raise MigrationNeeded(
            "{path} was written by an older zhiku (schema {version}; this one has {known}).",
            path=path,
            version=version,
            known=SCHEMA_VERSION,
            base=path.parent.name,
            hint=REBUILD if version < OLDEST_MIGRATED else "bring it up to date: zhiku index --base {base}",
        )


def _is_new(connection: apsw.Connection) -> bool:
    return _pragma(connection, "user_version") == 0 and _is_empty(connection)


def _pragma(connection: apsw.Connection, name: str) -> int:
    return int(connection.pragma(name))


def _is_empty(connection: apsw.Connection) -> bool:
    return connection.execute("SELECT count(*) FROM sqlite_schema").fetchone() == (0,)


def is_sound(connection: apsw.Connection) -> bool:
    """Return whether the tables hold what they declare, and agree; reads most of the file."""
    try:
        checked = connection.execute("PRAGMA quick_check(1)").fetchone()
        agree = connection.execute(
            "SELECT (SELECT count(*) FROM chunks) = (SELECT coalesce(sum(chunk_count), 0) FROM documents)"
            " AND NOT EXISTS (SELECT 1 FROM pragma_foreign_key_check)"
        ).fetchone()
    except apsw.Error:
        return False
    return bool(checked == ("ok",) and agree == (1,))


def damaged(path: Path, cause: object) -> Damaged:
    """Return the error for a file that holds what zhiku never writes."""
    return Damaged("{path} is damaged: {cause}.", path=path, cause=cause, base=path.parent.name, hint=REPAIR)


def unrepairable(path: Path, cause: object) -> Damaged:
    """Return the error for a file whose record is damaged: only the documents themselves can mend that."""
    return Damaged("{path} is damaged: {cause}.", path=path, cause=cause, base=path.parent.name, hint=REBUILD)


def unopenable(path: Path, cause: object) -> IndexStateError:
    """Return the error for the system's no, not the file's fault: a whole index must not be thrown away for it."""
    return IndexStateError(
        "{path} cannot be opened: {cause}.",
        path=path,
        cause=cause,
        hint="check its permissions, then run the same command again",
    )


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Raise what SQLite raises as the error that says what it means for this base."""
    try:
        yield
    except apsw.Error as error:
        meaning = _meaning(path, _origin(error))
        if meaning is None:
            raise  # our own SQL is wrong, not the file
        raise meaning from error
    except (UnicodeDecodeError, json.JSONDecodeError, Inconsistent) as error:
        # SQLite does not see damage inside a value, and what is stored as text is UTF-8, or JSON, throughout.
        raise damaged(path, error) from error


def _origin(error: apsw.Error) -> apsw.Error:
    """Return the first of errors in a row: where SQLite ended a transaction itself, rolling it back fails as well."""
    while isinstance(error, apsw.SQLError) and isinstance(error.__context__, apsw.Error):
        error = error.__context__
    return error


def _cause(error: apsw.Error) -> str:
    # A backup tells what went wrong by the class alone; its message is that of the last call that went well.
    return "disk I/O error" if str(error) == "not an error" else str(error)


def _meaning(path: Path, error: apsw.Error) -> ZhikuError | None:
    if isinstance(error, (apsw.BusyError, apsw.LockedError)):
        return Busy("another process is writing {path}.", path=path, hint="try again when it has ended")
    if isinstance(error, apsw.FullError):
        return IndexStateError(
            "the disk is full: {path} could not grow. Everything indexed before is kept.",
            path=path,
            hint="free some space, then run the same command again",
        )
    if isinstance(error, (apsw.IOError, apsw.ReadOnlyError, apsw.PermissionsError, apsw.AuthError)):
        return unwritable(path, _cause(error))
    if isinstance(error, apsw.CantOpenError):
        return unopenable(path, error)
    if isinstance(error, (apsw.CorruptError, apsw.NotADBError, apsw.SchemaChangeError)):
        return damaged(path, error)
    if str(error).startswith(("no such table", "no such column", "no such rowid", "malformed")):
        return damaged(path, error)
    return None
