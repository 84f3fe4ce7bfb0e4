"""Find what stands on page after page of a PDF: running heads and feet, page numbers, stamps."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from zhiku.text.pdf_printed import PrintedLine, PrintedPage

EDGE_SHARE: Final = 0.1
"""Running heads and page numbers stand in this share of a page's height at its top and bottom (measured)."""

EDGE_LINES: Final = 2
"""And are at most the so manieth line from there: the text of a page with narrow margins begins right below."""

MIN_REPEATS: Final = 3
"""A line at the same height of at least so many pages, digits aside, is no text of the document."""

MIN_SLOT_SHARE: Final = 0.5
"""Where so many of the lines at one height begin alike, all of them are running heads: those of chapters differ."""

BEGINNING_CHARS: Final = 6

_NUMBERS: Final = re.compile(r"\d+|(?:^|(?<=[\W_])|(?<=[\u3400-\u9fff]))[ivxlc]+$")


def drop_running_lines(pages: Sequence[PrintedPage]) -> list[PrintedPage]:
    """Return the pages without running heads, feet and page numbers."""
    keys = [{line: running_key(line) for line in _iter_edge_lines(page)} for page in pages]
    repeats = Counter(place for page_keys in keys for place in {(_slot(line), key) for line, key in page_keys.items()})
    slots = _find_slots(keys)
    return [
        replace(
            page,
            lines=tuple(
                line
                for line in page.lines
                if line not in page_keys
                or (repeats[_slot(line), page_keys[line]] < MIN_REPEATS and _slot(line) not in slots)
            ),
        )
        for page, page_keys in zip(pages, keys, strict=True)
    ]


def _find_slots(keys: Iterable[Mapping[PrintedLine, str]]) -> set[int]:
    """Return the heights at which most lines begin as others do at the same height of other pages."""
    slots: dict[int, Counter[str]] = {}
    for page_keys in keys:
        for line, key in page_keys.items():
            slots.setdefault(_slot(line), Counter())[key[:BEGINNING_CHARS]] += 1
    return {
        slot
        for slot, beginnings in slots.items()
        if sum(count for count in beginnings.values() if count >= MIN_REPEATS) > beginnings.total() * MIN_SLOT_SHARE
    }


def _slot(line: PrintedLine) -> int:
    return round(line.baseline)


def _iter_edge_lines(page: PrintedPage) -> Iterator[PrintedLine]:
    heights = sorted({_slot(line) for line in page.lines})
    outermost = {*heights[:EDGE_LINES], *heights[-EDGE_LINES:]}
    for line in page.lines:
        middle = line.baseline + line.size / 3
        is_at_edge = not page.height * EDGE_SHARE <= middle <= page.height * (1 - EDGE_SHARE)
        if is_at_edge and _slot(line) in outermost:
            yield line


def running_key(line: PrintedLine) -> str:
    """Return what is the same in lines that run through a document: the text, but for numbers, case and blanks."""
    return _NUMBERS.sub("#", "".join(line.text.lower().split()))
