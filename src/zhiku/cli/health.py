"""What a reader should know about an answer besides its hits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from zhiku.cli.columns import cut
from zhiku.retrieve.relevance import is_unlikely

if TYPE_CHECKING:
    from zhiku.answer import Answer, Query
    from zhiku.cli.screen import Screen
    from zhiku.errors import ZhikuError

MAX_QUERY_COLUMNS = 120
"""A pasted page is a query too; who asked it knows the rest."""

LABELS = {
    "terms": "Words: {values}",
    "prefixes": "Beginnings of words: {values}",
    "phrases": "In a row: {values}",
}


def notes(answer: Answer, screen: Screen, query: Query) -> Iterator[str]:
    """Yield a sentence for each thing that the answer could not see or is not sure of."""
    if not answer.hits:
        yield _nothing_found(answer, screen, query)
    elif is_unlikely(answer):
        yield screen.tr("None of these is likely to answer the question; they are the nearest there are.")
    yield from _budget(answer, screen)
    yield from _stale(answer, screen)
    yield from _unseen(answer, screen)
    for error in answer.health.degraded:
        yield from told(error, screen)


def _budget(answer: Answer, screen: Screen) -> Iterator[str]:
    """Yield what passages for a number of tokens take, and how much more there is."""
    if answer.budget is None:
        return
    yield screen.tr("About {tokens:,} tokens of {most:,}.", tokens=answer.budget.tokens, most=answer.budget.max_tokens)
    if answer.budget.more_passages:
        yield screen.tr(
            "More that may answer: {passages} passages in {documents} documents, about {tokens:,} tokens.",
            passages=answer.budget.more_passages,
            documents=answer.budget.more_documents,
            tokens=answer.budget.more_tokens,
        )


def told(error: ZhikuError, screen: Screen) -> Iterator[str]:
    """Yield what kept a search from being whole, and what mends it."""
    yield screen.tr("Note: {reason}", reason=screen.tr(error.template, **error.params))
    if error.hint_template:
        yield screen.tr("Hint: {hint}", hint=screen.tr(error.hint_template, **error.params))


def _stale(answer: Answer, screen: Screen) -> Iterator[str]:
    for name in {hit.base: None for hit in answer}:
        states = [hit.file_state for hit in answer if hit.base == name]
        if count := states.count("changed") + states.count("moved"):
            yield screen.tr(
                "Hits whose files changed or moved since they were indexed: {count}; bring the base up to date: zhiku"
                " index --base {name}",
                count=count,
                name=name,
            )
        if count := states.count("missing"):
            yield screen.tr(
                "Hits whose files are gone: {count}; take them out of search: zhiku index --base {name} --prune",
                count=count,
                name=name,
            )


def _unseen(answer: Answer, screen: Screen) -> Iterator[str]:
    health = answer.health
    bases = "".join(f" -b {name}" for name in answer.bases)
    if health.failed_files or health.textless_files:
        yield screen.tr(
            "Not searched: {failed} files that could not be read, {textless} without text; see: zhiku status{bases}",
            failed=health.failed_files,
            textless=health.textless_files,
            bases=bases,
        )
    if health.pending_vectors and len(answer.bases) == 1:
        yield screen.tr(
            "Not searched by meaning: {count} chunks that have no vector yet; embed them: zhiku index --base {name}",
            count=health.pending_vectors,
            name=answer.bases[0],
        )
    elif health.pending_vectors:
        yield screen.tr(
            "Not searched by meaning: {count} chunks that have no vector yet; see which: zhiku status{bases}",
            count=health.pending_vectors,
            bases=bases,
        )


def _nothing_found(answer: Answer, screen: Screen, query: Query) -> str:
    asked = {"query": cut(answer.query, MAX_QUERY_COLUMNS), "bases": ", ".join(answer.bases)}
    if query.min_relevance and any(leg.candidates for leg in answer.health.legs.values()):
        return screen.tr(
            "Nothing found for {query!r} in {bases} that is {relevance:.0%} relevant.",
            relevance=query.min_relevance,
            **asked,
        )
    if query.source:
        return screen.tr(
            "Nothing found for {query!r} in {bases}, in files that match {source!r}.", source=query.source, **asked
        )
    return screen.tr("Nothing found for {query!r} in {bases}.", **asked)


def looked_for(answer: Answer, screen: Screen) -> Iterator[str]:
    """Yield what a search looked for and how it ranked."""
    known = answer.explanation
    for key, template in LABELS.items():
        if values := known.get(key):
            yield screen.tr(template, values=" | ".join(values))
    for name, added in known.get("added", {}).items():
        for said, aliases in added.items():
            yield screen.tr(
                "Added by the glossary of {name}: {word} = {aliases}",
                name=name,
                word=said,
                aliases=screen.tr(", ").join(aliases),
            )
    if known.get("keyword"):
        yield screen.tr("One keyword: every document comes once before any comes twice.")
    if known.get("joint"):
        yield screen.tr("Several bases: scored as if all were one.")
    for name, leg in answer.health.legs.items():
        if leg.ran:
            yield screen.tr("Candidates by {leg}: {count}", leg=screen.tr(name), count=leg.candidates)
    if answer.health.reranker:
        yield screen.tr("Scored anew by: {name}", name=answer.health.reranker)
