"""The second step of indexing: vectors for what the first step stored."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass

from zhiku.config import BaseSettings
from zhiku.errors import MissingExtra, ModelError, UsageError, ZhikuError
from zhiku.ingest.embed import EmbedProgress, EmbedReport, embed_pending
from zhiku.ports import Embedder, Store
from zhiku.service.locks import LOCK, BehindEndpoint, Locked, lock_in
from zhiku.service.meaning import EMBEDDER_NAME, FINGERPRINT, NONE, Embedders, made_by_another

log = logging.getLogger(__name__)

PASSAGE_TOKENS = 400
"""So many has a chunk at most: a model that sees fewer misses the ends of passages."""


@dataclass(frozen=True, kw_only=True)
class EmbedWork:
    """How a base is embedded."""

    threads: int = 1
    progress: EmbedProgress | None = None
    may_replace: bool = False
    """Whether the vectors of another embedder are dropped and made anew, as a rebuild does."""
    may_send: bool = False
    """Whether text may be sent to an endpoint on another computer that it was not sent to before."""


@dataclass(frozen=True, kw_only=True)
class Sending:
    """What embedding a base would send to an endpoint."""

    address: str
    is_new: bool
    """Whether that is another computer, and text of the base was not sent there before."""
    key_is_passing: bool
    """Whether its key is known to this run alone."""


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
    work: EmbedWork,
) -> Embedding | None:
    """Embed what a base has not embedded yet; None where its settings say that it is searched by words only.

    Where the embedder fails, or is not the one that made the base's vectors, what was embedded stays, and the result
    says why; unless the work may replace it, which makes all vectors anew then. The caller holds the base's lock.
    """
    with store.writing() as session:
        manifest = session.manifest()
        name = embedders.name_for(settings, manifest)
        if name == NONE:
            return None
        embedder = embedders.get(name, work.threads, manifest)
        replaced = manifest.get(FINGERPRINT, embedder.fingerprint) != embedder.fingerprint
        pending = session.pending_vectors()
        failure = _obstacle(base, manifest, embedder, pending, work)
        if failure is not None:
            return Embedding(report=EmbedReport(pending=pending, failure=failure))
        if pending and not embedder.is_remote and embedder.max_tokens < PASSAGE_TOKENS:
            log.warning("base %s: the model sees only the first %d tokens of a passage", base, embedder.max_tokens)

        def settle() -> None:
            session.set_manifest(_made_by(name, embedder))

        if replaced:
            session.forget_vectors()
        if replaced or not embedder.is_remote:  # an endpoint that was written wrongly leaves no trace
            settle()
            session.checkpoint()
        return Embedding(report=embed_pending(session, embedder, work.progress, settle), replaced=replaced)


@dataclass(frozen=True, kw_only=True)
class Prospect:
    """What embedding a base would come to."""

    embedder: Embedder | None = None
    """That behind an endpoint; None where nothing would be sent."""
    sending: Sending | None = None
    failure: ZhikuError | None = None
    """Why nothing would be embedded."""


def prospect_of(
    base: str, settings: BaseSettings, manifest: Mapping[str, str], embedders: Embedders, *, may_replace: bool
) -> Prospect:
    """Return what embedding a base would come to; nothing is asked or loaded for it. See `embed_base`."""
    name = embedders.name_for(settings, manifest)
    if name == NONE:
        return Prospect()
    embedder = embedders.get(name, manifest=manifest)
    if manifest.get(FINGERPRINT, embedder.fingerprint) != embedder.fingerprint and not may_replace:
        return Prospect(failure=made_by_another(base, manifest, embedder, ask=False))
    if not isinstance(embedder, BehindEndpoint):
        return Prospect()
    address = embedder.lock.address
    sending = Sending(
        address=address,
        is_new=bool(_new_address(manifest, embedder)),
        key_is_passing=embedders.key_is_passing(name, address),
    )
    return Prospect(embedder=embedder, sending=sending)


def _obstacle(
    base: str, manifest: Mapping[str, str], embedder: Embedder, pending: int, work: EmbedWork
) -> ZhikuError | None:
    """Return what keeps a base from being embedded."""
    replaces = manifest.get(FINGERPRINT, embedder.fingerprint) != embedder.fingerprint
    if replaces and not work.may_replace:
        return made_by_another(base, manifest, embedder, ask=True)
    if (pending or replaces) and not work.may_send and (address := _new_address(manifest, embedder)):
        return UsageError(
            "the text of base {base!r} would be sent to {address}, and nobody agreed to that yet.",
            base=base,
            address=address,
            hint="agree to it: zhiku index -b {base} --yes",
        )
    try:
        if replaces or (pending and not embedder.is_remote):
            embedder.check()  # a model that cannot be had must not cost the vectors that are there
    except (MissingExtra, ModelError) as error:
        return error
    return None


def _new_address(manifest: Mapping[str, str], embedder: Embedder) -> str:
    if not isinstance(embedder, BehindEndpoint) or embedder.endpoint.is_loopback:
        return ""
    built = lock_in(manifest)
    return "" if built and built.address == embedder.lock.address else embedder.lock.address


def _made_by(name: str, embedder: Embedder) -> dict[str, str]:
    lock = embedder.lock.to_json() if isinstance(embedder, Locked) else ""
    return {EMBEDDER_NAME: name, FINGERPRINT: embedder.fingerprint, LOCK: lock}
