"""What a person meets who searches spreadsheets, slides and books."""

from __future__ import annotations

from epub_files import SAMPLE as BOOK
from pptx_files import SAMPLE as SLIDES
from sheet_files import XLSX, number, row, xlsx
from shelf import Shelf
from zhiku.config import BASE_FILE


def test_a_hit_in_a_workbook_says_its_sheet_and_row(shelf: Shelf) -> None:
    shelf.write("plan.xlsx", XLSX)
    shelf.index()
    (hit,) = shelf.search("布线")
    assert (hit.section, hit.line_start, hit.line_end, hit.page) == (("进度",), 3, 7, None)
    assert shelf.grep("布线") == [("plan.xlsx", 4, "布线 | 2031-05-06 | 1200")]
    assert shelf.base.read("plan.xlsx", lines=(4, 5)).text == "布线 | 2031-05-06 | 1200\n调试 | 2031-06-07 | 0.5"


def test_an_amount_is_found_with_and_without_commas(shelf: Shelf) -> None:
    amounts = row(1, A="布线", B=number(1200)) + row(2, A="调试", B=number(98000.5, 2))
    shelf.write("bill.xlsx", xlsx(("账", amounts), formats=("#,##0", "#,##0.00")))
    shelf.write("note.md", "The crane costs 1200 a day.")
    shelf.index()
    assert {*shelf.found("1200")} == {*shelf.found("1,200")} == {"bill.xlsx", "note.md"}
    assert shelf.found("98000.50") == shelf.found("98000") == ["bill.xlsx"]


def test_hidden_sheets_are_found_only_in_a_base_that_asks_for_them(shelf: Shelf) -> None:
    shelf.write("plan.xlsx", XLSX)
    report = shelf.index()
    assert report.warnings == [("plan.xlsx", "Hidden sheets that were left out: 1")]
    assert shelf.found("铂金") == []

    settings = shelf.base.folder / BASE_FILE
    settings.write_text(settings.read_text("utf-8") + "hidden_sheets = true\n", "utf-8")
    shelf.write("plan.xlsx", XLSX + b"\0")
    assert shelf.index().warnings == []
    assert shelf.found("铂金") == ["plan.xlsx"]


def test_a_hit_in_slides_says_its_page(shelf: Shelf) -> None:
    shelf.write("talk.pptx", SLIDES)
    shelf.index()
    (hit,) = shelf.search("泄压")
    assert (hit.section, hit.page, hit.line_start) == (("安装",), 2, None)


def test_a_hit_in_a_book_says_its_chapter(shelf: Shelf) -> None:
    shelf.write("fog.epub", BOOK)
    shelf.index()
    (hit,) = shelf.search("泵站")
    assert (hit.title, hit.section) == ("雾河", ("上卷", "第一章 起源"))
