"""The ways of finding candidates in one base: by words, in a row, by meaning."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from zhiku.answer import Query
from zhiku.frozen import frozen
from zhiku.model import Candidate, LexicalQuery, VectorRanking
from zhiku.ports import ReadSession
from zhiku.retrieve.expand import Expansion, phrases_of
from zhiku.retrieve.meaning import Question
from zhiku.retrieve.plan import Plan

CANDIDATES = 100
"""How many chunks of a base each leg ranks at least, before a document's share of the hits is limited."""


POSTINGS_BESIDE_MEANING = 5_000
"""Half of what words alone may cost: what its frequent words would find, a question finds by meaning (no measured set
loses more than .001 nDCG@10; words alone lose .013 on one)."""

_Scope = tuple[list[int] | None, int]
"""Among which documents candidates are sought, and how many."""


@frozen
class ByWords:
    """The chunks of a base that hold any of a query's words, best first; then those that hold an alias alone."""

    candidates: tuple[Candidate, ...] = ()
    phrased: frozenset[int] = frozenset()
    """Which of them hold the words in a row."""
    complete: frozenset[int] = frozenset()
    """Which of them hold every word; looked for only where meaning counts too."""


def find_words(
    session: ReadSession, query: Query, plan: Plan, expansions: Sequence[Expansion], *, beside_meaning: bool
) -> ByWords:
    """Return the candidates of a base by words; none for a search by meaning only."""
    if query.mode == "semantic":
        return ByWords()
    scope = _scope(session, query)
    one_each = query.top_k if plan.is_keyword else 0
    found = _find(session, plan.lexical, scope, one_each)
    if expansions:
        found += _find(session, replace(plan.lexical, required=phrases_of(expansions)), scope, one_each)
    phrased = _find(session, plan.phrase, scope) if found else []
    complete = _find(session, replace(plan.lexical, match="all"), scope) if found and beside_meaning else []
    return ByWords(
        candidates=tuple({candidate.chunk_id: candidate for candidate in reversed(found)}.values())[::-1],
        phrased=frozenset(candidate.chunk_id for candidate in phrased),
        complete=frozenset(candidate.chunk_id for candidate in complete),
    )


def _find(session: ReadSession, lexical: LexicalQuery, scope: _Scope, one_each: int = 0) -> list[Candidate]:
    doc_ids, limit = scope
    found = session.search_lexical(lexical, limit=limit, doc_ids=doc_ids)
    if one_each and len(found) == limit:
        # Some documents may have no chunk among the best: one of each makes sure that none is out of sight.
        found += session.search_lexical(lexical, limit=one_each, doc_ids=doc_ids, per_document=True)
    return found


def find_nearest(session: ReadSession, query: Query, question: Question) -> VectorRanking:
    """Return the candidates of a base by meaning."""
    doc_ids, limit = _scope(session, query)
    return session.search_vectors(question.vector, limit=limit, doc_ids=doc_ids)


def _scope(session: ReadSession, query: Query) -> _Scope:
    doc_ids = session.select(query.source) if query.source else None
    return doc_ids, max(CANDIDATES, 2 * query.top_k)
