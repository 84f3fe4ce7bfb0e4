"""One base: what changes it (`MaintainedBase`), and asking it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from typing import TYPE_CHECKING

from zhiku.answer import BUDGET_TOP_K, DEFAULT_TOP_K, Answer, Mode, Query
from zhiku.config import load_base_settings
from zhiku.locator import SCHEME, parse_locator
from zhiku.model import Document, FileState
from zhiku.ports import ReadSession
from zhiku.retrieve.meaning import Meaning
from zhiku.retrieve.search import search
from zhiku.service.maintained import MaintainedBase
from zhiku.service.meaning import NONE, meaning_of
from zhiku.text.glossary import Glossary

if TYPE_CHECKING:
    from pathlib import Path

    from zhiku.retrieve.grep import LineMatch
    from zhiku.retrieve.read import Excerpt
    from zhiku.service.ledger import LedgerFile
    from zhiku.service.status import Status
    from zhiku.service.suggesting import Suggestion
    from zhiku.service.terms import Terms


class Base(MaintainedBase):
    """A named, isolated index over some roots. Get one from `zhiku.open`."""

    def meaning(self, session: ReadSession, mode: Mode = "hybrid") -> Meaning:
        """Return how the base can be searched by meaning (see `meaning_of`); nothing is loaded for it."""
        settings, manifest = load_base_settings(self.folder), session.manifest()
        return meaning_of(self.name, settings, manifest, self._embedders, ask=mode == "semantic")

    def glossary(self, session: ReadSession | None = None) -> Glossary:
        """Return the terms of the base, as its glossaries say them now; what cannot be read is among its faults."""
        roots = session.roots() if session else load_base_settings(self.folder).roots
        return self._glossaries.of(self.name, self.folder, roots, self._settings.library.roots)

    def terms(self, file: str | Path | None = None) -> Terms:
        """Return the terms of the base, or of a file that may become its glossary, and what is odd about them."""
        from zhiku.service.terms import check_terms, terms_of_file  # a search must not pay for the import

        with self.reading() if self.exists() else nullcontext() as session:
            glossary = self.glossary(session) if file is None else terms_of_file(file)
            return check_terms(glossary, self.name, session, self._analyzer)

    def suggest_terms(self, limit: int = 200) -> list[Suggestion]:
        """Return terms that the texts themselves explain and that no glossary has yet, the most frequent first."""
        from zhiku.service.suggesting import suggest_terms  # as above

        with self.reading() as session:
            return suggest_terms(session, self.glossary(session), self._analyzer, limit)

    def search(
        self,
        text: str,
        *,
        top_k: int | None = None,
        mode: Mode = "hybrid",
        min_relevance: float | None = None,
        rerank: bool | None = None,
        rerank_top_k: int | None = None,
        source: str | None = None,
        max_chars: int | None = None,
        max_chars_per_hit: int | None = None,
        max_tokens: int | None = None,
        expand: bool = True,
    ) -> Answer:
        """Return the best passages for a question or some words, best first.

        Unless named, `top_k` is 10, or as many as `max_tokens` holds.
        """
        query = Query(
            text=text,
            top_k=top_k or (BUDGET_TOP_K if max_tokens else DEFAULT_TOP_K),
            mode=mode,
            min_relevance=min_relevance,
            rerank=rerank,
            rerank_top_k=rerank_top_k,
            source=source,
            max_chars=max_chars,
            max_chars_per_hit=max_chars_per_hit,
            max_tokens=max_tokens,
            expand=expand,
        )
        query, reranking = self._rerankers.prepare(query)
        with self.reading() as session:
            meanings = {} if mode == "lexical" else {self.name: self.meaning(session, mode)}
            glossaries = {self.name: self.glossary(session)} if query.asks_glossaries else {}
            return search({self.name: session}, query, self._analyzer, meanings, reranking, glossaries)

    def grep(
        self, keyword: str, *, case_sensitive: bool = False, source: str | None = None
    ) -> Iterator[tuple[Document, LineMatch]]:
        """Yield every line that holds exactly `keyword`, with its document."""
        from zhiku.retrieve.grep import grep  # a search must not pay for the import

        with self.reading() as session:
            documents: dict[int, Document | None] = {}
            for match in grep(session, keyword, case_sensitive=case_sensitive, source=source):
                if match.doc_id not in documents:
                    documents[match.doc_id] = session.document(match.doc_id)
                if document := documents[match.doc_id]:
                    yield document, match

    def read(
        self, place: str, *, lines: tuple[int, int] | None = None, page: int | None = None, context: int = 0
    ) -> Excerpt:
        """Return the text at a locator, or a document's text by its path."""
        from zhiku.retrieve.read import find_document, read_document, read_locator  # as above

        with self.reading() as session:
            if place.startswith(SCHEME) and lines is None and page is None:
                return read_locator(session, parse_locator(place), context=context)
            path = parse_locator(place).path if place.startswith(SCHEME) else place
            document = find_document(session, path)
            return read_document(session, self.name, document, lines=lines, page=page, context=context)

    def is_embedded(self, session: ReadSession) -> bool:
        """Return whether the base is meant to be searched by meaning, too. Raises `ConfigError` for bad settings."""
        return self._embedders.name_for(load_base_settings(self.folder), session.manifest()) != NONE

    def documents(self) -> list[Document]:
        """Return every document, by root and path."""
        with self.reading() as session:
            return list(session.documents())

    def file_states(self) -> dict[int, FileState]:
        """Return for each document, by id, what became of its file; files that look changed are read for it."""
        from zhiku.retrieve.freshness import file_state  # as above

        with self.reading() as session:
            return {document.doc_id: file_state(session, document) for document in session.documents()}

    def status(self, *, look: bool = True) -> Status:
        """Return what the base holds and what it could not read; a base that holds nothing yet has a status too.

        With `look`, every file is looked for, so that what is gone is counted.
        """
        from zhiku.service.status import BasePlace, status_of  # as above

        place = BasePlace(
            name=self.name, folder=self.folder, settings=load_base_settings(self.folder), glossary=self.glossary()
        )
        if not self._store.exists():
            return status_of(place, None, self._embedders, look=look)
        with self.reading() as session:
            return status_of(place, session, self._embedders, look=look)

    def ledger(self) -> list[LedgerFile]:
        """Return what was read of every file, what was not, and why, by root and path."""
        from zhiku.service.ledger import read_ledger  # as above

        if not self.exists():
            return []
        with self.reading() as session:
            return read_ledger(session)
