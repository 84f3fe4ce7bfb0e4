"""The read flow: from a query to ranked hits with their places, over one base or several."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from zhiku.answer import Answer, Health, Hit, Leg, Query
from zhiku.errors import QueryError
from zhiku.model import Candidate, FileState, StoredChunk
from zhiku.ports import ReadSession
from zhiku.retrieve.joint import joint_scores, statistics_of
from zhiku.retrieve.plan import PHRASE_BONUS, Plan, build_plan
from zhiku.retrieve.present import Presenter, Ranked
from zhiku.text.analyze import Analyzer

CANDIDATES = 100
"""How many chunks of a base are ranked at least, before a document's share of the hits is limited."""

MAX_SHARE_OF_DOCUMENT = 0.5
"""At most this share of a question's hits comes from one document while others match too."""

NO_WORDS = "the query holds no letter, digit or Han character to look for"


@dataclass(frozen=True, kw_only=True)
class Found:
    """What one base has for a query: chunks that hold any of its words, and which of them hold them in a row."""

    candidates: list[Candidate]
    phrased: frozenset[int]


@dataclass(frozen=True, kw_only=True)
class Ranking:
    """The candidates for a query in order, and the plan that found them."""

    plan: Plan
    chunks: list[Ranked]


def search(sessions: Mapping[str, ReadSession], query: Query, analyzer: Analyzer) -> Answer:
    """Return the best passages for `query` over all given bases, in one ranking.

    Raises `QueryError` where the query is blank or a limit is not positive.
    """
    began = time.perf_counter()
    ranking = rank(sessions, query, analyzer)
    chosen = choose(ranking.chunks, query.top_k, is_keyword=ranking.plan.is_keyword)
    presenter = Presenter(sessions, query, ranking.plan, analyzer)
    hits = presenter.hits(zip(chosen, _fetch(sessions, chosen), strict=True))
    return Answer(
        query=query.text,
        bases=tuple(sessions),
        mode="lexical",
        hits=tuple(hits),
        health=_health(sessions, ranking, hits, began),
        explanation=_explain(ranking.plan, sessions),
    )


def rank(sessions: Mapping[str, ReadSession], query: Query, analyzer: Analyzer) -> Ranking:
    """Return every candidate for `query` over all given bases, best first: what a search chooses its hits from."""
    _check(query)
    plan = build_plan(query.text, analyzer)
    found = {name: _find(session, query, plan) for name, session in sessions.items()}
    return Ranking(plan=plan, chunks=_merge(sessions, found, plan, analyzer))


def _check(query: Query) -> None:
    if not query.text.strip():
        raise QueryError("the query is empty.", hint="say what to look for: zhiku search WORDS")
    for name in ("top_k", "max_chars", "max_chars_per_hit"):
        value = getattr(query, name)
        if value is not None and value < 1:
            raise QueryError("{name} must be at least 1, not {value}.", name=name, value=value)


def _find(session: ReadSession, query: Query, plan: Plan) -> Found:
    doc_ids = session.select(query.source) if query.source else None
    limit = max(CANDIDATES, 2 * query.top_k)
    found = session.search_lexical(plan.lexical, limit=limit, doc_ids=doc_ids)
    if plan.is_keyword and len(found) == limit:
        # Some documents may have no chunk among the best: one of each makes sure that none is out of sight.
        found += session.search_lexical(plan.lexical, limit=query.top_k, doc_ids=doc_ids, per_document=True)
    phrased = session.search_lexical(plan.phrase, limit=limit, doc_ids=doc_ids)
    return Found(candidates=list(dict.fromkeys(found)), phrased=frozenset(c.chunk_id for c in phrased))


def _merge(
    sessions: Mapping[str, ReadSession], found: Mapping[str, Found], plan: Plan, analyzer: Analyzer
) -> list[Ranked]:
    ranked = [
        Ranked(
            base=name,
            chunk_id=candidate.chunk_id,
            doc_id=candidate.doc_id,
            score=candidate.score,
            why=("phrase",) if candidate.chunk_id in part.phrased else (),
        )
        for name, part in found.items()
        for candidate in part.candidates
    ]
    if len(sessions) > 1:
        parts = [statistics_of(session, plan.lexical) for session in sessions.values()]
        scores = joint_scores(_fetch(sessions, ranked), plan.lexical, parts, analyzer)
        ranked = [replace(chunk, score=score) for chunk, score in zip(ranked, scores, strict=True)]
    bonus = PHRASE_BONUS * max((chunk.score for chunk in ranked), default=0.0)
    ranked = [replace(chunk, score=chunk.score + bonus) if "phrase" in chunk.why else chunk for chunk in ranked]
    return sorted(ranked, key=lambda chunk: (-chunk.score, chunk.base, chunk.chunk_id))


def _fetch(sessions: Mapping[str, ReadSession], ranked: Sequence[Ranked]) -> list[StoredChunk]:
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
    share = 1 if is_keyword else max(1, int(top_k * MAX_SHARE_OF_DOCUMENT))
    taken: Counter[tuple[str, int]] = Counter()
    first: list[int] = []
    later: list[int] = []
    for i, chunk in enumerate(ranked):
        document = (chunk.base, chunk.doc_id)
        (first if taken[document] < share else later).append(i)
        taken[document] += 1
    return [ranked[i] for i in sorted((first + later)[:top_k])]


def _health(sessions: Mapping[str, ReadSession], ranking: Ranking, hits: Iterable[Hit], began: float) -> Health:
    totals = [session.totals() for session in sessions.values()]
    states: Counter[FileState] = Counter(hit.file_state for hit in hits)
    return Health(
        legs={"lexical": Leg(ran=bool(ranking.plan.lexical), candidates=len(ranking.chunks))},
        changed_hits=states["changed"],
        missing_hits=states["missing"],
        failed_files=sum(t.failed for t in totals),
        textless_files=sum(t.textless for t in totals),
        degraded=() if ranking.plan.lexical else (NO_WORDS,),
        elapsed_ms=round((time.perf_counter() - began) * 1000, 2),
    )


def _explain(plan: Plan, sessions: Mapping[str, ReadSession]) -> dict[str, Any]:
    return {
        "terms": list(plan.lexical.terms),
        "prefixes": list(plan.lexical.prefixes),
        "phrases": [" ".join(phrase) for phrase in plan.phrase.phrases],
        "keyword": plan.is_keyword,
        "joint": len(sessions) > 1,
    }
