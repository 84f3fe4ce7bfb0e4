"""What requests to endpoints cost, added up day by day in a small file of its own: no base is written for it."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable
from contextlib import closing, suppress
from datetime import date, timedelta
from pathlib import Path

import apsw

from zhiku.errors import IndexStateError
from zhiku.paths import PRIVATE_FILE_MODE
from zhiku.remote import Call, Usage

log = logging.getLogger(__name__)

KEEP_DAYS = 800
"""Two years and a little more. A row is some 100 bytes, and there is one a day for each endpoint and kind."""
BUSY_TIMEOUT_MS = 200
"""A write takes a thousandth of that; whoever holds the file for longer must not hold up a search."""
RETRY_S = 10.0
"""Where the file cannot be written, it is not tried again before."""

_TABLE = """CREATE TABLE IF NOT EXISTS usage (
  day TEXT, kind TEXT, address TEXT, model TEXT,
  calls INTEGER NOT NULL, texts INTEGER NOT NULL, tokens INTEGER NOT NULL, tokens_estimated INTEGER NOT NULL,
  errors INTEGER NOT NULL, seconds REAL NOT NULL,
  PRIMARY KEY (day, kind, address, model)
) STRICT, WITHOUT ROWID"""
_SUMS = ("calls", "texts", "tokens", "tokens_estimated", "errors", "seconds")
_ADD = (
    f"INSERT INTO usage (day, kind, address, model, {', '.join(_SUMS)}) VALUES ({', '.join('?' * (4 + len(_SUMS)))})"
    f" ON CONFLICT DO UPDATE SET {', '.join(f'{name} = {name} + excluded.{name}' for name in _SUMS)}"
)
_READ = (
    f"SELECT kind, address, model, {', '.join(f'sum({name})' for name in _SUMS)} FROM usage"
    " WHERE day >= ? GROUP BY kind, address, model ORDER BY kind, model, address"
)

_Key = tuple[str, str, str, str]
_Sums = tuple[int, int, int, int, int, float]


class UsageLog:
    """Adds up calls; implements `zhiku.remote.Record`, for several threads and processes at once.

    It never raises. What cannot be written now is written with the next call that can be, and is lost with the process.
    """

    def __init__(
        self, path: Path, *, today: Callable[[], date] = date.today, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Take the file, which is made by the first call; `clock` tells seconds."""
        self._path = path
        self._today = today
        self._clock = clock
        self._lock = threading.Lock()
        self._connection: apsw.Connection | None = None
        self._waiting: dict[_Key, _Sums] = {}
        self._retry_at = float("-inf")

    def __call__(self, call: Call) -> None:
        """Count a call."""
        key = (self._today().isoformat(), call.kind, call.address, call.model)
        with self._lock:
            self._waiting[key] = _added(self._waiting.get(key), _sums(call))
            if self._clock() < self._retry_at:
                return
            try:
                self._write()
                self._waiting.clear()
            except (apsw.Error, OSError) as error:
                log.info("%s cannot be written, and requests are not counted: %s", self._path, error)
                self._close()
                self._retry_at = self._clock() + RETRY_S

    def _write(self) -> None:
        if self._connection is None:
            self._connection = _open(self._path, self._today() - timedelta(days=KEEP_DAYS))
        with self._connection:
            self._connection.executemany(_ADD, [(*key, *sums) for key, sums in self._waiting.items()])

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close(True)
            self._connection = None


def read_usage(path: Path, since: date | None = None) -> list[Usage]:
    """Return what calls cost from a day on, that day included, by kind, model and address.

    Raises `IndexStateError` where the file cannot be read.
    """
    if not path.exists():
        return []
    try:
        with closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)) as connection:
            connection.set_busy_timeout(BUSY_TIMEOUT_MS)
            rows = list(connection.execute(_READ, (since.isoformat() if since else "",)))
    except apsw.Error as error:
        raise IndexStateError(
            "{path} cannot be read: {cause}.",
            path=path,
            cause=error,
            hint="it holds nothing but counts of requests: remove it, and counting begins anew",
        ) from error
    names = ("kind", "address", "model", *_SUMS)
    return [Usage(**dict(zip(names, row, strict=True))) for row in rows]


def _open(path: Path, oldest: date) -> apsw.Connection:
    # First, so that it is its owner's from the beginning; SQLite gives what it puts beside it the same mode.
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, PRIVATE_FILE_MODE))
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        connection.set_busy_timeout(BUSY_TIMEOUT_MS)
        with suppress(apsw.BusyError):  # another process is at it at this instant
            connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(_TABLE)
        connection.execute("DELETE FROM usage WHERE day < ?", (oldest.isoformat(),))
        connection.execute("COMMIT")
    except BaseException:
        connection.close(True)
        raise
    return connection


def _sums(call: Call) -> _Sums:
    if call.error:
        return 1, 0, 0, 0, 1, call.elapsed_s
    return 1, call.texts, call.tokens, call.tokens if call.is_estimate else 0, 0, call.elapsed_s


def _added(before: _Sums | None, more: _Sums) -> _Sums:
    if before is None:
        return more
    (calls, texts, tokens, estimated, errors, seconds), (a, b, c, d, e, f) = before, more
    return calls + a, texts + b, tokens + c, estimated + d, errors + e, seconds + f
