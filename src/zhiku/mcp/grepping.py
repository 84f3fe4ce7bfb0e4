"""The tool kb_grep: every line that holds a keyword."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Annotated

from pydantic import Field

from zhiku.mcp.bounds import MAX_RESULT_CHARS, counted, fitting, json_chars, named
from zhiku.mcp.health import faults
from zhiku.mcp.sight import Sight
from zhiku.mcp.tool import Reply
from zhiku.retrieve.lines import GrepAnswer, GrepItem, GrepQuery

MAX_LINES = 50
MAX_BASES = 50


@dataclass(frozen=True, kw_only=True)
class FoundLine:
    """One line that holds the keyword, cut around it where it is long."""

    base: str
    path: str
    line: int | None = None
    page: int | None = None
    text: str


@dataclass(frozen=True, kw_only=True)
class GrepResult:
    """Lines by base, document and place. `next_offset` is given where more lines follow."""

    found: bool
    bases: tuple[str, ...]
    lines: tuple[FoundLine, ...]
    next_offset: int | None = None
    notes: tuple[str, ...] = ()


def kb_grep(
    sight: Sight,
    *,
    keyword: Annotated[str, Field(min_length=1, description="Looked for character for character; no pattern.")],
    base: Annotated[str | None, Field(description="Look in this base only; in all of them, if left out.")] = None,
    source: Annotated[str | None, Field(description="Only files whose path holds this, or a glob: *.pdf")] = None,
    case_sensitive: Annotated[bool, Field(description="Tell capital letters from small ones.")] = False,
    max_lines: Annotated[int, Field(ge=1, le=500, description="How many lines at most.")] = MAX_LINES,
    offset: Annotated[int, Field(ge=0, le=100_000, description="Begin after so many lines (next_offset).")] = 0,
    max_chars: Annotated[
        int, Field(ge=1_000, le=100_000, description="Characters of the whole result at most.")
    ] = MAX_RESULT_CHARS,
) -> Reply:
    """Return the lines that hold a keyword."""
    query = GrepQuery(keyword=keyword, case_sensitive=case_sensitive, source=source, max_lines=offset + max_lines)
    answer = sight.view().grep(query, base)
    following = answer.items[offset:]
    frame = GrepResult(
        found=bool(following),
        bases=answer.bases[:MAX_BASES],
        lines=(),
        next_offset=offset + len(following),
        notes=tuple(faults(answer.degraded)),
    )
    room = max_chars - len(_as_text(frame, answer, offset)) - json_chars(frame)
    lines = tuple(fitting(map(_line, following), _size, room))
    more = answer.truncated or len(lines) < len(following)
    result = replace(frame, lines=lines, next_offset=offset + len(lines) if more else None)
    return Reply(text=_as_text(result, answer, offset), data=result)


def _line(item: GrepItem) -> FoundLine:
    return FoundLine(base=item.base, path=item.path, line=item.line, page=item.page, text=item.text)


def _size(line: FoundLine) -> int:
    # As if each line had its path to itself in the text; lines of one document share it.
    return json_chars(line) + len(line.base) + len(line.path) + len(line.text) + len("[] \n  page 10000: \n,")


def _as_text(result: GrepResult, answer: GrepAnswer, offset: int) -> str:
    return "\n".join([_head(result, answer, offset), *_told(result.lines), *result.notes])


def _head(result: GrepResult, answer: GrepAnswer, offset: int) -> str:
    where = named(answer.bases)
    if not result.found:
        return f"No {'more lines hold' if offset else 'line holds'} that in {where}. kb_search finds by meaning too."
    more = f"; more follow: offset={result.next_offset}" if result.next_offset is not None else ""
    return f"{counted(len(result.lines), 'line')} in {where}{more}."


def _told(lines: Sequence[FoundLine]) -> Iterator[str]:
    for (base, path), group in groupby(lines, lambda line: (line.base, line.path)):
        yield f"[{base}] {path}"
        for line in group:
            yield f"  {line.line if line.page is None else f'page {line.page}'}: {line.text.strip()}"
