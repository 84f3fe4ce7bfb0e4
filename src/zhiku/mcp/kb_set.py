"""The set `kb`: one tool over one base, for agents that know of no other."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from zhiku.answer import Query
from zhiku.config import DEFAULT_BASE
from zhiku.mcp.searching import SearchResult, reply_to
from zhiku.mcp.sight import Sight
from zhiku.mcp.tool import Reply, Tool


def kb_search(
    sight: Sight,
    *,
    query: Annotated[str, Field(min_length=1, description="A question or some words, Chinese or English.")],
    top_k: Annotated[int, Field(ge=1, le=100, description="How many passages at most.")] = 5,
) -> Reply:
    """Return the passages of the base `default`, or of the only one, that answer a question."""
    view = sight.view()
    names = view.seen()
    base = names[0] if len(names) == 1 else DEFAULT_BASE
    return reply_to(view, Query(text=query, top_k=top_k), base, is_only_tool=True)


TOOLS = (
    Tool(
        run=kb_search,
        title="Search the knowledge base",
        description="Find passages in the user's own documents that answer a question or hold some words, in Chinese or"
        " English, with file and lines or page to quote. If nothing is found, say so.",
        result=SearchResult,
        needs_base=False,
    ),
)
