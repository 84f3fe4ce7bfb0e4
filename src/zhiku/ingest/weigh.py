"""What embedding would be given, counted without embedding or storing anything."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from zhiku.errors import NeedsOcr
from zhiku.ingest.ahead import Reading
from zhiku.ingest.changes import Change
from zhiku.ingest.embed import digest_of
from zhiku.model import PendingText
from zhiku.ports import Chunker, Embedder, ReadSession
from zhiku.text.fields import passage_for_embedding
from zhiku.text.ocr_pages import has_pages_for_ocr
from zhiku.text.script import script_of_document

PENDING_AT_ONCE = 1_000


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """What a run would give to the embedder: texts that have no vector yet, equal ones once."""

    texts: int
    tokens: int
    """About, where the embedder does not count them itself."""
    unseen: int
    """Files of which OCR would read pages, which are not counted."""


class Weighing:
    """Counts what a run over some files would embed: what is new in them, and what waits in the base already."""

    def __init__(
        self, record: ReadSession | None, embedder: Embedder, chunker: Chunker, *, with_ocr: bool = False
    ) -> None:
        """Take what the base holds, None for a base that does not exist yet; and whether the run has OCR."""
        self._record = record
        self._embedder = embedder
        self._chunker = chunker
        self._tokens: dict[bytes, int] = {}
        self._with_ocr = with_ocr
        self._replaced: set[int] = set()
        self._unseen = 0

    def add(self, reading: Reading, change: Change, format_name: str, *, redo: bool = False) -> None:
        """Count the chunks of a file that a run would store, with `redo` since OCR may see more in it.

        Raises `SourceError` where it cannot be parsed.
        """
        known = change.known
        if known is not None and (known.forgotten or not (known.pruned or change.needs_parsing(format_name))):
            self._unseen += redo and not known.forgotten
            return  # its chunks wait in the base, if any do
        if known is not None:
            self._replaced.add(known.doc_id)
        try:
            parsed = reading.parse()
        except NeedsOcr:
            if not self._with_ocr:
                raise
            self._unseen += 1
            return
        if self._with_ocr and has_pages_for_ocr(format_name, parsed.metadata):
            self._unseen += 1
        script = script_of_document(parsed)
        for chunk in self._chunker.chunk(parsed):
            self._count(script, passage_for_embedding(parsed.title, chunk.section, chunk.text))

    def estimate(self) -> Estimate:
        """Return what would be embedded; to be called once all files are counted."""
        if self._record is not None:
            for item in _pending(self._record):
                if item.doc_id not in self._replaced:
                    self._count(item.script, passage_for_embedding(item.title, item.section, item.text))
            for digest in self._record.embedded(self._tokens):
                del self._tokens[digest]
        return Estimate(texts=len(self._tokens), tokens=sum(self._tokens.values()), unseen=self._unseen)

    def _count(self, script: str, passage: str) -> None:
        digest = digest_of(script, passage)
        if digest not in self._tokens:
            self._tokens[digest] = min(self._embedder.count_tokens(passage), self._embedder.max_tokens)


def _pending(record: ReadSession) -> Iterable[PendingText]:
    last = -1
    while batch := record.pending_texts(after=last, limit=PENDING_AT_ONCE):
        yield from batch
        last = batch[-1].chunk_id
