"""Documents whose chunks have vectors, and what a search among them must find."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from fakes import DIMS, unit_vector
from zhiku.model import Candidate, Chunk, ChunkTokens, ParsedDocument, Source, VectorRanking
from zhiku.ports import ReadSession, Store, WriteSession
from zhiku.registry import STORES, load
from zhiku.text.analyze import Analyzer
from zhiku.text.script import HAN, LATIN

QUESTION = unit_vector("a question")
_ANALYZER = Analyzer()


def open_store(name: str, folder: Path) -> Store:
    """Return a registered store over a folder."""
    opened: Store = load(STORES, name)(folder)
    return opened


def put(session: WriteSession, path: str, *texts: str) -> int:
    """Store a document with a chunk for each text, written about as it is analyzed."""
    text = "\n".join(texts)
    chunks, at = [], 0
    for body in texts:
        span = {"char_start": at, "char_end": at + len(body), "line_start": 1, "line_end": 1}
        chunks.append(Chunk(text=body, **span))
        at += len(body) + 1
    tokens = _ANALYZER.tokens
    fields = [ChunkTokens(body=tokens(body), title=[], heading=[], name=tokens(path)) for body in texts]
    source = Source(root="/docs", path=path, size_bytes=1, mtime_ns=1, sha256="0" * 64)
    return session.put(source, ParsedDocument(text=text, blocks=()), chunks, fields, format_name="plain")


def digest(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()[:16]


def give_vectors(session: WriteSession, dims: int = DIMS, **known: NDArray[np.float32]) -> int:
    """Give every chunk the vector of its text, made up unless `known`, and return how many had to be stored."""
    pending = session.view().pending_texts(after=-1, limit=1_000_000)
    linked = session.link_vectors({item.chunk_id: digest(item.text) for item in pending})
    fresh = {digest(item.text): item for item in pending if item.chunk_id not in linked}
    if fresh:
        vectors = np.stack([known.get(item.text, unit_vector(item.text, dims)) for item in fresh.values()])
        session.put_vectors(list(fresh), [item.script for item in fresh.values()], vectors)
        session.link_vectors({item.chunk_id: digest(item.text) for item in pending})
    return len(fresh)


def fill(store: Store, documents: Mapping[str, list[str]], **known: NDArray[np.float32]) -> dict[str, int]:
    with store.writing() as session:
        ids = {path: put(session, path, *texts) for path, texts in documents.items()}
        give_vectors(session, **known)
    return ids


def many(prefix: str, documents: int, chunks: int) -> dict[str, list[str]]:
    return {f"{prefix}{n}": [f"{prefix} {n} {i}" for i in range(chunks)] for n in range(documents)}


def cosine(text: str, question: NDArray[np.float32] = QUESTION) -> float:
    """Return the cosine as a store that keeps float16 must have it."""
    return float((unit_vector(text, len(question)).astype(np.float16).astype(np.float32) * question).sum())


def expected(session: ReadSession, script: str, doc_ids: list[int] | None = None) -> list[tuple[int, float]]:
    """Return (chunk, cosine) for all chunks of a script, by brute force."""
    found = []
    for document in session.documents():
        wanted = document.state == "active" and (doc_ids is None or document.doc_id in doc_ids)
        if wanted and document.script == script:
            ids = [document.doc_id << 20 | i for i in range(document.chunk_count)]
            found += [(stored.chunk_id, cosine(stored.chunk.text)) for stored in session.chunks(ids)]
    return sorted(found, key=lambda each: (-each[1], each[0]))


def of_script(session: ReadSession, ranking: VectorRanking, script: str) -> list[Candidate]:
    scripts = session.scripts([candidate.doc_id for candidate in ranking.candidates])
    return [candidate for candidate in ranking.candidates if scripts[candidate.doc_id] == script]


def check_exact(session: ReadSession, limit: int, doc_ids: list[int] | None = None) -> None:
    ranking = session.search_vectors(QUESTION, limit=limit, doc_ids=doc_ids)
    order = [(-candidate.score, candidate.chunk_id) for candidate in ranking.candidates]
    assert order == sorted(order)
    for script in (LATIN, HAN):
        found = [(candidate.chunk_id, candidate.score) for candidate in of_script(session, ranking, script)]
        wanted = expected(session, script, doc_ids)[:limit]
        assert [chunk_id for chunk_id, _ in found] == [chunk_id for chunk_id, _ in wanted]
        assert [score for _, score in found] == pytest.approx([score for _, score in wanted], abs=1e-6)


def texts_found(session: ReadSession, limit: int = 100, **options: list[int]) -> list[str]:
    ranking = session.search_vectors(QUESTION, limit=limit, **options)
    return [each.chunk.text for each in session.chunks([c.chunk_id for c in ranking.candidates])]
