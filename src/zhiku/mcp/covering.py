"""The tool kb_coverage: what there is, on a topic too, and what cannot be seen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated

from pydantic import Field

from zhiku.mcp.bounds import MAX_RESULT_CHARS, counted, fitting, json_chars
from zhiku.mcp.health import MAX_FAULTS
from zhiku.mcp.places import readable
from zhiku.mcp.sight import Sight
from zhiku.mcp.tool import Reply
from zhiku.retrieve.relevance import NOTHING_FOUND
from zhiku.service.coverage import BaseCoverage, Found, TopicCoverage

MAX_FOUND = 10
MAX_NEAREST = 3


@dataclass(frozen=True, kw_only=True)
class CoveredBase:
    """What one base holds, and what of it a search cannot see."""

    name: str
    documents: int
    passages: int
    changed_at: str = ""
    ready: bool
    failed_files: int = 0
    textless_files: int = 0
    pending_vectors: int = 0
    missing_roots: tuple[str, ...] = ()
    problem: str = ""


@dataclass(frozen=True, kw_only=True)
class FoundDocument:
    """A document that has something on the topic, with the place of its best passage."""

    base: str
    path: str
    relevance: float | None = None
    locator: str


@dataclass(frozen=True, kw_only=True)
class TopicResult:
    """What is found of a topic. `likely` is left out where only words were looked for, which do not tell."""

    topic: str
    likely: bool | None = None
    documents: tuple[FoundDocument, ...] = ()
    degraded: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class CoverageResult:
    """What there is, and what cannot be seen."""

    total: int
    """How many bases there are."""
    bases: tuple[CoveredBase, ...]
    topic: TopicResult | None = None


def kb_coverage(
    sight: Sight,
    *,
    topic: Annotated[str | None, Field(description="Also tell which documents have something on this.")] = None,
) -> Reply:
    """Return what there is and what cannot be seen."""
    coverage = sight.view().coverage(topic)
    bases = list(map(_base, coverage.bases))
    frame = CoverageResult(total=len(bases), bases=(), topic=_topic(coverage.topic) if coverage.topic else None)
    room = MAX_RESULT_CHARS - len(_as_text(frame)) - json_chars(frame)
    result = replace(frame, bases=tuple(fitting(bases, _size, room)))
    return Reply(text=_as_text(result), data=result)


def _size(base: CoveredBase) -> int:
    return len(_line(base)) + json_chars(base) + len("\n,")


def _base(base: BaseCoverage) -> CoveredBase:
    return CoveredBase(
        name=base.name,
        documents=base.documents,
        passages=base.chunks,
        changed_at=base.changed_at,
        ready=base.ready,
        failed_files=base.failed,
        textless_files=base.textless,
        pending_vectors=base.pending_vectors,
        missing_roots=base.missing_roots,
        problem=str(base.problem or ""),
    )


def _topic(topic: TopicCoverage) -> TopicResult:
    near = [found for found in topic.found if found.relevance is None or found.relevance >= NOTHING_FOUND]
    return TopicResult(
        topic=topic.topic,
        likely=topic.likely,
        documents=tuple(map(_document, near[:MAX_FOUND] or topic.found[:MAX_NEAREST])),
        degraded=tuple(map(str, topic.degraded[:MAX_FAULTS])),
    )


def _document(found: Found) -> FoundDocument:
    relevance = None if found.relevance is None else round(found.relevance, 2)
    return FoundDocument(base=found.base, path=found.path, relevance=relevance, locator=readable(found.locator))


def _as_text(result: CoverageResult) -> str:
    lines = [_line(base) for base in result.bases]
    if result.total > len(result.bases):
        lines.append(f"{result.total - len(result.bases):,} more bases; kb_list names them.")
    return "\n".join([*lines, *(_topic_told(result.topic) if result.topic else ())])


def _line(base: CoveredBase) -> str:
    return f"- {base.name}: " + "; ".join(_told(base))


def _told(base: CoveredBase) -> Iterator[str]:
    if base.problem:
        yield f"not ready: {base.problem}"
        return
    changed = f", last change {base.changed_at[:10]}" if base.changed_at else ""
    yield f"{counted(base.documents, 'document')}, {counted(base.passages, 'passage')}{changed}"
    if base.failed_files:
        yield f"{counted(base.failed_files, 'file')} could not be read"
    if base.textless_files:
        yield f"{counted(base.textless_files, 'file')} without text"
    if base.pending_vectors:
        yield f"{counted(base.pending_vectors, 'passage')} not yet found by meaning"
    if base.missing_roots:
        yield "folders that are gone: " + ", ".join(base.missing_roots)


def _topic_told(topic: TopicResult) -> Iterator[str]:
    if not topic.documents:
        yield f"On {topic.topic!r} nothing is found."
    elif topic.likely is False:
        yield f"On {topic.topic!r} nothing is likely to be found. The nearest:"
    else:
        yield f"On {topic.topic!r} something is found in:"
    for document in topic.documents:
        told = f" (relevance {document.relevance:.2f})" if document.relevance is not None else ""
        yield f"- [{document.base}] {document.path}{told}"
    yield from (f"Note: {error}" for error in topic.degraded)
