"""Rows of a base's file as values, and back."""

from __future__ import annotations

import json
import os
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from zhiku.model import Chunk, ChunkTokens, Document, HiddenBy, Link, ParsedDocument, Source, StoredChunk, TextPiece
from zhiku.paths import shown_path
from zhiku.stores.sqlite.schema import SHIFT
from zhiku.text.script import script_of_document

TEXT_PIECE_CHARS = 4_000
"""Size of a stored piece of text: reading a passage reads one or two of them."""

DOCUMENT_COLUMNS = (
    "d.doc_id, r.path, d.path, d.path_raw, d.title, d.state, d.size_bytes, d.mtime_ns, d.sha256, d.format, d.encoding, "
    "d.chars, d.chunk_count, d.page_count, d.metadata, d.links, d.warnings, d.indexed_at, d.script, "
    "d.ctime_ns, d.pruned, d.forgotten"
)
HIDDEN_BY: tuple[HiddenBy, ...] = ("pruned", "forgotten")
DOCUMENTS = f"SELECT {DOCUMENT_COLUMNS} FROM documents AS d JOIN roots AS r USING (root_id)"
ACTIVE_CHUNK = f"(chunk_id >> {SHIFT}) NOT IN (SELECT doc_id FROM documents WHERE state = 'deprecated')"
CHUNK_COLUMNS = "c.chunk_id, c.text_id, c.char_start, c.char_end, c.line_start, c.line_end, c.page, c.page_end, s.chain"


def now() -> str:
    """Return the time, ISO 8601 in UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def to_json(value: object) -> str:
    """Return compact JSON, with characters as they are."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)


def path_key(path: str) -> str:
    """Return a path as filters compare it: NFC, without case."""
    return unicodedata.normalize("NFC", shown_path(path)).casefold()


def raw_path(path: str) -> bytes | None:
    """Return the bytes of a path that is not UTF-8, else None."""
    raw = os.fsencode(path)
    return None if shown_path(path) == path else raw


def token_count(tokens: Sequence[ChunkTokens]) -> int:
    """Return how many tokens there are in all chunks and fields."""
    return sum(len(t.body) + len(t.title) + len(t.heading) + len(t.name) for t in tokens)


def document_values(
    source: Source, parsed: ParsedDocument, tokens: Sequence[ChunkTokens], format_name: str
) -> dict[str, Any]:
    """Return the columns of a document's row that its content decides."""
    return {
        "title": parsed.title,
        "size_bytes": source.size_bytes,
        "mtime_ns": source.mtime_ns,
        "ctime_ns": source.ctime_ns,
        "sha256": source.sha256,
        "format": format_name,
        "encoding": parsed.encoding,
        "chars": len(parsed.text),
        "chunk_count": len(tokens),
        "token_count": token_count(tokens),
        "page_count": len(parsed.pages),
        "metadata": to_json(parsed.metadata),
        "links": to_json([asdict(link) for link in parsed.links]),
        "pages": to_json([[p.page_no, p.char_start, p.char_end] for p in parsed.pages]),
        "warnings": to_json(parsed.warnings),
        "script": script_of_document(parsed),
    }


def read_document(row: tuple[Any, ...]) -> Document:
    """Return the document of a row of `DOCUMENT_COLUMNS`."""
    doc_id, root, path, raw, title, state, size_bytes, mtime_ns, sha256, format_, encoding = row[:11]
    chars, chunk_count, page_count, metadata, links, warnings, indexed_at, script = row[11:19]
    ctime_ns, *hidden = row[19:]
    return Document(
        doc_id=doc_id,
        source=Source(
            root=root,
            path=path if raw is None else os.fsdecode(raw),
            size_bytes=size_bytes,
            mtime_ns=mtime_ns,
            ctime_ns=ctime_ns,
            sha256=sha256,
        ),
        title=title,
        state=state,
        hidden_by=tuple(name for name, flag in zip(HIDDEN_BY, hidden, strict=True) if flag),
        format=format_,
        encoding=encoding,
        chars=chars,
        chunk_count=chunk_count,
        page_count=page_count,
        metadata=json.loads(metadata),
        links=tuple(Link(**link) for link in json.loads(links)),
        warnings=tuple(json.loads(warnings)),
        indexed_at=indexed_at,
        script=script,
    )


def read_chunk(row: tuple[Any, ...], document: Document, text: str) -> StoredChunk:
    """Return the chunk of a row of `CHUNK_COLUMNS`, given its document and its text."""
    chunk_id, _, char_start, char_end, line_start, line_end, page, page_end, chain = row
    return StoredChunk(
        chunk_id=chunk_id,
        document=document,
        chunk=Chunk(
            text=text,
            char_start=char_start,
            char_end=char_end,
            line_start=line_start,
            line_end=line_end,
            section=tuple(json.loads(chain)) if chain else (),
            page=page,
            page_end=page_end,
        ),
    )


def cut_text(parsed: ParsedDocument) -> Iterator[tuple[int, int, str, str | None]]:
    """Yield (char_start, line_start, body, line_numbers as JSON) for each piece; cut behind lines if possible."""
    text, at, line = parsed.text, 0, 1
    while at < len(text):
        end = min(len(text), at + TEXT_PIECE_CHARS)
        if end < len(text) and (newline := text.rfind("\n", at + TEXT_PIECE_CHARS // 2, end)) >= 0:
            end = newline + 1
        body = text[at:end]
        lines = body.count("\n")
        numbers = to_json(parsed.line_numbers[line - 1 : line + lines]) if parsed.line_numbers else None
        yield at, line, body, numbers
        at, line = end, line + lines


def read_piece(row: tuple[Any, ...]) -> TextPiece:
    """Return the piece of a row (text_id, char_start, line_start, body, line_numbers)."""
    text_id, char_start, line_start, body, numbers = row
    return TextPiece(
        doc_id=text_id >> SHIFT,
        char_start=char_start,
        line_start=line_start,
        body=body,
        line_numbers=tuple(json.loads(numbers)) if numbers else (),
    )
