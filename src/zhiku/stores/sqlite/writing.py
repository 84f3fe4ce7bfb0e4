"""The write session: documents go in whole, and become durable together at checkpoints."""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import apsw

from zhiku.errors import TooLarge
from zhiku.model import Chunk, ChunkTokens, HiddenBy, LedgerEntry, ParsedDocument, Source
from zhiku.paths import shown_path
from zhiku.stores.sqlite import lexical, notes, packing, rows, visibility
from zhiku.stores.sqlite.connection import uses_wal
from zhiku.stores.sqlite.reading import PackCache, SqliteReadSession
from zhiku.stores.sqlite.schema import MAX_PIECES, SHIFT, VECTOR_GENERATION
from zhiku.text.script import script_of_document

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# From this share of changed chunks on, a run ends by merging the full-text index into one segment; below it, by
# merging some pages of it only, so that a small edit of a large base stays a small write.
OPTIMIZE_SHARE = 0.1
MERGE_PAGES = 500
_UNMERGED = "unmerged_chunks"


class SqliteWriteSession:
    """Implements `zhiku.ports.WriteSession` on a connection within a write transaction."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._roots: dict[str, int] = {}
        self._changed_chunks = 0
        self._vectors_changed = False
        self._free_ids: Iterator[int] | None = None

    def view(self) -> SqliteReadSession:
        return SqliteReadSession(self._connection, PackCache())

    def put(
        self,
        source: Source,
        parsed: ParsedDocument,
        chunks: Sequence[Chunk],
        tokens: Sequence[ChunkTokens],
        *,
        format_name: str,
        doc_id: int | None = None,
    ) -> int:
        if max(len(chunks), len(parsed.text) // (rows.TEXT_PIECE_CHARS // 2)) >= MAX_PIECES:
            raise TooLarge(
                "{path} has too much text: {chars:,} characters.",
                path=source.path,
                chars=len(parsed.text),
                hint="split it into several files",
            )
        with self._connection:
            stored = self._put_document(source, parsed, tokens, format_name, doc_id)
            text_starts = self._put_text(stored, parsed)
            self._put_chunks(stored, chunks, text_starts)
            self._put_tokens(stored, tokens, script_of_document(parsed))
        self._changed_chunks += len(chunks)
        return stored

    def touch(self, doc_id: int, source: Source) -> None:
        self._connection.execute(
            "UPDATE documents SET root_id = ?, path = ?, path_raw = ?, path_key = ?, size_bytes = ?, mtime_ns = ?,"
            " ctime_ns = ? WHERE doc_id = ?",
            (*self._place(source), source.size_bytes, source.mtime_ns, source.ctime_ns, doc_id),
        )

    def hide(self, doc_id: int, by: HiddenBy) -> None:
        with self._connection:  # with its vectors or not at all, also where Ctrl-C comes in between
            visibility.hide(self._connection, doc_id, by)
        self._vectors_changed = True

    def show(self, doc_id: int, by: HiddenBy) -> bool:
        with self._connection:  # as above
            is_active = visibility.show(self._connection, doc_id, by)
        self._vectors_changed = True
        return is_active

    def untokened(self) -> list[int]:
        return visibility.untokened(self._connection)

    def put_tokens(self, doc_id: int, tokens: Sequence[ChunkTokens]) -> None:
        with self._connection:  # as above
            visibility.remove_tokens(self._connection, doc_id)
            script = self._connection.execute(
                "UPDATE documents SET token_count = ? WHERE doc_id = ? RETURNING script",
                (rows.token_count(tokens), doc_id),
            ).get
            self._put_tokens(doc_id, tokens, script)
        self._changed_chunks += len(tokens)

    def add_notes(self, root: str, entries: Iterable[LedgerEntry]) -> None:
        notes.add(self._connection, self._root(root), root, entries)

    def put_notes(self, root: str, entries: Iterable[LedgerEntry], *, within: str = "") -> None:
        notes.put(self._connection, self._root(root), root, entries, shown_path(within))

    def manifest(self) -> Mapping[str, str]:
        return dict(self._connection.execute("SELECT key, value FROM manifest"))

    def set_manifest(self, values: Mapping[str, str]) -> None:
        for key, value in values.items():
            self._connection.execute(
                "INSERT INTO manifest VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value"
                " WHERE value <> excluded.value",
                (key, value),
            )

    def pending_vectors(self) -> int:
        sql = f"SELECT count(*) FROM chunks WHERE embedding_id IS NULL AND {rows.ACTIVE_CHUNK}"
        count: int = self._connection.execute(sql).get
        return count

    def put_vectors(self, digests: Sequence[bytes], scripts: Sequence[str], vectors: NDArray[np.float32]) -> None:
        if self._free_ids is None:
            self._free_ids = packing.free_ids(self._connection)
        ids = list(islice(self._free_ids, len(digests)))
        self._vectors_changed = True
        with self._connection:  # a vector is in its pack or not at all, also where Ctrl-C comes in between
            packing.put(self._connection, ids, digests, scripts, vectors)

    def link_vectors(self, digests: Mapping[int, bytes]) -> frozenset[int]:
        return packing.link(self._connection, digests)

    def note_unembedded(self, chunk_ids: Collection[int], *, whole: bool) -> None:
        with self._connection:  # as above
            notes.put_unembedded(self._connection, (each >> SHIFT for each in chunk_ids), whole=whole)

    def settle_vectors(self) -> None:
        if unused := packing.unused_ids(self._connection):
            self._free_ids = None
            self._vectors_changed = True
            with self._connection:  # as above
                packing.remove(self._connection, unused)

    def forget_vectors(self) -> None:
        self._free_ids = None
        self._vectors_changed = True
        with self._connection:  # as above
            packing.remove_all(self._connection)

    def is_concurrent(self) -> bool:
        return uses_wal(self._connection)

    def checkpoint(self) -> None:
        if self._changed_chunks:
            self.set_manifest({_UNMERGED: str(self._unmerged_chunks())})
            self._changed_chunks = 0
        if self._vectors_changed:
            self.set_manifest({VECTOR_GENERATION: os.urandom(8).hex()})
            self._vectors_changed = False
        if self._connection.in_transaction:  # not so where Ctrl-C came between the two statements
            self._connection.execute("COMMIT")
        self._connection.execute("BEGIN IMMEDIATE")

    def settle(self) -> None:
        unmerged = self._unmerged_chunks()
        if unmerged == 0:
            return
        if unmerged >= OPTIMIZE_SHARE * lexical.chunk_count(self._connection):
            self._connection.execute("INSERT INTO lexical(lexical) VALUES ('optimize')")
            lexical.count_frequent_terms(self._connection)
            unmerged = 0
        else:
            self._connection.execute("INSERT INTO lexical(lexical, rank) VALUES ('merge', ?)", (MERGE_PAGES,))
        self._changed_chunks = 0
        self.set_manifest({_UNMERGED: str(unmerged)})

    def _unmerged_chunks(self) -> int:
        """Return how many chunks were written since the full text was last merged whole, over all runs."""
        return self._changed_chunks + int(self.manifest().get(_UNMERGED, 0))

    def _put_document(
        self,
        source: Source,
        parsed: ParsedDocument,
        tokens: Sequence[ChunkTokens],
        format_name: str,
        known: int | None,
    ) -> int:
        root_id, path, raw, key = self._place(source)
        if known is None:
            known = self._connection.execute(
                "SELECT doc_id FROM documents WHERE root_id = ? AND path = ?", (root_id, path)
            ).get
        if known is not None:
            self._remove_content(known)
        values: dict[str, Any] = {
            "doc_id": known,
            "root_id": root_id,
            "path": path,
            "path_raw": raw,
            "path_key": key,
            **rows.document_values(source, parsed, tokens, format_name),
            "state": "active",
            "pruned": 0,
            "forgotten": 0,
            "indexed_at": rows.now(),
        }
        names = ", ".join(values)
        slots = ", ".join(f":{name}" for name in values)
        updates = ", ".join(f"{name} = excluded.{name}" for name in values if name != "doc_id")
        doc_id: int = self._connection.execute(
            f"INSERT INTO documents ({names}) VALUES ({slots}) ON CONFLICT (doc_id) DO UPDATE SET {updates}"
            " RETURNING doc_id",
            values,
        ).get
        return doc_id

    def _remove_content(self, doc_id: int) -> None:
        span = (doc_id << SHIFT, (doc_id + 1) << SHIFT)
        visibility.remove_tokens(self._connection, doc_id)
        vectors = visibility.vectors_of(self._connection, doc_id)
        self._connection.execute("DELETE FROM chunks WHERE chunk_id >= ? AND chunk_id < ?", span)
        if visibility.release(self._connection, vectors):
            self._vectors_changed = True
        self._connection.execute("DELETE FROM texts WHERE text_id >= ? AND text_id < ?", span)
        self._connection.execute("DELETE FROM sections WHERE doc_id = ?", (doc_id,))

    def _put_text(self, doc_id: int, parsed: ParsedDocument) -> list[int]:
        pieces = [(doc_id << SHIFT | i, *piece) for i, piece in enumerate(rows.cut_text(parsed))]
        self._connection.executemany("INSERT INTO texts VALUES (?, ?, ?, ?, ?)", pieces)
        return [piece[1] for piece in pieces]

    def _put_chunks(self, doc_id: int, chunks: Sequence[Chunk], text_starts: list[int]) -> None:
        section_ids = self._put_sections(doc_id, chunks)
        self._connection.executemany(
            "INSERT INTO chunks VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, NULL)",
            [
                (
                    doc_id << SHIFT | i,
                    section_ids.get(chunk.section),
                    doc_id << SHIFT | bisect_right(text_starts, chunk.char_start) - 1,
                    chunk.char_start,
                    chunk.char_end,
                    chunk.line_start,
                    chunk.line_end,
                    chunk.page,
                    chunk.page_end,
                )
                for i, chunk in enumerate(chunks)
            ],
        )

    def _put_sections(self, doc_id: int, chunks: Sequence[Chunk]) -> dict[tuple[str, ...], int]:
        ids: dict[tuple[str, ...], int] = {}
        for chain in dict.fromkeys(chunk.section for chunk in chunks if chunk.section):
            self._connection.execute(
                "INSERT INTO sections (doc_id, chain) VALUES (?, ?)", (doc_id, rows.to_json(chain))
            )
            ids[chain] = self._connection.last_insert_rowid()
        return ids

    def _put_tokens(self, doc_id: int, tokens: Sequence[ChunkTokens], script: str) -> None:
        self._connection.executemany(lexical.INSERT, self._token_rows(doc_id, tokens, lexical.script_marker(script)))

    def _token_rows(self, doc_id: int, tokens: Sequence[ChunkTokens], marker: str) -> Iterator[tuple[int | str, ...]]:
        for i, chunk in enumerate(tokens):
            fields = (chunk.body, chunk.title, chunk.heading, [*chunk.name, marker])
            yield (doc_id << SHIFT | i, *map(" ".join, fields))

    def _place(self, source: Source) -> tuple[int, str, bytes | None, str]:
        return (
            self._root(source.root),
            shown_path(source.path),
            rows.raw_path(source.path),
            rows.path_key(source.path),
        )

    def _root(self, path: str) -> int:
        if path not in self._roots:
            self._connection.execute("INSERT INTO roots (path) VALUES (?) ON CONFLICT DO NOTHING", (path,))
            self._roots[path] = self._connection.execute("SELECT root_id FROM roots WHERE path = ?", (path,)).get
        return self._roots[path]
