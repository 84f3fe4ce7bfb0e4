"""Replaces `sqlite3.connect` by one whose connections lack some methods or refuse some SQL."""

from __future__ import annotations

import sqlite3
import sqlite3.dbapi2
from collections.abc import Callable
from typing import Any

Check = Callable[[str], None]


def install(*, hidden: frozenset[str] = frozenset(), check: Check | None = None) -> None:
    class Cursor(sqlite3.Cursor):
        def execute(self, sql: str, *values: Any) -> sqlite3.Cursor:
            if check:
                check(sql)
            return super().execute(sql, *values)

    class Connection(sqlite3.Connection):
        def __getattribute__(self, name: str) -> Any:
            if name in hidden:
                raise AttributeError(f"'sqlite3.Connection' object has no attribute {name!r}")
            return super().__getattribute__(name)

        def cursor(self, factory: Any = Cursor) -> Any:
            return super().cursor(factory)

        def execute(self, sql: str, *values: Any) -> sqlite3.Cursor:
            cursor: sqlite3.Cursor = self.cursor()
            return cursor.execute(sql, *values)

    real = sqlite3.connect

    def connect(*args: Any, **options: Any) -> Any:
        return real(*args, **{"factory": Connection, **options})

    sqlite3.connect = sqlite3.dbapi2.connect = connect  # type: ignore[assignment]
