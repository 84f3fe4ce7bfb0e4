"""What an answer could not see, in few words and in numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from zhiku.answer import Answer
from zhiku.errors import ZhikuError
from zhiku.mcp.bounds import counted

MAX_FAULTS = 5


@dataclass(frozen=True, kw_only=True)
class Seen:
    """How the search went: what ran, and what it could not see. What is zero is left out."""

    mode: str
    changed_hits: int = 0
    missing_hits: int = 0
    failed_files: int = 0
    textless_files: int = 0
    pending_vectors: int = 0
    reranker: str = ""
    degraded: tuple[str, ...] = ()


def seen(answer: Answer) -> Seen:
    """Return how a search went."""
    health = answer.health
    return Seen(
        mode=answer.mode,
        changed_hits=health.changed_hits,
        missing_hits=health.missing_hits,
        failed_files=health.failed_files,
        textless_files=health.textless_files,
        pending_vectors=health.pending_vectors,
        reranker=health.reranker or "",
        degraded=tuple(str(error) for error in health.degraded[:MAX_FAULTS]),
    )


def faults(errors: Sequence[ZhikuError]) -> Iterator[str]:
    """Yield a sentence for each thing that kept a search from being whole, the first of them."""
    for error in errors[:MAX_FAULTS]:
        yield f"Note: {error}"
    if len(errors) > MAX_FAULTS:
        yield f"Note: {len(errors) - MAX_FAULTS} more of the kind; kb_coverage tells them."


def notes(answer: Answer) -> Iterator[str]:
    """Yield a sentence for each thing that an answer could not see."""
    health = answer.health
    yield from faults(health.degraded)
    unread = [counted(health.failed_files, "file") + " that could not be read"] if health.failed_files else []
    unread += [counted(health.textless_files, "file") + " without text"] if health.textless_files else []
    if unread:
        yield f"Not searched: {' and '.join(unread)}; kb_coverage tells more."
    if health.pending_vectors:
        yield f"{counted(health.pending_vectors, 'passage')} cannot be found by meaning yet; by words they can."
    if changed := health.changed_hits + health.missing_hits:
        yield f"The files of {counted(changed, 'passage')} above changed or are gone since they were indexed."
