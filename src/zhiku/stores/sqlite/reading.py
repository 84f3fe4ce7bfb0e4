"""A read session: one consistent view of a base's file."""

from __future__ import annotations

import fnmatch
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import apsw

from zhiku.model import (
    Candidate,
    Document,
    Fault,
    FileLook,
    KnownFile,
    LedgerEntry,
    LexicalQuery,
    Occurrences,
    PendingText,
    StoredChunk,
    TextPiece,
    Totals,
    VectorRanking,
)
from zhiku.stores.sqlite import files, lexical, notes, pieces, rows
from zhiku.stores.sqlite.connection import Inconsistent
from zhiku.stores.sqlite.schema import SHIFT, VECTOR_GENERATION

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from zhiku.stores.sqlite.vectors import Packs

_PLACES = "SELECT doc_id, r.path, path_key FROM documents JOIN roots AS r USING (root_id)"
_CHUNK = f"SELECT {rows.CHUNK_COLUMNS} FROM chunks AS c LEFT JOIN sections AS s USING (section_id) WHERE chunk_id = ?"
# Counting is for a base that is being embedded: one that is searched by words only must not pay for it.
_PENDING = f"""SELECT CASE WHEN EXISTS (SELECT 1 FROM embeddings)
    THEN (SELECT count(*) FROM chunks WHERE embedding_id IS NULL AND {rows.ACTIVE_CHUNK}) ELSE chunks END FROM totals"""
_PIECES = "SELECT text_id, char_start, line_start, body, line_numbers FROM texts"


class PackCache:
    """The packs that a store read last; a session takes them if they are of its generation."""

    def __init__(self) -> None:
        self.packs: Packs | None = None


class SqliteReadSession:
    """Implements `zhiku.ports.ReadSession` on an open connection within a read transaction."""

    def __init__(self, connection: apsw.Connection, cache: PackCache) -> None:
        self._connection = connection
        self._cache = cache

    def manifest(self) -> Mapping[str, str]:
        return dict(self._execute("SELECT key, value FROM manifest"))

    def totals(self) -> Totals:
        counts = dict(self._execute("SELECT outcome, count(*) FROM ledger GROUP BY outcome"))
        documents, deprecated, chunks, tokens, chars = self._one("SELECT * FROM totals")
        return Totals(
            documents=documents,
            deprecated=deprecated,
            chunks=chunks,
            tokens=tokens,
            chars=chars,
            failed=counts.get("failed", 0),
            skipped=counts.get("skipped", 0),
            textless=counts.get("textless", 0),
            pending_vectors=self._one(_PENDING)[0],
        )

    def documents(self) -> Iterator[Document]:
        return map(rows.read_document, self._execute(f"{rows.DOCUMENTS} ORDER BY r.path, d.path"))

    def paged_documents(self) -> Iterator[Document]:
        return map(rows.read_document, self._execute(f"{rows.DOCUMENTS} WHERE page_count > 0 AND state = 'active'"))

    def document(self, doc_id: int) -> Document | None:
        return next(map(rows.read_document, self._execute(f"{rows.DOCUMENTS} WHERE d.doc_id = ?", doc_id)), None)

    def documents_with(self, sha256: str) -> list[Document]:
        return [
            rows.read_document(row) for row in self._execute(f"{rows.DOCUMENTS} WHERE d.sha256 = ? ORDER BY 1", sha256)
        ]

    def roots(self) -> list[str]:
        return [str(path) for (path,) in self._execute("SELECT path FROM roots ORDER BY path")]

    def settled_files(self, root: str) -> Iterator[FileLook]:
        return files.settled_files(self._connection, root)

    def textless_files(self, root: str) -> list[str]:
        return files.textless_files(self._connection, root)

    def known_files(self, root: str) -> dict[str, KnownFile]:
        return files.known_files(self._connection, root)

    def files_with(self, sha256: str) -> list[KnownFile]:
        return files.files_with(self._connection, sha256)

    def select(self, source: str) -> list[int]:
        wanted = rows.path_key(source).replace("\\", "/")
        is_glob = any(c in wanted for c in "*?[")
        is_absolute = PurePath(source).is_absolute()
        pattern = wanted if is_absolute or wanted.startswith("*") else f"*/{wanted}"
        found = []
        for doc_id, root, path_key in self._execute(_PLACES):
            above = rows.path_key(root).replace("\\", "/").rstrip("/")
            # Of the folders above the documents only the root's own name counts: the others say nothing of any of them.
            place = f"{above}/{path_key}" if is_absolute else f"/{above.rpartition('/')[2]}/{path_key}"
            if fnmatch.fnmatchcase(place, pattern) if is_glob else wanted in place:
                found.append(doc_id)
        return sorted(found)

    def ledger(self, root: str | None = None) -> list[LedgerEntry]:
        return list(notes.entries(self._connection, root))

    def search_lexical(
        self,
        query: LexicalQuery,
        *,
        limit: int,
        doc_ids: Sequence[int] | None = None,
        per_document: bool = False,
    ) -> list[Candidate]:
        affordable = lexical.affordable(self._connection, query)
        return lexical.search(self._connection, affordable, limit, doc_ids, per_document)

    def occurrences(self, query: LexicalQuery, chunk_ids: Sequence[int]) -> dict[int, Occurrences]:
        return lexical.occurrences(self._connection, lexical.affordable(self._connection, query), chunk_ids)

    def term_rows(self, terms: Sequence[str]) -> dict[str, int]:
        return lexical.term_rows(self._connection, terms)

    def search_vectors(
        self, vector: NDArray[np.float32], *, limit: int, doc_ids: Sequence[int] | None = None
    ) -> VectorRanking:
        from zhiku.stores.sqlite import vectors  # imports numpy, which a search by words must not pay for

        return vectors.search(self._connection, self._packs(len(vector)), vector, limit, doc_ids)

    def _packs(self, dims: int) -> Packs:
        from zhiku.stores.sqlite.vectors import load_packs  # as above

        generation = self.manifest().get(VECTOR_GENERATION, "")
        packs = self._cache.packs
        if packs is None or packs.generation != generation:
            packs = self._cache.packs = load_packs(self._connection, generation, dims)
        return packs

    def cosines(self, vector: NDArray[np.float32], chunk_ids: Sequence[int]) -> dict[int, float]:
        from zhiku.stores.sqlite.vectors import cosines_of  # as above

        return cosines_of(self._connection, vector, chunk_ids)

    def scripts(self, doc_ids: Sequence[int]) -> dict[int, str]:
        ids = json.dumps(list(doc_ids))
        found = self._execute(
            "SELECT doc_id, script FROM documents WHERE doc_id IN (SELECT value FROM json_each(?))", ids
        )
        return dict(found)

    def terms_in(self, script: str, terms: Sequence[str]) -> frozenset[str]:
        return lexical.terms_in(self._connection, script, terms)

    def chunks(self, chunk_ids: Sequence[int]) -> list[StoredChunk]:
        documents: dict[int, Document | None] = {}
        texts = pieces.Pieces(self._connection)
        found = []
        for chunk_id in chunk_ids:
            doc_id = chunk_id >> SHIFT
            if doc_id not in documents:
                documents[doc_id] = self.document(doc_id)
            document = documents[doc_id]
            row = next(self._execute(_CHUNK, chunk_id), None)
            if row is not None and document is not None:
                found.append(rows.read_chunk(row, document, texts.span(row[1], row[2], row[3])))
        return found

    def chunks_of(self, doc_id: int) -> list[StoredChunk]:
        span = (doc_id << SHIFT, (doc_id + 1) << SHIFT)
        found = self._execute("SELECT chunk_id FROM chunks WHERE chunk_id >= ? AND chunk_id < ? ORDER BY 1", *span)
        return self.chunks([chunk_id for (chunk_id,) in found])

    def text(self, doc_id: int, char_start: int = 0, char_end: int | None = None) -> list[TextPiece]:
        last = char_end if char_end is not None else 1 << 62
        found = self._execute(
            f"{_PIECES} WHERE text_id >= ? AND text_id < ? AND char_start < ? AND char_start + length(body) > ?"
            " ORDER BY text_id",
            doc_id << SHIFT,
            (doc_id + 1) << SHIFT,
            last,
            char_start,
        )
        return [rows.read_piece(row) for row in found]

    def texts(self, doc_ids: Sequence[int] | None = None) -> Iterator[TextPiece]:
        active = f"(text_id >> {SHIFT}) NOT IN (SELECT doc_id FROM documents WHERE state = 'deprecated')"
        if doc_ids is None:
            yield from map(rows.read_piece, self._execute(f"{_PIECES} WHERE {active} ORDER BY text_id"))
        for doc_id in doc_ids or ():
            span = (doc_id << SHIFT, (doc_id + 1) << SHIFT)
            yield from map(
                rows.read_piece,
                self._execute(f"{_PIECES} WHERE text_id >= ? AND text_id < ? AND {active} ORDER BY text_id", *span),
            )

    def pages(self, doc_id: int) -> list[tuple[int, int, int]]:
        row = next(self._execute("SELECT pages FROM documents WHERE doc_id = ?", doc_id), None)
        return [(page_no, start, end) for page_no, start, end in json.loads(row[0])] if row else []

    def pending_texts(self, *, after: int, limit: int) -> list[PendingText]:
        return pieces.pending_texts(self._connection, after, limit)

    def embedded(self, digests: Iterable[bytes]) -> list[bytes]:
        known = "SELECT EXISTS (SELECT 1 FROM embeddings WHERE digest = ?)"
        return [digest for digest in digests if self._connection.execute(known, (digest,)).get]

    def sample(self, limit: int) -> list[StoredChunk]:
        ids: dict[str, list[int]] = {}
        for script, doc_id, count in self._execute(
            "SELECT script, doc_id, chunk_count FROM documents WHERE state = 'active' ORDER BY doc_id"
        ):
            ids.setdefault(script, []).extend(range(doc_id << SHIFT, (doc_id << SHIFT) + count))
        chosen = [group[i * len(group) // limit] for group in ids.values() for i in range(limit) if group]
        return self.chunks(sorted(set(chosen)))

    def check(self, dims: int | None = None) -> list[Fault]:
        from zhiku.stores.sqlite.checking import find_faults  # few commands look for damage

        return list(find_faults(self._connection, dims))

    def _one(self, sql: str) -> Any:
        for row in self._execute(sql):
            return row
        raise Inconsistent("the row that sums it up is gone")

    def _execute(self, sql: str, *values: object) -> Iterator[Any]:
        return iter(self._connection.execute(sql, values))
