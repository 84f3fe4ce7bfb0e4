"""The second step of the write flow: a vector for every chunk that has none."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from zhiku.errors import MissingExtra, ModelError, ZhikuError
from zhiku.model import PendingText
from zhiku.ports import Embedder, WriteSession
from zhiku.text.fields import passage_for_embedding

CHECKPOINT_S = 2.0
DIGEST_BYTES = 16
_LEAST_SQUARE = 0.25

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
    refused: list[int] = field(default_factory=list)
    """The chunks that the embedder failed over; the next run tries them again."""
    interrupted: bool = False
    failure: ZhikuError | None = None
    """Why the embedder could not go on."""


def _silent(done: int, total: int) -> None:
    pass


def embed_pending(
    session: WriteSession,
    embedder: Embedder,
    progress: EmbedProgress | None = None,
    settle: Callable[[], object] = lambda: None,
) -> EmbedReport:
    """Give every chunk a vector. Equal texts are embedded once; Ctrl-C, or a model that fails, keeps what is done.

    A text that a server fails over is noted in the ledger and left to the next run. `settle` is called whenever
    vectors were made, before they are stored: from the first ones on it is known what makes them.
    """
    progress = progress or _silent
    report = EmbedReport()
    run = _Run(session=session, embedder=embedder, report=report, settle=settle)
    began = checkpoint_at = time.monotonic()
    total = session.pending_vectors()
    stored = session.view()
    last = -1
    try:
        while batch := stored.pending_texts(after=last, limit=embedder.batch_size):
            progress(report.embedded + report.reused + len(report.refused), total)
            run.embed(batch)
            last = batch[-1].chunk_id
            if time.monotonic() - checkpoint_at >= CHECKPOINT_S:
                session.checkpoint()
                checkpoint_at = time.monotonic()
        session.settle_vectors()
        session.note_unembedded(report.refused, whole=True)
        progress(report.embedded + report.reused + len(report.refused), total)
    except KeyboardInterrupt:
        report.interrupted = True
    except (MissingExtra, ModelError) as error:
        report.failure = error
    if report.interrupted or report.failure:
        session.note_unembedded(report.refused, whole=False)
    session.checkpoint()
    report.pending = session.pending_vectors()
    report.elapsed_s = time.monotonic() - began
    return report


@dataclass(frozen=True, kw_only=True)
class _Run:
    """One run's embedding, batch by batch."""

    session: WriteSession
    embedder: Embedder
    report: EmbedReport
    settle: Callable[[], object]
    tried: set[bytes] = field(default_factory=set)
    """Digests of texts that the embedder failed over in this run."""

    def embed(self, batch: Sequence[PendingText]) -> None:
        """Give the chunks of a batch their vectors, those that are known or that the embedder makes now."""
        texts = {item.chunk_id: passage_for_embedding(item.title, item.section, item.text) for item in batch}
        digests = {item.chunk_id: digest_of(item.script, texts[item.chunk_id]) for item in batch}
        known = self.session.link_vectors(digests)
        self.report.reused += len(known)
        unknown = [item for item in batch if item.chunk_id not in known]
        fresh = {digest: item for item in unknown if (digest := digests[item.chunk_id]) not in self.tried}
        made = 0
        while fresh:
            done, good = self._make(fresh, [texts[item.chunk_id] for item in fresh.values()])
            made += good
            fresh = dict(list(fresh.items())[done:])
            self.session.link_vectors(_without(digests, known))
            if self.embedder.is_remote:
                self.session.checkpoint()
        refused = [item.chunk_id for item in unknown if digests[item.chunk_id] in self.tried]
        self.report.embedded += made
        self.report.reused += len(unknown) - len(refused) - made
        self.report.refused += refused

    def _make(self, fresh: Mapping[bytes, PendingText], texts: Sequence[str]) -> tuple[int, int]:
        """Store the vectors that the embedder makes of the first texts; return how many it tried and made."""
        vectors = self.embedder.embed_documents(texts)
        is_good = (vectors**2).sum(axis=1) > _LEAST_SQUARE  # not so where a number is NaN
        tried = list(fresh.items())[: len(vectors)]
        good = [(digest, item.script) for (digest, item), is_one in zip(tried, is_good, strict=True) if is_one]
        self.tried.update({digest for digest, _ in tried} - {digest for digest, _ in good})
        if good:
            self.settle()
            self.session.put_vectors([digest for digest, _ in good], [script for _, script in good], vectors[is_good])
        return len(tried), len(good)


def _without(digests: Mapping[int, bytes], known: frozenset[int]) -> dict[int, bytes]:
    return {chunk_id: digest for chunk_id, digest in digests.items() if chunk_id not in known}


def digest_of(script: str, text: str) -> bytes:
    """Return what stands for a text. A vector counts in its script's statistics, so that each script has its own."""
    return hashlib.sha256(f"{script}\n{text}".encode("utf-8", "surrogatepass")).digest()[:DIGEST_BYTES]
