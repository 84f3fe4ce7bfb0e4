"""The tool kb_grep: every line that holds a keyword."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Annotated

from pydantic import Field

from zhiku.mcp.bounds import MAX_RESULT_CHARS, counted, json_chars
from zhiku.mcp.sight import Sight
from zhiku.mcp.tool import Reply
from zhiku.retrieve.lines import GrepItem, GrepQuery

MAX_LINES = 50
TELLING_CHARS = 1_000


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
    lines = tuple(_fitting(following, max_chars - TELLING_CHARS))
    more = answer.truncated or len(lines) < len(following)
    result = GrepResult(
        found=bool(lines),
        bases=answer.bases,
        lines=lines,
        next_offset=offset + len(lines) if more else None,
        notes=tuple(f"Note: {error}" for error in answer.degraded),
    )
    return Reply(text="\n".join([_head(result, offset), *_as_text(lines), *result.notes]), data=result)


def _head(result: GrepResult, offset: int) -> str:
    where = ("base " if len(result.bases) == 1 else "bases ") + ", ".join(result.bases)
    if not result.lines:
        return f"No {'more lines hold' if offset else 'line holds'} that in {where}. kb_search finds by meaning too."
    more = f"; more follow: offset={result.next_offset}" if result.next_offset is not None else ""
    return f"{counted(len(result.lines), 'line')} in {where}{more}."


def _fitting(items: Sequence[GrepItem], left: int) -> Iterator[FoundLine]:
    for item in items:
        line = FoundLine(base=item.base, path=item.path, line=item.line, page=item.page, text=item.text)
        # In the text its path is told once for all lines of a document.
        left -= json_chars(line) + len(line.text) + 20
        if left < 0:
            return
        yield line


def _as_text(lines: Sequence[FoundLine]) -> Iterator[str]:
    for (base, path), group in groupby(lines, lambda line: (line.base, line.path)):
        yield f"[{base}] {path}"
        for line in group:
            yield f"  {line.line if line.page is None else f'page {line.page}'}: {line.text.strip()}"
