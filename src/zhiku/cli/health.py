"""What a reader should know about an answer besides its hits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from zhiku.cli.columns import cut

if TYPE_CHECKING:
    from zhiku.answer import Answer
    from zhiku.cli.screen import Screen

MAX_QUERY_COLUMNS = 120
"""A pasted page is a query too; who asked it knows the rest."""

LABELS = {
    "terms": "Words: {values}",
    "prefixes": "Beginnings of words: {values}",
    "phrases": "In a row: {values}",
}


def notes(answer: Answer, screen: Screen, source: str | None) -> Iterator[str]:
    """Yield a sentence for each thing that the answer could not see or is not sure of."""
    if not answer.hits:
        yield _nothing_found(answer, screen, source)
    stale = {hit.base: None for hit in answer if hit.file_state != "unchanged"}
    for name in stale:
        states = [hit.file_state for hit in answer if hit.base == name]
        yield screen.tr(
            "Hits whose files changed, moved or are gone since they were indexed: {count}; bring the base up to date:"
            " zhiku index --base {name}",
            count=len(states) - states.count("unchanged"),
            name=name,
        )
    health = answer.health
    if health.failed_files or health.textless_files:
        yield screen.tr(
            "Not searched: {failed} files that could not be read, {textless} without text; see: zhiku status{bases}",
            failed=health.failed_files,
            textless=health.textless_files,
            bases="".join(f" -b {name}" for name in answer.bases),
        )
    for reason in health.degraded:
        yield screen.tr("Note: {reason}.", reason=screen.tr(reason))


def _nothing_found(answer: Answer, screen: Screen, source: str | None) -> str:
    bases = ", ".join(answer.bases)
    query = cut(answer.query, MAX_QUERY_COLUMNS)
    if source:
        return screen.tr(
            "Nothing found for {query!r} in {bases}, in files that match {source!r}.",
            query=query,
            bases=bases,
            source=source,
        )
    return screen.tr("Nothing found for {query!r} in {bases}.", query=query, bases=bases)


def looked_for(answer: Answer, screen: Screen) -> Iterator[str]:
    """Yield what a search looked for and how it ranked."""
    known = answer.explanation
    for key, template in LABELS.items():
        if values := known.get(key):
            yield screen.tr(template, values=" | ".join(values))
    if known.get("keyword"):
        yield screen.tr("One keyword: every document comes once before any comes twice.")
    if known.get("joint"):
        yield screen.tr("Several bases: scored as if all were one.")
    for name, leg in answer.health.legs.items():
        yield screen.tr("Candidates by {leg}: {count}", leg=screen.tr(name), count=leg.candidates)
