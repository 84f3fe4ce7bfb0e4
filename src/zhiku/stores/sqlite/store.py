"""A base in one SQLite file: opening sessions on it, and replacing it by another in one step."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import apsw

from zhiku.errors import IndexStateError, NotFound
from zhiku.stores.sqlite import generations
from zhiku.stores.sqlite.connection import (
    FrozenConnection,
    damaged,
    is_sound,
    needs_migration,
    open_for_reading,
    open_for_writing,
    translated,
    unopenable,
)
from zhiku.stores.sqlite.reading import PackCache, SqliteReadSession

if TYPE_CHECKING:
    from zhiku.stores.sqlite.writing import SqliteWriteSession


class SqliteStore:
    """Implements `zhiku.ports.Store` over the index files in a base's folder, of which one is the index.

    Several threads may read at once, each in a session of its own.
    """

    def __init__(self, folder: Path, path: Path | None = None) -> None:
        """Open the index that answers, whichever that is at the time; or the one at `path`, which is being built."""
        self._folder = folder
        self._built = path
        # Connections to `_opened` that no session uses now; opening one anew would lose SQLite's cache of pages.
        self._idle: list[apsw.Connection] = []
        self._opened: tuple[int, int] | None = None
        self._lock = threading.Lock()  # over the two above
        self._cache = PackCache()

    @property
    def path(self) -> Path:
        """Return the file that is the index now."""
        return self._built or generations.current_file(self._folder)

    def exists(self) -> bool:
        try:
            return self.path.stat().st_size > 0  # a first run that is killed may leave an empty file
        except FileNotFoundError:
            return False
        except OSError:
            return True  # opening it says what is wrong

    @contextmanager
    def reading(self) -> Iterator[SqliteReadSession]:
        path, opened, connection = self._connect()
        with translated(path):
            try:
                connection.execute("BEGIN")
                yield SqliteReadSession(connection, self._cache)
                connection.execute("COMMIT")
            except (TypeError, LookupError) as error:
                # A fault in the code, or rows that are gone or empty where they cannot be.
                with closing(connection):
                    if is_sound(connection):
                        raise
                raise damaged(path, error) from error
            except BaseException:
                connection.close()
                raise
        self._give_back(opened, connection)

    def _connect(self) -> tuple[Path, tuple[int, int], apsw.Connection]:
        """Return the file that is the index now, what tells it from others, and a connection to it."""
        path = self.path
        while True:
            try:
                status = path.stat()
            except FileNotFoundError as error:
                if path == (path := self.path):
                    raise NotFound(
                        "{path} does not exist.", path=path, hint="index something first: zhiku index PATH"
                    ) from error
                continue  # it was replaced between two looks
            except OSError as error:
                raise unopenable(path, error.strerror) from error
            # The file that is open has its number to itself, so that one of the same name made anew has another.
            opened = (status.st_dev, status.st_ino)
            if connection := self._take(opened):
                return path, opened, connection
            try:
                return path, opened, open_for_reading(path)
            except IndexStateError:
                if path == (path := self.path):
                    raise
                # As above: it was replaced meanwhile.

    def _take(self, opened: tuple[int, int]) -> apsw.Connection | None:
        """Return an idle connection to a file, if there is one; what is open on another file is closed."""
        with self._lock:
            if opened != self._opened:
                self._close_idle()
                self._opened = opened
            return self._idle.pop() if self._idle else None

    def _give_back(self, opened: tuple[int, int], connection: apsw.Connection) -> None:
        with self._lock:
            if opened == self._opened and not isinstance(connection, FrozenConnection):
                self._idle.append(connection)
                return
        connection.close()

    @contextmanager
    def writing(self, before_migration: Callable[[], object] | None = None) -> Iterator[SqliteWriteSession]:
        from zhiku.stores.sqlite.writing import SqliteWriteSession  # a search must not pay for it

        if self._built is None:
            generations.remove_others(self._folder)
        path = self.path
        if before_migration and self.exists() and needs_migration(path):
            before_migration()
        connection = open_for_writing(path)
        with translated(path):
            try:
                connection.execute("BEGIN IMMEDIATE")
                session = SqliteWriteSession(connection)
                yield session
                session.checkpoint()
                connection.execute("COMMIT")
                # What a run reports as done is on the disk: copying the log into the file syncs both.
                connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
            finally:
                connection.close()

    @contextmanager
    def successor(self, origin: Path | None = None, *, record_only: bool = False) -> Iterator[SqliteStore]:
        from zhiku.stores.sqlite.copying import compact, copy, copy_record  # few commands build an index beside another

        generations.remove_others(self._folder)
        path = generations.new_file(self._folder)
        built = SqliteStore(self._folder, path)
        try:
            if origin is not None:
                (copy_record if record_only else copy)(origin, path)
            yield built
            built.close()
            compact(path)
            generations.publish(path)
        except BaseException:
            built.close()
            generations.remove(path)
            raise
        self.close()
        generations.remove_others(self._folder)

    def copy_to(self, path: Path) -> None:
        from zhiku.stores.sqlite.copying import copy  # as above

        copy(self.path, path)

    def close(self) -> None:
        """Close idle connections."""
        with self._lock:
            self._close_idle()

    def _close_idle(self) -> None:
        while self._idle:
            self._idle.pop().close()
