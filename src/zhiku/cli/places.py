"""Places and states in words: where text stands, and whether its file is still as it was read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from zhiku.cli.screen import joined

if TYPE_CHECKING:
    from zhiku.answer import Hit
    from zhiku.cli.screen import Screen
    from zhiku.retrieve.read import Excerpt
    from zhiku.service.ledger import PageCounts

STATES = {
    "changed": "changed since it was indexed",
    "missing": "its file is gone or out of reach",
    "moved": "its file was moved",
    "unchanged": "",
}


def lines_or_pages(
    screen: Screen, lines: tuple[int | None, int | None], pages: tuple[int | None, int | None], *, ocr: bool = False
) -> str:
    """Return a place as `L10-40`, or as a page where the document has pages; `ocr`: such a page was read by OCR."""
    if pages[0] is not None:
        if pages[1] is not None and pages[1] != pages[0]:
            place = screen.tr("pages {first}-{last}", first=pages[0], last=pages[1])
        else:
            place = screen.tr("page {page}", page=pages[0])
        return screen.tr("{place} (OCR)", place=place) if ocr else place
    if lines[0] is None:
        return ""
    return f"L{lines[0]}" if lines[1] in (None, lines[0]) else f"L{lines[0]}-{lines[1]}"


def pages_read(pages: PageCounts, screen: Screen) -> Iterator[str]:
    """Yield what was read of some pages, if that is not simply the text of all of them."""
    if pages.text < pages.total:
        yield screen.tr("with text {count:,}", count=pages.text)
    if pages.ocr:
        yield screen.tr("by OCR {count:,}", count=pages.ocr)
    if pages.blank:
        yield screen.tr("blank {count:,}", count=pages.blank)
    if pages.without:
        yield screen.tr("without text {count:,}", count=pages.without)


def chain(section: Sequence[str]) -> str:
    """Return the headings above a passage in one line."""
    return " › ".join(section)


def cautions(screen: Screen, shown: Hit | Excerpt) -> str:
    """Return what a reader should know of a text: whether its file is as it was read, and shows it; else nothing."""
    words = STATES[shown.file_state]
    notes = [screen.tr(words)] if words else []
    if shown.hidden_text:
        notes.append(screen.tr("holds text that its file does not show"))
    return joined([f"({note})" for note in notes])
