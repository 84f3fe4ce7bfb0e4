"""Word documents become what a reader sees of them, line by paragraph."""

from __future__ import annotations

import pytest

from docx_files import STRICT, docx, field, item, level, numbering, p, packed_as_zip, root, run, style, table
from zhiku.errors import ParseFailed
from zhiku.model import ParsedDocument, Source
from zhiku.parsers.docx import DocxParser

SOURCE = Source(root="/r", path="plan.docx", size_bytes=0, mtime_ns=0, sha256="")
HEADINGS = {"styles": style("1", "heading 1") + style("2", "标题 2") + style("a", "Normal")}


def parse(data: bytes) -> ParsedDocument:
    return DocxParser().parse(SOURCE, data)


def lines(body: str, **parts: str) -> list[str]:
    """Return the lines of a body that hold something."""
    return [line for line in parse(docx(body, parts=parts)).text.split("\n") if line]


def blocks(body: str, **parts: str) -> list[tuple[str, str]]:
    document = parse(docx(body, parts=parts))
    return [(block.kind, document.text[block.char_start : block.char_end]) for block in document.blocks]


def headings(body: str, **parts: str) -> list[tuple[int, str]]:
    return [(block.level, block.title) for block in parse(docx(body, parts=parts)).blocks if block.kind == "heading"]


# Shape


def test_every_kind_of_block_is_found() -> None:
    body = (
        p("安装", style="1")
        + p("先断电。")
        + item("关阀")
        + item("泄压")
        + table(("名称", "数量"), ("垫片", "3"))
        + p("完")
    )

    assert blocks(body, **HEADINGS, numbering=numbering(level(0, "decimal", "%1."))) == [
        ("heading", "安装"),
        ("paragraph", "先断电。"),
        ("list", "1. 关阀\n2. 泄压"),
        ("table", "名称 | 数量\n垫片 | 3"),
        ("paragraph", "完"),
    ]


def test_a_line_is_a_paragraph_or_a_row_that_holds_text() -> None:
    document = parse(docx(p("一") + p() + p("  ") + table(("甲", "乙"), ("", ""), ("丙", "丁")) + p("二") + p("三")))

    numbered = [
        (number, text) for number, text in zip(document.line_numbers, document.text.split("\n"), strict=True) if text
    ]

    assert numbered == [(1, "一"), (2, "甲 | 乙"), (3, "丙 | 丁"), (4, "二"), (5, "三")]


def test_lines_that_a_break_parts_are_lines_of_one_paragraph() -> None:
    document = parse(docx(p("上行", runs=f"<w:r><w:br/></w:r>{run('下行')}") + p("后")))

    assert document.text == "上行\n下行\n\n后"
    assert document.line_numbers == (1, 1, 2, 2)


def test_two_tables_side_by_side_are_two_blocks() -> None:
    assert blocks(table(("a", "b")) + table(("c", "d"))) == [("table", "a | b"), ("table", "c | d")]


def test_a_long_list_is_several_blocks() -> None:
    found = blocks("".join(item(str(n)) for n in range(90)), numbering=numbering(level(0, "bullet", "•")))

    assert [text.count("\n") + 1 for _, text in found] == [40, 40, 10]


# Headings


def test_headings_come_from_names_of_styles_in_both_languages() -> None:
    styles = (
        style("1", "heading 1")
        + style("b", "标题 2")
        + style("c", "标题3")
        + style("d", "四级标题")
        + style("e", "标题")
    )
    body = "".join(p(name, style=name) for name in "1bcde")

    assert headings(body, styles=styles) == [(1, "1"), (2, "b"), (3, "c"), (4, "d"), (1, "e")]


def test_headings_come_from_outline_levels_of_styles_and_those_they_are_based_on() -> None:
    outline = '<w:outlineLvl w:val="{}"/>'.format
    styles = (
        style("own", "Clause", outline(2))
        + style("heir", "Clause again", based_on="own")
        + style("grandheir", "Clause once more", based_on="heir")
        + style("toc", "TOC Heading", outline(9), based_on="own")
        + style("loop", "Loop", based_on="loop2")
        + style("loop2", "Loop 2", based_on="loop")
    )
    body = "".join(p(name, style=name) for name in ("own", "heir", "grandheir", "toc", "loop", "unknown"))

    assert headings(body, styles=styles) == [(3, "own"), (3, "heir"), (3, "grandheir")]


def test_an_outline_level_of_the_paragraph_outranks_its_style() -> None:
    body = p("up", props='<w:outlineLvl w:val="0"/>') + p("down", style="1", props='<w:outlineLvl w:val="9"/>')

    assert headings(body, **HEADINGS) == [(1, "up")]


def test_levels_below_the_sixth_are_the_sixth() -> None:
    assert headings(p("deep", style="9"), styles=style("9", "heading 9")) == [(6, "deep")]


def test_without_a_styles_part_the_usual_names_still_mean_headings() -> None:
    assert headings(p("Intro", style="Heading2")) == [(2, "Intro")]


def test_what_a_paragraph_was_before_a_change_is_of_no_account() -> None:
    old = '<w:pPrChange w:id="1"><w:pPr><w:pStyle w:val="1"/><w:outlineLvl w:val="0"/></w:pPr></w:pPrChange>'

    assert headings(p("now", style="a", props=old), **HEADINGS) == []


def test_an_empty_heading_is_none() -> None:
    assert blocks(p(style="1") + p("text"), **HEADINGS) == [("paragraph", "text")]


# Lists


def test_numbers_are_as_shown_with_those_of_the_levels_above() -> None:
    levels = (
        level(0, "chineseCounting", "第%1章")
        + level(1, "decimal", "%1.%2", "<w:isLgl/>")
        + level(2, "lowerLetter", "%3)")
    )
    body = (
        item("甲") + item("乙", level=1) + item("丙", level=2) + item("丁", level=2) + item("戊") + item("己", level=1)
    )

    assert lines(body, numbering=numbering(levels)) == [
        "第一章 甲",
        "  1.1 乙",
        "    a) 丙",
        "    b) 丁",
        "第二章 戊",
        "  2.1 己",
    ]


def test_bullets_are_dashes_and_numbers_may_stand_close_to_the_text() -> None:
    close = level(0, "chineseCountingThousand", "（%1）", '<w:suff w:val="nothing"/>')
    body = item("点") + item("甲", 2) + item("乙", 2)

    assert lines(body, numbering=numbering(level(0, "bullet", "\uf0b7"), close)) == ["- 点", "（一）甲", "（二）乙"]


def test_lists_of_one_look_count_on_unless_one_starts_anew() -> None:
    anew = '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="1"/></w:lvlOverride>'
    part = numbering(level(0, "decimal", "%1."), shared={2: (1, ""), 3: (1, anew)})

    assert lines(item("a") + item("b", 2) + item("c", 3) + item("d", 3) + item("e"), numbering=part) == [
        "1. a",
        "2. b",
        "1. c",
        "2. d",
        "3. e",
    ]


def test_a_level_that_never_restarts_counts_on() -> None:
    part = numbering(level(0, "decimal", "%1.") + level(1, "decimal", "(%2)", '<w:lvlRestart w:val="0"/>'))

    assert lines(item("a") + item("b", level=1) + item("c") + item("d", level=1), numbering=part) == [
        "1. a",
        "  (1) b",
        "2. c",
        "  (2) d",
    ]


def test_headings_are_numbered_through_their_styles() -> None:
    linked = level(0, "decimal", "%1", '<w:pStyle w:val="1"/>') + level(1, "decimal", "%1.%2", '<w:pStyle w:val="2"/>')
    in_list = '<w:numPr><w:numId w:val="1"/></w:numPr>'
    styles = style("1", "heading 1", in_list) + style("2", "heading 2", in_list, based_on="1")
    body = (
        p("概述", style="1")
        + p("范围", style="2")
        + p("附录", style="1", props='<w:numPr><w:numId w:val="0"/></w:numPr>')
    )

    assert headings(body, styles=styles, numbering=numbering(linked)) == [(1, "1 概述"), (2, "1.1 范围"), (1, "附录")]


def test_a_list_may_look_like_a_numbering_style() -> None:
    part = (
        '<w:abstractNum w:abstractNumId="7"><w:numStyleLink w:val="Legal"/></w:abstractNum>'
        f'<w:abstractNum w:abstractNumId="8">{level(0, "upperRoman", "%1.")}</w:abstractNum>'
        '<w:num w:numId="1"><w:abstractNumId w:val="7"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="8"/></w:num>'
    )
    legal = (
        '<w:style w:type="numbering" w:styleId="Legal"><w:name w:val="Legal"/>'
        '<w:pPr><w:numPr><w:numId w:val="2"/></w:numPr></w:pPr></w:style>'
    )

    assert lines(item("a") + item("b"), numbering=part, styles=legal) == ["I. a", "II. b"]


def test_numbers_of_a_format_of_their_own_keep_their_zeros() -> None:
    custom = (
        '<w:lvl w:ilvl="0"><w:start w:val="9"/><mc:AlternateContent><mc:Choice Requires="w14">'
        '<w:numFmt w:val="custom" w:format="001, 002, 003, ..."/></mc:Choice><mc:Fallback><w:numFmt w:val="decimal"/>'
        '</mc:Fallback></mc:AlternateContent><w:lvlText w:val="%1"/></w:lvl>'
    )

    assert lines(item("a") + item("b"), numbering=numbering(custom)) == ["009 a", "010 b"]


# Tables


def test_a_row_is_a_line_and_empty_cells_keep_their_place() -> None:
    assert lines(table(("甲", "", "丙"), ("", "乙", ""))) == ["甲 |  | 丙", " | 乙"]


def test_a_merged_cell_stands_once() -> None:
    wide = f'<w:tc><w:tcPr><w:gridSpan w:val="2"/></w:tcPr>{p("合计")}</w:tc><w:tc>{p("9")}</w:tc>'
    first = f'<w:tc><w:tcPr><w:vMerge w:val="restart"/></w:tcPr>{p("华东")}</w:tc><w:tc>{p("上海")}</w:tc>'
    second = f"<w:tc><w:tcPr><w:vMerge/></w:tcPr>{p()}</w:tc><w:tc>{p('杭州')}</w:tc>"
    body = f"<w:tbl><w:tr>{wide}</w:tr><w:tr>{first}</w:tr><w:tr>{second}</w:tr></w:tbl>"

    assert lines(body) == ["合计 | 9", "华东 | 上海", " | 杭州"]


def test_paragraphs_and_breaks_of_a_cell_are_joined() -> None:
    cell = p("第一行") + p("第二行", runs=f"<w:r><w:br/></w:r>{run('第三行')}")

    assert lines(table((cell, "x"))) == ["第一行 第二行 第三行 | x"]


def test_a_table_inside_a_cell_is_a_part_of_the_cell() -> None:
    assert lines(table((p("外") + table(("内", "里"), ("3", "4")) + p(), "x"))) == ["外 内 里 3 4 | x"]


def test_a_box_that_lays_out_a_page_is_read_as_what_stands_in_it() -> None:
    inside = p("标题", style="1") + p("正文") + table(("a", "b"))

    assert blocks(table((inside,)), **HEADINGS) == [("heading", "标题"), ("paragraph", "正文"), ("table", "a | b")]


def test_numbers_that_a_column_counts_by_itself_are_shown() -> None:
    part = numbering(level(0, "decimal", "%1"))

    assert lines(table((item(""), "泵"), (item(""), "阀")), numbering=part) == ["1 | 泵", "2 | 阀"]


def test_deeply_nested_tables_keep_their_text() -> None:
    depth = 3_000
    body = "<w:tbl><w:tr><w:tc>" * depth + p("deep") + "</w:tc></w:tr></w:tbl>" * depth

    assert parse(docx(body)).text == "deep"


# What is shown, and what is not


def test_insertions_are_kept_and_deletions_dropped() -> None:
    body = p(
        "违约金",
        runs=f"<w:ins>{run('按日')}</w:ins><w:del><w:r><w:delText>按月</w:delText></w:r></w:del>"
        f"<w:moveFrom>{run('移走')}</w:moveFrom><w:moveTo>{run('移来')}</w:moveTo>",
    )

    assert lines(body) == ["违约金按日移来"]


def test_a_paragraph_whose_end_is_deleted_goes_on_in_the_next_one() -> None:
    deleted = "<w:rPr><w:del/></w:rPr>"

    assert lines(p("前半", props=deleted) + p("后半") + p("末", props=deleted)) == ["前半后半", "末"]


def test_a_deleted_row_is_dropped() -> None:
    rows = f"<w:tr><w:trPr><w:del/></w:trPr><w:tc>{p('旧')}</w:tc></w:tr><w:tr><w:tc>{p('新')}</w:tc></w:tr>"

    assert lines(f"<w:tbl>{rows}</w:tbl>") == ["新"]


def test_results_of_fields_are_kept_and_their_codes_dropped() -> None:
    nested = field(f" IF {field(' MERGEFIELD 性别 ', run('男'))} = 男 ", run("先生"))
    simple = f'<w:fldSimple w:instr="PAGE">{run("12")}</w:fldSimple>'

    assert lines(p("尊敬的", runs=nested + simple)) == ["尊敬的先生12"]


def test_a_field_without_an_end_does_not_hide_what_follows() -> None:
    assert lines(p("a", runs='<w:r><w:fldChar w:fldCharType="begin"/></w:r>') + p("b")) == ["a", "b"]


def test_text_of_links_content_controls_and_tags_is_kept() -> None:
    control = (
        "<w:sdt><w:sdtPr><w:alias w:val='x'/><w:rPr><w:vanish/></w:rPr></w:sdtPr>"
        f"<w:sdtContent>{p('', runs=run('控件'))}</w:sdtContent></w:sdt>"
    )
    link = f'<w:hyperlink r:id="r9">{run("链接")}</w:hyperlink><w:smartTag>{run("标记")}</w:smartTag>'

    assert lines(control + p("见", runs=link)) == ["控件", "见链接标记"]


def test_hidden_text_is_left_out_with_a_warning() -> None:
    document = parse(docx(p("看", runs=run("不", "<w:vanish/>") + run("见", '<w:vanish w:val="0"/>'))))

    assert (document.text, document.warnings) == ("看见", ("Hidden text was left out",))


def test_a_hidden_paragraph_mark_hides_no_text() -> None:
    assert lines(p("看见", props="<w:rPr><w:vanish/></w:rPr>")) == ["看见"]


def test_tabs_hyphens_and_symbols_are_what_they_look_like() -> None:
    symbols = (
        '<w:r><w:sym w:font="Wingdings" w:char="F0FE"/><w:sym w:font="Symbol" w:char="F061"/>'
        '<w:sym w:font="Wingdings 2" w:char="F0A3"/><w:sym w:font="Webdings" w:char="F021"/><w:sym w:char="zz"/></w:r>'
    )
    hyphens = "<w:r><w:t>co</w:t><w:softHyphen/><w:t>op\u00aderate</w:t><w:noBreakHyphen/><w:t>x</w:t></w:r>"
    tab = "<w:r><w:tab/><w:t>y</w:t></w:r>"

    assert lines(p("", props="<w:tabs><w:tab w:val='left' w:pos='9'/></w:tabs>", runs=hyphens + tab + symbols)) == [
        "cooperate-x\ty☑α□"
    ]


def test_of_two_scripts_the_base_is_kept() -> None:
    ruby = f"<w:r><w:ruby><w:rt>{run('hàn')}</w:rt><w:rubyBase>{run('汉')}</w:rubyBase></w:ruby></w:r>"

    assert lines(p("", runs=ruby + run("字"))) == ["汉字"]


def test_parts_of_an_equation_do_not_run_together() -> None:
    fraction = "<m:f><m:num><m:r><m:t>1</m:t></m:r></m:num><m:den><m:r><m:t>2</m:t></m:r></m:den></m:f>"
    power = "<m:sSup><m:e><m:r><m:t>x</m:t></m:r></m:e><m:sup><m:r><m:t>2</m:t></m:r></m:sup></m:sSup>"

    assert lines(p("y=", runs=f"<m:oMath>{fraction}{power}</m:oMath>")) == ["y=1/2x^2"]


# Boxes, drawings, notes


def text_box(inside: str) -> str:
    return (
        "<w:r><mc:AlternateContent><mc:Choice Requires='wps'><w:drawing><wps:txbx><w:txbxContent>"
        f"{inside}</w:txbxContent></wps:txbx></w:drawing></mc:Choice><mc:Fallback><w:pict><v:textbox><w:txbxContent>"
        f"{inside}</w:txbxContent></v:textbox></w:pict></mc:Fallback></mc:AlternateContent></w:r>"
    )


def test_a_text_box_stands_once_behind_its_paragraph() -> None:
    assert lines(p("", runs=text_box(p("框内") + p("框内二")) + run("正文"))) == ["正文", "框内", "框内二"]


def test_a_text_box_in_a_cell_stays_in_the_cell() -> None:
    assert lines(table((p("", runs=text_box(p("框"))), "x"))) == ["框 | x"]


def test_an_alternative_without_text_gives_way_to_the_next() -> None:
    choice, fallback = "<mc:Choice Requires='x'><w:r/></mc:Choice>", f"<mc:Fallback>{run('退路')}</mc:Fallback>"
    both = f"<mc:AlternateContent>{choice}{fallback}</mc:AlternateContent>"

    assert lines(p("", runs=both)) == ["退路"]


def test_text_of_shapes_and_diagrams_is_read() -> None:
    shape = "<w:r><w:drawing><a:txBody><a:p><a:r><a:t>图形</a:t></a:r></a:p></a:txBody></w:drawing></w:r>"
    diagram = root(
        "x", "<dgm:t><a:p><a:r><a:t>流程</a:t></a:r></a:p></dgm:t><dgm:t><a:p><a:r><a:t>结束</a:t></a:r></a:p></dgm:t>"
    )
    body = p("图", runs=f"{shape}<w:r><w:drawing><dgm:relIds r:dm='word/data.xml'/></w:drawing></w:r>")

    document = parse(docx(body, files={"word/data.xml": diagram.encode()}))

    assert document.text.split("\n\n") == ["图", "图形", "流程", "结束"]


def note(kind: str, note_id: int, *texts: str) -> str:
    return f'<w:{kind} w:id="{note_id}">{"".join(p(text) for text in texts)}</w:{kind}>'


def point(kind: str, note_id: int) -> str:
    return f'<w:r><w:{kind}Reference w:id="{note_id}"/></w:r>'


def test_notes_stand_behind_the_paragraph_that_points_at_them() -> None:
    footnotes = (
        f'<w:footnote w:type="separator" w:id="-1">{p("线")}</w:footnote>'
        + note("footnote", 5, "甲注", "续")
        + note("footnote", 6, "乙注")
        + note("footnote", 7, "没有指向")
    )
    body = p("前", runs=point("footnote", 5) + run("中") + point("endnote", 2)) + p("后", runs=point("footnote", 6))

    assert lines(body, footnotes=footnotes, endnotes=note("endnote", 2, "尾注")) == [
        "前[1]中[i]",
        "[1] 甲注",
        "续",
        "[i] 尾注",
        "后[2]",
        "[2] 乙注",
    ]


def test_a_note_of_a_cell_stands_behind_the_table_and_only_once() -> None:
    cell = p("3", runs=point("footnote", 1) + point("footnote", 1))

    assert lines(table((cell, "x"), ("4", "y")) + p("后"), footnotes=note("footnote", 1, "约数")) == [
        "3[1] | x",
        "4 | y",
        "[1] 约数",
        "后",
    ]


def test_headers_and_footers_are_left_out() -> None:
    assert lines(p("正文") + "<w:sectPr><w:headerReference r:id='x'/></w:sectPr>") == ["正文"]


def test_a_document_of_another_format_inside_is_named_in_a_warning() -> None:
    document = parse(docx(p("a") + '<w:altChunk r:id="r9"/>'))

    assert document.warnings == ("Documents of other formats inside this one were left out",)


# Properties, variants


@pytest.mark.parametrize(
    ("body", "core", "title"),
    [
        (p("手册", style="Title") + p("章", style="1"), "泵站", "手册"),
        (p("章", style="1"), "泵站", "泵站"),
        (p("章", style="1"), "Microsoft Word - 新建 文档.doc", "章"),
        (p("章", style="2"), "文档1", ""),
    ],
)
def test_the_title_is_the_one_shown_or_of_the_properties_or_the_first_heading(body: str, core: str, title: str) -> None:
    styles = {"styles": HEADINGS["styles"] + style("Title", "Title")}

    assert parse(docx(body, parts=styles, core=f"<dc:title>{core}</dc:title>")).title == title


def test_author_date_and_keywords_are_metadata() -> None:
    core = (
        "<dc:creator>林 雾</dc:creator><p:keywords>水泵；阀门, pumps</p:keywords>"
        "<dcterms:created>2024-05-06T07:08:09Z</dcterms:created>"
    )

    assert parse(docx(p("x"), core=core)).metadata == {
        "author": "林 雾",
        "created": "2024-05-06T07:08:09Z",
        "tags": ["水泵", "阀门", "pumps"],
    }


def test_strict_documents_are_read_alike() -> None:
    body = p("安装", style="1") + table(("甲", "乙"))

    assert parse(docx(body, parts=HEADINGS, namespace=STRICT)) == parse(docx(body, parts=HEADINGS))


def test_macros_are_ignored() -> None:
    assert parse(docx(p("x"), files={"word/vbaProject.bin": b"\xd0\xcf\x11\xe0" * 9})).text == "x"


def test_a_document_without_text_is_empty() -> None:
    document = parse(docx(p() + "<w:sectPr/>"))

    assert (document.text, document.blocks, document.line_numbers) == ("", (), ())


def test_a_damaged_part_beside_the_text_costs_a_warning() -> None:
    document = parse(docx(p("x", style="1"), parts={"styles": "<w:style>"}))

    assert document.text == "x"
    assert document.warnings == ("Parts of the file that are damaged and were left out: word/styles.xml",)


def test_text_that_is_cut_off_is_damaged() -> None:
    with pytest.raises(ParseFailed, match="damaged"):
        parse(docx("<w:p>"))


def test_an_office_document_of_another_kind_is_named_so() -> None:
    with pytest.raises(ParseFailed, match="not a Word document"):
        parse(packed_as_zip({"xl/workbook.xml": b"<x/>", "[Content_Types].xml": b"<x/>"}))
