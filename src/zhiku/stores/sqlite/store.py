"""A base in one SQLite file: opening sessions on it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import apsw

from zhiku.errors import NotFound
from zhiku.stores.sqlite.connection import (
    FrozenConnection,
    damaged,
    is_sound,
    open_for_reading,
    open_for_writing,
    translated,
)
from zhiku.stores.sqlite.reading import PackCache, SqliteReadSession

if TYPE_CHECKING:
    from zhiku.stores.sqlite.writing import SqliteWriteSession

FILE_NAME = "index.sqlite3"


class SqliteStore:
    """Implements `zhiku.ports.Store` over the file `index.sqlite3` in a base's folder."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / FILE_NAME
        # Connections that no session uses now; opening one anew would lose SQLite's cache of pages.
        self._idle: list[apsw.Connection] = []
        self._cache = PackCache()

    def exists(self) -> bool:
        return self.path.exists()

    @contextmanager
    def reading(self) -> Iterator[SqliteReadSession]:
        if not self.exists():
            raise NotFound("{path} does not exist.", path=self.path, hint="index something first: zhiku index PATH")
        connection = self._idle.pop() if self._idle else open_for_reading(self.path)
        with translated(self.path):
            try:
                connection.execute("BEGIN")
                yield SqliteReadSession(connection, self._cache)
                connection.execute("COMMIT")
            except (TypeError, LookupError) as error:
                # A fault in the code, or rows that are gone or empty where they cannot be.
                with closing(connection):
                    if is_sound(connection):
                        raise
                raise damaged(self.path, error) from error
            except BaseException:
                connection.close()
                raise
        if isinstance(connection, FrozenConnection):
            connection.close()
        else:
            self._idle.append(connection)

    @contextmanager
    def writing(self) -> Iterator[SqliteWriteSession]:
        from zhiku.stores.sqlite.writing import SqliteWriteSession  # a search must not pay for it

        connection = open_for_writing(self.path)
        with translated(self.path):
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

    def close(self) -> None:
        """Close idle connections."""
        while self._idle:
            self._idle.pop().close()
