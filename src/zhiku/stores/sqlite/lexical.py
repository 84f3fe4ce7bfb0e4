"""Search by words: FTS5 over tokens that the analyzer made."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

import apsw

from zhiku.model import Candidate, LexicalQuery
from zhiku.stores.sqlite.schema import FIELDS, SHIFT

FREQUENT_SHARE = 0.005
"""Terms in more than this share of the chunks have their row count kept."""

MIN_KEPT_ROWS = 10_000
"""Bases smaller than this keep no counts: looking them up is as cheap as searching."""


def match_expression(query: LexicalQuery) -> str:
    """Return the FTS5 expression of a query. Only ever made of quoted tokens: nothing in it is syntax of the user's."""
    parts = [_quoted(term) for term in query.terms]
    parts += [f"{_quoted(prefix)} *" for prefix in query.prefixes]
    parts += [_quoted(" ".join(phrase)) for phrase in query.phrases]
    return (" AND " if query.match == "all" else " OR ").join(parts)


def _quoted(token: str) -> str:
    return '"' + token.replace('"', '""') + '"'


def search(
    connection: apsw.Connection,
    query: LexicalQuery,
    limit: int,
    doc_ids: Sequence[int] | None,
    per_document: bool,
) -> list[Candidate]:
    """Return the best chunks for `query`, best first; ties by id."""
    if not query or doc_ids == []:
        return []
    weights = ", ".join(map(str, query.weights))
    chosen = f"AND (rowid >> {SHIFT}) IN (SELECT value FROM json_each(:docs))" if doc_ids is not None else ""
    scored = f"""SELECT rowid AS chunk_id, bm25(lexical, {weights}) AS cost FROM lexical
        WHERE lexical MATCH :match {chosen}"""
    if per_document:
        # Materialized, since bm25() works only where the full-text table itself is read.
        scored = f"""WITH scored AS MATERIALIZED ({scored})
            SELECT chunk_id, min(cost) AS cost FROM scored GROUP BY chunk_id >> {SHIFT}"""
    values = {"match": match_expression(query), "limit": limit, "docs": json.dumps(doc_ids)}
    rows = connection.execute(f"{scored} ORDER BY cost, chunk_id LIMIT :limit", values)
    return [Candidate(chunk_id, chunk_id >> SHIFT, -cost) for chunk_id, cost in rows]


def affordable(connection: apsw.Connection, query: LexicalQuery) -> LexicalQuery:
    """Return `query` without the most frequent terms, as far as its posting lists exceed the budget.

    Leaving them out is several times faster on a large base and costs nothing there, but costs quality on a small
    one; hence a budget of rows and no share of the base.
    """
    if query.match == "all" or len(query.terms) < 2 or len(query.terms) * chunk_count(connection) <= query.max_postings:
        return query
    rows = term_rows(connection, query.terms)
    kept: list[str] = []
    spent = 0
    for term in sorted(query.terms, key=lambda t: (rows[t], t)):
        spent += rows[term]
        if spent > query.max_postings and any(rows[t] for t in kept):
            break
        kept.append(term)
    chosen = set(kept)
    terms = tuple(term for term in query.terms if term in chosen)
    return replace(query, terms=terms)


def term_rows(connection: apsw.Connection, terms: Sequence[str]) -> dict[str, int]:
    """Return in how many chunks each term stands; for frequent terms as of the last count."""
    found: dict[str, int] = {}
    for term in terms:
        rows = connection.execute("SELECT rows FROM frequent_terms WHERE term = ?", (term,)).get
        found[term] = rows or connection.execute("SELECT doc FROM lexical_terms WHERE term = ?", (term,)).get or 0
    return found


def script_marker(script: str) -> str:
    """Return the token that every chunk of a document of this script has among the tokens of its file's name.

    It begins with a private-use character, which no analyzed text holds at the beginning of a token.
    """
    return f"\ue000{script}"


def terms_in(connection: apsw.Connection, script: str, terms: Sequence[str]) -> frozenset[str]:
    """Return those of the terms that stand in any chunk of a script."""
    sql = "SELECT rowid FROM lexical WHERE lexical MATCH ? LIMIT 1"
    marker = _quoted(script_marker(script))
    return frozenset(t for t in terms if connection.execute(sql, (f"{_quoted(t)} AND {marker}",)).get is not None)


def chunk_count(connection: apsw.Connection) -> int:
    """Return how many chunks can be searched."""
    count: int = connection.execute("SELECT chunks FROM totals").get
    return count


def count_frequent_terms(connection: apsw.Connection) -> None:
    """Refresh the counts of frequent terms."""
    connection.execute("DELETE FROM frequent_terms")
    chunks = chunk_count(connection)
    if chunks >= MIN_KEPT_ROWS:
        connection.execute(
            "INSERT INTO frequent_terms SELECT term, doc FROM lexical_terms WHERE doc > ?",
            (chunks * FREQUENT_SHARE,),
        )


INSERT = f"INSERT INTO lexical(rowid, {', '.join(FIELDS)}) VALUES ({', '.join('?' * (len(FIELDS) + 1))})"
