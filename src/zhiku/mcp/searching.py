"""The tool kb_search: passages with their places, as many as a result may hold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Literal

from pydantic import Field

from zhiku.answer import BUDGET_TOP_K, Answer, Hit, Query
from zhiku.mcp.bounds import MAX_RESULT_CHARS, counted, json_chars, named
from zhiku.mcp.health import Seen, notes, seen
from zhiku.mcp.places import STATES, chain, place, readable
from zhiku.mcp.sight import Sight
from zhiku.mcp.tool import Reply
from zhiku.retrieve.passage import window
from zhiku.retrieve.relevance import is_unlikely
from zhiku.service.view import View

MAX_TOP_K = 100
MAX_BASES = 50
MAX_PASSAGE_CHARS = 1_200
"""What is longer is cut around what the query's words match: others are to be seen too."""
LEAST_PASSAGE_CHARS = 200
"""Less of a passage than that is not worth its place."""
MAX_NEAREST = 3
MAX_NEAREST_CHARS = 300
TELLING_CHARS = 1_000
"""Room for what is said before and after the passages."""


@dataclass(frozen=True, kw_only=True)
class Passage:
    """One ranked passage. Without `text` only its place is told, for length."""

    rank: int
    base: str
    path: str
    line_start: int | None = None
    line_end: int | None = None
    page: int | None = None
    page_end: int | None = None
    section: str = ""
    locator: str
    relevance: float | None = None
    rerank_score: float | None = None
    text: str = ""
    cut: bool = False
    """Whether it goes on where … stands; the locator opens the whole of it."""
    caution: str = ""


@dataclass(frozen=True, kw_only=True)
class SearchResult:
    """Passages, best first. Nothing found: no hits, and perhaps what was nearest although it hardly answers."""

    found: bool
    bases: tuple[str, ...]
    total: int
    """Passages that were found, at most `top_k`."""
    shown: int
    """Those of them that come with their text."""
    hits: tuple[Passage, ...]
    nearest: tuple[Passage, ...] = ()
    health: Seen
    notes: tuple[str, ...] = ()


def kb_search(
    sight: Sight,
    *,
    query: Annotated[str, Field(min_length=1, description="A question or some words, Chinese or English.")],
    base: Annotated[str | None, Field(description="Search this base only; all of them, if left out.")] = None,
    top_k: Annotated[
        int | None,
        Field(
            ge=1,
            le=MAX_TOP_K,
            description="How many passages at most; 10 unless the user set otherwise, or all that fit.",
        ),
    ] = None,
    mode: Annotated[
        Literal["hybrid", "lexical", "semantic"],
        Field(description="By words and meaning, by words only (names, codes), or by meaning only."),
    ] = "hybrid",
    source: Annotated[str | None, Field(description="Only files whose path holds this, or a glob: *.pdf")] = None,
    min_relevance: Annotated[
        float | None, Field(ge=0, le=1, description="Leave out passages less likely to answer.")
    ] = None,
    rerank: Annotated[
        bool | None,
        Field(description="Let the user's reranker score the passages anew; as the user set it, if left out."),
    ] = None,
    expand: Annotated[bool, Field(description="Search for the synonyms of the user's glossaries, too.")] = True,
    max_chars: Annotated[
        int, Field(ge=1_000, le=100_000, description="Characters of the whole result at most.")
    ] = MAX_RESULT_CHARS,
    max_tokens: Annotated[
        int | None,
        Field(
            ge=50, le=50_000, description="Choose the best passages for so many tokens, and say how much more exists."
        ),
    ] = None,
) -> Reply:
    """Return the passages that answer a question."""
    view = sight.view()
    asked = Query(
        text=query,
        top_k=top_k or (BUDGET_TOP_K if max_tokens else min(sight.library.settings.search.top_k, MAX_TOP_K)),
        max_tokens=max_tokens,
        mode=mode,
        source=source,
        min_relevance=min_relevance,
        rerank=rerank,
        expand=expand,
    )
    return reply_to(view, asked, base, max_chars)


def reply_to(
    view: View, asked: Query, base: str | None, max_chars: int = MAX_RESULT_CHARS, *, is_only_tool: bool = False
) -> Reply:
    """Return what is found in a base, or in all."""
    answer = view.search(asked, base)
    if is_unlikely(answer):
        return _nothing(answer, answer.hits, is_only_tool=is_only_tool)
    if not answer.hits:
        # Named as what is nearest, hits below the wanted relevance are no answer but still a lead.
        near = view.search(replace(asked, min_relevance=None), base).hits if asked.min_relevance else ()
        return _nothing(answer, near, is_only_tool=is_only_tool)
    return _found(answer, max_chars, is_only_tool=is_only_tool)


def _found(answer: Answer, max_chars: int, *, is_only_tool: bool) -> Reply:
    def result_with(hits: tuple[Passage, ...]) -> tuple[str, SearchResult]:
        result = SearchResult(
            found=True,
            bases=answer.bases[:MAX_BASES],
            total=len(answer.hits),
            shown=sum(1 for hit in hits if hit.text),
            hits=hits,
            health=seen(answer),
            notes=(*_rest(answer, hits, is_only_tool=is_only_tool), *_more(answer), *notes(answer)),
        )
        head = f"{counted(result.total, 'passage')}, best first, from {named(answer.bases)}."
        return "\n\n".join([head, *map(as_text, hits), *result.notes]), result

    text, frame = result_with(())
    text, result = result_with(tuple(passages_of(answer, max_chars - len(text) - json_chars(frame))))
    return Reply(text=text, data=result)


def passages_of(answer: Answer, room: int = MAX_RESULT_CHARS - TELLING_CHARS) -> Iterator[Passage]:
    """Yield hits within so many characters: places come first, and as many from the best on have their text.

    Passages that were chosen for a number of tokens are as long as that says.
    """
    longest = MAX_PASSAGE_CHARS if answer.budget is None else room
    places = list(map(_passage, answer))
    while places and sum(map(_size, places)) > room:
        places.pop()
    left = room - sum(map(_size, places))
    for place_only, hit in zip(places, answer, strict=False):
        passage = _with_room(place_only, hit, left, longest)
        left -= _size(passage) - _size(place_only)
        yield passage


def _with_room(place_only: Passage, hit: Hit, left: int, longest: int) -> Passage:
    """Return a passage with as much of its text as there is room for; without, where that would be of no use."""
    max_chars = min(longest, left // 2)
    while max_chars >= min(LEAST_PASSAGE_CHARS, len(hit.text)):
        passage = with_text(place_only, hit, max_chars)
        if _size(passage) - _size(place_only) <= left:
            return passage
        max_chars = max_chars * 3 // 4  # quotation marks and line breaks take two characters of JSON
    return place_only


def _size(passage: Passage) -> int:
    """Return how many characters a passage takes in both forms of a result."""
    return len(as_text(passage)) + json_chars(passage) + len("\n\n,")


def _rest(answer: Answer, hits: Sequence[Passage], *, is_only_tool: bool) -> Iterator[str]:
    total, shown = len(answer.hits), sum(1 for hit in hits if hit.text)
    if shown == total:
        return
    left_out = f", and {total - len(hits)} are left out" if len(hits) < total else ""
    ways = (
        "a narrower query"
        if is_only_tool
        else ("kb_read with a place above, a larger max_chars, or a narrower query, base or source")
    )
    yield f"For length only {shown} of {total} come with their text{left_out}. For more: {ways}."


def _more(answer: Answer) -> Iterator[str]:
    if answer.budget and answer.budget.more_passages:
        yield (
            f"More that may answer: {counted(answer.budget.more_passages, 'passage')} in"
            f" {counted(answer.budget.more_documents, 'document')}, about {answer.budget.more_tokens:,} tokens;"
            " ask for more max_tokens."
        )


def _nothing(answer: Answer, near: tuple[Hit, ...], *, is_only_tool: bool) -> Reply:
    nearest = tuple(with_text(_passage(hit), hit, MAX_NEAREST_CHARS) for hit in near[:MAX_NEAREST])
    result = SearchResult(
        found=False,
        hits=(),
        bases=answer.bases[:MAX_BASES],
        total=0,
        shown=0,
        nearest=nearest,
        health=seen(answer),
        notes=tuple(notes(answer)),
    )
    head = f"Nothing found in {named(answer.bases)}."
    if nearest:
        head += " The nearest, which hardly answer the question:"
    else:
        head += " Try other words, or the other language" + (
            "." if is_only_tool else "; kb_coverage tells what there is."
        )
    return Reply(text="\n\n".join([head, *map(as_text, nearest), *result.notes]), data=result)


def _passage(hit: Hit) -> Passage:
    cautions = [STATES[hit.file_state]] if STATES[hit.file_state] else []
    cautions += ["read by OCR"] if hit.ocr else []
    cautions += ["holds text that its file does not show"] if hit.hidden_text else []
    return Passage(
        rank=hit.rank,
        base=hit.base,
        path=hit.path,
        line_start=hit.line_start,
        line_end=hit.line_end,
        page=hit.page,
        page_end=hit.page_end,
        section=chain(hit.section),
        locator=readable(hit.locator),
        relevance=None if hit.relevance is None else round(hit.relevance, 2),
        rerank_score=None if hit.rerank_score is None else round(hit.rerank_score, 2),
        caution="; ".join(cautions),
    )


def with_text(passage: Passage, hit: Hit, max_chars: int) -> Passage:
    """Return a passage with at most so much of its text, around what the query's words match."""
    if len(hit.text) <= max_chars:
        return replace(passage, text=hit.text)
    start, end = window(hit.text, 0, hit.marks, max_chars)
    text = "…" * (start > 0) + hit.text[start:end].strip() + "…" * (end < len(hit.text))
    return replace(passage, text=text, cut=True)


def as_text(passage: Passage) -> str:
    """Return a passage in words: its place, what to know of it, and its text."""
    where = place((passage.line_start, passage.line_end), (passage.page, passage.page_end))
    head = f"{passage.rank}. [{passage.base}] {passage.path}" + (f", {where}" if where else "")
    head += f" › {passage.section}" if passage.section else ""
    head += f" (relevance {passage.relevance:.2f})" if passage.relevance is not None else ""
    head += f" (rerank score {passage.rerank_score:.2f})" if passage.rerank_score is not None else ""
    head += f" ({passage.caution})" if passage.caution else ""
    return f"{head}\n{passage.text}" if passage.text else head
