"""The ledger: why files are not in the index, hold no text there, or have a part without a vector."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

import apsw

from zhiku.model import LedgerEntry
from zhiku.paths import shown_path
from zhiku.stores.sqlite import rows

_ENTRIES = """SELECT r.path, l.path, outcome, code, message, tries, seen_at, size_bytes, mtime_ns, ctime_ns, reader
    FROM ledger AS l JOIN roots AS r USING (root_id)"""
_PUT = f"""INSERT INTO ledger
    (root_id, path, outcome, code, message, tries, seen_at, size_bytes, mtime_ns, ctime_ns, reader)
    VALUES ({", ".join("?" * 11)}) ON CONFLICT DO UPDATE SET outcome = excluded.outcome, code = excluded.code,
    message = excluded.message, tries = excluded.tries, seen_at = excluded.seen_at, size_bytes = excluded.size_bytes,
    mtime_ns = excluded.mtime_ns, ctime_ns = excluded.ctime_ns, reader = excluded.reader"""


def entries(connection: apsw.Connection, root: str | None = None) -> Iterator[LedgerEntry]:
    """Yield the ledger by root and path, or that of one root."""
    where = "" if root is None else "WHERE r.path = ?"
    found = connection.execute(f"{_ENTRIES} {where} ORDER BY 1, 2", () if root is None else (root,))
    return (_read(*row) for row in found)


def _read(*row: Any) -> LedgerEntry:
    root, path, outcome, code, message, tries, seen_at, *look, reader = row
    return LedgerEntry(
        root=root,
        path=path,
        outcome=outcome,
        code=code,
        message=message,
        tries=tries,
        seen_at=seen_at,
        look=None if look[0] is None else (path, look[0], look[1], look[2]),
        reader=reader,
    )


def add(connection: apsw.Connection, root_id: int, root: str, fresh: Iterable[LedgerEntry]) -> dict[str, LedgerEntry]:
    """Record entries of a root and return what was recorded of it before.

    One of a file that was tried again counts; any other that says what is recorded already is not written.
    """
    known = {entry.path: entry for entry in entries(connection, root)}
    connection.executemany(_PUT, _changed(known, fresh, root_id))
    return known


def _changed(known: dict[str, LedgerEntry], fresh: Iterable[LedgerEntry], root_id: int) -> Iterator[tuple[object, ...]]:
    now = rows.now()
    for entry in fresh:
        path = shown_path(entry.path)
        before = known.get(path)
        was_tried = entry.look is not None and not entry.seen_at  # one with a time was recalled from the ledger
        if before is not None and _told(before) == _told(entry) and not was_tried:
            continue
        tries = 1 + (before.tries if before is not None and before.look == entry.look else 0)
        look = entry.look[1:] if entry.look else (None, None, None)
        yield (root_id, path, *_told(entry), tries, now, *look, entry.reader)


def _told(entry: LedgerEntry) -> tuple[str, str, str]:
    # A message names its file, which may have a name that is not UTF-8: then as the entry's path does.
    message = entry.message.replace(entry.path, shown_path(entry.path)) if entry.path else entry.message
    return entry.outcome, entry.code, message.encode("utf-8", "backslashreplace").decode()


def put(connection: apsw.Connection, root_id: int, root: str, fresh: Iterable[LedgerEntry], within: str) -> None:
    """Do the same, and drop all other entries of the root at or below `within`."""
    kept = list(fresh)
    others = add(connection, root_id, root, kept).keys() - {shown_path(entry.path) for entry in kept}
    dropped = [path for path in others if not within or path == within or path.startswith(within + "/")]
    connection.executemany(
        "DELETE FROM ledger WHERE root_id = ? AND path = ? AND outcome <> 'unembedded'",
        [(root_id, path) for path in dropped],
    )


def put_unembedded(connection: apsw.Connection, doc_ids: Iterable[int], *, whole: bool) -> None:
    """Note that a part of these documents has no vector; with `whole`, drop such notes of others.

    What else is noted of a file stays.
    """
    connection.execute(
        """INSERT INTO ledger (root_id, path, outcome, code, message, seen_at)
        SELECT root_id, path, 'unembedded', 'unembedded', '', ? FROM documents
        WHERE doc_id IN (SELECT value FROM json_each(?)) ON CONFLICT DO UPDATE
        SET tries = tries + 1, seen_at = excluded.seen_at WHERE outcome = 'unembedded'""",
        (rows.now(), wanted := json.dumps(sorted(set(doc_ids)))),
    )
    if whole:
        connection.execute(
            """DELETE FROM ledger WHERE outcome = 'unembedded' AND (root_id, path) NOT IN
            (SELECT root_id, path FROM documents WHERE doc_id IN (SELECT value FROM json_each(?)))""",
            (wanted,),
        )
