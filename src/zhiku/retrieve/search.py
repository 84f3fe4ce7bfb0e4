"""The read flow: from a query to ranked hits with their places, over one base or several."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from zhiku.answer import Answer, Health, Hit, Leg, Mode, Query
from zhiku.errors import QueryError, ZhikuError
from zhiku.frozen import frozen
from zhiku.model import FileState, VectorRanking
from zhiku.ports import ReadSession
from zhiku.retrieve.choose import best_of, best_within, score_anew
from zhiku.retrieve.expand import Expansion, expand
from zhiku.retrieve.joint import Scored, joint_scores, statistics_of, weights_of
from zhiku.retrieve.legs import POSTINGS_BESIDE_MEANING, ByWords, find_nearest, find_words
from zhiku.retrieve.meaning import Meaning, embedding
from zhiku.retrieve.plan import PHRASE_BONUS, Plan, build_plan
from zhiku.retrieve.present import Presenter, Ranked
from zhiku.retrieve.rerank import Reranked, Reranking
from zhiku.text.analyze import Analyzer
from zhiku.text.glossary import Glossary

MAX_TOP_K = 10_000
"""More hits than anybody reads; a number without end would be a fault of SQLite's."""


@frozen
class Ranking:
    """The candidates for a query in order, how they were found, and what could not look for them."""

    mode: Mode
    plan: Plan
    chunks: list[Ranked]
    expansions: Mapping[str, Sequence[Expansion]]
    """What the glossary of each base added."""
    legs: Mapping[str, Leg]
    degraded: tuple[ZhikuError, ...]


def search(
    sessions: Mapping[str, ReadSession],
    query: Query,
    analyzer: Analyzer,
    meanings: Mapping[str, Meaning] | None = None,
    reranking: Reranking | None = None,
    glossaries: Mapping[str, Glossary] | None = None,
) -> Answer:
    """Return the best passages for `query` over all given bases, in one ranking.

    Bases without a meaning are searched by words only, those without a glossary by the query's own words; with
    `reranking`, the best are scored anew. Raises `QueryError` where the query is blank or a limit is out of range, and,
    for a search by meaning only, the error that says why no base can be searched so.
    """
    began = time.perf_counter()
    ranking = rank(sessions, query, analyzer, meanings, glossaries)
    presenter = Presenter(sessions, query, ranking.plan, analyzer, _weights(sessions, ranking), ranking.expansions)
    reranked, found = None, ranking.chunks
    if reranking:
        reranked = score_anew(sessions, query, ranking.chunks, reranking, is_keyword=ranking.plan.is_keyword)
        found = reranked.chunks
    if query.max_tokens is None:
        chosen, budget = best_of(sessions, query, found, is_keyword=ranking.plan.is_keyword), None
    else:
        chosen, budget = best_within(sessions, query, found, presenter, analyzer)
    hits = presenter.hits(chosen)
    health = _health(sessions, ranking, hits, began)
    return Answer(
        query=query.text,
        bases=tuple(sessions),
        mode=ranking.mode,
        hits=tuple(hits),
        health=_with_reranking(health, query, reranked),
        budget=budget,
        explanation=_explain(ranking, sessions),
    )


def rank(
    sessions: Mapping[str, ReadSession],
    query: Query,
    analyzer: Analyzer,
    meanings: Mapping[str, Meaning] | None = None,
    glossaries: Mapping[str, Glossary] | None = None,
) -> Ranking:
    """Return every candidate for `query` over all given bases, best first: what a search chooses its hits from."""
    _check(query)
    plan = build_plan(query.text, analyzer)
    known = {} if query.mode == "lexical" else meanings or {}
    if beside := any(meaning.embedder for meaning in known.values()):
        plan = replace(plan, lexical=replace(plan.lexical, max_postings=POSTINGS_BESIDE_MEANING))
    used = glossaries or {} if query.asks_glossaries else {}
    expansions = expand(query.text, used, analyzer)
    with embedding(query.text, known) as asked:
        by_words = {
            name: find_words(session, query, plan, expansions.get(name, ()), beside_meaning=beside)
            for name, session in sessions.items()
        }
        chunks = _by_words(sessions, by_words, plan, expansions)
        embedded = asked()
    questions = embedded.questions
    if query.mode == "semantic" and not questions:
        raise embedded.reasons[0]
    nearest = {name: find_nearest(sessions[name], query, question) for name, question in questions.items()}
    if questions:
        from zhiku.retrieve.hybrid import merge  # a search by words does without

        chunks = merge(sessions, chunks, nearest, plan, questions)
    return Ranking(
        mode=query.mode if questions else "lexical",
        plan=plan,
        chunks=chunks,
        expansions=expansions,
        legs=_legs(query, plan, by_words, nearest),
        degraded=(
            *_no_words(query, plan),
            # A search by meaning only leaves out whole bases that are meant to be searched by words.
            *(embedded.reasons if query.mode == "semantic" else embedded.faults),
            *(error for name, glossary in used.items() for error in glossary.shortcomings(name)),
        ),
    )


def _weights(sessions: Mapping[str, ReadSession], ranking: Ranking) -> Mapping[str, float]:
    """Return how much each term weighs, where that is needed."""
    if not ranking.legs["vector"].ran:
        return {}
    parts = [statistics_of(session, ranking.plan.lexical) for session in sessions.values()]
    return weights_of(ranking.plan.lexical, parts)


def _check(query: Query) -> None:
    if not query.text.strip():
        raise QueryError("the query is empty.", hint="say what to look for: zhiku search WORDS")
    for name in ("top_k", "rerank_top_k", "max_chars", "max_chars_per_hit", "max_tokens"):
        value = getattr(query, name)
        if value is not None and value < 1:
            raise QueryError("{name} must be at least 1, not {value}.", name=name, value=value)
    if query.top_k > MAX_TOP_K:
        raise QueryError("top_k must be at most {most}, not {value}.", most=MAX_TOP_K, value=query.top_k)
    if query.min_relevance is not None and not 0 <= query.min_relevance <= 1:
        raise QueryError("min_relevance must be from 0 to 1, not {value}.", value=query.min_relevance)
    if query.min_relevance is not None and query.mode == "lexical" and not query.rerank:
        raise QueryError(
            "relevance is known only where a base is searched by meaning, or hits are reranked.",
            hint="leave out the mode or the relevance",
        )


def _by_words(
    sessions: Mapping[str, ReadSession],
    found: Mapping[str, ByWords],
    plan: Plan,
    expansions: Mapping[str, Sequence[Expansion]],
) -> list[Ranked]:
    ranked = [
        Ranked(
            base=name,
            chunk_id=candidate.chunk_id,
            doc_id=candidate.doc_id,
            score=candidate.score,
            why=("phrase",) if candidate.chunk_id in part.phrased else (),
            is_complete=candidate.chunk_id in part.complete,
        )
        for name, part in found.items()
        for candidate in part.candidates
    ]
    if len(sessions) > 1 or expansions:
        places = {name: [candidate.chunk_id for candidate in part.candidates] for name, part in found.items()}
        scores = joint_scores(sessions, places, plan.lexical, expansions)
        ranked = [_rescored(chunk, scores[chunk.base, chunk.chunk_id]) for chunk in ranked]
    bonus = PHRASE_BONUS * max((chunk.score for chunk in ranked), default=0.0)
    ranked = [replace(chunk, score=chunk.score + bonus) if "phrase" in chunk.why else chunk for chunk in ranked]
    return sorted(ranked, key=lambda chunk: (-chunk.score, chunk.base, chunk.chunk_id))


def _rescored(ranked: Ranked, scored: Scored) -> Ranked:
    why = (*ranked.why, "glossary") if scored.gained else ranked.why
    complete = ranked.is_complete or scored.is_complete
    return replace(ranked, score=scored.score, gained=scored.gained, named=scored.named, why=why, is_complete=complete)


def _legs(
    query: Query, plan: Plan, by_words: Mapping[str, ByWords], nearest: Mapping[str, VectorRanking]
) -> dict[str, Leg]:
    return {
        "lexical": Leg(
            ran=bool(plan.lexical) and query.mode != "semantic",
            candidates=sum(len(found.candidates) for found in by_words.values()),
        ),
        "vector": Leg(ran=bool(nearest), candidates=sum(len(found.candidates) for found in nearest.values())),
    }


def _no_words(query: Query, plan: Plan) -> tuple[ZhikuError, ...]:
    if plan.lexical or query.mode == "semantic":
        return ()
    return (QueryError("the query holds no letter, digit or Han character to look for."),)


def _health(sessions: Mapping[str, ReadSession], ranking: Ranking, hits: Iterable[Hit], began: float) -> Health:
    totals = [session.totals() for session in sessions.values()]
    states: Counter[FileState] = Counter(hit.file_state for hit in hits)
    return Health(
        legs=ranking.legs,
        pending_vectors=sum(t.pending_vectors for t in totals) if ranking.legs["vector"].ran else 0,
        changed_hits=states["changed"],
        missing_hits=states["missing"],
        failed_files=sum(t.failed for t in totals),
        textless_files=sum(t.textless for t in totals),
        degraded=ranking.degraded,
        elapsed_ms=round((time.perf_counter() - began) * 1000, 2),
    )


def _with_reranking(health: Health, query: Query, reranked: Reranked | None) -> Health:
    """Return the health of an answer with what became of its reranking, and whether relevance was known at all."""
    degraded = [*health.degraded, *(reranked.degraded if reranked else ())]
    reranker = reranked.reranker if reranked else None
    if query.min_relevance is not None and not health.legs["vector"].ran and reranker is None:
        degraded.append(QueryError("hits were not left out for their relevance, which words alone do not tell."))
    return replace(health, reranker=reranker, degraded=tuple(degraded))


def _explain(ranking: Ranking, sessions: Mapping[str, ReadSession]) -> dict[str, Any]:
    plan = ranking.plan
    return {
        "terms": list(plan.lexical.terms),
        "prefixes": list(plan.lexical.prefixes),
        "phrases": [" ".join(phrase) for phrase in plan.phrase.phrases],
        "keyword": plan.is_keyword,
        "joint": len(sessions) > 1,
        "added": {
            name: {each.said: [alias.text for alias in each.aliases] for each in expansions}
            for name, expansions in ranking.expansions.items()
        },
    }
