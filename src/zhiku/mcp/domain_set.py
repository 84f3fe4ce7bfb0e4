"""The set `domain`: each base is a domain, which is searched by its name and, where that is allowed, changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from zhiku.answer import Answer, Query
from zhiku.mcp.bounds import MAX_RESULT_CHARS, counted, fitting, json_chars
from zhiku.mcp.domain_writing import Domain, Forgotten, Job, kb_forget, kb_ingest, kb_task
from zhiku.mcp.health import notes
from zhiku.mcp.listing import shortened
from zhiku.mcp.searching import Passage, as_text, passages_of
from zhiku.mcp.sight import Sight
from zhiku.mcp.tool import Reply, Tool
from zhiku.retrieve.relevance import is_unlikely
from zhiku.service.coverage import BaseCoverage

ROOM = MAX_RESULT_CHARS - 500
MAX_INTRO_CHARS = 120


@dataclass(frozen=True, kw_only=True)
class DomainHits:
    """The passages of a domain that answer a question, best first; where there is none, `hint` says what to do."""

    domain: str
    query: str
    count: int
    hits: tuple[Passage, ...]
    hint: str = ""
    notes: tuple[str, ...] = ()


def kb_search(
    sight: Sight,
    *,
    domain: Domain,
    query: Annotated[str, Field(min_length=1, description="A question or some words, Chinese or English.")],
    top_k: Annotated[int, Field(ge=1, le=100, description="How many passages at most.")] = 5,
    expand: Annotated[bool, Field(description="Search for the synonyms of the domain's glossary, too.")] = True,
) -> Reply:
    """Return the passages of a domain that answer a question."""
    answer = sight.view().search(Query(text=query, top_k=top_k, expand=expand), domain)
    is_found = bool(answer.hits) and not is_unlikely(answer)
    hits = tuple(passages_of(answer)) if is_found else ()
    found = DomainHits(
        domain=answer.bases[0],
        query=query,
        count=len(hits),
        hits=hits,
        hint="" if is_found else _hint(answer),
        notes=tuple(notes(answer)),
    )
    head = f"{counted(len(hits), 'passage')}, best first, from domain {found.domain}." if is_found else found.hint
    return Reply(text="\n\n".join([head, *map(as_text, hits), *found.notes]), data=found)


def _hint(answer: Answer) -> str:
    hint = f"Nothing found in domain {answer.bases[0]}."
    if answer.hits:
        nearest = ", ".join(dict.fromkeys(hit.path for hit in answer.hits[:3]))
        hint += f" The nearest, which hardly answers, is in {nearest}."
    return f"{hint} Ask in other words or in the other language, or another domain: kb_domains lists them."


@dataclass(frozen=True, kw_only=True)
class ListedDomain:
    """One domain. `problem` says why it cannot answer."""

    name: str
    intro: str
    documents: int
    chunks: int
    terms: int
    changed_at: str = ""
    """When the last document went in, ISO 8601 in UTC."""
    problem: str = ""


@dataclass(frozen=True, kw_only=True)
class Domains:
    """The domains by name; `total` of them there are."""

    total: int
    domains: tuple[ListedDomain, ...]
    hint: str = ""


def kb_domains(sight: Sight) -> Reply:
    """Return which domains there are."""
    covered = sight.view().coverage().bases
    hint = "" if covered else "There is no domain yet. The user makes one: zhiku index PATH --base NAME"
    domains = tuple(fitting(map(_listed, covered), _size, ROOM))
    return Reply(
        text="\n".join([*map(_line, domains), hint]).strip(),
        data=Domains(total=len(covered), domains=domains, hint=hint),
    )


def _size(domain: ListedDomain) -> int:
    return len(_line(domain)) + json_chars(domain) + len("\n,")


def _listed(base: BaseCoverage) -> ListedDomain:
    return ListedDomain(
        name=base.name,
        intro=shortened(base.intro, MAX_INTRO_CHARS),
        documents=base.documents,
        chunks=base.chunks,
        terms=base.terms,
        changed_at=base.changed_at,
        problem=str(base.problem or ""),
    )


def _line(domain: ListedDomain) -> str:
    held = [counted(domain.documents, "document"), counted(domain.chunks, "chunk"), counted(domain.terms, "term")]
    told = [f"not ready: {domain.problem}"] if domain.problem else held
    return f"- {domain.name}: " + ", ".join([*told, *filter(None, [domain.intro])])


TOOLS = (
    Tool(
        run=kb_search,
        title="Search a domain",
        description="Find the passages of a domain of the user's documents that answer a question or hold some words,"
        " in Chinese or English, with file and lines or page to quote. If nothing is found, say so.",
        result=DomainHits,
    ),
    Tool(
        run=kb_domains,
        title="List the domains",
        description="List the domains of the user's documents: what each is about, how much it holds, how fresh it is.",
        result=Domains,
        needs_base=False,
    ),
    Tool(
        run=kb_ingest,
        title="Read files into a domain",
        description="Read a file or folder into a domain, or bring it up to date: only below the folders that the user"
        " has configured for it. Returns a job at once, which goes on by itself; kb_task tells how far it is. Searches"
        " are answered meanwhile.",
        result=Job,
        needs_base=False,
        read_only=False,
        needs_write=True,
        followed_by="kb_task",
    ),
    Tool(
        run=kb_task,
        title="How far a job is",
        description="Tell how far a job of kb_ingest is, and what it did once it has ended.",
        result=Job,
        needs_base=False,
        needs_write=True,
    ),
    Tool(
        run=kb_forget,
        title="Take documents out of search",
        description="Take a document, or all in a folder, out of search in a domain. Files are not touched, and the"
        " user can undo it. Only when the user asks for it.",
        result=Forgotten,
        read_only=False,
        needs_write=True,
    ),
)
