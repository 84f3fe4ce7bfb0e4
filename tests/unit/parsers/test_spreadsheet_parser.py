"""Spreadsheets become the rows of their sheets, as they are shown; a place is a sheet and a row."""

from __future__ import annotations

import time
from itertools import pairwise
from typing import Any

import pytest

from docx_files import docx, packed_as_zip
from sheet_files import (
    ODS,
    STRICT,
    XLS,
    XLSB,
    XLSX,
    Day,
    number,
    ods,
    ods_cell,
    ods_row,
    ods_table,
    row,
    xls,
    xlsb,
    xlsx,
)
from zhiku.chunkers.structure import StructureChunker
from zhiku.errors import ParseFailed, PasswordNeeded, TooLarge, UnsupportedFormat
from zhiku.model import ParsedDocument, Source
from zhiku.parsers import char_budget, sheets
from zhiku.parsers.spreadsheet import SpreadsheetParser

SOURCE = Source(root="/r", path="plan.xlsx", size_bytes=0, mtime_ns=0, sha256="")
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504)
LEFT_OUT = "Hidden sheets that were left out: 1"


def parse(data: bytes, **options: Any) -> ParsedDocument:
    return SpreadsheetParser(**options).parse(SOURCE, data)


def numbered(document: ParsedDocument) -> list[tuple[int, str]]:
    """Return the lines that hold something, with their numbers."""
    lines = zip(document.line_numbers, document.text.split("\n"), strict=True)
    return [(line_no, text) for line_no, text in lines if text]


def shown(rows: str, **options: Any) -> list[str]:
    """Return the lines of a sheet, without its name."""
    return [text for _, text in numbered(parse(xlsx(("S", rows), **options)))][1:]


# Whole documents


def test_a_whole_workbook() -> None:
    document = parse(XLSX)

    assert document.text == (
        "进度\n\n二季度进度\n\n任务 | 日期 | 金额\n布线 | 2031-05-06 | 1200\n调试 | 2031-06-07 | 0.5\n\n"
        "The end — “fin”. | TRUE"
    )
    assert [line_no for line_no, _ in numbered(document)] == [1, 1, 3, 4, 5, 7]
    assert [block.kind for block in document.blocks] == ["heading", "paragraph", "table", "table"]
    assert document.warnings == (LEFT_OUT,)


def test_a_whole_spreadsheet_of_libreoffice() -> None:
    document = parse(ODS)
    assert document.text == "进度\n\n任务 | 金额\n布线 |  | ¥1,200.00"
    assert document.warnings == (LEFT_OUT,)


@pytest.mark.parametrize("data", [XLS, XLSB])
def test_a_whole_binary_workbook(data: bytes) -> None:
    document = parse(data)
    assert document.text == "进度\n\n二季度进度\n\n任务 | 金额\n布线 | 1200\n | 0.5"
    assert [line_no for line_no, _ in numbered(document)] == [1, 1, 3, 4, 5]
    assert document.warnings == (LEFT_OUT,)


@pytest.mark.parametrize("data", [XLSX, ODS, XLS, XLSB])
def test_hidden_sheets_are_read_if_asked(data: bytes) -> None:
    document = parse(data, hidden_sheets=True)
    assert document.text.endswith("\n\n参数\n\n铂金")
    assert document.warnings == ()


def test_a_hit_says_its_sheet_and_row() -> None:
    data = xlsx(("一月", row(7, A="煤") + row(9, A="水")), ("二月", row(2, A="风")))
    chunks = [(chunk.section, chunk.line_start, chunk.line_end) for chunk in StructureChunker().chunk(parse(data))]
    assert chunks == [(("一月",), 7, 9), (("二月",), 2, 2)]


def test_a_long_table_is_cut_between_rows() -> None:
    data = xlsx(("S", "".join(row(n, A=f"item {n}", B="some words of a description") for n in range(1, 300))))
    chunks = list(StructureChunker().chunk(parse(data)))
    assert len(chunks) > 5
    assert all(chunk.text.startswith(("S", "item", "some")) for chunk in chunks)
    assert all(a.line_end <= b.line_start + 5 for a, b in pairwise(chunks))


# Cells


def test_numbers_and_dates_are_shown_as_formatted() -> None:
    formats = ("yyyy/m/d", "0.0%", "#,##0.00", "14", "9")
    cells = [number(value, style) for style, value in enumerate((47974, 0.125, 1200, 47974, 0.5), 1)]
    assert shown(row(1, **dict(zip("ABCDE", cells, strict=True))), formats=formats) == [
        "2031/5/6 | 12.5% | 1,200.00 | 2031-05-06 | 50%"
    ]


def test_days_of_a_workbook_may_count_from_1904() -> None:
    options = {"formats": ("yyyy-mm-dd",), "properties": 'date1904="1"'}
    assert shown(row(1, A=number(47974 - 1462)), **options) == ["2031-05-06"]


def test_every_type_of_cell_is_shown() -> None:
    cells = (
        '<c t="s"><v>0</v></c><c t="s"><v>7</v></c><c t="str"><f>A1</f><v>公式</v></c><c t="e"><v>#DIV/0!</v></c>'
        '<c t="b"><v>1</v></c><c t="d"><v>2031-05-06T08:30:00</v></c><c t="n"><v>x</v></c><c><v>nan</v></c>'
        '<c t="inlineStr"><is><r><t>一</t></r><r><t>二</t></r><rPh><t>おん</t></rPh></is></c><c><f>SUM(A1)</f></c>'
    )
    strings = "<si><r><t>共</t></r><r><t>享</t></r><rPh><t>よみ</t></rPh></si>"
    assert shown(f"<row>{cells}</row>", strings=strings) == [
        "共享 | 公式 | #DIV/0! | TRUE | 2031-05-06 08:30:00 | x | nan | 一二"
    ]


def test_a_row_is_a_line_and_a_blank_row_parts_two_tables() -> None:
    rows = row(2, A="a\nb", B="c") + row(3, A="d", B=" ") + row(5, A="e", B="f")
    assert numbered(parse(xlsx(("S", rows)))) == [(2, "S"), (2, "a b | c"), (3, "d"), (5, "e | f")]


def test_blank_columns_are_not_shown_and_blank_cells_are() -> None:
    assert shown(row(1, B="甲", D="乙", F="丙") + row(2, B="1", F="3") + row(3, F="9")) == [
        "甲 | 乙 | 丙",
        "1 |  | 3",
        " |  | 9",
    ]


def test_cells_and_rows_may_stand_in_any_order() -> None:
    rows = '<row r="2"><c r="B2"><v>2</v></c><c r="A2"><v>1</v></c></row><row r="1"><c r="A1"><v>0</v></c></row>'
    assert shown(rows) == ["0", "1 | 2"]


def test_a_merged_cell_stands_once() -> None:
    assert shown(row(1, A="标题", B='<c r="PLACE"/>', C='<c r="PLACE"/>') + row(2, A="甲", B="乙", C="丙")) == [
        "标题",
        "甲 | 乙 | 丙",
    ]


def test_the_strict_variant_is_read() -> None:
    assert parse(xlsx(("S", row(1, A="x")), namespace=STRICT)).text == "S\n\nx"


# Sheets


def test_sheets_without_cells_are_left_out() -> None:
    data = xlsx(
        ("窗", ""),
        ("空", ""),
        ("宏", row(1, A="run")),
        ("S", row(1, A="x")),
        kinds={"窗": "dialogsheet", "宏": "xlMacrosheet"},
    )
    document = parse(data)
    assert document.text == "S\n\nx"
    assert document.warnings == ("Sheets of charts, macros or dialogs that were left out: 2",)


def test_very_hidden_sheets_are_hidden() -> None:
    data = xlsx(("S", row(1, A="x")), ("T", row(1, A="y")), states={"T": "veryHidden"})
    assert parse(data).warnings == (LEFT_OUT,)


def test_sheets_that_hold_nothing_are_a_warning() -> None:
    assert parse(xlsx(("S", ""))).warnings == ("The sheets hold no text",)


def test_a_damaged_sheet_is_a_warning_and_the_others_are_read() -> None:
    document = parse(xlsx(("S", row(1, A="x") + "</oops>"), ("T", row(1, A="y"))))
    assert document.text.endswith("T\n\ny")
    assert "sheets/1.xml" in document.warnings[0]


def test_a_sheet_that_is_missing_is_a_warning() -> None:
    files = {
        "xl/workbook.xml": (
            b'<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheets>'
            b'<sheet name="S"/></sheets></workbook>'
        )
    }
    assert parse(packed_as_zip(files)).warnings[0] == "Sheets that are missing from the file: 1"


# OpenDocument


def test_repeated_rows_and_cells_stand_for_many() -> None:
    data = ods(ods_table("S", ods_row(ods_cell("x", 3), repeated=2), ods_row("", repeated=100), ods_row("end")))
    assert numbered(parse(data)) == [(1, "S"), (1, "x | x | x"), (2, "x | x | x"), (103, "end")]


def test_a_value_is_read_where_a_cell_does_not_say_how_it_is_shown() -> None:
    cell = '<table:table-cell office:{}="{}"/>'
    values = [
        ("string-value", "布线"),
        ("value", "0.5"),
        ("date-value", "2031-05-06T00:00:00"),
        ("boolean-value", "true"),
    ]
    shown_as_nothing = '<table:table-cell office:value="7"><text:p/></table:table-cell>'
    cells = [cell.format(name, value) for name, value in values]
    assert parse(ods(ods_table("S", ods_row(*cells, shown_as_nothing)))).text == "S\n\n布线 | 0.5 | 2031-05-06 | true"


def test_covered_cells_are_no_text() -> None:
    noted = "<table:table-cell><text:p>a<text:s/>b</text:p>"
    noted += "<text:p>c</text:p></table:table-cell><table:covered-table-cell><text:p>old</text:p>"
    assert parse(ods(ods_table("S", ods_row(noted + "</table:covered-table-cell>", "d")))).text == "S\n\na b c | d"


def test_the_title_of_a_spreadsheet_of_libreoffice_is_read() -> None:
    document = parse(ods(ods_table("S", ods_row("x")), meta="<dc:title>年度计划</dc:title><dc:creator>梅</dc:creator>"))
    assert (document.title, document.metadata) == ("年度计划", {"author": "梅"})


def test_an_encrypted_spreadsheet_of_libreoffice_needs_a_password() -> None:
    with pytest.raises(PasswordNeeded):
        parse(ods(encrypted="content.xml"))
    with pytest.raises(PasswordNeeded):
        parse(ods(encrypted="encrypted-package"))


def test_a_spreadsheet_whose_macros_alone_are_encrypted_is_read() -> None:
    assert parse(ods(ods_table("S", ods_row("x")), encrypted="Basic/Standard/Module1.xml")).text == "S\n\nx"


def test_a_manifest_of_openoffice_names_a_document_type_and_declares_nothing() -> None:
    named = '<!DOCTYPE manifest:manifest PUBLIC "-//OpenOffice.org//DTD Manifest 1.0//EN" "Manifest.dtd"{}>'
    assert parse(ods(ods_table("S", ods_row("x")), doctype=named.format(""))).text == "S\n\nx"
    with pytest.raises(ParseFailed, match="declares a document type"):
        parse(ods(ods_table("S", ods_row("x")), doctype=named.format('[<!ENTITY a "aaa">]')))


def test_a_text_document_of_libreoffice_is_no_spreadsheet() -> None:
    with pytest.raises(ParseFailed, match="not a spreadsheet"):
        parse(packed_as_zip({"content.xml": b"<office/>"}))


# Binary formats


@pytest.mark.parametrize("make", [xls, xlsb])
def test_values_of_binary_cells_are_shown(make: Any) -> None:
    document = parse(make({"S": {(2, 1): "文", (2, 2): 0.5, (2, 3): True, (3, 1): False, (3, 2): 1e20}}))
    assert numbered(document) == [(3, "S"), (3, "文 | 0.5 | TRUE"), (4, "FALSE | 1E+20")]


@pytest.mark.parametrize("name", ["Book", "WORKBOOK", "BOOK"])
def test_an_old_workbook_is_found_by_each_of_its_names(name: str) -> None:
    assert parse(xls({"S": {(0, 0): "x"}}, stream=name)).text == "S\n\nx"


@pytest.mark.parametrize("head", ["09000400", "09020600", "09040600"])
def test_a_workbook_from_before_excel_5_is_told_as_one(head: str) -> None:
    with pytest.raises(UnsupportedFormat, match="Excel 4 or older"):
        parse(bytes.fromhex(head) + bytes(40))


def test_dates_of_old_workbooks_are_dates() -> None:
    assert (
        parse(xls({"S": {(0, 0): Day(47974), (0, 1): Day(47974.75)}})).text == "S\n\n2031-05-06 | 2031-05-06 18:00:00"
    )


def test_what_a_file_is_does_not_depend_on_its_ending() -> None:
    named = Source(root="/r", path="a.ods", size_bytes=0, mtime_ns=0, sha256="")
    assert SpreadsheetParser().parse(named, XLS) == parse(XLS)


def test_an_encrypted_workbook_needs_a_password() -> None:
    with pytest.raises(PasswordNeeded):
        parse(xls({"S": {(0, 0): "x"}}, encrypted=True))
    with pytest.raises(PasswordNeeded):
        parse(OLE + "EncryptedPackage".encode("utf-16-le"))


@pytest.mark.parametrize("data", [OLE + "Workbook\0".encode("utf-16-le"), XLS[:2000], XLSB[:300]])
def test_a_damaged_workbook_says_so(data: bytes) -> None:
    with pytest.raises(ParseFailed, match="damaged"):
        parse(data)


def test_what_is_no_spreadsheet_says_so() -> None:
    with pytest.raises(ParseFailed, match="not an Excel workbook"):
        parse(docx("<w:p/>"))
    with pytest.raises(ParseFailed, match="not an Office document"):
        parse(b"<html><table>")
    with pytest.raises(UnsupportedFormat):
        parse(OLE + "WordDocument".encode("utf-16-le"))


# What is hostile


@pytest.mark.parametrize(
    "data",
    [
        xlsx(("S", row(1, A="first") + row(1_048_576, XFD="last"))),
        ods(
            ods_table(
                "S",
                ods_row("first"),
                ods_row(ods_cell("", 16_384), repeated=1_048_574),
                ods_row(ods_cell("", 16_383), "last"),
            )
        ),
    ],
)
def test_cells_at_two_corners_cost_no_more_than_two_cells(data: bytes) -> None:
    began = time.process_time()
    assert numbered(parse(data)) == [(1, "S"), (1, "first"), (1_048_576, "last")]
    assert time.process_time() - began < 1


def test_a_table_of_nearly_nothing_but_blanks_is_shown_without_them() -> None:
    rows = "".join(f'<row r="{n}"><c r="{a}{b}{n}"><v>{n}</v></c></row>' for n, a, b in _diagonal(600))
    assert shown(rows) == [str(n) for n in range(1, 601)]


def _diagonal(count: int) -> list[tuple[int, str, str]]:
    return [(n, chr(65 + n // 26), chr(65 + n % 26)) for n in range(1, count + 1)]


def test_binary_cells_that_lie_too_far_apart_are_refused() -> None:
    far = {(0, 0): "x", (1_048_575, 16_383): "y"}
    with pytest.raises(TooLarge, match="far apart"):
        parse(xlsb({"S": far}))
    with pytest.raises(TooLarge, match="far apart"):
        parse(xls({"S": {(0, 0): "x", (65_535, 65_535): "y"}}))
    assert parse(xlsb({"S": {(1_048_575, 16_383): "y"}})).text == "S\n\ny"


def test_cells_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sheets, "MAX_CELLS", 3)
    three = {(0, 0): "a", (0, 1): "b", (0, 2): "c"}
    for make in (
        lambda cells: xlsx(("S", row(1, **dict(zip("ABCD", cells.values(), strict=False))))),
        lambda cells: ods(ods_table("S", ods_row(ods_cell("x", len(cells))))),
        lambda cells: xlsb({"S": cells}),
        lambda cells: xls({"S": cells}),
    ):
        assert parse(make(three)).text
        with pytest.raises(TooLarge, match="more than 3 cells"):
            parse(make({**three, (0, 3): "d"}))


def test_a_shared_text_counts_wherever_it_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(char_budget, "MAX_CHARS", 1_000)
    cell = '<c t="s"><v>0</v></c>'
    strings = f"<si><t>{'x' * 100}</t></si>"
    assert shown(f"<row>{cell * 10}</row>", strings=strings)
    with pytest.raises(TooLarge, match="too much text"):
        shown(f"<row>{cell * 11}</row>", strings=strings)


def test_a_document_type_is_refused() -> None:
    with pytest.raises(ParseFailed, match="document type"):
        parse(packed_as_zip({"xl/workbook.xml": b"<!DOCTYPE x><x/>"}))
    with pytest.raises(ParseFailed, match="document type"):
        parse(packed_as_zip({"content.xml": b"<!DOCTYPE x><x/>"}))
