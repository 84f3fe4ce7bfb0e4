"""Chunks follow sections and paragraphs, and know where they stand."""

from __future__ import annotations

import re
from itertools import pairwise

from zhiku.chunkers.structure import StructureChunker
from zhiku.model import Block, BlockKind, Chunk, Page, ParsedDocument, Source
from zhiku.parsers.markdown import MarkdownParser
from zhiku.text.measure import estimate_tokens


def chunks(text: str, max_tokens: int = 400) -> list[Chunk]:
    source = Source(root="/r", path="a.md", size_bytes=0, mtime_ns=0, sha256="")
    return list(StructureChunker(max_tokens=max_tokens).chunk(MarkdownParser().parse(source, text.encode())))


def plain(text: str, *, pages: tuple[Page, ...] = (), line_numbers: tuple[int, ...] = ()) -> ParsedDocument:
    kind: BlockKind = "paragraph"
    blocks = tuple(
        Block(kind=kind, char_start=m.start(), char_end=m.end()) for m in re.finditer(r"\S(?:.|\n(?!\n))*", text)
    )
    return ParsedDocument(text=text, blocks=blocks, pages=pages, line_numbers=line_numbers)


def test_a_document_without_blocks_has_no_chunks() -> None:
    assert chunks("") == chunks("\n \n") == []


def test_a_short_section_is_one_chunk() -> None:
    (chunk,) = chunks("# 安装\n\n先断电。\n\n再拆盖板。\n")
    assert (chunk.text, chunk.section) == ("安装\n\n先断电。\n\n再拆盖板。", ("安装",))


def test_each_section_has_chunks_of_its_own_with_its_chain() -> None:
    found = chunks("前言\n\n# 一\n\n甲\n\n## 二\n\n乙\n\n# 三\n\n丙\n")
    assert [chunk.section for chunk in found] == [(), ("一",), ("一", "二"), ("三",)]


def test_a_heading_of_a_higher_level_ends_the_chains_below_it() -> None:
    found = chunks("### 深\n\n甲\n\n# 顶\n\n乙\n\n#### 更深\n\n丙\n\n## 中\n\n丁\n")
    assert [chunk.section for chunk in found] == [("深",), ("顶",), ("顶", "更深"), ("顶", "中")]


def test_a_heading_without_text_goes_with_the_section_below_it() -> None:
    (chunk,) = chunks("# 手册\n\n## 安装\n\n先断电。\n")
    assert (chunk.text, chunk.section) == ("手册\n\n安装\n\n先断电。", ("手册", "安装"))


def test_headings_alone_are_still_a_chunk() -> None:
    (chunk,) = chunks("# 一\n\n## 二\n")
    assert (chunk.text, chunk.section) == ("一\n\n二", ("一", "二"))


def test_a_fence_that_fits_stays_whole() -> None:
    fence = "\n".join(f"step_{n} = run({n})" for n in range(12))
    found = chunks(f"{'说明。' * 90}\n\n```py\n{fence}\n```\n\n{'后记。' * 90}\n")
    assert sum(fence in chunk.text for chunk in found) == 1


def test_a_table_that_fits_stays_whole() -> None:
    rows = "\n".join(f"垫片{n} | {n}" for n in range(20))
    found = chunks(f"{'说明。' * 100}\n\n名称 | 数\n--- | ---\n{rows}\n\n{'后记。' * 100}\n")
    assert sum(rows in chunk.text for chunk in found) == 1


def test_a_long_paragraph_is_cut_behind_sentences() -> None:
    found = chunks("这一句话的长度刚好是十五个字呢。" * 100)
    assert len(found) > 3
    assert all(chunk.text.endswith("。") for chunk in found)


def test_the_chunks_of_a_long_section_are_about_equal() -> None:
    sizes = [estimate_tokens(chunk.text) for chunk in chunks("\n\n".join(["段落里的一句话。" * 8] * 30))]
    assert max(sizes) <= 400
    assert min(sizes) > 0.6 * max(sizes)


def test_an_unbroken_run_is_cut_and_its_pieces_overlap() -> None:
    found = chunks("".join(chr(0x4E00 + n) for n in range(3000)))

    assert all(estimate_tokens(chunk.text) <= 400 for chunk in found)
    for before, after in pairwise(found):
        repeated = before.char_end - after.char_start
        assert 0.05 * 400 < estimate_tokens(before.text[-repeated:]) <= 0.12 * 400


def test_chunks_of_different_sections_do_not_overlap() -> None:
    found = chunks("# 一\n\n" + "甲" * 700 + "\n\n# 二\n\n" + "乙" * 700 + "\n")
    assert not any("甲" in chunk.text and "乙" in chunk.text for chunk in found)


def test_the_limit_holds_for_any_size() -> None:
    text = "Sentence number one. 第二句话在这里。 x1-2-3 " * 60
    for max_tokens in (16, 50, 400):
        assert all(estimate_tokens(chunk.text) <= max_tokens for chunk in chunks(text, max_tokens))


def test_blank_lines_between_paragraphs_do_not_lead_over_the_limit() -> None:
    found = chunks(("段落。" * 10 + "\n" * 400) * 10)
    assert all(estimate_tokens(chunk.text) <= 400 for chunk in found)


def test_lines_are_those_of_the_file() -> None:
    (first, second) = chunks("---\ntitle: 甲\n---\n\n# 一\n\n正文\n续行\n\n# 二\n\n末段\n")
    assert (first.line_start, first.line_end) == (5, 8)
    assert (second.line_start, second.line_end) == (10, 12)


def test_line_numbers_of_the_document_are_used_where_it_has_some() -> None:
    (chunk,) = StructureChunker().chunk(plain("甲\n乙", line_numbers=(7, 12)))
    assert (chunk.line_start, chunk.line_end) == (7, 12)


def test_pages_are_those_that_the_chunk_touches() -> None:
    pages = (
        Page(page_no=1, char_start=0, char_end=4),
        Page(page_no=2, char_start=4, char_end=4),  # a page without text
        Page(page_no=3, char_start=4, char_end=7),
    )
    (chunk,) = StructureChunker().chunk(plain("甲甲甲\n乙乙乙", pages=pages))
    assert (chunk.page, chunk.page_end) == (1, 3)


def test_spans_point_at_the_text() -> None:
    document = plain("  甲甲  \n\n\n乙乙\n")
    for chunk in StructureChunker().chunk(document):
        assert document.text[chunk.char_start : chunk.char_end] == chunk.text == chunk.text.strip()


def test_names_of_what_a_block_belongs_to_are_its_chain_and_part_chunks() -> None:
    names = [(), ("Pump",), ("Pump", "stop"), ("Pump", "stop"), ("Pump",), ()]
    text = "\n\n".join("abcdef")
    blocks = [
        Block(kind="paragraph", char_start=3 * n, char_end=3 * n + 1, section=section)
        for n, section in enumerate(names)
    ]
    found = list(StructureChunker().chunk(ParsedDocument(text=text, blocks=tuple(blocks))))
    assert [(chunk.text, chunk.section) for chunk in found] == [
        ("a", ()),
        ("b", ("Pump",)),
        ("c\n\nd", ("Pump", "stop")),
        ("e", ("Pump",)),
        ("f", ()),
    ]
