"""Lines of documents as text: what grep matched, and what read shows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from zhiku.cli.columns import clean_line, wrap
from zhiku.cli.places import cautions, lines_or_pages
from zhiku.cli.screen import Screen, joined

if TYPE_CHECKING:
    from zhiku.retrieve.lines import GrepAnswer
    from zhiku.retrieve.read import Excerpt


def matches(answer: GrepAnswer, screen: Screen) -> Iterator[str]:
    """Yield `path:line: text` for each matched line, with its base before it where several were searched."""
    several = len(answer.bases) > 1
    for item in answer.items:
        paged = item.page is not None
        where = lines_or_pages(screen, (None, None), (item.page, None), ocr=item.ocr) if paged else str(item.line)
        path = screen.link(f"{item.base}:{item.path}" if several else item.path, item.file)
        yield f"{path}:{screen.style(where, 'dim')}: {screen.marked(item.text, 0, len(item.text), item.marks)}"


def header(excerpt: Excerpt, screen: Screen) -> str:
    """Return what an excerpt is of, in one line."""
    document, lines = excerpt.document, excerpt.lines
    numbers = (None, None) if document.page_count or not lines else (lines[0].number, lines[-1].number)
    where = lines_or_pages(screen, numbers, (excerpt.page, None), ocr=excerpt.ocr_confidence is not None)
    return joined([clean_line(document.source.path), where, cautions(screen, excerpt)])


def excerpt_lines(excerpt: Excerpt, screen: Screen) -> Iterator[str]:
    """Yield the lines of an excerpt, numbered for a reader, and as they are for another program."""
    if not screen.is_terminal:
        yield from (line.text for line in excerpt.lines)
        return
    # The text of a paged document has lines that nobody else counts.
    numbered = not excerpt.document.page_count
    digits = len(str(excerpt.lines[-1].number)) if excerpt.lines and numbered else 0
    gutter = digits + 2 if numbered else 0
    for line in excerpt.lines:
        number = screen.style(f"{line.number:>{digits}}", "dim") + "  " if numbered else ""
        for start, end in wrap(line.text, screen.columns - gutter if screen.columns else None):
            yield f"{number}{screen.marked(line.text, start, end, ())}".rstrip()
            number = " " * gutter
