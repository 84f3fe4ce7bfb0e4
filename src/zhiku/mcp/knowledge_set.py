"""The set `knowledge`: named bases, looked through line by line or by meaning; the text of results is JSON, too."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field, WithJsonSchema

from zhiku.answer import Answer, Hit, Query
from zhiku.mcp.bounds import MAX_RESULT_CHARS, fitting, json_chars
from zhiku.mcp.listing import shortened
from zhiku.mcp.sight import Sight
from zhiku.mcp.tool import Reply, Tool
from zhiku.retrieve.lines import GrepItem, GrepQuery
from zhiku.service.coverage import BaseEntry

log = logging.getLogger(__name__)

ROOM = MAX_RESULT_CHARS - 1_000
"""For items; the rest is for what is said of them."""

Base = Annotated[str, Field(min_length=1, description="The name of a base, as knowledge_list gives it.")]
# There in any case, for programs that look for it.
Measure = Annotated[float | None, WithJsonSchema({"type": ["number", "null"]})]
SourceKeyword = Annotated[str | None, Field(description="Only files whose path holds this, or a glob: *.pdf")]


@dataclass(frozen=True, kw_only=True)
class ListedBase:
    """One base."""

    name: str
    intro: str | None = None
    has_intro: bool | None = None


@dataclass(frozen=True, kw_only=True)
class KnowledgeList:
    """The bases by name. `truncated`: there are more."""

    ok: bool
    count: int
    truncated: bool
    items: tuple[ListedBase, ...]


def knowledge_list(
    sight: Sight,
    *,
    only_ready: Annotated[bool, Field(description="Leave out bases that cannot answer.")] = True,
    include_intro: Annotated[bool, Field(description="Say what each base is about.")] = True,
    include_has_intro: Annotated[bool, Field(description="Say whether each base has an intro.")] = False,
    intro_max_chars: Annotated[int, Field(ge=0, le=1_000, description="Of each intro at most.")] = 120,
    max_items: Annotated[int, Field(ge=1, le=200, description="How many bases at most.")] = 50,
    name_keyword: Annotated[str | None, Field(description="Only bases whose name holds this.")] = None,
) -> Reply:
    """Return which bases there are."""
    found = sight.view().entries(only_ready=only_ready, name_keyword=name_keyword or "")

    def listed(entry: BaseEntry) -> ListedBase:
        return ListedBase(
            name=entry.name,
            intro=shortened(entry.intro, intro_max_chars) if include_intro else None,
            has_intro=bool(entry.intro.strip()) if include_has_intro else None,
        )

    items = tuple(fitting(map(listed, found[:max_items]), _both, ROOM))
    return Reply(text="", data=KnowledgeList(ok=True, count=len(items), truncated=len(items) < len(found), items=items))


@dataclass(frozen=True, kw_only=True)
class FoundLine:
    """One line that holds the keyword; of a document with pages, the page instead of the line's number."""

    source: str | None = None
    line: int | None = None
    page: int | None = None
    text: str


@dataclass(frozen=True, kw_only=True)
class TextFound:
    """The lines of a base that hold a keyword."""

    ok: bool
    knowledge_base: str
    keyword: str
    count: int
    items: tuple[FoundLine, ...]


def knowledge_text_search(
    sight: Sight,
    *,
    knowledge_base: Base,
    keyword: Annotated[str, Field(min_length=1, description="Looked for character for character; no pattern.")],
    max_lines: Annotated[int, Field(ge=1, le=500, description="How many lines at most.")] = 20,
    max_chars: Annotated[int, Field(ge=1, le=8_000, description="Of all lines together at most.")] = 2_000,
    max_chars_per_item: Annotated[int, Field(ge=1, le=2_000, description="Of each line at most.")] = 180,
    case_sensitive: Annotated[bool, Field(description="Tell capital letters from small ones.")] = False,
    source_keyword: SourceKeyword = None,
    include_source: Annotated[bool, Field(description="Say in which file each line stands.")] = True,
    include_line: Annotated[bool, Field(description="Say where in the file each line stands.")] = True,
) -> Reply:
    """Return the lines of a base that hold a keyword."""
    query = GrepQuery(
        keyword=keyword,
        case_sensitive=case_sensitive,
        source=source_keyword,
        max_lines=max_lines,
        max_chars=max_chars,
        max_chars_per_line=max_chars_per_item,
    )
    answer = sight.view().grep(query, knowledge_base)

    def found(item: GrepItem) -> FoundLine:
        return FoundLine(
            source=item.path if include_source else None,
            line=item.line if include_line else None,
            page=item.page if include_line else None,
            text=item.text,
        )

    items = tuple(fitting(map(found, answer.items), _both, ROOM))
    return Reply(
        text="",
        data=TextFound(ok=True, knowledge_base=answer.bases[0], keyword=keyword, count=len(items), items=items),
    )


@dataclass(frozen=True, kw_only=True)
class FoundPassage:
    """One passage, with how likely it answers, 0 to 1; null where its base is searched by words only."""

    source: str
    text: str
    relevance: Measure


@dataclass(frozen=True, kw_only=True)
class ScoredPassage(FoundPassage):
    """A passage with the score that the reranker gave it; null where none did."""

    rerank_score: Measure


@dataclass(frozen=True, kw_only=True)
class PassagesFound:
    """The passages of a base that answer a question, best first. `warnings`: how the search was less than asked for."""

    ok: bool
    knowledge_base: str
    query: str
    count: int
    items: tuple[ScoredPassage | FoundPassage, ...]
    warnings: tuple[str, ...] = ()


def knowledge_semantic_search(
    sight: Sight,
    *,
    knowledge_base: Base,
    query: Annotated[str, Field(min_length=1, description="A question or some words, Chinese or English.")],
    top_k: Annotated[int | None, Field(ge=1, le=100, description="How many passages at most.")] = None,
    enable_rerank: Annotated[bool | None, Field(description="Let the user's reranker score the passages anew.")] = None,
    rerank_top_k: Annotated[
        int | None, Field(ge=1, le=100, description="How many of them are kept then; fewer than top_k.")
    ] = None,
    min_relevance: Annotated[float, Field(ge=0, le=1, description="Leave out passages less likely to answer.")] = 0,
    source_keyword: SourceKeyword = None,
    max_chars_per_item: Annotated[int, Field(ge=1, le=2_000, description="Of each passage at most.")] = 220,
    include_rerank_score: Annotated[bool, Field(description="Say the reranker's scores.")] = True,
    deduplicate: Annotated[bool, Field(description="Leave out a text that was found before.")] = True,
) -> Reply:
    """Return the passages of a base that answer a question; what is not said is as the user set it."""
    view = sight.view()
    asked = Query(
        text=query,
        top_k=top_k or sight.library.settings.search.top_k,
        rerank=enable_rerank,
        rerank_top_k=rerank_top_k,
        min_relevance=min_relevance or None,
        source=source_keyword,
        max_chars_per_hit=max_chars_per_item,
    )
    answer = view.search(asked, knowledge_base)
    for error in answer.health.degraded:
        log.warning("knowledge_semantic_search: %s", error)
    items = tuple(fitting(_passages(answer, with_score=include_rerank_score, once=deduplicate), _both, ROOM))
    result = PassagesFound(
        ok=True,
        knowledge_base=answer.bases[0],
        query=query,
        count=len(items),
        items=items,
        warnings=tuple(map(str, answer.health.degraded)),
    )
    return Reply(text="", data=result)


def _passages(answer: Answer, *, with_score: bool, once: bool) -> Iterator[FoundPassage]:
    known: set[str] = set()
    for hit in answer:
        text = " ".join(hit.text.split())
        if not (once and text in known):
            yield _passage(hit, with_score=with_score)
        known.add(text)


def _passage(hit: Hit, *, with_score: bool) -> FoundPassage:
    if with_score:
        return ScoredPassage(source=hit.path, text=hit.text, relevance=hit.relevance, rerank_score=hit.rerank_score)
    return FoundPassage(source=hit.path, text=hit.text, relevance=hit.relevance)


def _both(item: object) -> int:
    """Return what an item takes in both forms of a result, which are the same JSON."""
    return 2 * json_chars(item)


TOOLS = (
    Tool(
        run=knowledge_list,
        title="List the knowledge bases",
        description="List the user's knowledge bases: what each is called and about. Call it first; the other tools"
        " need a name from it.",
        result=KnowledgeList,
        needs_base=False,
    ),
    Tool(
        run=knowledge_text_search,
        title="Find a keyword in a knowledge base",
        description="Find the lines of a knowledge base that hold exactly these characters: names, numbers, codes,"
        " quotations.",
        result=TextFound,
    ),
    Tool(
        run=knowledge_semantic_search,
        title="Search a knowledge base",
        description="Find the passages of a knowledge base that answer a question or hold some words, in Chinese or"
        " English. Quote the source. If nothing relevant is found, say so.",
        result=PassagesFound,
    ),
)
