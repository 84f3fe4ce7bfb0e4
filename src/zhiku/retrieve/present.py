"""From ranked chunks to hits: passages within a budget, with their places and what the words matched."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from zhiku.answer import Hit, Query
from zhiku.locator import CONTENT_DIGITS, Locator
from zhiku.model import StoredChunk
from zhiku.ports import ReadSession
from zhiku.retrieve.freshness import file_of, file_state
from zhiku.retrieve.passage import Marks, Passage, build_passage, find_marks
from zhiku.retrieve.plan import Plan
from zhiku.text.analyze import Analyzer


@dataclass(frozen=True, kw_only=True)
class Ranked:
    """A chunk of a base with its score; `why` are codes of what counted beside its words."""

    base: str
    chunk_id: int
    doc_id: int
    score: float
    why: tuple[str, ...] = ()


class Presenter:
    """Makes the hits of one query."""

    def __init__(self, sessions: Mapping[str, ReadSession], query: Query, plan: Plan, analyzer: Analyzer) -> None:
        self._sessions = sessions
        self._query = query
        self._plan = plan
        self._analyzer = analyzer

    def hits(self, chosen: Iterable[tuple[Ranked, StoredChunk]]) -> list[Hit]:
        """Return the hits of the chosen chunks, in their order, as far as the query's `max_chars` reaches."""
        hits: list[Hit] = []
        left = self._query.max_chars
        for ranked, stored in chosen:
            limits = [limit for limit in (self._query.max_chars_per_hit, left) if limit is not None]
            if limits and min(limits) < 1:
                break
            marks = find_marks(self._analyzer, stored.chunk.text, self._plan.tokens)
            passage = build_passage(
                self._sessions[ranked.base],
                stored,
                marks,
                focus=self._plan.is_keyword,
                max_chars=min(limits, default=None),
            )
            hits.append(self._hit(len(hits) + 1, ranked, stored, passage, self._why(ranked, stored, marks)))
            left = None if left is None else left - len(passage.text)
        return hits

    def _why(self, ranked: Ranked, stored: StoredChunk, marks: Marks) -> tuple[str, ...]:
        """Return which fields the query's words stand in, as codes: words, phrase, title, heading, name."""
        document = stored.document
        fields = {
            "title": [document.title, *document.metadata.get("aliases", ()), *document.metadata.get("tags", ())],
            "heading": stored.chunk.section,
            "name": [document.source.path.rpartition("/")[2]],
        }
        found = ["words"] if marks else []
        found += ranked.why
        found += [code for code, texts in fields.items() if self._plan.matches(self._analyzer.tokens("\n".join(texts)))]
        return tuple(found)

    def _hit(self, number: int, ranked: Ranked, stored: StoredChunk, passage: Passage, why: tuple[str, ...]) -> Hit:
        document, chunk = stored.document, stored.chunk
        locator = Locator(
            base=ranked.base,
            path=document.source.path,
            doc_id=document.doc_id,
            content=document.source.sha256[:CONTENT_DIGITS],
            char_start=passage.char_start,
            char_end=passage.char_end,
            line_start=passage.line_start,
            line_end=passage.line_end,
            page=chunk.page,
            page_end=chunk.page_end,
        )
        is_paged = chunk.page is not None
        return Hit(
            rank=number,
            score=round(ranked.score, 4),
            base=ranked.base,
            doc_id=document.doc_id,
            path=document.source.path,
            file=str(file_of(document)),
            title=document.title,
            section=chunk.section,
            page=chunk.page,
            page_end=chunk.page_end,
            line_start=None if is_paged else passage.line_start,
            line_end=None if is_paged else passage.line_end,
            text=passage.text,
            locator=str(locator),
            file_state=file_state(self._sessions[ranked.base], document),
            why=why,
            marks=passage.marks,
        )
