"""Make searchable what the record holds: its words again, without its file."""

from __future__ import annotations

from zhiku.model import ChunkTokens
from zhiku.ports import ReadSession
from zhiku.text.analyze import Analyzer
from zhiku.text.fields import FieldAnalyzer


def tokens_of(session: ReadSession, doc_id: int, analyzer: Analyzer) -> list[ChunkTokens]:
    """Return the tokens of each chunk of a stored document, as they were or would be made of its file."""
    document = session.document(doc_id)
    if document is None:
        return []
    fields = FieldAnalyzer(analyzer, document.source.path, document.title, document.metadata)
    return [fields.tokens(each.chunk.text, each.chunk.section) for each in session.chunks_of(doc_id)]
