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


POSTINGS_BESIDE_MEANING = 5_000
"""Half of what words alone may cost: what its frequent words would find, a question finds by meaning (no measured set
loses more than .001 nDCG@10; words alone lose .013 on one)."""


@dataclass(frozen=True, kw_only=True)
class ByWords:
    """The chunks of a base that hold any of a query's words, best first."""

    candidates: tuple[Candidate, ...] = ()
    phrased: frozenset[int] = frozenset()
    """Which of them hold the words in a row."""
    complete: frozenset[int] = frozenset()
    """Which of them hold every word; looked for only where meaning counts too."""


def find_words(session: ReadSession, query: Query, plan: Plan, *, beside_meaning: bool) -> ByWords:
    """Return the candidates of a base by words; none for a search by meaning only."""
    if query.mode == "semantic":
        return ByWords()
    doc_ids, limit = _scope(session, query)
    any_word = replace(plan.lexical, max_postings=POSTINGS_BESIDE_MEANING) if beside_meaning else plan.lexical
    found = session.search_lexical(any_word, limit=limit, doc_ids=doc_ids)
    if plan.is_keyword and len(found) == limit:
        # Some documents may have no chunk among the best: one of each makes sure that none is out of sight.
        found += session.search_lexical(any_word, limit=query.top_k, doc_ids=doc_ids, per_document=True)
    phrased = session.search_lexical(plan.phrase, limit=limit, doc_ids=doc_ids) if found else []
    all_words = replace(plan.lexical, match="all")
    complete = session.search_lexical(all_words, limit=limit, doc_ids=doc_ids) if found and beside_meaning else []
    return ByWords(
        candidates=tuple(dict.fromkeys(found)),
        phrased=frozenset(candidate.chunk_id for candidate in phrased),
        complete=frozenset(candidate.chunk_id for candidate in complete),
    )


def find_nearest(session: ReadSession, query: Query, question: Question) -> VectorRanking:
    """Return the candidates of a base by meaning."""
    doc_ids, limit = _scope(session, query)
    return session.search_vectors(question.vector, limit=limit, doc_ids=doc_ids)


def _scope(session: ReadSession, query: Query) -> tuple[list[int] | None, int]:
    doc_ids = session.select(query.source) if query.source else None
    return doc_ids, max(CANDIDATES, 2 * query.top_k)
