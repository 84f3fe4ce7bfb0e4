"""Search by meaning: vectors as float16, and packs of them as int8 that are scanned whole.

A scan of every vector is exact, needs no building and no parameters, and takes some milliseconds for 100,000 of them;
approximate indexes lose an eighth of the true top ten at their usual settings (docs/adr/0006-vectors.md).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import apsw
import numpy as np
from numpy.typing import NDArray

from zhiku.model import Candidate, ScriptStatistics, VectorRanking
from zhiku.stores.sqlite.connection import Inconsistent
from zhiku.stores.sqlite.rows import ACTIVE_CHUNK
from zhiku.stores.sqlite.schema import PACK_ROWS, SHIFT
from zhiku.text.script import SCRIPTS

BLOCK_ROWS = 512
"""Rows that become floats at a time: few enough to stay in the processor's cache."""

SPARE_ROWS = 50
"""So many rows more than wanted get their exact cosine, since a scan errs by about .001: whole numbers are coarse."""

ROUNDING = 0.01
"""By how much the product of a vector with its own row of a pack may differ from 1; of real ones by a tenth of that."""


@dataclass(frozen=True, kw_only=True)
class Packs:
    """All vectors of a base as they were at one generation of it."""

    generation: str
    vectors: NDArray[np.int8]
    """(rows, dims); row n is the embedding of id n."""
    scales: NDArray[np.float32]
    scripts: NDArray[np.uint8]

    @cached_property
    def rows(self) -> dict[str, NDArray[np.intp]]:
        """Return the rows that hold a vector, by script; a script without any is left out."""
        found = {script: np.flatnonzero(self.scripts == number) for number, script in enumerate(SCRIPTS, start=1)}
        return {script: rows for script, rows in found.items() if len(rows)}


# Two counts over indexes: one over the table would read every vector.
_SHOWN = "SELECT (SELECT count(*) FROM embeddings) - (SELECT count(*) FROM embeddings WHERE hidden)"


def load_packs(connection: apsw.Connection, generation: str, dims: int) -> Packs:
    """Read all packs of a base. Raises `Inconsistent` unless they hold every vector."""
    size = PACK_ROWS * next(connection.execute("SELECT count(*) FROM packs"))[0]
    packs = Packs(
        generation=generation,
        vectors=np.zeros((size, dims), np.int8),
        scales=np.zeros(size, np.float32),
        scripts=np.zeros(size, np.uint8),
    )
    found = connection.execute("SELECT vectors, scales, scripts FROM packs ORDER BY pack_id")
    for number, (vectors, scales, scripts) in enumerate(found):
        if (len(vectors), len(scales), len(scripts)) != (PACK_ROWS * dims, PACK_ROWS * 4, PACK_ROWS):
            raise Inconsistent("a pack of vectors is cut off")
        place = slice(number * PACK_ROWS, (number + 1) * PACK_ROWS)
        packs.vectors[place] = np.frombuffer(vectors, np.int8).reshape(PACK_ROWS, dims)
        packs.scales[place] = np.frombuffer(scales, np.float32)
        packs.scripts[place] = np.frombuffer(scripts, np.uint8)
    if np.count_nonzero(packs.scripts) != connection.execute(_SHOWN).get:
        raise Inconsistent("a pack of vectors is missing")
    return packs


def _rows(connection: apsw.Connection, sql: str, values: Any = ()) -> list[tuple[Any, ...]]:
    return connection.execute(sql, values).fetchall()


def search(
    connection: apsw.Connection,
    packs: Packs,
    vector: NDArray[np.float32],
    limit: int,
    doc_ids: Sequence[int] | None,
) -> VectorRanking:
    """Return the chunks of each script nearest to `vector`, best first, with exact cosines."""
    about = _scan(packs, vector)
    allowed = None if doc_ids is None else _having_vectors(connection, len(about), doc_ids)
    statistics: dict[str, ScriptStatistics] = {}
    found: list[Candidate] = []
    for script, rows in packs.rows.items():
        values = about[rows]
        statistics[script] = _statistics(values)
        if allowed is not None:
            kept = allowed[rows]
            rows, values = rows[kept], values[kept]
        near = _nearest(connection, rows, values, limit + SPARE_ROWS, doc_ids)
        cosines = exact_cosines(connection, vector, [embedding_id for _, embedding_id in near])
        exact = [Candidate(chunk_id, chunk_id >> SHIFT, cosines[embedding_id]) for chunk_id, embedding_id in near]
        found += sorted(exact, key=_by_cosine)[:limit]
    return VectorRanking(candidates=tuple(sorted(found, key=_by_cosine)), statistics=statistics)


def _by_cosine(candidate: Candidate) -> tuple[float, int]:
    return -candidate.score, candidate.chunk_id


def _nearest(
    connection: apsw.Connection,
    rows: NDArray[np.intp],
    values: NDArray[np.float32],
    wanted: int,
    doc_ids: Sequence[int] | None,
) -> list[tuple[int, int]]:
    """Return (chunk, embedding) of the rows with the best values, until as many chunks are found as wanted.

    A vector may be no chunk's for a while; hence the second look.
    """
    count = wanted
    while True:
        found = _chunks_of(connection, rows[_best(values, count)].tolist(), doc_ids)
        if len(found) >= wanted or count >= len(rows):
            return found
        count *= 8


def _scan(packs: Packs, vector: NDArray[np.float32]) -> NDArray[np.float32]:
    about = np.empty(len(packs.vectors), np.float32)
    floats = np.empty((BLOCK_ROWS, packs.vectors.shape[1]), np.float32)
    for start in range(0, len(about), BLOCK_ROWS):
        block = slice(start, start + BLOCK_ROWS)
        np.copyto(floats, packs.vectors[block])
        np.dot(floats, vector, out=about[block])
    return about * packs.scales


def _best(scores: NDArray[np.float32], count: int) -> NDArray[np.intp]:
    """Return where the best scores stand; more than `count` where the last of them is shared."""
    if count >= len(scores):
        return np.arange(len(scores))
    return np.flatnonzero(scores >= np.partition(scores, -count)[-count])


def _statistics(cosines: NDArray[np.float32]) -> ScriptStatistics:
    return ScriptStatistics(
        count=len(cosines), mean=float(cosines.mean()), std=float(cosines.std()), best=float(cosines.max())
    )


def _having_vectors(connection: apsw.Connection, size: int, doc_ids: Sequence[int]) -> NDArray[np.bool_]:
    """Return for each embedding whether a chunk of one of the documents has it."""
    found = _rows(
        connection,
        "SELECT embedding_id FROM json_each(?) CROSS JOIN chunks"
        f" ON chunk_id >= value << {SHIFT} AND chunk_id < (value + 1) << {SHIFT} WHERE embedding_id IS NOT NULL",
        (json.dumps(list(doc_ids)),),
    )
    ids = [embedding_id for (embedding_id,) in found]
    if max(ids, default=0) >= max(size, 1):
        raise Inconsistent("a vector is missing")
    mask = np.zeros(size, np.bool_)
    mask[ids] = True
    return mask


def _chunks_of(connection: apsw.Connection, ids: Sequence[int], doc_ids: Sequence[int] | None) -> list[tuple[Any, ...]]:
    """Return (chunk, embedding) for all chunks of active documents, of these if named, that have these embeddings.

    A deprecated document may have one in common with an active one.
    """
    return _rows(
        connection,
        "SELECT chunk_id, embedding_id FROM chunks WHERE embedding_id IN (SELECT value FROM json_each(:ids))"
        f" AND (:docs = 'null' OR (chunk_id >> {SHIFT}) IN (SELECT value FROM json_each(:docs)))"
        f" AND {ACTIVE_CHUNK}",
        {"ids": json.dumps(ids), "docs": json.dumps(doc_ids)},
    )


def exact_cosines(connection: apsw.Connection, vector: NDArray[np.float32], ids: Iterable[int]) -> dict[int, float]:
    """Return the cosine of each embedding with `vector`. It depends on nothing else, so that equal ones are equal."""
    sql = "SELECT embedding_id, vector FROM embeddings WHERE embedding_id IN (SELECT value FROM json_each(?))"
    wanted = list(dict.fromkeys(ids))
    known = dict(_rows(connection, sql, (json.dumps(wanted),)))
    blobs = [known.get(embedding_id, b"") for embedding_id in wanted]
    if not all(isinstance(blob, bytes) and len(blob) == 2 * len(vector) for blob in blobs):
        raise Inconsistent("a vector is missing or cut off")
    rows = np.frombuffer(b"".join(blobs), np.float16).reshape(-1, len(vector)).astype(np.float32)
    # No product of matrices: it adds up the last rows in another order than the first ones.
    return dict(zip(wanted, (rows * vector).sum(axis=1).tolist(), strict=True))


def cosines_of(connection: apsw.Connection, vector: NDArray[np.float32], chunk_ids: Sequence[int]) -> dict[int, float]:
    """Return the exact cosine of each of these chunks that has a vector."""
    found = _rows(
        connection,
        "SELECT chunk_id, embedding_id FROM chunks WHERE embedding_id IS NOT NULL"
        " AND chunk_id IN (SELECT value FROM json_each(?))",
        (json.dumps(list(chunk_ids)),),
    )
    cosines = exact_cosines(connection, vector, [embedding_id for _, embedding_id in found])
    return {chunk_id: cosines[embedding_id] for chunk_id, embedding_id in found}


def count_wrong(connection: apsw.Connection, dims: int | None) -> int:
    """Return how many vectors are missing, not as their pack holds them, or not `dims` long, where that is known."""
    wrong: int = connection.execute(
        "SELECT (SELECT count(*) FROM chunks WHERE embedding_id NOT IN (SELECT embedding_id FROM embeddings))"
        f" + (SELECT count(*) FROM embeddings WHERE embedding_id / {PACK_ROWS} NOT IN (SELECT pack_id FROM packs))"
        " + (SELECT count(*) FROM embeddings AS e JOIN chunks AS c USING (embedding_id)"
        f" JOIN documents AS d ON d.doc_id = c.chunk_id >> {SHIFT} WHERE e.hidden AND d.state = 'active')"
    ).get
    for pack_id, *blobs in connection.execute("SELECT pack_id, vectors, scales, scripts FROM packs"):
        rows = _rows(
            connection,
            "SELECT embedding_id, vector, hidden FROM embeddings WHERE embedding_id BETWEEN ? AND ?",
            (pack_id * PACK_ROWS, (pack_id + 1) * PACK_ROWS - 1),
        )
        wrong += len(rows) - _count_right(blobs, rows, len(blobs[0]) // PACK_ROWS if dims is None else dims)
    return wrong


def _count_right(blobs: Sequence[bytes], rows: Sequence[tuple[int, bytes, int]], dims: int) -> int:
    if [len(blob) for blob in blobs] != [PACK_ROWS * dims, PACK_ROWS * 4, PACK_ROWS]:
        return 0
    fitting = [row for row in rows if len(row[1]) == 2 * dims]
    places = [embedding_id % PACK_ROWS for embedding_id, _, _ in fitting]
    shown = np.array([not hidden for _, _, hidden in fitting], np.bool_)
    exact = np.frombuffer(b"".join(vector for _, vector, _ in fitting), np.float16).reshape(len(fitting), dims)
    whole = np.frombuffer(blobs[0], np.int8).reshape(PACK_ROWS, dims)[places]
    products = (exact.astype(np.float32) * whole).sum(axis=1) * np.frombuffer(blobs[1], np.float32)[places]
    right = (np.abs(products - 1) < ROUNDING) & ((np.frombuffer(blobs[2], np.uint8)[places] > 0) == shown)
    return int(right.sum())
