"""What is attached to an Office document, its comments and the words of its charts, is read where it is anchored."""

from __future__ import annotations

import docx_files
import pptx_files
import sheet_files
from docx_files import chart, comment, comment_mark, docx, p, table
from pptx_files import pptx, shape, title
from sheet_files import ods, ods_commented, ods_row, ods_table, row, xlsx
from zhiku.model import ParsedDocument, Source
from zhiku.parsers.docx import DocxParser
from zhiku.parsers.ooxml_chart import MAX_NAME_CHARS, MAX_NAMES
from zhiku.parsers.pptx import PptxParser
from zhiku.parsers.spreadsheet import SpreadsheetParser

SOURCE = Source(root="/r", path="a", size_bytes=0, mtime_ns=0, sha256="")
WATER = chart("各站\n用水量", ["月份", "吨"], {"东站": ["一月", "二月"], "西站": ["一月", "二月"]})
WORDS = ["Chart: 各站 用水量", "Axes: 月份; 吨", "Series: 东站; 西站", "Categories: 一月; 二月"]


def _lines(document: ParsedDocument) -> list[str]:
    return [line.strip() for line in document.text.split("\n") if line.strip()]


def _numbered(document: ParsedDocument) -> list[tuple[int, str]]:
    lines = zip(document.line_numbers, document.text.split("\n"), strict=True)
    return [(number, line) for number, line in lines if line]


# Word


def _word(body: str, comments: str = "", charts: dict[str, str] | None = None) -> ParsedDocument:
    files = {name: part.encode() for name, part in (charts or {}).items()}
    return DocxParser().parse(SOURCE, docx(body, parts={"comments": comments}, files=files))


def test_a_comment_follows_the_paragraph_that_it_is_about_with_its_author() -> None:
    comments = comment(1, "为什么？") + comment(2, p("见") + p("附录"), author="") + comment(3, "nowhere")
    body = p("阀门每年检验。", runs=comment_mark(1) + comment_mark(2)) + p("后")
    assert _lines(_word(body, comments)) == ["阀门每年检验。", "Comment (王芳): 为什么？", "Comment: 见", "附录", "后"]


def test_a_comment_in_a_table_follows_the_table() -> None:
    cell = p("3", runs=comment_mark(1))
    document = _word(table(("垫片", cell), ("滤网", "4")), comment(1, "数过了"))
    assert _lines(document) == ["垫片 | 3", "滤网 | 4", "Comment (王芳): 数过了"]
    assert [block.kind for block in document.blocks] == ["table", "paragraph"]


def test_a_comment_on_deleted_text_and_one_that_says_nothing_are_left_out() -> None:
    gone = f"<w:del>{comment_mark(1)}</w:del>"
    assert _lines(_word(p("正文", runs=gone + comment_mark(2)), comment(1, "x") + comment(2, "  "))) == ["正文"]


def test_the_words_of_a_chart_follow_the_paragraph_that_it_stands_in() -> None:
    frame = '<w:r><w:drawing><a:graphic><c:chart r:id="chart1.xml"/></a:graphic></w:drawing></w:r>'
    document = _word(p("如图：", runs=frame) + p("后"), charts={"chart1.xml": WATER})
    assert _lines(document) == ["如图：", *WORDS, "后"]
    assert _numbered(document)[-1] == (3, "后")


def test_a_chart_without_words_and_one_that_is_damaged_give_none() -> None:
    frames = "".join(f'<w:r><c:chart r:id="chart{n}.xml"/></w:r>' for n in (1, 2, 3))
    document = _word(p("a", runs=frames), charts={"chart1.xml": chart(), "chart2.xml": "<oops"})
    assert document.text == "a"
    assert "chart2.xml" in document.warnings[0]


def test_of_a_chart_of_data_so_many_names_are_kept() -> None:
    names = [f"n{number}" for number in range(MAX_NAMES + 50)]
    frame = '<w:r><c:chart r:id="chart1.xml"/></w:r>'
    long = "长" * (MAX_NAME_CHARS + 1)
    head, series, categories = _lines(_word(p(runs=frame), charts={"chart1.xml": chart(long, series={"s": names})}))
    assert head == f"Chart: {long[:-1]}"
    assert series == "Series: s"
    assert categories.count(";") == MAX_NAMES - 1


# Slides


def test_comments_on_a_slide_come_last_with_their_authors() -> None:
    data = pptx(
        title("安装") + shape("先断电", placeholder="body"),
        title("后"),
        notes={1: shape("别忘了泄压。", placeholder="body")},
        comments={1: pptx_files.comments(("0", "要配图"), ("7", "谁？"))},
        authors=pptx_files.authors(**{"0": "王芳"}),
    )
    assert _lines(PptxParser().parse(SOURCE, data)) == [
        "安装",
        "先断电",
        "别忘了泄压。",
        "Comment (王芳): 要配图",
        "Comment: 谁？",
        "后",
    ]


def test_replies_of_threaded_comments_are_comments_of_their_own() -> None:
    thread = pptx_files.threaded_comment("{A}", "要配图", ("{B}", "好"))
    authors = pptx_files.authors(**{"{A}": "王芳", "{B}": "李明"})
    document = PptxParser().parse(SOURCE, pptx(title("安装"), comments={1: thread}, authors=authors))
    assert _lines(document) == ["安装", "Comment (王芳): 要配图", "Comment (李明): 好"]


def test_the_words_of_a_chart_stand_on_its_slide() -> None:
    frame = title("用水") + pptx_files.chart_frame() + shape("说明")
    document = PptxParser().parse(SOURCE, pptx(frame, charts={1: WATER}))
    assert _lines(document) == ["用水", "说明", *WORDS]
    assert document.pages[0].char_end == len(document.text)


# Spreadsheets


def test_a_comment_follows_its_row_and_says_its_cell() -> None:
    rows = row(1, A="任务", B="金额") + row(2, A="布线", B=1200) + row(3, A="调试", B=5)
    attached = {"comments": sheet_files.comments(B2=("王芳", "含税"), C5=("", "空"))}
    document = SpreadsheetParser().parse(SOURCE, xlsx(("S", rows), attached=attached))
    assert _numbered(document) == [
        (1, "S"),
        (1, "任务 | 金额"),
        (2, "布线 | 1200"),
        (2, "Comment on B2 (王芳): 含税"),
        (3, "调试 | 5"),
        (5, "Comment on C5: 空"),
    ]
    assert [block.kind for block in document.blocks] == ["heading", "table", "paragraph"]


def test_what_stands_for_a_threaded_comment_is_not_read_twice() -> None:
    attached = {
        "comments": sheet_files.comments(A1=("tc={1}", "[Threaded comment] 对吗？")),
        "threadedComment": sheet_files.threaded_comments(("A1", "{P}", "对吗？"), ("A1", "{Q}", "对")),
    }
    persons = '<person displayName="王芳" id="{P}"/>'
    document = SpreadsheetParser().parse(SOURCE, xlsx(("S", row(1, A="x")), attached=attached, persons=persons))
    assert _lines(document) == ["S", "x", "Comment on A1 (王芳): 对吗？", "Comment on A1: 对"]


def test_the_words_of_a_chart_stand_below_the_table_that_it_lies_over() -> None:
    rows = row(1, A="月", B="吨") + row(2, A="一月", B=3) + row(3, A="二月", B=4) + row(6, A="完")
    document = SpreadsheetParser().parse(
        SOURCE, xlsx(("S", rows), attached={"drawing": sheet_files.drawing(2), "chart": WATER})
    )
    assert _numbered(document)[3:] == [(3, "二月 | 4"), *((3, line) for line in WORDS), (6, "完")]


def test_a_sheet_that_is_a_chart_holds_its_words() -> None:
    data = xlsx(("图", ""), kinds={"图": "chartsheet"}, attached={"drawing": sheet_files.drawing(1), "chart": WATER})
    document = SpreadsheetParser().parse(SOURCE, data)
    assert (_lines(document), document.warnings) == (["图", *WORDS], ())


def test_a_comment_of_libreoffice_follows_its_row() -> None:
    commented = ods_commented("1200", "王芳", "含税", "九折")
    document = SpreadsheetParser().parse(SOURCE, ods(ods_table("S", ods_row("布线", commented), ods_row("调试", "5"))))
    assert _lines(document) == ["S", "布线 | 1200", "Comment on B1 (王芳): 含税", "九折", "调试 | 5"]


def test_comments_and_charts_of_hidden_sheets_are_left_out() -> None:
    attached = {"comments": sheet_files.comments(A1=("王芳", "密")), "drawing": sheet_files.drawing(1), "chart": WATER}
    data = xlsx(("T", row(1, A="y")), ("S", row(1, A="x")), states={"T": "hidden"}, attached=attached)
    assert _lines(SpreadsheetParser().parse(SOURCE, data)) == ["S", "x"]


def test_the_strict_form_is_read_as_well() -> None:
    body = p("正文", runs=comment_mark(1))
    data = docx(body, parts={"comments": comment(1, "批注")}, namespace=docx_files.STRICT)
    assert _lines(DocxParser().parse(SOURCE, data)) == ["正文", "Comment (王芳): 批注"]
