"""What a base remembers of files: read for every run, so without what a run does not need of a document."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import chain
from typing import Any

import apsw

from zhiku.model import FileLook, KnownFile

_COLUMNS = "d.doc_id, d.size_bytes, d.mtime_ns, d.ctime_ns, d.sha256, d.format, d.chunk_count, d.pruned, d.forgotten"
_FILES = f"SELECT r.path, d.path, d.path_raw, {_COLUMNS} FROM documents AS d JOIN roots AS r USING (root_id)"


_LOOK = "size_bytes, mtime_ns, ctime_ns FROM documents WHERE root_id = ? AND state = 'active'"


def settled_files(connection: apsw.Connection, root: str) -> Iterator[FileLook]:
    """Yield what the searched files of a root looked like, in the order in which they were first stored."""
    root_id = connection.execute("SELECT root_id FROM roots WHERE path = ?", (root,)).get
    # Rows as they come, which is in the order of an index: a run over unchanged files makes nothing else of them.
    plain: Any = connection.execute(f"SELECT path, {_LOOK} AND path_raw IS NULL ORDER BY doc_id", (root_id,))
    raw: Any = connection.execute(f"SELECT path_raw, {_LOOK} AND path_raw IS NOT NULL ORDER BY doc_id", (root_id,))
    return chain(plain, ((os.fsdecode(name), *look) for name, *look in raw))


def textless_files(connection: apsw.Connection, root: str) -> list[str]:
    """Return the paths of the searched files of a root that hold no text."""
    found = connection.execute(
        "SELECT d.path, path_raw FROM documents AS d JOIN roots AS r USING (root_id)"
        " WHERE chunk_count = 0 AND state = 'active' AND r.path = ?",
        (root,),
    )
    return [str(path) if raw is None else os.fsdecode(raw) for path, raw in found]


def known_files(connection: apsw.Connection, root: str) -> dict[str, KnownFile]:
    """Return what is remembered of a root's files, by path."""
    root_id = connection.execute("SELECT root_id FROM roots WHERE path = ?", (root,)).get
    # The root's path is the same for all, and nearly all names are UTF-8: what is left is made without a look at it.
    found = connection.execute(
        f"SELECT ?, d.path, {_COLUMNS} FROM documents AS d WHERE root_id = ? AND path_raw IS NULL", (root, root_id)
    )
    known = {row[1]: KnownFile._make(row) for row in found}
    for row in connection.execute(f"{_FILES} WHERE root_id = ? AND path_raw IS NOT NULL", (root_id,)):
        file = _read(*row)
        known[file.path] = file
    return known


def files_with(connection: apsw.Connection, sha256: str) -> list[KnownFile]:
    """Return what is remembered of the files of exactly this content, by id."""
    return [_read(*row) for row in connection.execute(f"{_FILES} WHERE d.sha256 = ? ORDER BY d.doc_id", (sha256,))]


def _read(root: str, path: str, raw: bytes | None, *rest: object) -> KnownFile:
    return KnownFile._make((root, path if raw is None else os.fsdecode(raw), *rest))
