"""Text out of the pieces that it is stored in, and the texts that wait for a vector."""

from __future__ import annotations

import json
from typing import Any

import apsw

from zhiku.model import PendingText
from zhiku.stores.sqlite.schema import SHIFT

_PENDING = f"""SELECT c.chunk_id, c.text_id, c.char_start, c.char_end, s.chain, d.script, d.title
    FROM chunks AS c CROSS JOIN documents AS d ON d.doc_id = c.chunk_id >> {SHIFT}
    LEFT JOIN sections AS s ON s.section_id = c.section_id
    WHERE c.embedding_id IS NULL AND c.chunk_id > ? AND d.state = 'active' ORDER BY c.chunk_id LIMIT ?"""


class Pieces:
    """The pieces of one view of a base; the one that was read last is kept, for the next chunk begins in it."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._id = -1
        self._start = 0
        self._body = ""

    def span(self, text_id: int, char_start: int, char_end: int) -> str:
        """Return the characters of a span whose first piece is `text_id`; reads no piece beyond its end."""
        parts = []
        while self._read(text_id):
            parts.append(self._body[max(0, char_start - self._start) : char_end - self._start])
            if self._start + len(self._body) >= char_end:
                break
            text_id += 1
        return "".join(parts)

    def _read(self, text_id: int) -> bool:
        """Take a piece, and return whether there is one."""
        if text_id != self._id:
            sql = "SELECT char_start, body FROM texts WHERE text_id = ?"
            row: Any = self._connection.execute(sql, (text_id,)).fetchone()
            if row is None:
                return False
            self._id, (self._start, self._body) = text_id, row
        return True


def pending_texts(connection: apsw.Connection, after: int, limit: int) -> list[PendingText]:
    """Return active chunks that have no vector, by id, from behind the id `after` on."""
    pieces = Pieces(connection)
    chains: dict[str | None, tuple[str, ...]] = {None: ()}  # chunks of a section follow each other
    found = []
    rows: list[Any] = connection.execute(_PENDING, (after, limit)).fetchall()
    for chunk_id, text_id, char_start, char_end, chain, script, title in rows:
        if chain not in chains:
            chains[chain] = tuple(json.loads(chain))
        text = pieces.span(text_id, char_start, char_end)
        found.append(
            PendingText(
                chunk_id=chunk_id,
                doc_id=chunk_id >> SHIFT,
                script=script,
                title=title,
                section=chains[chain],
                text=text,
            )
        )
    return found
