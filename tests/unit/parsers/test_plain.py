"""How plain text becomes blocks."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zhiku.errors import ParseFailed
from zhiku.model import ParsedDocument, Source
from zhiku.parsers.plain import ENDINGS, PlainParser


def parse(name: str, text: str | bytes) -> ParsedDocument:
    data = text.encode() if isinstance(text, str) else text
    source = Source(root="/root", path=name, size_bytes=len(data), mtime_ns=0, sha256="")
    return PlainParser().parse(source, data)


def blocks(document: ParsedDocument) -> list[tuple[str, str]]:
    return [(block.kind, document.text[block.char_start : block.char_end]) for block in document.blocks]


def outline(name: str, text: str) -> list[tuple[int, str]]:
    return [(block.level, block.title) for block in parse(name, text).blocks if block.kind == "heading"]


def test_an_empty_file_is_a_document_without_blocks() -> None:
    assert parse("a.txt", "").blocks == ()


def test_paragraphs_are_runs_of_lines_between_blank_lines() -> None:
    document = parse("a.txt", "\n \n  one\ntwo  \n\n\u3000\n\nthree\n")

    assert blocks(document) == [("paragraph", "  one\ntwo"), ("paragraph", "three")]


def test_text_is_kept_as_it_is_so_that_lines_keep_their_numbers() -> None:
    document = parse("a.log", b"one\r\n\r\ntwo\r\n")

    assert (document.text, document.line_numbers) == ("one\n\ntwo\n", ())


def test_a_table_of_text_is_one_table_block() -> None:
    assert blocks(parse("a.csv", "品名,单价\n垫片,3.5\n")) == [("table", "品名,单价\n垫片,3.5")]


def test_encoding_and_warnings_are_passed_on() -> None:
    document = parse("a.txt", "违约金按日计算\0。\n".encode("gbk"))

    assert (document.encoding, document.warnings) == ("gb18030", ("1 NUL characters",))


def test_a_binary_file_is_refused_by_name() -> None:
    with pytest.raises(ParseFailed, match=r"dir/a\.txt"):
        parse("dir/a.txt", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\xff")


def test_chapter_lines_of_chinese_prose_are_headings() -> None:
    text = "第一章 绪论\n　　正文。\n第1节 背景\n正文\n\n第十二章\n\n正文\n\n第三回：大结局\n"

    assert outline("a.txt", text) == [
        (1, "第一章 绪论"),
        (2, "第1节 背景"),
        (1, "第十二章"),
        (1, "第三回：大结局"),
    ]


def test_volumes_are_above_chapters() -> None:
    assert outline("a.txt", "第一卷 风起\n第一章 启程\n第一节 出门\n") == [
        (1, "第一卷 风起"),
        (2, "第一章 启程"),
        (3, "第一节 出门"),
    ]


def test_a_title_without_a_gap_is_a_heading_only_where_it_stands_alone() -> None:
    assert outline("a.txt", "上文\n\n第二章引言\n\n下文") == [(1, "第二章引言")]
    assert outline("a.txt", "换行的句子说到\n第二章引言部分的内容\n还没有完") == []


@pytest.mark.parametrize(
    "line",
    [
        "第三章 介绍了安装的步骤，",
        "第一章 绪论……………………1",
        "第一章 " + "长" * 40,
        "第一百二十条 合同成立",
        "见第三章 安装",
    ],
)
def test_a_sentence_that_names_a_chapter_is_no_heading(line: str) -> None:
    assert outline("a.txt", f"{line}\n") == []


def test_chapter_lines_mean_nothing_in_source_code() -> None:
    assert outline("a.py", "第一章 绪论\n") == []


def test_rst_titles_take_their_level_from_the_order_of_their_marks() -> None:
    text = (
        "======\n Book\n======\n\n章节一\n------\n\ntext\nover two lines\n-----\n\n"
        "Part\n~~~~\n\n概述\n====\n\nNext\n----\n"
    )

    assert outline("a.rst", text) == [(1, "Book"), (2, "章节一"), (3, "Part"), (4, "概述"), (2, "Next")]


def test_rst_directives_come_through_as_literal_text() -> None:
    text = "Title\n=====\n\n.. include:: /etc/hostname\n\n.. csv-table::\n   :file: /etc/passwd\n"
    document = parse("a.rst", text)

    assert document.title == "Title"
    assert blocks(document)[1:] == [
        ("paragraph", ".. include:: /etc/hostname"),
        ("paragraph", ".. csv-table::\n   :file: /etc/passwd"),
    ]


def test_org_headlines_lose_their_keyword_and_tags() -> None:
    text = "* TODO 计划 :work:urgent:\ntext *bold*\n** Details\n* 完成\n"

    assert outline("a.org", text) == [(1, "计划"), (2, "Details"), (1, "完成")]


def test_asciidoc_titles_are_headings_outside_of_listings() -> None:
    text = "= Guide\n\n== Install\n\n----\n== not a title\n----\n\n=== 配置\n"

    assert outline("a.adoc", text) == [(1, "Guide"), (2, "Install"), (3, "配置")]


def test_latex_sections_are_headings_from_the_highest_command_down() -> None:
    text = "\\section{Intro \\emph{fast} one}\\label{s}\ntext\n\\subsection*{细节}\n% \\section{no}\n"
    document = parse("a.tex", text)

    assert outline("a.tex", text) == [(1, "Intro fast one"), (2, "细节")]
    assert document.title == "Intro fast one"
    assert ("paragraph", "\\label{s}\ntext") in blocks(document)


def test_a_title_comes_from_markup_only() -> None:
    assert parse("a.txt", "第一章 绪论\n").title == ""
    assert parse("a.org", "** Second level only\n").title == ""


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("deep.json", "[" * 100_000),
        ("bomb.yaml", 'a: &a ["x","x"]\nb: &b [*a,*a,*a]'),
        ("laughs.xml", '<!DOCTYPE x [<!ENTITY a "lol"><!ENTITY b "&a;&a;">]><x>&b;</x>'),
    ],
)
def test_structured_formats_are_literal_text(name: str, text: str) -> None:
    assert blocks(parse(name, text)) == [("paragraph", text)]


@pytest.mark.parametrize(
    ("name", "unit"),
    [
        ("one_line.txt", "很长的一行 and so on, "),
        ("short.txt", "a short line\n"),
        ("spaces.txt", " "),
        ("rules.rst", "="),
        ("ruled.rst", "====\n"),
        ("braces.tex", "\\section{"),
        ("nested.tex", "\\section{{a}{b}\n"),
        ("stars.org", "* a :b:"),
        ("fences.adoc", "----\n"),
        ("chapters.txt", "第1章---"),
    ],
)
def test_the_time_for_hostile_text_grows_with_its_length_only(name: str, unit: str) -> None:
    started = time.process_time()

    parse(name, unit * (2_000_000 // len(unit)))

    assert time.process_time() - started < 30  # linear: a tenth of this; quadratic: minutes


def test_endings_are_lower_case_and_leave_other_parsers_their_own() -> None:
    assert all(ending.startswith(".") and ending == ending.lower() for ending in ENDINGS)
    assert {
        ".txt",
        ".log",
        ".csv",
        ".json",
        ".yaml",
        ".toml",
        ".xml",
        ".rst",
        ".tex",
        ".py",
        ".go",
    } <= ENDINGS
    assert not {".md", ".markdown", ".html", ".htm", ".pdf"} & ENDINGS


pieces = st.sampled_from(
    [
        "第一章 绪论",
        "第2节",
        "=====",
        "-----",
        "== T",
        "* H :t:",
        "\\section{A}",
        "正文 text",
        " ",
        "\u3000",
        "\n",
        "\n\n",
    ]
)
any_text = st.one_of(
    st.text(), st.lists(pieces, max_size=30).map("\n".join), st.lists(pieces, max_size=30).map("".join)
)


@settings(max_examples=100, deadline=None)
@given(any_text, st.sampled_from(["a.txt", "a.csv", "a.rst", "a.org", "a.adoc", "a.tex", "a.py", "README"]))
def test_blocks_are_ordered_and_hold_every_visible_character(text: str, name: str) -> None:
    try:
        document = parse(name, text.encode("utf-8", "ignore"))
    except ParseFailed:
        return
    end = 0
    for block in document.blocks:
        assert end <= block.char_start < block.char_end <= len(document.text)
        assert not document.text[end : block.char_start].strip()
        assert (block.kind == "heading") == (1 <= block.level <= 6) == bool(block.title)
        end = block.char_end
    assert not document.text[end:].strip()
