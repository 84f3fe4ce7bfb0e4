"""The tool kb_read: a document, or a part of it, as much as a result may hold and where to go on."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from pydantic import Field

from zhiku.locator import CONTENT_DIGITS, Locator
from zhiku.mcp.bounds import MAX_RESULT_CHARS, both_chars, json_chars
from zhiku.mcp.places import STATES, place, readable
from zhiku.mcp.sight import Sight
from zhiku.mcp.tool import BadCall, Reply
from zhiku.retrieve.read import Excerpt, Line
from zhiku.text.measure import best_cut

MAX_TITLE_CHARS = 200
NUMBERS_CHARS = 100
"""By how much numbers of lines and characters may be longer than those of nothing."""
_LINES = re.compile(r"\s*(\d{1,18})\s*(?:(-)\s*(\d{1,18})?)?\s*")
_END = (1 << 63) - 1


@dataclass(frozen=True, kw_only=True)
class ReadResult:
    """A part of a document, as it was indexed. Where it is cut, `next` is the locator of what follows."""

    base: str
    path: str
    file: str
    title: str = ""
    line_start: int | None = None
    line_end: int | None = None
    page: int | None = None
    text: str
    cut: bool = False
    next: str = ""
    chars: int
    """Of the text above."""
    document_chars: int
    document_pages: int = 0
    caution: str = ""


def kb_read(
    sight: Sight,
    *,
    locator: Annotated[str | None, Field(description="A zhiku:// address, as a search gives it.")] = None,
    path: Annotated[str | None, Field(description="Or a document's path, or the end of it.")] = None,
    base: Annotated[str | None, Field(description="The base of that path, where several have such a document.")] = None,
    lines: Annotated[str | None, Field(description="Lines to read: 10-40, 10- or 10.")] = None,
    page: Annotated[int | None, Field(ge=1, le=1_000_000, description="The page to read.")] = None,
    context: Annotated[int, Field(ge=0, le=1_000, description="So many lines more before and after.")] = 0,
    max_chars: Annotated[
        int, Field(ge=2_000, le=100_000, description="Characters of the whole result at most.")
    ] = MAX_RESULT_CHARS,
) -> Reply:
    """Return a document, or a part of it."""
    wanted = locator or path
    if not wanted or (locator and path):
        raise BadCall("kb_read needs a locator or a path, one of them; kb_search and kb_grep give both.")
    if lines and page:
        raise BadCall("kb_read takes lines or a page, not both.")
    found = sight.view().read(wanted, base, lines=_line_range(lines) if lines else None, page=page, context=context)
    return _reply(found, max_chars)


def _line_range(text: str) -> tuple[int, int]:
    match = _LINES.fullmatch(text)
    if match is None:
        raise BadCall(f"{text!r} is no range of lines; write 10-40, 10- or 10.")
    first = int(match[1])
    return first, int(match[3]) if match[3] else _END if match[2] else first


def _reply(found: Excerpt, max_chars: int) -> Reply:
    frame = _result(found, (), found.lines[0] if found.lines else None)
    room = max_chars - len(_as_text(frame)) - json_chars(frame) - NUMBERS_CHARS
    result = _result(found, *_fitting(found.lines, room))
    return Reply(text=_as_text(result), data=result)


def _result(found: Excerpt, shown: Sequence[Line], rest: Line | None) -> ReadResult:
    document = found.document
    paged = document.page_count > 0
    text = "\n".join(line.text for line in shown)
    return ReadResult(
        base=found.base,
        path=document.source.path,
        file=found.file,
        title=document.title[:MAX_TITLE_CHARS],
        line_start=shown[0].number if shown and not paged else None,
        line_end=shown[-1].number if shown and not paged else None,
        page=found.page,
        text=text,
        cut=rest is not None,
        next=_locator(found, rest) if rest else "",
        chars=len(text),
        document_chars=document.chars,
        document_pages=document.page_count,
        caution=_caution(found),
    )


def _fitting(lines: Sequence[Line], left: int) -> tuple[Sequence[Line], Line | None]:
    """Return lines within so many characters, and the first of those that are left out, or what is left of it."""
    shown: list[Line] = []
    for line in lines:
        # And its break: one in the text, and two in JSON, for which the quotation marks are counted already.
        size = both_chars(line.text) + 1
        if size > left:
            return (shown, line) if shown else _cut(line, left)
        shown.append(line)
        left -= size
    return shown, None


def _cut(line: Line, left: int) -> tuple[list[Line], Line]:
    cut = left // 2
    while both_chars(line.text[:cut]) > left:
        cut //= 2
    cut = best_cut(line.text, cut // 2, cut)
    begun = replace(line, text=line.text[:cut])
    return [begun], replace(line, char_start=line.char_start + cut, text=line.text[cut:])


def _locator(found: Excerpt, rest: Line) -> str:
    """Return the address of what was asked for from `rest` on."""
    document, last = found.document, found.lines[-1]
    return readable(
        str(
            Locator(
                base=found.base,
                path=document.source.path,
                doc_id=document.doc_id,
                content=document.source.sha256[:CONTENT_DIGITS],
                char_start=rest.char_start,
                char_end=last.char_start + len(last.text),
            )
        )
    )


def _caution(found: Excerpt) -> str:
    cautions = [STATES[found.file_state]] if STATES[found.file_state] else []
    cautions += ["read by OCR"] if found.ocr_confidence is not None else []
    cautions += ["holds text that its file does not show"] if found.hidden_text else []
    return "; ".join(cautions)


def _as_text(result: ReadResult) -> str:
    where = place((result.line_start, result.line_end), (result.page, result.page))
    size = f"{result.document_pages} pages, " if result.document_pages else ""
    head = f"[{result.base}] {result.path}" + (f", {where}" if where else "")
    head += f": {result.chars:,} of the document's {size}{result.document_chars:,} characters"
    head += f" ({result.caution})" if result.caution else ""
    more = f'\n\n… cut here. It goes on with kb_read(locator="{result.next}")' if result.cut else ""
    return f"{head}\n\n{result.text}{more}"
