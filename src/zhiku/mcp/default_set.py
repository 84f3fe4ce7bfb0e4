"""The tools that a server offers unless told otherwise; they only read."""

from __future__ import annotations

from zhiku.mcp.covering import CoverageResult, kb_coverage
from zhiku.mcp.grepping import GrepResult, kb_grep
from zhiku.mcp.listing import ListResult, kb_list
from zhiku.mcp.reading import ReadResult, kb_read
from zhiku.mcp.searching import SearchResult, kb_search
from zhiku.mcp.tool import Tool

TOOLS = (
    Tool(
        run=kb_search,
        title="Search the user's documents",
        description="Find passages in the user's own documents (notes, papers, manuals, mail; Chinese and English) that"
        " answer a question or hold some words, with file and lines or page to quote. Use it whenever the answer may"
        " stand in the user's files. Not for facts that you remember about the user (memory tools) or for source code"
        " in the working folder (read or grep it). Ask in the user's words; one question a call. If nothing is found,"
        " say so.",
        result=SearchResult,
    ),
    Tool(
        run=kb_read,
        title="Read one of the user's documents",
        description="Read a document, or some lines or one page of it, as it was indexed: the whole of a passage that"
        " kb_search found, or what stands around it. Long texts come in parts; each says where the next begins.",
        result=ReadResult,
    ),
    Tool(
        run=kb_grep,
        title="Find a keyword in the user's documents",
        description="Find every line of the user's documents that holds exactly these characters: names, numbers,"
        " codes, quotations. For questions use kb_search.",
        result=GrepResult,
    ),
    Tool(
        run=kb_list,
        title="List the user's document bases",
        description="List the bases (collections) of the user's documents: what each is about, how many documents, how"
        " fresh. Search needs no base: without one it asks all of them.",
        result=ListResult,
        needs_base=False,
    ),
    Tool(
        run=kb_coverage,
        title="What the user's documents cover",
        description="Tell what the bases hold and what a search cannot see (files that could not be read or have no"
        " text, folders that are gone); with a topic, which documents have something on it. Use it before saying that"
        " the user has nothing on a subject.",
        result=CoverageResult,
    ),
)
