"""BM25 in the open: over several bases as if they were one, and with what their glossaries add.

Each base ranks by how rare a word is within itself, so a common word that one base happens to lack would outweigh a
rare one elsewhere. The candidates of all bases are therefore scored anew, as if they stood in one. An alias of a word
of the query stands in for it, at a lower weight: a chunk earns the better of what the word and its aliases give it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from zhiku.frozen import frozen
from zhiku.model import ANY_ENDING, LexicalQuery, Occurrences, Unit
from zhiku.ports import ReadSession
from zhiku.retrieve.expand import ALIAS_WEIGHT, Alias, Expansion, phrases_of

# The values of FTS5's own bm25(), so that one base and several rank alike (sqlite.org/fts5.html, section 5.1.1).
K1 = 1.2
B = 0.75
MIN_IDF = 1e-6

Places = Mapping[str, Sequence[int]]
"""Ids of chunks by base."""


@frozen
class Statistics:
    """What BM25 needs to know of all that is searched."""

    chunks: int
    tokens: int
    rows: Mapping[str, int]


def statistics_of(session: ReadSession, query: LexicalQuery, tokens: Iterable[str] = ()) -> Statistics:
    """Return the statistics of one base for a query, and for some tokens besides."""
    totals = session.totals()
    rows = session.term_rows(list(dict.fromkeys((*query.terms, *tokens))))
    return Statistics(chunks=totals.chunks, tokens=totals.tokens, rows=rows)


@frozen
class Scored:
    """The score of a chunk by words; `gained` is the part of it that the glossary gave."""

    score: float = 0.0
    gained: float = 0.0
    named: frozenset[str] = frozenset()
    """The terms of the query for which it holds an alias."""
    is_complete: bool = False
    """Whether it holds every word of the query, or an alias of it."""


def joint_scores(
    sessions: Mapping[str, ReadSession],
    places: Places,
    query: LexicalQuery,
    expansions: Mapping[str, Sequence[Expansion]],
) -> dict[tuple[str, int], Scored]:
    """Return the BM25 score of each chunk as if all bases were one (Robertson and Zaragoza, 2009, equation 3.15)."""
    phrases = {name: phrases_of(expansions.get(name, ())) for name in places}
    tokens = {token for each in phrases.values() for phrase in each for token in phrase if token != ANY_ENDING}
    parts = [statistics_of(session, query, sorted(tokens)) for session in sessions.values()]
    found = {
        name: sessions[name].occurrences(replace(query, phrases=phrases[name]), chunk_ids)
        for name, chunk_ids in places.items()
    }
    bm25 = _Bm25(parts, [held for by_id in found.values() for held in by_id.values()])
    return {
        (name, chunk_id): _scored(held, query, expansions.get(name, ()), bm25)
        for name, by_id in found.items()
        for chunk_id, held in by_id.items()
    }


def _scored(held: Occurrences, query: LexicalQuery, expansions: Sequence[Expansion], bm25: _Bm25) -> Scored:
    own = {unit: bm25.score(unit, held) for unit in query.units}
    gained = 0.0
    named: set[str] = set()
    for expansion in expansions:
        stood_for = [unit for unit in own if unit[0] in expansion.terms]
        best = max(_alias_score(alias, stood_for, held, bm25) for alias in expansion.aliases)
        gained += max(0.0, ALIAS_WEIGHT * best - sum(own[unit] for unit in stood_for))
        named |= expansion.terms if best else set()
    return Scored(
        score=sum(own.values()) + gained,
        gained=gained,
        named=frozenset(named),
        is_complete=all(unit in held.counts or unit[0] in named for unit in own),
    )


def _alias_score(alias: Alias, stood_for: Sequence[Unit], held: Occurrences, bm25: _Bm25) -> float:
    """Return what an alias earns in place of the units that it stands for, each as rare as it is or the alias."""
    count = sum(held.counts.get(phrase, 0.0) for phrase in alias.phrases)
    if not count:
        return 0.0
    idf = min(map(bm25.idf, alias.phrases))  # that of the spelling that is most usual here
    return bm25.saturation(count, held.tokens) * (sum(min(idf, bm25.idf(unit)) for unit in stood_for) or idf)


class _Bm25:
    """BM25 over bases with these statistics."""

    def __init__(self, parts: Sequence[Statistics], held: Sequence[Occurrences]) -> None:
        self._parts = parts
        self._held = held
        self._chunks = max(1, sum(part.chunks for part in parts))
        self._mean_tokens = 1 + sum(part.tokens for part in parts) / self._chunks  # 1 tells the script
        self._idf: dict[Unit, float] = {}

    def score(self, unit: Unit, held: Occurrences) -> float:
        count = held.counts.get(unit, 0.0)
        return self.idf(unit) * self.saturation(count, held.tokens) if count else 0.0

    def saturation(self, count: float, tokens: int) -> float:
        return count * (K1 + 1) / (count + K1 * (1 - B + B * tokens / self._mean_tokens))

    def idf(self, unit: Unit) -> float:
        if unit not in self._idf:
            self._idf[unit] = _idf(self._chunks, self._rows(unit))
        return self._idf[unit]

    def _rows(self, unit: Unit) -> int:
        if unit[-1] == ANY_ENDING:
            # Nobody counts prefixes; the candidates that hold them are the ones that matter.
            return sum(unit in each.counts for each in self._held)
        # Nor phrases, which stand in no more chunks than their rarest token.
        return min(sum(part.rows.get(token, 0) for part in self._parts) for token in unit)


def weights_of(query: LexicalQuery, parts: Sequence[Statistics]) -> dict[str, float]:
    """Return how much each term of a query says; one that no base holds as much as one that stands once.

    This idf (Lucene's) stays above 0 for a term that stands in most of a small base, where FTS5's does not.
    """
    chunks = max(1, sum(part.chunks for part in parts))
    rows = {term: max(1, sum(part.rows.get(term, 0) for part in parts)) for term in query.terms}
    return {term: math.log(1 + (chunks - n + 0.5) / (n + 0.5)) for term, n in rows.items()}


def perfect_score(query: LexicalQuery, parts: Sequence[Statistics]) -> float:
    """Return the score of a passage that is full of every term of a query."""
    chunks = max(1, sum(part.chunks for part in parts))
    rows = [max(1, sum(part.rows.get(term, 0) for part in parts)) for term in query.terms]
    return (K1 + 1) * sum(_idf(chunks, n) for n in rows)


def _idf(chunks: int, rows: int) -> float:
    rows = min(rows, chunks)
    return max(MIN_IDF, math.log((chunks - rows + 0.5) / (rows + 0.5)))
