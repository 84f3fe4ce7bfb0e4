"""Deprecating documents and taking that back: what is searched holds the active ones alone, the record all."""

from __future__ import annotations

import json
from collections.abc import Sequence

import apsw

from zhiku.model import HiddenBy
from zhiku.stores.sqlite import packing
from zhiku.stores.sqlite.rows import ACTIVE_CHUNK
from zhiku.stores.sqlite.schema import SHIFT

_VECTORS_HAD_BY = f"""SELECT DISTINCT embedding_id FROM chunks
    WHERE chunk_id >= :doc << {SHIFT} AND chunk_id < (:doc + 1) << {SHIFT} AND embedding_id IS NOT NULL"""
_BY_NO_OTHER = f"""NOT EXISTS (SELECT 1 FROM chunks AS other JOIN documents AS d ON d.doc_id = other.chunk_id >> {SHIFT}
    WHERE other.embedding_id = chunks.embedding_id AND d.state = 'active')"""

_HOLDERS = f"FROM chunks AS c JOIN documents AS d ON d.doc_id = c.chunk_id >> {SHIFT} WHERE c.embedding_id = value"
_BY_DEPRECATED_ALONE = f"""SELECT value FROM json_each(?) WHERE EXISTS (SELECT 1 {_HOLDERS})
    AND NOT EXISTS (SELECT 1 {_HOLDERS} AND d.state = 'active')"""


def hide(connection: apsw.Connection, doc_id: int, by: HiddenBy) -> None:
    """Deprecate a document: out of the full text, and out of the packs where no active one has its vectors."""
    connection.execute(f"UPDATE documents SET {by} = 1, state = 'deprecated' WHERE doc_id = ?", (doc_id,))
    remove_tokens(connection, doc_id)
    ids = [row[0] for row in connection.execute(f"{_VECTORS_HAD_BY} AND {_BY_NO_OTHER}", {"doc": doc_id})]
    packing.mask(connection, ids)


def show(connection: apsw.Connection, doc_id: int, by: HiddenBy) -> bool:
    """Take one reason back and return whether none is left; its vectors are searched then, its words not yet."""
    state = connection.execute(
        f"UPDATE documents SET {by} = 0 WHERE doc_id = ? RETURNING pruned OR forgotten, script", (doc_id,)
    ).fetchone()
    if state is None or state[0]:
        return False
    connection.execute("UPDATE documents SET state = 'active' WHERE doc_id = ?", (doc_id,))
    packing.unmask(connection, vectors_of(connection, doc_id), state[1])
    return True


def vectors_of(connection: apsw.Connection, doc_id: int) -> list[int]:
    """Return the vectors that a document has."""
    return [row[0] for row in connection.execute(_VECTORS_HAD_BY, {"doc": doc_id})]


def release(connection: apsw.Connection, ids: Sequence[int]) -> bool:
    """Keep those of these vectors out of searches that only deprecated documents have, and return if there are any.

    Those that none has are removed when the vectors are settled.
    """
    found = connection.execute(_BY_DEPRECATED_ALONE, (json.dumps(ids),))
    left = [embedding_id for (embedding_id,) in found]
    packing.mask(connection, left)
    return bool(left)


def remove_tokens(connection: apsw.Connection, doc_id: int) -> None:
    """Take a document out of the full text."""
    span = (doc_id << SHIFT, (doc_id + 1) << SHIFT)
    connection.execute("DELETE FROM lexical WHERE rowid >= ? AND rowid < ?", span)


def untokened(connection: apsw.Connection) -> list[int]:
    """Return the active documents of which a chunk is not in the full text."""
    found = connection.execute(
        f"SELECT DISTINCT chunk_id >> {SHIFT} FROM chunks"
        f" WHERE {ACTIVE_CHUNK} AND chunk_id NOT IN (SELECT id FROM lexical_docsize) ORDER BY 1"
    )
    return [doc_id for (doc_id,) in found]
