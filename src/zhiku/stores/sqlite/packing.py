"""Writing vectors: rows of them as float16, and their places in the packs that a search scans."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import apsw

from zhiku.stores.sqlite.connection import Inconsistent
from zhiku.stores.sqlite.schema import PACK_ROWS, SHIFT
from zhiku.text.script import SCRIPTS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

INT8_MAX = 127.0


def put(
    connection: apsw.Connection,
    ids: Sequence[int],
    digests: Sequence[bytes],
    scripts: Sequence[str],
    vectors: NDArray[np.float32],
) -> None:
    """Store vectors under free ids: exact, and in their packs."""
    import numpy as np  # indexing words needs none

    claimed = "SELECT EXISTS (SELECT 1 FROM chunks WHERE embedding_id IN (SELECT value FROM json_each(?)))"
    if connection.execute(claimed, (json.dumps(ids),)).get:
        raise Inconsistent("a vector is missing")  # its chunk must not get another's
    halves = vectors.astype(np.float16)
    connection.executemany(
        "INSERT INTO embeddings (embedding_id, digest, vector) VALUES (?, ?, ?)",
        [(i, digest, half.tobytes()) for i, digest, half in zip(ids, digests, halves, strict=True)],
    )
    _write_rows(connection, ids, scripts, halves)


def _write_rows(
    connection: apsw.Connection, ids: Sequence[int], scripts: Sequence[str], halves: NDArray[np.float16]
) -> None:
    """Write vectors into their packs as whole numbers."""
    import numpy as np  # as above

    exact = halves.astype(np.float32)
    scales = np.maximum(np.abs(exact).max(axis=1), 1e-12) / np.float32(INT8_MAX)
    whole = np.rint(exact / scales[:, None]).astype(np.int8)
    numbers = [SCRIPTS.index(script) + 1 for script in scripts]
    for pack_id, places in _by_pack(ids):
        _make_pack(connection, pack_id, halves.shape[1])
        rows = [ids[place] % PACK_ROWS for place in places]
        _write(connection, pack_id, "vectors", rows, whole[places].tobytes())
        _write(connection, pack_id, "scales", rows, scales[places].tobytes())
        _write(connection, pack_id, "scripts", rows, bytes(numbers[place] for place in places))


def _by_pack(ids: Sequence[int]) -> Iterator[tuple[int, list[int]]]:
    places: dict[int, list[int]] = {}
    for place, embedding_id in enumerate(ids):
        places.setdefault(embedding_id // PACK_ROWS, []).append(place)
    yield from places.items()


def _make_pack(connection: apsw.Connection, pack_id: int, dims: int) -> None:
    connection.execute(
        "INSERT INTO packs VALUES (?, zeroblob(?), zeroblob(?), zeroblob(?)) ON CONFLICT DO NOTHING",
        (pack_id, PACK_ROWS * dims, PACK_ROWS * 4, PACK_ROWS),
    )


def _write(connection: apsw.Connection, pack_id: int, column: str, rows: Sequence[int], values: bytes) -> None:
    """Write the values of some rows of a pack, which stand end to end."""
    size = len(values) // len(rows)
    with connection.blob_open("main", "packs", column, pack_id, True) as blob:
        if blob.length() != PACK_ROWS * size:
            raise Inconsistent("a pack of vectors is cut off")
        for start, end in _runs(rows):
            blob.seek(rows[start] * size)
            blob.write(values[start * size : end * size])


def _runs(rows: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of the places at which rows follow each other."""
    start = 0
    for end in range(1, len(rows) + 1):
        if end == len(rows) or rows[end] != rows[end - 1] + 1:
            yield start, end
            start = end


def free_ids(connection: apsw.Connection) -> Iterator[int]:
    """Yield ids without an embedding: first the gaps that removed ones left, so that packs stay full, then new ones."""
    taken: list[Any] = connection.execute("SELECT embedding_id FROM embeddings ORDER BY 1").fetchall()
    expected = 0
    for (embedding_id,) in taken:
        yield from range(expected, embedding_id)
        expected = embedding_id + 1
    while True:
        yield expected
        expected += 1


def link(connection: apsw.Connection, digests: Mapping[int, bytes]) -> frozenset[int]:
    """Give chunks the vectors of these digests, and return the chunks whose digest has one."""
    found: list[Any] = connection.execute(
        _OF_DIGESTS, (json.dumps([digest.hex() for digest in digests.values()]),)
    ).fetchall()
    known = {digest: (embedding_id, hidden) for digest, embedding_id, hidden in found}
    linked = {chunk_id: known[digest] for chunk_id, digest in digests.items() if digest in known}
    connection.executemany(
        "UPDATE chunks SET embedding_id = ? WHERE chunk_id = ?",
        [(embedding_id, chunk_id) for chunk_id, (embedding_id, _) in linked.items()],
    )
    for chunk_id, (embedding_id, hidden) in linked.items():
        if hidden:
            script = connection.execute("SELECT script FROM documents WHERE doc_id = ?", (chunk_id >> SHIFT,)).get
            unmask(connection, [embedding_id], script)
    return frozenset(linked)


_OF_DIGESTS = """SELECT digest, embedding_id, hidden FROM embeddings
    WHERE digest IN (SELECT unhex(value) FROM json_each(?))"""


def make_packs(connection: apsw.Connection) -> None:
    """Make all packs from the vectors; chunks whose vector is missing or cut off wait for a new one.

    A vector that only deprecated documents have is in its pack, hidden; one that no chunk has is removed.
    """
    size = connection.execute("SELECT length(vector) FROM embeddings GROUP BY 1 ORDER BY count(*) DESC LIMIT 1").get
    connection.execute("DELETE FROM packs")
    connection.execute("DELETE FROM embeddings WHERE length(vector) <> ? OR typeof(vector) <> 'blob'", (size,))
    connection.execute(f"DELETE FROM embeddings AS e WHERE {_BY_NO_CHUNK}")
    connection.execute(
        "UPDATE chunks SET embedding_id = NULL WHERE embedding_id NOT IN (SELECT embedding_id FROM embeddings)"
    )
    rows: list[Any] = [(-1,)]
    while rows := connection.execute(_WITH_SCRIPT, (rows[-1][0], PACK_ROWS)).fetchall():
        _make_rows(connection, rows)
    connection.execute("UPDATE embeddings SET hidden = 0 WHERE hidden")
    mask(connection, [row[0] for row in connection.execute(_BY_NONE_ACTIVE)])


# The script of any of its chunks: a vector belongs to one.
_WITH_SCRIPT = f"""SELECT embedding_id, vector, (
        SELECT script FROM chunks AS c JOIN documents AS d ON d.doc_id = c.chunk_id >> {SHIFT}
        WHERE c.embedding_id = e.embedding_id LIMIT 1)
    FROM embeddings AS e WHERE embedding_id > ? ORDER BY embedding_id LIMIT ?"""
_BY_NO_CHUNK = "NOT EXISTS (SELECT 1 FROM chunks AS c WHERE c.embedding_id = e.embedding_id)"
_BY_NONE_ACTIVE = f"""SELECT embedding_id FROM embeddings AS e WHERE NOT EXISTS (
    SELECT 1 FROM chunks AS c JOIN documents AS d ON d.doc_id = c.chunk_id >> {SHIFT}
    WHERE c.embedding_id = e.embedding_id AND d.state = 'active')"""


def _make_rows(connection: apsw.Connection, rows: Sequence[tuple[Any, ...]]) -> None:
    import numpy as np  # a base that is searched by words only may lack it

    vectors = np.frombuffer(b"".join(vector for _, vector, _ in rows), np.float16).reshape(len(rows), -1)
    _write_rows(connection, [row[0] for row in rows], [row[2] for row in rows], vectors)


def mask(connection: apsw.Connection, ids: Sequence[int]) -> None:
    """Keep these vectors out of searches: in its pack each counts as none."""
    _set_hidden(connection, ids, hidden=True)
    _mark(connection, ids, 0)


def unmask(connection: apsw.Connection, ids: Sequence[int], script: str) -> None:
    """Let searches find these vectors again, which are of texts in this script."""
    _set_hidden(connection, ids, hidden=False)
    _mark(connection, ids, SCRIPTS.index(script) + 1)


def _set_hidden(connection: apsw.Connection, ids: Sequence[int], *, hidden: bool) -> None:
    connection.execute(
        "UPDATE embeddings SET hidden = ? WHERE embedding_id IN (SELECT value FROM json_each(?))",
        (hidden, json.dumps(ids)),
    )


def _mark(connection: apsw.Connection, ids: Sequence[int], number: int) -> None:
    for pack_id, places in _by_pack(ids):
        rows = [ids[place] % PACK_ROWS for place in places]
        _write(connection, pack_id, "scripts", rows, bytes([number]) * len(rows))


def unused_ids(connection: apsw.Connection) -> list[int]:
    """Return the embeddings that no chunk has."""
    found = connection.execute(f"SELECT embedding_id FROM embeddings AS e WHERE {_BY_NO_CHUNK}")
    return [embedding_id for (embedding_id,) in found]


def remove(connection: apsw.Connection, ids: Sequence[int]) -> None:
    """Remove embeddings: their rows, and their places in the packs."""
    connection.execute(
        "DELETE FROM embeddings WHERE embedding_id IN (SELECT value FROM json_each(?))", (json.dumps(ids),)
    )
    _mark(connection, ids, 0)


def remove_all(connection: apsw.Connection) -> None:
    """Remove all embeddings, and the packs, which another embedder may need in another size."""
    connection.execute("UPDATE chunks SET embedding_id = NULL WHERE embedding_id IS NOT NULL")
    connection.execute("DELETE FROM embeddings")
    connection.execute("DELETE FROM packs")
