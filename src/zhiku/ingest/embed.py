"""The second step of the write flow: a vector for every chunk that has none."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from zhiku.errors import MissingExtra, ModelError, ZhikuError
from zhiku.model import PendingText
from zhiku.ports import Embedder, WriteSession
from zhiku.text.fields import passage_for_embedding

BATCH_CHUNKS = 16
"""What is read and embedded at a time; Ctrl-C and progress wait for one of these, about half a second."""

CHECKPOINT_S = 2.0
DIGEST_BYTES = 16

EmbedProgress = Callable[[int, int], None]
"""Called with chunks done and chunks in all."""


@dataclass(kw_only=True)
class EmbedReport:
    """What a run did about vectors. Counts are chunks."""

    embedded: int = 0
    reused: int = 0
    """Of a text that had a vector already: a copy, or what a changed file kept."""
    pending: int = 0
    """Without a vector at the end."""
    elapsed_s: float = 0.0
    interrupted: bool = False
    failure: ZhikuError | None = None
    """Why the embedder could not go on."""


def _silent(done: int, total: int) -> None:
    pass


def embed_pending(session: WriteSession, embedder: Embedder, progress: EmbedProgress = _silent) -> EmbedReport:
    """Give every chunk a vector. Equal texts are embedded once; Ctrl-C, or a model that fails, keeps what is done."""
    report = EmbedReport()
    began = checkpoint_at = time.monotonic()
    total = session.pending_vectors()
    last = -1
    try:
        while batch := session.pending_texts(after=last, limit=BATCH_CHUNKS):
            progress(report.embedded + report.reused, total)
            _embed(session, embedder, batch, report)
            last = batch[-1].chunk_id
            if time.monotonic() - checkpoint_at >= CHECKPOINT_S:
                session.checkpoint()
                checkpoint_at = time.monotonic()
        session.settle_vectors()
        progress(report.embedded + report.reused, total)
    except KeyboardInterrupt:
        report.interrupted = True
    except (MissingExtra, ModelError) as error:
        report.failure = error
    session.checkpoint()
    report.pending = session.pending_vectors()
    report.elapsed_s = time.monotonic() - began
    return report


def _embed(session: WriteSession, embedder: Embedder, batch: Sequence[PendingText], report: EmbedReport) -> None:
    texts = {item.chunk_id: passage_for_embedding(item.title, item.section, item.text) for item in batch}
    digests = {item.chunk_id: _digest(item.script, texts[item.chunk_id]) for item in batch}
    known = session.link_vectors(digests)
    report.reused += len(known)
    fresh = {digests[item.chunk_id]: item for item in batch if item.chunk_id not in known}
    if not fresh:
        return
    vectors = embedder.embed_documents([texts[item.chunk_id] for item in fresh.values()])
    session.put_vectors(list(fresh), [item.script for item in fresh.values()], vectors)
    session.link_vectors(_without(digests, known))
    report.embedded += len(fresh)
    report.reused += len(batch) - len(known) - len(fresh)


def _without(digests: Mapping[int, bytes], known: frozenset[int]) -> dict[int, bytes]:
    return {chunk_id: digest for chunk_id, digest in digests.items() if chunk_id not in known}


def _digest(script: str, text: str) -> bytes:
    """Return what stands for a text. A vector counts in its script's statistics, so that each script has its own."""
    return hashlib.sha256(f"{script}\n{text}".encode("utf-8", "surrogatepass")).digest()[:DIGEST_BYTES]
