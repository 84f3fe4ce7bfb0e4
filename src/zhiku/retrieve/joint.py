"""One ranking over several bases: BM25 with the statistics of all of them together.

Each base ranks by how rare a word is within itself, so a common word that one base happens to lack would outweigh a
rare one elsewhere. The candidates of all bases are therefore scored anew, as if they stood in one.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from zhiku.model import ChunkTokens, LexicalQuery, StoredChunk
from zhiku.ports import ReadSession
from zhiku.text.analyze import Analyzer
from zhiku.text.fields import FieldAnalyzer

# The values of FTS5's own bm25(), so that one base and several rank alike (sqlite.org/fts5.html, section 5.1.1).
K1 = 1.2
B = 0.75
MIN_IDF = 1e-6

_Unit = tuple[str, ...]
"""What counts as one term: a token, or a character and `*` for all tokens that begin with it."""


@dataclass(frozen=True, kw_only=True)
class Statistics:
    """What BM25 needs to know of all that is searched."""

    chunks: int
    tokens: int
    rows: Mapping[str, int]


def statistics_of(session: ReadSession, query: LexicalQuery) -> Statistics:
    """Return the statistics of one base for a query."""
    totals = session.totals()
    return Statistics(chunks=totals.chunks, tokens=totals.tokens, rows=session.term_rows(query.terms))


def joint_scores(
    found: Sequence[StoredChunk], query: LexicalQuery, parts: Sequence[Statistics], analyzer: Analyzer
) -> list[float]:
    """Return the BM25 score of each chunk as if all bases were one (Robertson and Zaragoza, 2009, equation 3.15)."""
    fields = [_fields(analyzer, stored) for stored in found]
    counts = [_counts(chunk, query) for chunk in fields]
    chunks = max(1, sum(part.chunks for part in parts))
    mean_tokens = max(1.0, sum(part.tokens for part in parts) / chunks)
    idf = {unit: _idf(chunks, _rows(unit, parts, counts)) for unit in _units(query)}
    scores = []
    for chunk, count in zip(fields, counts, strict=True):
        size = sum(map(len, (chunk.body, chunk.title, chunk.heading, chunk.name)))
        norm = K1 * (1 - B + B * size / mean_tokens)
        scores.append(sum(idf[unit] * n * (K1 + 1) / (n + norm) for unit, n in count.items()))
    return scores


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


def _units(query: LexicalQuery) -> list[_Unit]:
    return [(term,) for term in query.terms] + [(prefix, "*") for prefix in query.prefixes]


def _fields(analyzer: Analyzer, stored: StoredChunk) -> ChunkTokens:
    document = stored.document
    fields = FieldAnalyzer(analyzer, document.source.path, document.title, document.metadata)
    return fields.tokens(stored.chunk.text, stored.chunk.section)


def _counts(chunk: ChunkTokens, query: LexicalQuery) -> dict[_Unit, float]:
    """Return how often each unit stands in a chunk, weighted by field."""
    counts: defaultdict[_Unit, float] = defaultdict(float)
    for tokens, weight in zip((chunk.body, chunk.title, chunk.heading, chunk.name), query.weights, strict=True):
        in_field = Counter(tokens)
        for term in query.terms:
            counts[(term,)] += in_field[term] * weight
        for prefix in query.prefixes:
            counts[(prefix, "*")] += sum(token.startswith(prefix) for token in tokens) * weight
    return {unit: count for unit, count in counts.items() if count}


def _rows(unit: _Unit, parts: Sequence[Statistics], counts: Sequence[Mapping[_Unit, float]]) -> int:
    if len(unit) == 1:
        return sum(part.rows.get(unit[0], 0) for part in parts)
    # Nobody counts prefixes; the candidates that hold them are the ones that matter.
    return sum(unit in count for count in counts)


def _idf(chunks: int, rows: int) -> float:
    rows = min(rows, chunks)
    return max(MIN_IDF, math.log((chunks - rows + 0.5) / (rows + 0.5)))
