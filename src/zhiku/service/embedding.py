"""The second step of indexing: vectors for what the first step stored."""

from __future__ import annotations

from dataclasses import dataclass

from zhiku.config import BaseSettings
from zhiku.errors import MissingExtra, ModelError, ZhikuError
from zhiku.ingest.embed import EmbedProgress, EmbedReport, embed_pending
from zhiku.ports import Store
from zhiku.service.meaning import EMBEDDER_NAME, FINGERPRINT, NONE, Embedders, made_by_another


@dataclass(frozen=True, kw_only=True)
class Embedding:
    """What a run did about vectors, and why it could not do more."""

    report: EmbedReport
    replaced: bool = False
    """Whether the vectors of another embedder were dropped first, as a rebuild does."""

    @property
    def failure(self) -> ZhikuError | None:
        """Return why the embedder could not go on, or could not begin."""
        return self.report.failure


def embed_base(
    base: str,
    store: Store,
    settings: BaseSettings,
    embedders: Embedders,
    threads: int = 1,
    progress: EmbedProgress | None = None,
    *,
    may_replace: bool = False,
) -> Embedding | None:
    """Embed what a base has not embedded yet; None where its settings say that it is searched by words only.

    Where the embedder fails, or is not the one that made the base's vectors, what was embedded stays, and the result
    says why; unless `may_replace`, which makes all vectors anew then. The caller holds the base's lock.
    """
    with store.writing() as session:
        manifest = session.manifest()
        name = embedders.name_for(settings, manifest)
        if name == NONE:
            return None
        embedder = embedders.get(name, threads)
        built = manifest.get(FINGERPRINT, embedder.fingerprint)
        replaced = built != embedder.fingerprint
        if replaced and not may_replace:
            failure = made_by_another(base, built, embedder.fingerprint)
            return Embedding(report=EmbedReport(pending=session.pending_vectors(), failure=failure))
        try:
            if session.pending_vectors() or replaced:
                embedder.count_tokens("")  # a model that cannot be loaded must not cost the vectors that are there
        except (MissingExtra, ModelError) as error:
            return Embedding(report=EmbedReport(pending=session.pending_vectors(), failure=error))
        if replaced:
            session.forget_vectors()
        session.set_manifest({EMBEDDER_NAME: name, FINGERPRINT: embedder.fingerprint})
        session.checkpoint()
        options = {"progress": progress} if progress else {}
        return Embedding(report=embed_pending(session, embedder, **options), replaced=replaced)
