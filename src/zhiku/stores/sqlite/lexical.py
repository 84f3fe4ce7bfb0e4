"""Search by words: FTS5 over tokens that the analyzer made."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from operator import mul
from typing import TypeVar

import apsw

from zhiku.model import ANY_ENDING, Candidate, LexicalQuery, Occurrences, Unit
from zhiku.stores.sqlite.schema import FIELDS, SHIFT

_T = TypeVar("_T", str, Unit)

FREQUENT_SHARE = 0.005
"""Terms in more than this share of the chunks have their row count kept."""

MIN_KEPT_ROWS = 10_000
"""Bases smaller than this keep no counts: looking them up is as cheap as searching."""


def match_expression(query: LexicalQuery) -> str:
    """Return the FTS5 expression of a query. Only ever made of quoted tokens: nothing in it is syntax of the user's."""
    parts = (" AND " if query.match == "all" else " OR ").join(map(_part, query.units))
    return f"({' OR '.join(map(_part, query.required))}) AND ({parts})" if query.required else parts


def _part(unit: Unit) -> str:
    if unit[-1] == ANY_ENDING:
        return f"{_quoted(' '.join(unit[:-1]))} *"
    return _quoted(" ".join(unit))


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


def occurrences(connection: apsw.Connection, query: LexicalQuery, chunk_ids: Sequence[int]) -> dict[int, Occurrences]:
    """Return how often what the query looks for stands in each of these chunks."""
    if not query or not chunk_ids:
        return {}
    # The sign keeps SQLite from asking for one chunk after the other, each time from the beginning.
    sql = """SELECT rowid, occurrences(lexical) FROM lexical
        WHERE lexical MATCH ? AND +rowid IN (SELECT value FROM json_each(?))"""
    found = {}
    for chunk_id, told in connection.execute(sql, (match_expression(query), json.dumps(list(chunk_ids)))):
        tokens, *places = json.loads(told)
        counts = {unit: sum(map(mul, fields, query.weights)) for unit, fields in zip(query.units, places, strict=True)}
        found[chunk_id] = Occurrences(tokens=tokens, counts={unit: n for unit, n in counts.items() if n})
    return found


def count_occurrences(api: apsw.FTS5ExtensionApi, /, *_: object) -> str:
    """Return, as SQL's `occurrences`, a row's length, and in how many places of each field each part of the expression
    stands. Every connection that reads has it.
    """
    parts = range(api.phrase_count)
    return json.dumps([api.column_size(-1), *([len(places) for places in api.phrase_locations(i)] for i in parts)])


def affordable(connection: apsw.Connection, query: LexicalQuery) -> LexicalQuery:
    """Return `query` without its most frequent terms and phrases, as far as their posting lists exceed the budget.

    Leaving them out is several times faster on a large base and costs nothing there, but costs quality on a small
    one; hence a budget of rows and no share of the base.
    """
    kinds = (query.terms, query.phrases, query.required)
    most = max(map(len, kinds))
    if query.match == "all" or most < 2 or most * chunk_count(connection) <= query.max_postings:
        return query
    rows = term_rows(connection, {token for unit in query.units for token in unit})
    return replace(
        query,
        terms=_affordable(query.terms, rows, query.max_postings),
        phrases=_affordable(query.phrases, phrase_rows(query.phrases, rows), query.max_postings),
        required=_affordable(query.required, phrase_rows(query.required, rows), query.max_postings),
    )


def phrase_rows(phrases: Iterable[Unit], rows: Mapping[str, int]) -> dict[Unit, int]:
    """Return in how many chunks each phrase stands at most: in none more than its rarest token."""
    return {phrase: min(rows[token] for token in phrase if token != ANY_ENDING) for phrase in phrases}


def _affordable(units: Sequence[_T], rows: Mapping[_T, int], max_postings: int) -> tuple[_T, ...]:
    kept: list[_T] = []
    spent = 0
    for unit in sorted(units, key=lambda each: (rows[each], each)):
        spent += rows[unit]
        if spent > max_postings and any(rows[each] for each in kept):
            break
        kept.append(unit)
    chosen = set(kept)
    return tuple(unit for unit in units if unit in chosen)


def term_rows(connection: apsw.Connection, terms: Iterable[str]) -> dict[str, int]:
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
