"""Chunks are windows of lines, whatever these say."""

from __future__ import annotations

import pytest

from zhiku.chunkers.lines import LinesChunker
from zhiku.errors import ConfigError
from zhiku.model import Block, Chunk, Page, ParsedDocument, Source
from zhiku.parsers.markdown import MarkdownParser
from zhiku.text.measure import estimate_tokens


def plain(text: str, **places: tuple[object, ...]) -> ParsedDocument:
    block = Block(kind="paragraph", char_start=0, char_end=len(text))
    return ParsedDocument(text=text, blocks=(block,), **places)  # type: ignore[arg-type]


def chunks(text: str, **settings: int) -> list[Chunk]:
    return list(LinesChunker(**settings).chunk(plain(text)))


def numbered(count: int, between: str = "\n") -> str:
    return between.join(f"line {number}" for number in range(1, count + 1))


def test_a_window_has_ten_lines_that_are_not_blank_and_repeats_two() -> None:
    found = chunks(numbered(26, "\n\n \n"))
    assert [[line.strip() for line in chunk.text.split("\n") if line.strip()] for chunk in found] == [
        [f"line {n}" for n in range(first, last + 1)] for first, last in [(1, 10), (9, 18), (17, 26)]
    ]
    assert [(chunk.line_start, chunk.line_end) for chunk in found] == [(1, 28), (25, 52), (49, 76)]


def test_both_numbers_are_settings() -> None:
    found = chunks(numbered(7), chunk_lines=3, overlap_lines=0)
    assert [(chunk.line_start, chunk.line_end) for chunk in found] == [(1, 3), (4, 6), (7, 7)]
    assert LinesChunker(chunk_lines=3, overlap_lines=1).version == "lines-1 3/1"


def test_the_last_window_is_no_part_of_the_one_before() -> None:
    assert [(c.line_start, c.line_end) for c in chunks(numbered(10))] == [(1, 10)]
    assert [(c.line_start, c.line_end) for c in chunks(numbered(11))] == [(1, 10), (9, 11)]


@pytest.mark.parametrize(("lines", "overlap"), [(2, 2), (1, 5)])
def test_a_window_must_hold_something_new(lines: int, overlap: int) -> None:
    with pytest.raises(ConfigError, match="must be less than chunk_lines"):
        LinesChunker(chunk_lines=lines, overlap_lines=overlap)


def test_long_lines_end_a_window_earlier_and_longer_ones_are_cut() -> None:
    text = "\n".join(["字" * 200] * 6 + ["长" * 3000] + ["短"] * 3)
    found = chunks(text)
    assert all(estimate_tokens(chunk.text) <= 400 for chunk in found)
    assert max(chunk.line_end - chunk.line_start for chunk in found[:3]) == 1
    assert {chunk.line_start for chunk in found} >= {1, 2, 3, 4, 5, 7}


def test_a_chunk_knows_the_headings_above_its_first_line() -> None:
    source = Source(root="/r", path="a.md", size_bytes=0, mtime_ns=0, sha256="")
    text = "---\ntitle: 甲\n---\n# 一\n\n甲\n\n## 二\n\n" + "乙\n" * 12 + "\n# 三\n\n丙\n"
    found = list(LinesChunker().chunk(MarkdownParser().parse(source, text.encode())))
    assert [(chunk.section, chunk.line_start) for chunk in found] == [(("一",), 4), (("一", "二"), 15)]


def test_lines_and_pages_are_those_of_the_file() -> None:
    pages = (Page(page_no=1, char_start=0, char_end=3), Page(page_no=2, char_start=4, char_end=7))
    (chunk,) = LinesChunker().chunk(plain("甲甲甲\n乙乙乙", pages=pages, line_numbers=(7, 12)))
    assert (chunk.line_start, chunk.line_end, chunk.page, chunk.page_end) == (7, 12, 1, 2)


def test_a_window_does_not_reach_over_two_sheets() -> None:
    found = list(LinesChunker().chunk(plain("a\nb\nc\nd", line_numbers=(1, 2, 1, 2))))
    assert [(chunk.text, chunk.line_start, chunk.line_end) for chunk in found] == [("a\nb", 1, 2), ("c\nd", 1, 2)]


def test_a_document_without_text_has_no_chunks() -> None:
    assert chunks("") == chunks("\n \n\n") == []
