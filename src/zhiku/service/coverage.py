"""What bases hold and what of it cannot be seen, as far as that is told without looking at every file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from zhiku.answer import Answer, Hit
from zhiku.config import load_base_settings
from zhiku.errors import ZhikuError
from zhiku.model import Totals
from zhiku.retrieve.relevance import is_unlikely
from zhiku.service.base import Base
from zhiku.service.roots import find_losses

TOPIC_HITS = 20
"""How many passages a topic is judged by."""


@dataclass(frozen=True, kw_only=True)
class BaseEntry:
    """One base in a list of bases."""

    name: str
    intro: str = ""
    documents: int = 0
    chunks: int = 0
    changed_at: str = ""
    """When the last document went in, ISO 8601 in UTC; empty for a base that holds nothing."""
    problem: ZhikuError | None = None
    """Why it cannot answer; None where it can."""

    @property
    def ready(self) -> bool:
        """Return whether anything can be found in it."""
        return self.problem is None and self.chunks > 0

    def to_dict(self) -> dict[str, Any]:
        """Return the entry as every door gives it in JSON."""
        values = asdict(replace(self, problem=None))
        changes = {"changed_at": self.changed_at or None, "problem": str(self.problem) if self.problem else None}
        return values | changes | {"ready": self.ready}


@dataclass(frozen=True, kw_only=True)
class BaseCoverage(BaseEntry):
    """What one base holds, and what of it a search cannot see."""

    failed: int = 0
    """Files that could not be read."""
    textless: int = 0
    """Files without any text that could be read."""
    pending_vectors: int = 0
    """Chunks that are not found by meaning yet."""
    terms: int = 0
    """Entries of its glossaries."""
    missing_roots: tuple[str, ...] = ()
    """Folders that are gone although what they held is searched."""


@dataclass(frozen=True, kw_only=True)
class Found:
    """A document that has something on a topic, with the place of its best passage."""

    base: str
    path: str
    title: str
    relevance: float | None
    locator: str


@dataclass(frozen=True, kw_only=True)
class TopicCoverage:
    """What is found of a topic. Without meaning nothing tells whether what is found is about it."""

    topic: str
    likely: bool | None
    """Whether anything is likely to be about it; None where only words were looked for."""
    found: tuple[Found, ...]
    """The best first."""
    degraded: tuple[ZhikuError, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Coverage:
    """What bases hold, and what of a topic they do."""

    bases: tuple[BaseCoverage, ...]
    topic: TopicCoverage | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the coverage as every door gives it in JSON."""
        topic = None
        if self.topic is not None:
            degraded = [str(error) for error in self.topic.degraded]
            topic = asdict(replace(self.topic, degraded=())) | {"degraded": degraded}
        return {"bases": [base.to_dict() for base in self.bases], "topic": topic}


def entry_of(base: Base) -> BaseEntry:
    """Return a base's line in a list of bases; one that cannot answer says why."""
    intro = ""
    try:
        intro = load_base_settings(base.folder).intro
        with base.reading() as session:
            return BaseEntry(**_held(base.name, intro, session.totals(), session.manifest()))
    except ZhikuError as error:
        return BaseEntry(name=base.name, intro=intro, problem=error)


def coverage_of(base: Base) -> BaseCoverage:
    """Return what a base holds and what cannot be seen of it; files are not looked for, only roots."""
    intro = ""
    try:
        settings = load_base_settings(base.folder)
        intro = settings.intro
        with base.reading() as session:
            totals = session.totals()
            return BaseCoverage(
                **_held(base.name, intro, totals, session.manifest()),
                failed=totals.failed,
                textless=totals.textless,
                pending_vectors=totals.pending_vectors if base.is_embedded(session) else 0,
                terms=len(base.glossary(session)),
                missing_roots=find_losses(settings.roots, session, look=False).missing_roots,
            )
    except ZhikuError as error:
        return BaseCoverage(name=base.name, intro=intro, problem=error)


def topic_of(answer: Answer) -> TopicCoverage:
    """Return what an answer says of the topic that was asked for."""
    best: dict[tuple[str, int], Hit] = {}
    for hit in answer:
        best.setdefault((hit.base, hit.doc_id), hit)
    by_meaning = any(hit.relevance is not None for hit in answer)
    return TopicCoverage(
        topic=answer.query,
        likely=not is_unlikely(answer) if by_meaning else (None if answer.hits else False),
        found=tuple(
            Found(base=hit.base, path=hit.path, title=hit.title, relevance=hit.relevance, locator=hit.locator)
            for hit in best.values()
        ),
        degraded=answer.health.degraded,
    )


def _held(name: str, intro: str, totals: Totals, manifest: Mapping[str, str]) -> dict[str, Any]:
    return {
        "name": name,
        "intro": intro,
        "documents": totals.documents,
        "chunks": totals.chunks,
        "changed_at": manifest.get("changed_at", ""),
    }
