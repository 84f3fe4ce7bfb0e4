"""The tool kb_list: which bases there are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from zhiku.errors import ZhikuError
from zhiku.mcp.bounds import MAX_RESULT_CHARS, counted, fitting, json_chars
from zhiku.mcp.sight import Sight
from zhiku.mcp.tool import Reply
from zhiku.service.coverage import BaseEntry
from zhiku.service.view import View

MAX_ITEMS = 50
MAX_INTRO_CHARS = 120
TELLING_CHARS = 500


@dataclass(frozen=True, kw_only=True)
class ListedBase:
    """One base. `problem` says why it cannot answer."""

    name: str
    intro: str = ""
    documents: int
    passages: int
    changed_at: str = ""
    """When the last document went in, ISO 8601 in UTC."""
    ready: bool
    problem: str = ""


@dataclass(frozen=True, kw_only=True)
class ListResult:
    """Bases by name; `total` of them there are."""

    total: int
    bases: tuple[ListedBase, ...]
    notes: tuple[str, ...] = ()


def kb_list(
    sight: Sight,
    *,
    only_ready: Annotated[bool, Field(description="Leave out bases that cannot answer.")] = False,
    name_keyword: Annotated[str, Field(description="Only bases whose name holds this.")] = "",
    max_items: Annotated[int, Field(ge=1, le=200, description="How many bases at most.")] = MAX_ITEMS,
    intro_max_chars: Annotated[int, Field(ge=0, le=1_000, description="Of each intro at most.")] = MAX_INTRO_CHARS,
) -> Reply:
    """Return a line for each base."""
    view = sight.view()
    found = view.entries(only_ready=only_ready, name_keyword=name_keyword)
    wanted = [listed(entry, intro_max_chars) for entry in found[:max_items]]
    bases = tuple(fitting(wanted, _size, MAX_RESULT_CHARS - TELLING_CHARS))
    result = ListResult(total=len(found), bases=bases, notes=_notes(view, len(found), len(bases)))
    head = [f"{counted(len(found), 'base')}:"] if bases else []
    return Reply(text="\n".join([*head, *map(as_text, bases), *result.notes]), data=result)


def _size(base: ListedBase) -> int:
    return len(as_text(base)) + json_chars(base) + len("\n,")


def listed(entry: BaseEntry, intro_max_chars: int) -> ListedBase:
    """Return what a list of bases says of one."""
    return ListedBase(
        name=entry.name,
        intro=shortened(entry.intro, intro_max_chars),
        documents=entry.documents,
        passages=entry.chunks,
        changed_at=entry.changed_at,
        ready=entry.ready,
        problem=str(entry.problem or ""),
    )


def shortened(intro: str, max_chars: int) -> str:
    """Return an intro in one line of at most so many characters."""
    line = " ".join(intro.split())
    return line if len(line) <= max_chars else (line[: max_chars - 1] + "…" if max_chars else "")


def as_text(base: ListedBase) -> str:
    """Return a base in one line."""
    state = f"not ready: {base.problem}" if base.problem else "" if base.ready else "holds nothing yet"
    held = f"{counted(base.documents, 'document')}, last change {base.changed_at[:10]}" if base.changed_at else ""
    return f"- {base.name}: " + "; ".join(filter(None, (held, state, base.intro)))


def _notes(view: View, total: int, shown: int) -> tuple[str, ...]:
    if shown < total:
        return (f"{total - shown} more: narrow by name_keyword, or change max_items and intro_max_chars.",)
    if total:
        return ()
    try:
        view.seen()
    except ZhikuError as error:  # why there is none, and what makes one
        return (str(error),)
    return ("No base is like that; kb_list without arguments tells all.",)
