"""The set `persona`: questions to a persona, which sees some bases and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from zhiku.answer import Answer, Query
from zhiku.errors import ZhikuError
from zhiku.mcp.bounds import MAX_RESULT_CHARS, counted, fitting, json_chars, named
from zhiku.mcp.health import notes
from zhiku.mcp.searching import Passage, as_text, passages_of
from zhiku.mcp.sight import Sight
from zhiku.mcp.tool import Reply, Tool
from zhiku.retrieve.relevance import is_unlikely
from zhiku.service.coverage import BaseCoverage

ROOM = MAX_RESULT_CHARS - 500

Name = Annotated[str, Field(description="The persona that is asked; the user's default one, if left out.")]


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What a persona has on a question. `coverage` is false where nothing it sees answers; `hint` says what to do."""

    persona: str
    coverage: bool
    bases: tuple[str, ...]
    hits: tuple[Passage, ...]
    hint: str = ""
    notes: tuple[str, ...] = ()


def kb_ask(
    sight: Sight,
    *,
    question: Annotated[str, Field(min_length=1, description="A question or some words, Chinese or English.")],
    persona: Name = "",
    top_k: Annotated[int, Field(ge=1, le=100, description="How many passages at most.")] = 5,
    expand: Annotated[bool, Field(description="Search for the synonyms of the user's glossaries, too.")] = True,
) -> Reply:
    """Return what a persona has on a question."""
    name, view = sight.as_persona(persona)
    try:
        view.seen()
    except ZhikuError as error:
        return _nothing(name, (), str(error))
    answer = view.search(Query(text=question, top_k=top_k, expand=expand))
    if not answer.hits or is_unlikely(answer):
        return _nothing(name, answer.bases, _hint(name, answer), tuple(notes(answer)))
    hits = tuple(passages_of(answer))
    asked = Asked(persona=name, coverage=True, bases=answer.bases, hits=hits, notes=tuple(notes(answer)))
    head = f"{counted(len(hits), 'passage')} that {name} sees, best first."
    return Reply(text="\n\n".join([head, *map(as_text, hits), *asked.notes]), data=asked)


def _nothing(name: str, bases: tuple[str, ...], hint: str, told: tuple[str, ...] = ()) -> Reply:
    asked = Asked(persona=name, coverage=False, bases=bases, hits=(), hint=hint, notes=told)
    return Reply(text="\n".join([f"coverage=false: {hint}", *told]), data=asked)


def _hint(name: str, answer: Answer) -> str:
    hint = f"nothing that {name} sees ({named(answer.bases)}) answers that."
    if answer.hits:
        nearest = ", ".join(dict.fromkeys(f"[{hit.base}] {hit.path}" for hit in answer.hits[:3]))
        hint += f" The nearest, which hardly does, is in {nearest}."
    return f"{hint} Ask in other words or in the other language, or say that it is not covered."


@dataclass(frozen=True, kw_only=True)
class CoveredBase:
    """What one base holds. `problem` says why it cannot answer."""

    name: str
    documents: int
    chunks: int
    terms: int
    problem: str = ""


@dataclass(frozen=True, kw_only=True)
class PersonaCoverage:
    """The bases that a persona sees. `hint` says why there is none."""

    persona: str
    total: int
    bases: tuple[CoveredBase, ...]
    hint: str = ""


def kb_coverage(sight: Sight, *, persona: Name = "") -> Reply:
    """Return what a persona sees."""
    name, view = sight.as_persona(persona)
    covered = view.coverage().bases
    hint = ""
    if not covered:
        try:
            view.seen()
        except ZhikuError as error:
            hint = str(error)
    bases = tuple(fitting(map(_base, covered), _size, ROOM))
    result = PersonaCoverage(persona=name, total=len(covered), bases=bases, hint=hint)
    return Reply(
        text="\n".join([f"{name} sees {counted(len(covered), 'base')}.", *map(_line, bases), hint]).strip(), data=result
    )


def _size(base: CoveredBase) -> int:
    return len(_line(base)) + json_chars(base) + len("\n,")


def _base(base: BaseCoverage) -> CoveredBase:
    return CoveredBase(
        name=base.name, documents=base.documents, chunks=base.chunks, terms=base.terms, problem=str(base.problem or "")
    )


def _line(base: CoveredBase) -> str:
    held = [counted(base.documents, "document"), counted(base.chunks, "chunk"), counted(base.terms, "term")]
    return f"- {base.name}: " + (f"not ready: {base.problem}" if base.problem else ", ".join(held))


TOOLS = (
    Tool(
        run=kb_ask,
        title="Ask what a persona knows",
        description="Find what the documents that a persona may see say on a question, with file and lines or page to"
        " quote. coverage=false means that they do not cover it: say so instead of answering from memory.",
        result=Asked,
        needs_base=False,
    ),
    Tool(
        run=kb_coverage,
        title="What a persona sees",
        description="List the bases that a persona may see: how many documents, chunks and glossary terms each has.",
        result=PersonaCoverage,
        needs_base=False,
    ),
)
