"""Which of the ranked chunks are shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import ceil

from zhiku.answer import Budget, Query
from zhiku.model import StoredChunk
from zhiku.ports import ReadSession
from zhiku.retrieve.present import Chosen, Presenter, Ranked
from zhiku.retrieve.rerank import Reranked, Reranking, rerank
from zhiku.text.analyze import Analyzer

MAX_SHARE_OF_DOCUMENT = 2 / 3
"""At most this share of a question's hits, rounded up, comes from one document while others match too. A half, rounded
down, left every document one hit of three, and answered .60 instead of .76 of the questions on five long documents
(2026-11-30, evals/README.md)."""

MAX_CONSIDERED = 100
"""How many of the ranked chunks are looked at for a budget: what is behind them hardly ever answers."""

MAX_RERANKED = 20
"""How many of them are scored anew then."""


def fetch(sessions: Mapping[str, ReadSession], ranked: Sequence[Ranked]) -> list[StoredChunk]:
    """Return what the bases hold of ranked chunks, in their order."""
    stored = {
        (name, chunk.chunk_id): chunk
        for name, session in sessions.items()
        for chunk in session.chunks([r.chunk_id for r in ranked if r.base == name])
    }
    return [stored[r.base, r.chunk_id] for r in ranked]


def choose(ranked: Sequence[Ranked], top_k: int, *, is_keyword: bool) -> list[Ranked]:
    """Return `top_k` of the ranked chunks, in order, without letting one document crowd out the others.

    For a keyword every document comes once before any comes twice; for a question a document has a bounded share."""
    share = 1 if is_keyword else ceil(top_k * MAX_SHARE_OF_DOCUMENT)
    taken: Counter[tuple[str, int]] = Counter()
    first: list[int] = []
    later: list[int] = []
    for i, chunk in enumerate(ranked):
        document = (chunk.base, chunk.doc_id)
        (first if taken[document] < share else later).append(i)
        taken[document] += 1
    return [ranked[i] for i in sorted((first + later)[:top_k])]


def score_anew(
    sessions: Mapping[str, ReadSession],
    query: Query,
    ranked: Sequence[Ranked],
    reranking: Reranking,
    *,
    is_keyword: bool,
) -> Reranked:
    """Return the ranked chunks that are kept once a reranker scored the best; all of them where it could not."""
    # A budget may hold more than anybody wants to have scored.
    scored = query if query.max_tokens is None else replace(query, top_k=min(query.top_k, MAX_RERANKED))
    best = choose(ranked, scored.top_k, is_keyword=is_keyword)
    done = rerank(best, fetch(sessions, best), scored, reranking)
    kept = list(ranked) if done.reranker is None else choose(done.chunks, done.top_k, is_keyword=is_keyword)
    return replace(done, chunks=kept)


def best_of(
    sessions: Mapping[str, ReadSession], query: Query, ranked: Sequence[Ranked], *, is_keyword: bool
) -> list[Chosen]:
    """Return the first hits of a ranking."""
    return _as_they_are(sessions, choose(ranked, query.top_k, is_keyword=is_keyword))


def best_within(
    sessions: Mapping[str, ReadSession],
    query: Query,
    ranked: Sequence[Ranked],
    presenter: Presenter,
    analyzer: Analyzer,
) -> tuple[list[Chosen], Budget]:
    """Return the passages for a number of tokens, and what they take."""
    from zhiku.retrieve.budget import Packer, Weighed  # most searches have no budget

    candidates: list[Weighed] = []
    for each in _as_they_are(sessions, ranked[:MAX_CONSIDERED]):
        judged = presenter.judge(each.ranked, each.stored)
        if not judged.is_below(query.min_relevance):
            place = len(candidates)
            candidates.append(Weighed(each.ranked, each.stored, relevance=judged.relevance, place=place))
    packer = Packer(query.max_tokens or 0, query.top_k, analyzer, one_each=presenter.is_keyword)
    left_out = packer.pack(candidates)
    return packer.chosen(sessions), packer.budget(left_out)


def _as_they_are(sessions: Mapping[str, ReadSession], ranked: Sequence[Ranked]) -> list[Chosen]:
    stored = fetch(sessions, ranked)
    return [Chosen(ranked=each, stored=chunk) for each, chunk in zip(ranked, stored, strict=True)]
