"""Presentations become what stands on their slides, page by slide."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from docx_files import docx, packed_as_zip
from pptx_files import SAMPLE, STRICT, p, pptx, shape, table, title
from zhiku.chunkers.structure import StructureChunker
from zhiku.errors import ParseFailed, PasswordNeeded, TooLarge, UnsupportedFormat
from zhiku.model import ParsedDocument, Source
from zhiku.parsers import char_budget
from zhiku.parsers.pptx import PptxParser
from zhiku.parsers.pptx_slide import SlideReader

SOURCE = Source(root="/r", path="talk.pptx", size_bytes=0, mtime_ns=0, sha256="")
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504)


def parse(data: bytes) -> ParsedDocument:
    return PptxParser().parse(SOURCE, data)


def pages(document: ParsedDocument) -> list[str]:
    return [document.text[page.char_start : page.char_end] for page in document.pages]


def blocks(*slides: str, notes: Mapping[int, str] | None = None) -> list[tuple[str, str]]:
    document = parse(pptx(*slides, notes=notes))
    return [(block.kind, document.text[block.char_start : block.char_end]) for block in document.blocks]


def test_a_whole_presentation() -> None:
    document = parse(SAMPLE)

    assert document.title == "泵站手册"
    assert pages(document) == [
        "泵站手册\n\n二〇三一年",
        "安装\n\n先断电\n  戴手套\n再拆盖板\n\n别忘了泄压。",
        "The end — “fin”.\n\n名称 | 数量\n垫片 | 3",
        "",
    ]
    assert [(block.kind, block.title) for block in document.blocks] == [
        ("heading", "泵站手册"),
        ("paragraph", ""),
        ("heading", "安装"),
        ("list", ""),
        ("paragraph", ""),
        ("heading", "The end — “fin”."),
        ("table", ""),
    ]
    assert document.warnings == ()


def test_a_hit_says_its_slide_and_title() -> None:
    chunks = list(StructureChunker().chunk(parse(SAMPLE)))
    assert [(chunk.page, chunk.section) for chunk in chunks] == [
        (1, ("泵站手册",)),
        (2, ("安装",)),
        (3, ("The end — “fin”.",)),
    ]


def test_slides_come_in_the_order_in_which_they_are_shown() -> None:
    assert pages(parse(pptx(title("一"), title("二"), title("三"), order=(3, 1, 2)))) == ["三", "一", "二"]


def test_a_title_stands_first_wherever_it_is_in_the_file() -> None:
    assert blocks(shape("正文") + title("标题")) == [("heading", "标题"), ("paragraph", "正文")]


def test_the_first_line_of_a_slide_without_a_title_stands_in_its_place() -> None:
    long = "很长" * 100
    document = parse(pptx(shape(long)))
    assert (document.text, document.blocks[0].kind) == (long, "heading")
    assert document.blocks[0].title == long[:80] + "…"


def test_dates_footers_and_numbers_of_slides_are_no_text() -> None:
    running = "".join(shape("x", placeholder=kind) for kind in ("dt", "ftr", "sldNum", "hdr"))
    assert blocks(title("标题") + running, notes={1: running + shape("备注", placeholder="body")}) == [
        ("heading", "标题"),
        ("paragraph", "备注"),
    ]


def test_cells_that_a_merged_one_covers_stand_for_nothing() -> None:
    merged = (
        f'<a:tc gridSpan="2"><a:txBody>{p("甲")}</a:txBody></a:tc><a:tc hMerge="1"><a:txBody>{p("")}</a:txBody></a:tc>'
    )
    assert blocks(title("t") + table((merged, "乙"), ("", "丙", ""), ("", "", ""))) == [
        ("heading", "t"),
        ("table", "甲 | 乙\n | 丙"),
    ]


def test_text_in_groups_breaks_and_equations_is_read() -> None:
    equation = '<m:oMath xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"><m:r><m:t>x=1</m:t></m:r></m:oMath>'
    broken = f"<a:p><a:r><a:t>上</a:t></a:r><a:br/><a:r><a:t>下</a:t></a:r>{equation}</a:p>"
    assert blocks(title("t") + f"<p:grpSp>{shape(broken)}{shape('组')}</p:grpSp>") == [
        ("heading", "t"),
        ("list", "上\n  下x=1"),
        ("paragraph", "组"),
    ]


def test_one_of_two_alternatives_is_read() -> None:
    both = (
        f"<mc:AlternateContent><mc:Choice>{shape('新')}</mc:Choice><mc:Fallback>{shape('旧')}</mc:Fallback>"
        "</mc:AlternateContent>"
    )
    assert blocks(title("t") + both) == [("heading", "t"), ("paragraph", "新")]


def test_diagrams_are_read() -> None:
    diagram = f"<dgm:pt><dgm:t>{p('计划')}</dgm:t></dgm:pt><dgm:pt><dgm:t>{p('执行')}</dgm:t></dgm:pt>"
    slide = title("t") + '<p:graphicFrame><dgm:relIds r:dm="d"/></p:graphicFrame>'
    assert parse(pptx(slide, diagrams={1: diagram})).text == "t\n\n计划\n执行"


def test_the_strict_variant_is_read() -> None:
    assert parse(pptx(title("一"), namespace=STRICT)).text == "一"


def test_properties_are_metadata_and_the_title_of_a_first_slide_without_one() -> None:
    core = "<dc:title>年度计划</dc:title><dc:creator>梅</dc:creator>"
    document = parse(pptx(shape("甲"), core=core))
    assert (document.title, document.metadata) == ("年度计划", {"author": "梅"})
    assert parse(pptx(title("首页"), core=core)).title == "首页"
    assert parse(pptx(shape("甲"), core="<dc:title>PowerPoint 演示文稿</dc:title>")).title == ""


def test_slides_without_text_are_a_warning() -> None:
    document = parse(pptx("", ""))
    assert (document.text, len(document.pages)) == ("", 2)
    assert document.warnings == ("The slides hold no text",)


def test_a_damaged_slide_is_left_out_and_keeps_its_number() -> None:
    document = parse(pptx(title("一"), "<p:sp>" + shape("x") + "</p:oops>", title("三"), order=(1, 2, 3, 9)))
    assert pages(document)[::2] == ["一", "三"]
    assert document.warnings[-1] == "Slides that could not be read: 4"
    assert "ppt/slides/slide2.xml" in document.warnings[0]


def test_what_is_no_presentation_says_so() -> None:
    with pytest.raises(ParseFailed, match="not a PowerPoint presentation"):
        parse(docx("<w:p/>"))
    with pytest.raises(ParseFailed, match="not an Office document"):
        parse(b"x")
    with pytest.raises(ParseFailed, match="damaged"):
        parse(packed_as_zip({"ppt/presentation.xml": b"<p"}))


def test_an_encrypted_presentation_and_one_of_old_say_so() -> None:
    with pytest.raises(PasswordNeeded):
        parse(OLE + "EncryptedPackage".encode("utf-16-le"))
    with pytest.raises(UnsupportedFormat, match="pptx"):
        parse(OLE + "PowerPoint Document".encode("utf-16-le"))


def test_a_document_type_and_a_bomb_are_refused() -> None:
    with pytest.raises(ParseFailed, match="document type"):
        parse(packed_as_zip({"ppt/presentation.xml": b"<!DOCTYPE x><x/>"}))
    with pytest.raises(TooLarge):
        parse(pptx("<p:sp/>" * 600_000))


def test_text_is_counted_over_all_slides(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(char_budget, "MAX_CHARS", 1_000)
    assert parse(pptx(shape("x" * 500), shape("y" * 500))).text
    with pytest.raises(TooLarge, match="too much text"):
        parse(pptx(shape("x" * 500), shape("y" * 501)))


NAMES = sorted(SlideReader("x").handlers().starts)


@st.composite
def markup(draw: st.DrawFn) -> str:
    """Return elements of a slide in any order and nesting."""
    parts, open_names = [], []
    for _ in range(draw(st.integers(1, 40))):
        if open_names and draw(st.booleans()):
            parts.append(f"</{open_names.pop()}>")
        else:
            open_names.append(draw(st.sampled_from([name for name in NAMES if name[0] != "w"])))
            attributes = draw(st.sampled_from(["", ' lvl="-3"', ' type="title"', ' vMerge="1"', ' r:dm="n"']))
            parts.append(f"<{open_names[-1]}{attributes}>{draw(st.sampled_from(['', '文 x']))}")
    return "".join(parts) + "".join(f"</{name}>" for name in reversed(open_names))


@settings(max_examples=150, deadline=None)
@given(markup())
def test_elements_in_any_order_are_no_fault(inside: str) -> None:
    math = 'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'
    document = parse(pptx(shape("before") + f"<p:sp {math}>{inside}</p:sp>" + shape("after"), shape("last")))
    assert "before" in document.text
    assert document.text.endswith("last")
