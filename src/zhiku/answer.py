"""What a search answers: hits with their places, and the health of the answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, field, replace
from typing import Any, Literal

from zhiku.errors import ZhikuError
from zhiku.frozen import frozen
from zhiku.model import FileState

Mode = Literal["hybrid", "lexical", "semantic"]
"""By words and by meaning, by words only, by meaning only."""
DEFAULT_TOP_K = 10
BUDGET_TOP_K = 100
"""How many hits there are at most where a number of tokens bounds them."""


@frozen
class Query:
    """What was asked, with filters and limits."""

    text: str
    top_k: int = DEFAULT_TOP_K
    mode: Mode = "hybrid"
    min_relevance: float | None = None
    """Of the hits leave out those of a lower relevance, 0 to 1; of a lower rerank score, where they have one."""
    rerank: bool | None = None
    """Whether a reranker scores the hits anew; None for what the settings say."""
    rerank_top_k: int | None = None
    """How many of them are kept then; likewise."""
    source: str | None = None
    """A part of a document's path, or a glob over it."""
    max_chars: int | None = None
    """Bound on the text of all hits together."""
    max_chars_per_hit: int | None = None
    max_tokens: int | None = None
    """Choose the best set of passages for so many tokens of a chat model, their places included."""
    expand: bool = True
    """Whether the bases' glossaries add their words to a search by words."""

    @property
    def asks_glossaries(self) -> bool:
        """Return whether glossaries have a say."""
        return self.expand and self.mode != "semantic"


@frozen
class Hit:
    """One ranked passage and where it stands."""

    rank: int
    score: float
    """Grows with relevance; comparable within one answer only."""
    relevance: float | None = None
    """0 to 1: how likely it answers the question; None where the base was not searched by meaning."""
    base: str
    doc_id: int
    path: str
    """Relative to its root, with `/`."""
    file: str
    """Absolute."""
    title: str
    section: tuple[str, ...]
    page: int | None
    page_end: int | None
    line_start: int | None
    """Of the file; None where its place is a page."""
    line_end: int | None
    ocr: bool = False
    """Whether its page, or one of its pages, was read by OCR."""
    ocr_confidence: float | None = None
    """How sure OCR was of the least certain of these pages, 0 to 1; None without OCR."""
    hidden_text: bool = False
    """Whether `text` holds some that a reader of the file does not see."""
    text: str
    locator: str
    file_state: FileState
    rerank_score: float | None = None
    """0 to 1: how well it answers, as the reranker has it; None where there was none."""
    why: tuple[str, ...] = ()
    marks: tuple[tuple[int, int], ...] = field(default=(), repr=False)
    """Spans of `text` that the query's words matched; for display, not part of the JSON."""
    explanation: Mapping[str, float] = field(default_factory=dict, repr=False)
    """What the score is made of; for people, not part of the JSON."""


@frozen
class Leg:
    """One way of finding candidates, and what it found."""

    ran: bool
    candidates: int


@frozen
class Health:
    """What an answer could not see, and which legs ran."""

    legs: Mapping[str, Leg]
    pending_vectors: int = 0
    changed_hits: int = 0
    missing_hits: int = 0
    failed_files: int = 0
    textless_files: int = 0
    reranker: str | None = None
    """What scored the hits anew: the address that their text was sent to, or the name of a model on this computer."""
    degraded: tuple[ZhikuError, ...] = ()
    """What kept a way of finding candidates, or a reranker, from running, though the search went on."""
    elapsed_ms: float = 0.0


@frozen
class Budget:
    """What the passages that were chosen for a number of tokens take, about, and how much more there is.

    Counted as more are passages that are likely to answer, or hold the words where relevance is not known, and that say
    something new.
    """

    max_tokens: int
    tokens: int
    more_passages: int
    more_documents: int
    more_tokens: int


@frozen
class Answer:
    """Hits, best first, and health. No hits means that nothing matched."""

    query: str
    bases: tuple[str, ...]
    mode: Mode
    """What ran, which is less than what was asked for where health says so."""
    hits: tuple[Hit, ...]
    health: Health
    budget: Budget | None = None
    """Where passages were chosen for a number of tokens."""
    explanation: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """What was looked for and how it was ranked; for people, not part of the JSON."""

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as every door gives it in JSON (docs/json.md)."""
        hits = []
        for hit in self.hits:
            values = asdict(hit)
            del values["marks"], values["explanation"]
            hits.append(values)
        return {
            "query": self.query,
            "bases": list(self.bases),
            "mode": self.mode,
            "hits": hits,
            "budget": asdict(self.budget) if self.budget else None,
            "health": asdict(replace(self.health, degraded=())) | {"degraded": [str(e) for e in self.health.degraded]},
        }
