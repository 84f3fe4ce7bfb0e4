"""Printed lines become whole paragraphs, headings and pages; what repeats at the edges is dropped."""

from __future__ import annotations

import pytest

from zhiku.text.pdf_characters import clean_characters, junk_share
from zhiku.text.pdf_layout import build_document
from zhiku.text.pdf_printed import OutlineEntry, PrintedLine, PrintedPage
from zhiku.text.pdf_running import drop_running_lines
from zhiku.text.pdf_verdict import judge_pages


def line(text: str, left: float, right: float, **others: float) -> PrintedLine:
    values = {"baseline": 490.0, "size": 10.0} | others
    return PrintedLine(text=text, left=left, right=right, **values)


def printed(page_no: int, *lines: tuple[str, float, float] | PrintedLine, leading: float = 14.0) -> PrintedPage:
    made = [
        each if isinstance(each, PrintedLine) else line(*each, baseline=490.0 - leading * number)
        for number, each in enumerate(lines)
    ]
    return PrintedPage(page_no=page_no, width=400, height=600, lines=tuple(made))


def paragraphs(*pages: PrintedPage) -> list[str]:
    return build_document(pages, [])[0].split("\n\n")


@pytest.mark.parametrize(
    ("printed_as", "read"),
    [
        ("⽂⾔⻢", "文言马"),
        ("o\ufb03ce \ufb01le", "office file"),
        ("soft\xadware en\ufffecoding", "software encoding"),
        ("a\x07b\x00c", "abc"),
        ("目 录 总 则", "目录总则"),
        ("目\u3000\u3000录", "目录"),
        ("总 则 … … … １", "总则………１"),
        ("①２ 甲 乙丙丁戊己", "①２ 甲 乙丙丁戊己"),
        ("甲方 乙方", "甲方 乙方"),
    ],
)
def test_characters_are_what_a_reader_would_type(printed_as: str, read: str) -> None:
    assert clean_characters(printed_as) == read


def test_junk_is_what_no_reader_could_have_meant() -> None:
    assert junk_share("\ue000\ufffd甲乙 ") == 0.5
    assert junk_share(" \ufffe") == 0.0


def test_a_paragraph_goes_on_over_a_page_break() -> None:
    pages = [printed(1, ("一直写到边上的一行", 50, 350)), printed(2, ("接着写完。", 50, 120))]
    text, blocks, spans, _ = build_document(pages, [])
    assert text == "一直写到边上的一行接着写完。"
    assert len(blocks) == 1
    assert [text[span.char_start : span.char_end] for span in spans] == ["一直写到边上的一行", "接着写完。"]


def test_an_indented_line_starts_a_paragraph() -> None:
    page = printed(1, ("第一段写到边上。", 50, 350), ("缩进的第二段", 74, 350), ("续行。", 50, 90))
    assert paragraphs(page) == ["第一段写到边上。", "缩进的第二段续行。"]


def test_the_lines_of_an_entry_may_hang() -> None:
    page = printed(1, ("control 文件包含了二", 50, 350), ("进制软件包的依赖", 74, 348), ("等等。", 74, 100))
    assert paragraphs(page) == ["control 文件包含了二进制软件包的依赖等等。"]


def test_a_wider_gap_ends_a_paragraph() -> None:
    lines = [line("一行", 50, 350, baseline=490), line("二行", 50, 350, baseline=476)]
    assert paragraphs(printed(1, *lines, line("三行", 50, 350, baseline=456))) == ["一行二行", "三行"]


def test_a_larger_font_ends_a_paragraph_and_tall_characters_do_not() -> None:
    lines = [line("一行", 50, 350, baseline=490), line("二行", 50, 350, baseline=476, size=10.5)]
    assert paragraphs(printed(1, *lines, line("大字", 50, 350, baseline=460, size=14))) == ["一行二行", "大字"]


def test_columns_have_margins_of_their_own() -> None:
    left = [("left column text", 50, 190), ("goes on", 50, 120)]
    right = [("right column text", 210, 350), ("too", 210, 240)]
    assert paragraphs(printed(1, *left, *right)) == ["left column text goes on", "right column text too"]


def test_a_paragraph_goes_on_in_the_next_column() -> None:
    left = [line("分栏的文章", 50, 190, baseline=490), line("写到栏底", 50, 190, baseline=100)]
    right = [line("接着写", 210, 350, baseline=490), line("完。", 210, 240, baseline=476)]
    assert paragraphs(printed(1, *left, *right)) == ["分栏的文章", "写到栏底接着写完。"]


def test_boxes_that_are_set_in_have_margins_of_their_own() -> None:
    boxes = [
        line(text, 90, right, baseline=490 - 100 * n - m)
        for n in range(3)
        for text, right, m in (("框里的字写到框边", 300, 0), ("为止。", 130, 14))
    ]
    body = [("正文写到页边", 50, 350), ("正文又写到页边", 50, 349), ("正文。", 50, 90)]
    assert paragraphs(printed(1, *boxes), printed(2, *body)) == [
        *["框里的字写到框边为止。"] * 3,
        "正文写到页边正文又写到页边正文。",
    ]


def test_short_lines_that_end_together_are_verses() -> None:
    verses = [(f"床前明月光{n}", 50, 110) for n in range(6)]
    assert len(paragraphs(printed(1, *verses, ("一行散文写到了页边", 50, 350)))) == 7


def test_what_juts_out_of_the_margin_makes_none() -> None:
    code = [line("x = very_long_line()", 50, 395, baseline=300 - 11 * n, size=9) for n in range(2)]
    body = [*[("正文写到页边上", 50, 340)] * 3, ("正文。", 50, 90)]
    assert paragraphs(printed(1, *body, *code))[0] == "正文写到页边上" * 3 + "正文。"


def test_the_last_cell_of_a_row_goes_on_below() -> None:
    row = line("fstab 挂载的文件系统和它们的", 50, 350, last_cell=200.0)
    page = printed(1, row, line("选项", 200, 220, baseline=476), line("mtab 现状", 50, 240, baseline=462))
    assert paragraphs(page) == ["fstab 挂载的文件系统和它们的选项", "mtab 现状"]


def test_the_lines_of_a_table_of_contents_stay_apart() -> None:
    page = printed(1, ("安装 . . . . . . . . 3", 50, 350), ("升级 ......... 12", 50, 350), ("备份 ……… ix", 50, 350))
    assert len(paragraphs(page)) == 3


@pytest.mark.parametrize(
    ("first", "second", "joined"),
    [
        ("a hyphen\ufffe", "ated word", "a hyphenated word"),
        ("a hyphen-", "ated word", "a hyphenated word"),
        ("from A-", "Z it goes", "from A- Z it goes"),
        ("知识", "库", "知识库"),
        ("知识", "base", "知识 base"),
        ("参见", "第三章的说明", "参见第三章的说明"),
    ],
)
def test_lines_are_joined_as_they_were_before_they_were_broken(first: str, second: str, joined: str) -> None:
    assert paragraphs(printed(1, (first, 50, 350), (second, 50, 120))) == [joined]


def test_a_hyphen_that_joins_nothing_stays() -> None:
    assert paragraphs(printed(1, ("the end\ufffe", 50, 350))) == ["the end-"]


@pytest.mark.parametrize("start", ["• 一项", "2. 第二", "（三）其他", "3.1 安装", "④ 检查"])
def test_items_start_anew(start: str) -> None:
    assert paragraphs(printed(1, ("前一项写到了页边", 50, 350), (start, 50, 120))) == ["前一项写到了页边", start]


def test_a_heading_has_its_level_and_may_take_several_lines() -> None:
    page = printed(1, ("2.1 一个很长的标题写到边", 50, 350), ("才写完", 50, 100), ("正文。", 50, 100))
    text, blocks, *_ = build_document([page], [OutlineEntry(2, "一个很长的标题写到边才写完", 1)])
    assert [(block.kind, block.level, block.title) for block in blocks] == [
        ("heading", 2, "2.1 一个很长的标题写到边才写完"),
        ("paragraph", 0, ""),
    ]
    assert text.endswith("正文。")


def test_posters_have_no_headings() -> None:
    lines = [line(f"line {n}", 50, 200, baseline=490 - 40 * n, size=10 + 4 * n) for n in range(7)]
    assert {block.kind for block in build_document([printed(1, *lines)], [])[1]} == {"paragraph"}


def edged(page_no: int, head: str, *body: str, foot: str = "") -> PrintedPage:
    lines = [line(head, 50, 200, baseline=570)] if head else []
    lines += [line(text, 50, 120, baseline=400.0 - 14 * number) for number, text in enumerate(body)]
    lines += [line(foot, 190, 210, baseline=30)] if foot else []
    return printed(page_no, *lines)


def remaining(*pages: PrintedPage) -> list[str]:
    return [each.text for page in drop_running_lines(pages) for each in page.lines]


@pytest.mark.parametrize("foot", ["{n}", "- {n} -", "第 {n} 页 共 9 页", "手册 {roman}", "{roman}"])
def test_heads_and_page_numbers_are_dropped(foot: str) -> None:
    feet = [foot.format(n=n, roman="i" * n) for n in (1, 2, 3)]
    assert remaining(*(edged(n, "某某手册", f"正文{n}", foot=feet[n - 1]) for n in (1, 2, 3))) == [
        "正文1",
        "正文2",
        "正文3",
    ]


def test_heads_that_name_a_short_chapter_are_dropped_with_the_others() -> None:
    heads = [f"CHAPTER {n // 2}. {'概览安装升级备份'[n]}" for n in range(8)]
    assert remaining(*(edged(n + 1, head, f"body {n}") for n, head in enumerate(heads))) == [
        f"body {n}" for n in range(8)
    ]


def test_first_lines_of_the_text_are_no_heads_though_they_stand_at_one_height() -> None:
    firsts = ["春眠不觉晓", "处处闻啼鸟", "夜来风雨声", "花落知多少"]
    assert remaining(*(edged(n, first, "正文") for n, first in enumerate(firsts, 1)))[::2] == firsts


def test_lines_that_repeat_in_the_text_are_kept() -> None:
    pages = [edged(n, "", "Total 5") for n in range(1, 6)]
    # Also close to the edge, where they are not the outermost or stand at other heights.
    pages += [printed(n, line(")", 50, 60, baseline=20 + n)) for n in range(6, 10)]
    assert len(remaining(*pages)) == 9


@pytest.mark.parametrize(
    ("image_share", "images", "paths", "verdict"),
    [(0.9, 1, 0, "scan"), (0.1, 1, 0, "blank"), (0.1, 3, 0, "scan"), (0.0, 0, 401, "scan"), (0.0, 0, 3, "blank")],
)
def test_a_page_without_text_is_judged_by_its_drawings(
    image_share: float, images: int, paths: int, verdict: str
) -> None:
    page = PrintedPage(page_no=1, width=400, height=600, image_share=image_share, images=images, paths=paths)
    assert [each.verdict for each in judge_pages([page])] == [verdict]


def test_notes_alone_are_text() -> None:
    page = PrintedPage(page_no=1, width=400, height=600, notes=("批注",))
    assert [each.verdict for each in judge_pages([page])] == ["text"]


def test_text_of_which_no_character_came_out_is_none_that_can_be_used() -> None:
    page = PrintedPage(page_no=1, width=400, height=600, has_lost_text=True)
    assert [each.verdict for each in judge_pages([page])] == ["garbled"]
