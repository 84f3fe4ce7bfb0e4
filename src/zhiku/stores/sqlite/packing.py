"""Writing vectors: rows of them as float16, and their places in the packs that a search scans."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import apsw

from zhiku.stores.sqlite.connection import Inconsistent
from zhiku.stores.sqlite.schema import PACK_ROWS
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
    exact = halves.astype(np.float32)
    scales = np.maximum(np.abs(exact).max(axis=1), 1e-12) / np.float32(INT8_MAX)
    whole = np.rint(exact / scales[:, None]).astype(np.int8)
    numbers = [SCRIPTS.index(script) + 1 for script in scripts]
    for pack_id, places in _by_pack(ids):
        _make_pack(connection, pack_id, vectors.shape[1])
        rows = [ids[place] % PACK_ROWS for place in places]
        _write(connection, pack_id, "vectors", rows, [whole[place].tobytes() for place in places])
        _write(connection, pack_id, "scales", rows, [scales[place].tobytes() for place in places])
        _write(connection, pack_id, "scripts", rows, [bytes([numbers[place]]) for place in places])


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


def _write(
    connection: apsw.Connection, pack_id: int, column: str, rows: Sequence[int], values: Sequence[bytes]
) -> None:
    with connection.blob_open("main", "packs", column, pack_id, True) as blob:
        if blob.length() != PACK_ROWS * len(values[0]):
            raise Inconsistent("a pack of vectors is cut off")
        for row, value in zip(rows, values, strict=True):
            blob.seek(row * len(value))
            blob.write(value)


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
    linked = set()
    for chunk_id, digest in digests.items():
        known = connection.execute("SELECT embedding_id FROM embeddings WHERE digest = ?", (digest,)).get
        if known is not None:
            connection.execute("UPDATE chunks SET embedding_id = ? WHERE chunk_id = ?", (known, chunk_id))
            linked.add(chunk_id)
    return frozenset(linked)


def unused_ids(connection: apsw.Connection) -> list[int]:
    """Return the embeddings that no chunk has."""
    found = connection.execute(
        "SELECT embedding_id FROM embeddings AS e"
        " WHERE NOT EXISTS (SELECT 1 FROM chunks AS c WHERE c.embedding_id = e.embedding_id)"
    )
    return [embedding_id for (embedding_id,) in found]


def remove(connection: apsw.Connection, ids: Sequence[int]) -> None:
    """Remove embeddings: their rows, and their places in the packs."""
    connection.execute(
        "DELETE FROM embeddings WHERE embedding_id IN (SELECT value FROM json_each(?))", (json.dumps(ids),)
    )
    for pack_id, places in _by_pack(ids):
        rows = [ids[place] % PACK_ROWS for place in places]
        _write(connection, pack_id, "scripts", rows, [b"\0"] * len(rows))


def remove_all(connection: apsw.Connection) -> None:
    """Remove all embeddings, and the packs, which another embedder may need in another size."""
    connection.execute("UPDATE chunks SET embedding_id = NULL WHERE embedding_id IS NOT NULL")
    connection.execute("DELETE FROM embeddings")
    connection.execute("DELETE FROM packs")
