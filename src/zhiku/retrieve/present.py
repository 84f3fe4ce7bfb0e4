"""From ranked chunks to hits: passages within a budget, with their places and what the words matched."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from zhiku.answer import Hit, Query
from zhiku.frozen import frozen
from zhiku.locator import CONTENT_DIGITS, Locator
from zhiku.model import StoredChunk
from zhiku.ports import ReadSession
from zhiku.retrieve.expand import ALIAS_WEIGHT, Expansion, phrases_of
from zhiku.retrieve.freshness import file_of, file_state
from zhiku.retrieve.fuse import Fused
from zhiku.retrieve.passage import Marks, Passage, build_passage, find_matches, find_phrases
from zhiku.retrieve.plan import Plan
from zhiku.retrieve.relevance import Evidence, relevance_of
from zhiku.text.analyze import Analyzer
from zhiku.text.hidden import holds_hidden_text
from zhiku.text.measure import estimate_chat_tokens
from zhiku.text.ocr_pages import ocr_confidence


@dataclass(kw_only=True, slots=True)
class Ranked:
    """A chunk of a base with its score; `why` are codes of what counted beside its words."""

    base: str
    chunk_id: int
    doc_id: int
    score: float
    why: tuple[str, ...] = ()
    gained: float = 0.0
    """The part of its score by words that a glossary gave."""
    named: frozenset[str] = frozenset()
    """The terms of the query for which it holds an alias."""
    is_complete: bool = False
    """Whether it holds every word that was asked for, or an alias; told only where meaning counts too."""
    parts: Fused | None = None
    """What the score is made of; None where only words count."""
    evidence: Evidence | None = None
    """None where meaning says nothing of it."""
    rerank_score: float | None = None
    """None where no reranker scored it."""
    place: int = 0
    """Before it was scored anew, from 1."""


@frozen
class Chosen:
    """A chunk that is to be shown; `max_tokens` of its text, where there is no room for all of it."""

    ranked: Ranked
    stored: StoredChunk
    max_tokens: int | None = None


class Judged(NamedTuple):
    """What of a chunk the query's words matched, and how likely it is to answer."""

    marks: Marks
    why: tuple[str, ...]
    share: float
    relevance: float | None
    rerank_score: float | None

    def is_below(self, least: float | None) -> bool:
        """Return whether it is known to be less likely to answer than that; the reranker knows best."""
        known = self.relevance if self.rerank_score is None else self.rerank_score
        return known is not None and known < (least or 0.0)


class Presenter:
    """Makes the hits of one query. `weights` are those of its terms, as far as relevance is to be told."""

    def __init__(
        self,
        sessions: Mapping[str, ReadSession],
        query: Query,
        plan: Plan,
        analyzer: Analyzer,
        weights: Mapping[str, float],
        expansions: Mapping[str, Sequence[Expansion]],
    ) -> None:
        self._sessions = sessions
        self._query = query
        self._plan = plan
        self._analyzer = analyzer
        self._weights = weights
        self._expansions = expansions

    @property
    def is_keyword(self) -> bool:
        """Return whether every document should be seen before one is seen twice."""
        return self._plan.is_keyword

    def hits(self, chosen: Iterable[Chosen]) -> list[Hit]:
        """Return the hits of the chosen chunks, in their order, as far as the query's limits let them through."""
        hits: list[Hit] = []
        left = self._query.max_chars
        for each in chosen:
            limits = [limit for limit in (self._query.max_chars_per_hit, left) if limit is not None]
            if limits and min(limits) < 1:
                break
            judged = self.judge(each.ranked, each.stored)
            if judged.is_below(self._query.min_relevance):
                continue
            passage = self._passage(each, judged.marks, min(limits, default=None))
            hits.append(self._hit(len(hits) + 1, each.ranked, each.stored, passage, judged))
            left = None if left is None else left - len(passage.text)
        return hits

    def judge(self, ranked: Ranked, stored: StoredChunk) -> Judged:
        """Return what the query's words matched of a chunk, and how likely it is to answer."""
        matches = find_matches(self._analyzer, stored.chunk.text, self._plan.tokens)
        fields = self._fields(stored)
        share = self._share(matches.tokens.union(*fields.values()), ranked.named)
        why = ["words"] if matches.marks else []
        why += [*ranked.why, *(code for code, tokens in fields.items() if self._plan.matches(tokens))]
        return Judged(
            marks=self._marks(ranked, stored, matches.marks),
            why=tuple(why),
            share=share,
            relevance=round(relevance_of(ranked.evidence, share), 4) if ranked.evidence else None,
            rerank_score=ranked.rerank_score,
        )

    def _passage(self, chosen: Chosen, marks: Marks, max_chars: int | None) -> Passage:
        session, focus = self._sessions[chosen.ranked.base], self._plan.is_keyword
        passage = build_passage(session, chosen.stored, marks, focus=focus, max_chars=max_chars)
        while chosen.max_tokens and (tokens := estimate_chat_tokens(passage.text)) > chosen.max_tokens:
            max_chars = max(1, len(passage.text) * chosen.max_tokens // tokens - 1)
            passage = build_passage(session, chosen.stored, marks, focus=focus, max_chars=max_chars)
        return passage

    def _fields(self, stored: StoredChunk) -> dict[str, list[str]]:
        """Return the tokens of what belongs to a chunk beside its text, by the code of a reason (docs/search.md)."""
        document = stored.document
        fields = {
            "title": [document.title, *document.metadata.get("aliases", ()), *document.metadata.get("tags", ())],
            "heading": stored.chunk.section,
            "name": [document.source.path.rpartition("/")[2]],
        }
        return {code: self._analyzer.tokens("\n".join(texts)) for code, texts in fields.items()}

    def _marks(self, ranked: Ranked, stored: StoredChunk, own: Marks) -> Marks:
        """Return the places of the query's words, and of the aliases that a chunk was found by."""
        if not ranked.gained:
            return own
        return find_phrases(self._analyzer, stored.chunk.text, phrases_of(self._expansions[ranked.base]), own)

    def _share(self, tokens: frozenset[str], named: frozenset[str]) -> float:
        """Return the part of the query's words, by weight, that are among these, or, for less, are named otherwise."""
        held = sum(
            weight if term in tokens else ALIAS_WEIGHT * weight
            for term, weight in self._weights.items()
            if term in tokens or term in named
        )
        return held / (sum(self._weights.values()) or 1.0)

    def _pages(self, base: str, stored: StoredChunk, passage: Passage) -> tuple[int | None, int | None]:
        """Return the first and last page of a passage, which may be less than the pages of its chunk."""
        chunk = stored.chunk
        if chunk.page == chunk.page_end:
            return chunk.page, chunk.page_end
        pages = self._sessions[base].pages(stored.document.doc_id)
        found = [page for page, start, end in pages if start < passage.char_end and passage.char_start < end]
        return (found[0], found[-1]) if found else (chunk.page, chunk.page_end)

    def _hit(
        self,
        number: int,
        ranked: Ranked,
        stored: StoredChunk,
        passage: Passage,
        judged: Judged,
    ) -> Hit:
        document = stored.document
        page, page_end = self._pages(ranked.base, stored, passage)
        locator = Locator(
            base=ranked.base,
            path=document.source.path,
            doc_id=document.doc_id,
            content=document.source.sha256[:CONTENT_DIGITS],
            char_start=passage.char_start,
            char_end=passage.char_end,
            line_start=passage.line_start,
            line_end=passage.line_end,
            page=page,
            page_end=page_end,
        )
        confidence = ocr_confidence(document, page, page_end)
        return Hit(
            rank=number,
            score=round(ranked.score, 4),
            relevance=judged.relevance,
            base=ranked.base,
            doc_id=document.doc_id,
            path=document.source.path,
            file=str(file_of(document)),
            title=document.title,
            section=stored.chunk.section,
            page=page,
            page_end=page_end,
            line_start=passage.line_start if page is None else None,
            line_end=passage.line_end if page is None else None,
            ocr=confidence is not None,
            ocr_confidence=confidence,
            hidden_text=holds_hidden_text(document, passage.char_start, passage.char_end),
            text=passage.text,
            locator=str(locator),
            file_state=file_state(self._sessions[ranked.base], document),
            rerank_score=None if ranked.rerank_score is None else round(ranked.rerank_score, 4),
            why=judged.why,
            marks=passage.marks,
            explanation=_explanation(ranked, judged.share),
        )


def _explanation(ranked: Ranked, share: float) -> dict[str, float]:
    """Return what the score and the relevance are made of, as numbers by name."""
    found = {"place": float(ranked.place)} if ranked.place else {}
    if ranked.parts is None:
        return found
    found |= {"words": ranked.parts.words, "meaning": ranked.parts.meaning, "share": share}
    if ranked.evidence is not None:
        evidence = ranked.evidence._asdict()
        found |= {name: float(value) for name, value in evidence.items()} | {"excess": ranked.evidence.excess}
    return found
