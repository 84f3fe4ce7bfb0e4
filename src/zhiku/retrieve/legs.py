"""The ways of finding candidates in one base: by words, in a row, by meaning."""

from __future__ import annotations

from dataclasses import dataclass, replace

from zhiku.answer import Query
from zhiku.model import Candidate, VectorRanking
from zhiku.ports import ReadSession
from zhiku.retrieve.meaning import Question
from zhiku.retrieve.plan import Plan

CANDIDATES = 100
"""How many chunks of a base each leg ranks at least, before a document's share of the hits is limited."""


@dataclass(frozen=True, kw_only=True)
class Found:
    """What one base has for a query: chunks that hold any of its words, and the nearest in meaning."""

    words: tuple[Candidate, ...] = ()
    phrased: frozenset[int] = frozenset()
    """Which of them hold the words in a row."""
    complete: frozenset[int] = frozenset()
    """Which of them hold every word; looked for only where meaning counts too."""
    nearest: VectorRanking | None = None


def find(session: ReadSession, query: Query, plan: Plan, question: Question | None) -> Found:
    """Return the candidates of a base; by meaning only where there is a question for it."""
    doc_ids = session.select(query.source) if query.source else None
    limit = max(CANDIDATES, 2 * query.top_k)
    by_words = () if query.mode == "semantic" else _by_words(session, query, plan, limit, doc_ids)
    phrased = session.search_lexical(plan.phrase, limit=limit, doc_ids=doc_ids) if by_words else []
    all_words = replace(plan.lexical, match="all")
    complete = session.search_lexical(all_words, limit=limit, doc_ids=doc_ids) if by_words and question else []
    return Found(
        words=by_words,
        phrased=frozenset(candidate.chunk_id for candidate in phrased),
        complete=frozenset(candidate.chunk_id for candidate in complete),
        nearest=session.search_vectors(question.vector, limit=limit, doc_ids=doc_ids) if question else None,
    )


def _by_words(
    session: ReadSession, query: Query, plan: Plan, limit: int, doc_ids: list[int] | None
) -> tuple[Candidate, ...]:
    found = session.search_lexical(plan.lexical, limit=limit, doc_ids=doc_ids)
    if plan.is_keyword and len(found) == limit:
        # Some documents may have no chunk among the best: one of each makes sure that none is out of sight.
        found += session.search_lexical(plan.lexical, limit=query.top_k, doc_ids=doc_ids, per_document=True)
    return tuple(dict.fromkeys(found))
