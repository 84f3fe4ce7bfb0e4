"""Find the headings of a PDF: where the titles of its outline stand, or else its larger lines."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from zhiku.text.pdf_characters import clean_characters
from zhiku.text.pdf_printed import OutlineEntry, PrintedLine, PrintedPage

LARGER: Final = 1.15
"""A line whose font is larger than that of most text by this factor may be a heading; 10.5 on 12 points is one."""

MAX_HEADING_CHARS: Final = 120
MAX_HEADING_LINES: Final = 3
MAX_SIZES: Final = 4
"""Of large fonts: a page of more is a poster, and size says nothing."""

MAX_LARGE_SHARE: Final = 0.3
"""Of lines: where more of them are large, they are no headings."""

_NUMBERING: Final = re.compile(
    r"(?:chapter|section|appendix|part)?(?:[a-z](?=\.\d))?[\d.．、:：第章节篇部附录一二三四五六七八九十百]*",
    re.IGNORECASE,
)
_QUOTES: Final = str.maketrans("“”‘’", "\"\"''")
_WORDS: Final = re.compile(r"[^\W\d_]{2}")

Headings = dict[tuple[int, int], tuple[int, int]]
"""The number of lines and the level of each heading, by its page and the place of its first line there."""


def find_headings(pages: Sequence[PrintedPage], outline: Iterable[OutlineEntry]) -> Headings:
    """Return the headings that the outline names; without such, the lines that are set in a larger font."""
    return _find_titles(pages, outline) or _find_large_lines(pages)


def _find_titles(pages: Sequence[PrintedPage], outline: Iterable[OutlineEntry]) -> Headings:
    by_number = {page.page_no: page for page in pages}
    found: Headings = {}
    for entry in outline:
        lines = by_number[entry.page_no].lines if entry.page_no in by_number else ()
        wanted = _heading_key(entry.title)
        for number in range(len(lines) if wanted else 0):
            if (entry.page_no, number) in found:
                continue
            if count := _count_heading_lines(wanted, lines[number : number + MAX_HEADING_LINES]):
                found[entry.page_no, number] = (count, min(entry.level, 6))
                break
    return found


def _heading_key(text: str) -> str:
    return "".join(clean_characters(text).casefold().split()).translate(_QUOTES)


def _count_heading_lines(wanted: str, lines: Sequence[PrintedLine]) -> int:
    """Return how many lines make up the wanted title, of which either side may lack the numbering; 0 if they do not."""
    number, title = _split_numbering(wanted)
    key = ""
    for count, line in enumerate(lines, 1):
        key += _heading_key(line.text)
        its_number, its_title = _split_numbering(key)
        if its_title == title and _agree(number, its_number):
            return count
        if its_title and not title.startswith(its_title):
            return 0
    return 0


def _split_numbering(key: str) -> tuple[str, str]:
    match = _NUMBERING.match(key)
    end = match.end() if match else 0
    return (key[:end], key[end:]) if end < len(key) else ("", key)


def _agree(one: str, other: str) -> bool:
    return one.endswith(other) or other.endswith(one)


def _find_large_lines(pages: Sequence[PrintedPage]) -> Headings:
    chars: Counter[float] = Counter()
    for page in pages:
        for line in page.lines:
            chars[_rounded(line)] += len(line.text)
    if not chars:
        return {}
    body = chars.most_common(1)[0][0]
    runs = list(_iter_large_runs(pages, body * LARGER))
    sizes = sorted({size for _, _, _, size in runs}, reverse=True)
    lines = sum(len(page.lines) for page in pages)
    if len(sizes) > MAX_SIZES or sum(count for _, _, count, _ in runs) > lines * MAX_LARGE_SHARE:
        return {}
    return {(page_no, number): (count, sizes.index(size) + 1) for page_no, number, count, size in runs}


def _iter_large_runs(pages: Sequence[PrintedPage], least: float) -> Iterator[tuple[int, int, int, float]]:
    """Yield page, place of the first line, number of lines and size of what may be headings."""
    for page in pages:
        number = 0
        while number < len(page.lines):
            size = _rounded(page.lines[number])
            end = number + 1
            while end < len(page.lines) and _rounded(page.lines[end]) == size:
                end += 1
            text = "".join(line.text for line in page.lines[number:end])
            is_short = end - number <= MAX_HEADING_LINES and len(text) <= MAX_HEADING_CHARS
            if size >= least and is_short and _WORDS.search(text):
                yield page.page_no, number, end - number, size
            number = end


def _rounded(line: PrintedLine) -> float:
    return round(line.size * 2) / 2
