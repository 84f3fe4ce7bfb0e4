"""Scoring hits anew: a reranker's view of the best candidates, blended with the places that the search gave them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from zhiku.answer import Query
from zhiku.errors import MissingExtra, ModelError, ModelUnavailable, QueryError, ZhikuError
from zhiku.frozen import frozen
from zhiku.model import StoredChunk
from zhiku.ports import Reranker
from zhiku.retrieve.present import Ranked
from zhiku.text.fields import passage_for_embedding


@frozen
class Reranking:
    """How hits are to be scored anew: by a reranker, or not, and then why."""

    reranker: Reranker | None = None
    reason: ZhikuError | None = None
    """Why there is no reranker; its message and hint are for the reader."""
    top_k: int
    """How many hits are kept."""
    budget_s: float
    """What scoring may take."""


@frozen
class Reranked:
    """Hits as they are after that, in order; as they were where it was not done."""

    chunks: list[Ranked]
    top_k: int
    """How many of them are kept."""
    reranker: str | None = None
    """What scored them; None where nothing did."""
    degraded: tuple[ZhikuError, ...] = ()


def rerank(chosen: Sequence[Ranked], stored: Sequence[StoredChunk], query: Query, reranking: Reranking) -> Reranked:
    """Return the hits of a search in the order that a reranker and the search agree on; equal scores as they stood.

    What keeps the reranker from scoring leaves everything as it was, and is told.
    """
    as_it_was = Reranked(chunks=list(chosen), top_k=query.top_k)
    if not chosen:
        return as_it_was
    if query.top_k == 1:
        return replace(as_it_was, degraded=(_off(),))
    if reranking.reranker is None:
        return replace(as_it_was, degraded=(reranking.reason,) if reranking.reason else ())
    texts = [passage_for_embedding(s.document.title, s.chunk.section, s.chunk.text) for s in stored]
    try:
        scores = reranking.reranker.score(query.text, texts, budget_s=reranking.budget_s)
    except (MissingExtra, ModelError) as error:
        return replace(as_it_was, degraded=(_failed(), error))
    is_shrunk = reranking.top_k >= query.top_k
    return Reranked(
        chunks=_in_order(chosen, scores),
        top_k=query.top_k - 1 if is_shrunk else reranking.top_k,
        reranker=reranking.reranker.name,
        degraded=(_shrunk(reranking.top_k, query.top_k),) if is_shrunk else (),
    )


def blend(scores: Sequence[float]) -> list[float]:
    """Return the new score, 0 to 1, of each of the hits of a search, whose rerank scores are given in their order.

    The odds that a hit is right fall with its place about as 1 / place (measured 2026-11-30: the power is .97 to 1.0).
    A rerank score gives other odds, of the text alone; both together are their product (docs/adr/0012-rerank.md).
    """
    return [score / (score + (1 - score) * place) for place, score in enumerate(scores, 1)]


def _in_order(chosen: Sequence[Ranked], scores: Sequence[float]) -> list[Ranked]:
    scored = [
        replace(ranked, score=score, rerank_score=rerank_score, place=place)
        for place, (ranked, score, rerank_score) in enumerate(zip(chosen, blend(scores), scores, strict=True), 1)
    ]
    return sorted(scored, key=lambda ranked: (-ranked.score, ranked.place))


def _failed() -> ZhikuError:
    return ModelUnavailable("the hits were not scored anew: they are in the order of the search itself.")


def _off() -> ZhikuError:
    return QueryError(
        "a single hit is not scored anew: rerank_top_k must be below top_k.", hint="ask for more hits: -k 10"
    )


def _shrunk(wanted: int, top_k: int) -> ZhikuError:
    return QueryError(
        "rerank_top_k must be below top_k: of {top_k} hits {kept} are kept, not {wanted}.",
        top_k=top_k,
        kept=top_k - 1,
        wanted=wanted,
        hint="ask for more hits (-k), or keep fewer (--rerank-top-k)",
    )
