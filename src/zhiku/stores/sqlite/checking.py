"""Looking for damage in a base's file; reads most of it and writes nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import apsw

from zhiku.errors import Damaged
from zhiku.model import Fault
from zhiku.stores.sqlite.connection import REPAIR, damaged, unrepairable
from zhiku.stores.sqlite.rows import ACTIVE_CHUNK
from zhiku.stores.sqlite.schema import SHIFT

_DISAGREEING = f"""SELECT
    (SELECT count(*) FROM chunks WHERE {ACTIVE_CHUNK} AND chunk_id NOT IN (SELECT id FROM lexical_docsize))
    + (SELECT count(*) FROM lexical_docsize WHERE id NOT IN (SELECT chunk_id FROM chunks WHERE {ACTIVE_CHUNK}))"""


# What must be none of, by what it means if it is not.
_MISTAKES = {
    "the number of its chunks is not what its documents add up to": """
        SELECT (SELECT count(*) FROM chunks) <> (SELECT coalesce(sum(chunk_count), 0) FROM documents)""",
    "what is counted of its documents is not what they hold": """
        SELECT (SELECT count(*) FROM documents WHERE state = 'active') <> documents
            OR (SELECT coalesce(sum(chunk_count), 0) FROM documents WHERE state = 'active') <> chunks FROM totals""",
    "documents are hidden, or shown, against what is recorded": """
        SELECT count(*) FROM documents WHERE (state = 'deprecated') <> (pruned OR forgotten)""",
    "documents are without their text": f"""
        SELECT count(*) FROM documents WHERE chars > 0 AND NOT EXISTS (
            SELECT 1 FROM texts WHERE text_id >= doc_id << {SHIFT} AND text_id < (doc_id + 1) << {SHIFT})""",
    "rows belong to others that are gone": "SELECT count(*) FROM pragma_foreign_key_check",
}

_ANY_VECTOR = "SELECT EXISTS (SELECT 1 FROM embeddings) OR EXISTS (SELECT 1 FROM chunks WHERE embedding_id IS NOT NULL)"


def find_faults(connection: apsw.Connection, dims: int | None) -> Iterator[Fault]:
    """Yield what is wrong with the tables, else with the full text and the vectors, which should be of length `dims`.

    Since version 3.44 SQLite's own check looks into full-text indexes too, and writes nothing for it. It tells whether
    one agrees with itself and not whether it holds the chunks: that needs a second look.
    """
    path = Path(connection.filename)
    tables, full_text = _errors(connection)
    if tables:
        yield Fault(part="tables", error=unrepairable(path, tables))
        return
    if full_text:
        yield Fault(part="lexical", error=damaged(path, full_text))
    elif count := connection.execute(_DISAGREEING).get:
        yield Fault(part="lexical", error=_incomplete(path, count))
    if connection.execute(_ANY_VECTOR).get:
        from zhiku.stores.sqlite.vectors import count_wrong  # imports numpy, which a base without vectors may lack

        if count := count_wrong(connection, dims):
            yield Fault(part="vector", error=_wrong_vectors(path, count))


def _errors(connection: apsw.Connection) -> tuple[str, str]:
    """Return the first error of the tables and that of the full text, or empty strings."""
    try:
        found = [_first_line(row) for (row,) in connection.execute("PRAGMA quick_check")]
        mistakes = [meaning for meaning, sql in _MISTAKES.items() if connection.execute(sql).get != 0]
    except apsw.SQLError as error:  # the statements are right, so the tables are not
        return str(error), ""
    full_text = [row for row in found if "fts5" in row.casefold()]
    tables = [row for row in found if row != "ok" and row not in full_text]
    return next(iter(tables + mistakes), ""), next(iter(full_text), "")


def _first_line(row: str) -> str:
    return row.removeprefix("*** in database main ***").strip().partition("\n")[0]


def _incomplete(path: Path, count: int) -> Damaged:
    return Damaged(
        "{path} is damaged: its full-text index and its chunks differ in {count} places.",
        path=path,
        count=count,
        base=path.parent.name,
        hint=REPAIR,
    )


def _wrong_vectors(path: Path, count: int) -> Damaged:
    return Damaged(
        "{path} is damaged: {count} vectors are missing, or not as they were made.",
        path=path,
        count=count,
        base=path.parent.name,
        hint=REPAIR,
    )
