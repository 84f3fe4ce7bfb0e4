"""Small spreadsheets in four formats, made part by part for the tests that need them."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Final

from docx_files import packed_as_zip, relation, relations

TRANSITIONAL: Final = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
STRICT: Final = "http://purl.oclc.org/ooxml/spreadsheetml/main"
_RELATIONS: Final = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_THREADED: Final = "http://schemas.microsoft.com/office/spreadsheetml/2018/threadedcomments"
OLE_MARK: Final = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"

Value = str | float | bool


# xlsx


def xlsx(
    *sheets: tuple[str, str],
    states: Mapping[str, str] | None = None,
    kinds: Mapping[str, str] | None = None,
    strings: str = "",
    formats: tuple[str, ...] = (),
    properties: str = "",
    attached: Mapping[str, str] | None = None,
    persons: str = "",
    namespace: str = TRANSITIONAL,
) -> bytes:
    """Return a workbook of named sheets and their insides, `row` elements.

    `states` and `kinds` are by name, where a sheet is hidden or none of cells; `formats` are those of cell styles 1, 2
    and so on: codes, or numbers of built-in ones; `strings` are the shared ones, `properties` those of the workbook.
    `attached` are whole parts of the first sheet by their kind (`comments`, `drawing` and so on), a chart among them is
    one of the drawing; `persons` is the inside of the part that names who wrote threaded comments.
    """
    states, kinds, attached = states or {}, kinds or {}, attached or {}
    named = "".join(
        f'<sheet name="{name}" sheetId="{n}" r:id="r{n}" state="{states.get(name, "visible")}"/>'
        for n, (name, _) in enumerate(sheets, 1)
    )
    related = [
        relation(f"r{n}", kinds.get(name, "worksheet"), f"sheets/{n}.xml") for n, (name, _) in enumerate(sheets, 1)
    ]
    codes = "".join(
        f'<numFmt numFmtId="{n}" formatCode="{code}"/>' for n, code in enumerate(formats, 164) if not code.isdecimal()
    )
    styles = "".join(f'<xf numFmtId="{code if code.isdecimal() else n}"/>' for n, code in enumerate(formats, 164))
    files = {
        "_rels/.rels": relations([relation("r1", "officeDocument", "xl/workbook.xml")]),
        "xl/workbook.xml": (
            f'<workbook xmlns="{namespace}" xmlns:r="{_RELATIONS}"><workbookPr {properties}/>'
            f"<sheets>{named}</sheets></workbook>"
        ),
        "xl/_rels/workbook.xml.rels": relations(
            [
                *related,
                relation("s", "sharedStrings", "strings.xml"),
                relation("f", "styles", "styles.xml"),
                relation("p", "person", "persons.xml"),
            ]
        ),
        "xl/persons.xml": f'<personList xmlns="{_THREADED}">{persons}</personList>',
        "xl/sheets/_rels/1.xml.rels": relations(
            [relation(kind, kind, f"../{kind}.xml") for kind in attached if kind != "chart"]
        ),
        "xl/_rels/drawing.xml.rels": relations([relation("c", "chart", "chart.xml")]),
        **{f"xl/{kind}.xml": part for kind, part in attached.items()},
        "xl/strings.xml": f'<sst xmlns="{namespace}">{strings}</sst>',
        "xl/styles.xml": (
            f'<styleSheet xmlns="{namespace}"><numFmts>{codes}</numFmts><cellStyleXfs><xf numFmtId="9"/></cellStyleXfs>'
            f'<cellXfs><xf numFmtId="0"/>{styles}</cellXfs></styleSheet>'
        ),
    }
    for n, (_, rows) in enumerate(sheets, 1):
        files[f"xl/sheets/{n}.xml"] = f'<worksheet xmlns="{namespace}"><sheetData>{rows}</sheetData></worksheet>'
    return packed_as_zip({name: text.encode() for name, text in files.items()})


def row(number: int, **cells: Value | str) -> str:
    """Return a row; cells are by column letter; in one that is markup already, PLACE is its address."""
    return f'<row r="{number}">{"".join(_cell(f"{column}{number}", value) for column, value in cells.items())}</row>'


def _cell(place: str, value: Value) -> str:
    if isinstance(value, bool):
        return f'<c r="{place}" t="b"><v>{int(value)}</v></c>'
    if isinstance(value, str):
        return (
            value.replace("PLACE", place)
            if value.startswith("<")
            else f'<c r="{place}" t="inlineStr"><is><t>{value}</t></is></c>'
        )
    return f'<c r="{place}"><v>{value}</v></c>'


def number(value: float, style: int = 1) -> str:
    """Return a cell of a number in a style."""
    return f'<c r="PLACE" s="{style}"><v>{value}</v></c>'


def comments(**texts: tuple[str, str]) -> str:
    """Return a part of comments, (author, text), by their cell."""
    authors = "".join(f"<author>{author}</author>" for author, _ in texts.values())
    each = "".join(
        f'<comment ref="{place}" authorId="{n}"><text><r><t>{author and author + ":"}</t></r>'
        f"<r><t>\n{text}</t></r></text></comment>"
        for n, (place, (author, text)) in enumerate(texts.items())
    )
    return f'<comments xmlns="{TRANSITIONAL}"><authors>{authors}</authors><commentList>{each}</commentList></comments>'


def threaded_comments(*texts: tuple[str, str, str]) -> str:
    """Return a part of comments, (cell, person's id, text), in the form of today."""
    each = "".join(
        f'<threadedComment ref="{place}" personId="{person}"><text>{text}</text></threadedComment>'
        for place, person, text in texts
    )
    return f'<ThreadedComments xmlns="{_THREADED}">{each}</ThreadedComments>'


def drawing(row_no: int) -> str:
    """Return a drawing with a chart that begins in a row, from 1."""
    return (
        '<xdr:wsDr xmlns:xdr="http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing"'
        f' xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart" xmlns:r="{_RELATIONS}"><xdr:twoCellAnchor>'
        f"<xdr:from><xdr:col>4</xdr:col><xdr:row>{row_no - 1}</xdr:row></xdr:from><xdr:to><xdr:row>9</xdr:row></xdr:to>"
        '<xdr:graphicFrame><c:chart r:id="c"/></xdr:graphicFrame></xdr:twoCellAnchor></xdr:wsDr>'
    )


# ods


def ods(*tables: str, styles: str = "", encrypted: str = "", meta: str = "", doctype: str = "") -> bytes:
    """Return a spreadsheet of `table:table` elements; `encrypted` names a part, `doctype` is that of the manifest."""
    spaces = " ".join(
        f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
        for name in ("office", "table", "text", "style", "manifest", "meta")
    )
    spaces += ' xmlns:dc="http://purl.org/dc/elements/1.1/"'
    entries = "".join(
        f'<manifest:file-entry manifest:full-path="{part}">'
        f"{'<manifest:encryption-data/>' * (part == encrypted)}</manifest:file-entry>"
        for part in dict.fromkeys(["content.xml", encrypted or "meta.xml"])
    )
    files = {
        "mimetype": "application/vnd.oasis.opendocument.spreadsheet",
        "META-INF/manifest.xml": (f"{doctype}<manifest:manifest {spaces}>{entries}</manifest:manifest>"),
        "meta.xml": f"<office:document-meta {spaces}><office:meta>{meta}</office:meta></office:document-meta>",
        "content.xml": (
            f"<office:document-content {spaces}><office:automatic-styles>{styles}</office:automatic-styles>"
            f"<office:body><office:spreadsheet>{''.join(tables)}</office:spreadsheet></office:body>"
            "</office:document-content>"
        ),
    }
    return packed_as_zip({name: text.encode() for name, text in files.items()})


def ods_table(name: str, *rows: str, style: str = "") -> str:
    """Return a sheet."""
    return f'<table:table table:name="{name}" table:style-name="{style}">{"".join(rows)}</table:table>'


def ods_row(*cells: str, repeated: int = 1) -> str:
    """Return a row; a cell that is no markup yet is one of that text."""
    inside = "".join(each if each.startswith("<") else ods_cell(each) for each in cells)
    return f'<table:table-row table:number-rows-repeated="{repeated}">{inside}</table:table-row>'


def ods_cell(text: str = "", repeated: int = 1) -> str:
    """Return a cell, which may stand for several."""
    shown = f"<text:p>{text}</text:p>" if text else ""
    return f'<table:table-cell table:number-columns-repeated="{repeated}">{shown}</table:table-cell>'


def ods_commented(text: str, author: str, *said: str) -> str:
    """Return a cell with a comment of some paragraphs."""
    paragraphs = "".join(f"<text:p>{each}</text:p>" for each in said)
    return (
        f"<table:table-cell><office:annotation><dc:creator>{author}</dc:creator><dc:date>2031-05-06</dc:date>{paragraphs}"
        f"</office:annotation><text:p>{text}</text:p></table:table-cell>"
    )


# xls (MS-XLS, in the container of MS-CFB)


def xls(
    sheets: Mapping[str, Mapping[tuple[int, int], Value]],
    *,
    hidden: str = "",
    encrypted: bool = False,
    stream: str = "Workbook",
) -> bytes:
    """Return a workbook of cells by sheet and place, (row, column) from 0; dates are numbers of a float subclass."""
    bodies = [
        _record(0x809, struct.pack("<HHHH", 0x600, 0x10, 0, 0) + bytes(8))
        + b"".join(_xls_cell(place, value) for place, value in cells.items())
        + _record(0x0A, b"")
        for cells in sheets.values()
    ]
    start = _record(0x809, struct.pack("<HHHH", 0x600, 5, 0, 0) + bytes(8))
    if encrypted:
        start += _record(0x2F, struct.pack("<HHH", 1, 1, 1) + bytes(48))
    start += _record(0x41E, struct.pack("<H", 164) + _xls_text("yyyy\\-mm\\-dd"))
    start += b"".join(_record(0xE0, struct.pack("<HHH", 0, code, 0) + bytes(14)) for code in (0, 164))
    names = [_xls_text(name, short=True) for name in sheets]
    at = len(start) + sum(4 + 6 + len(name) for name in names) + 4
    for name, title, body in zip(names, sheets, bodies, strict=True):
        start += _record(0x85, struct.pack("<IBB", at, title == hidden, 0) + name)
        at += len(body)
    return ole(stream, start + _record(0x0A, b"") + b"".join(bodies))


class Day(float):
    """A number that is shown as a date."""


def _xls_cell(place: tuple[int, int], value: Value) -> bytes:
    head = struct.pack("<HHH", *place, isinstance(value, Day))
    if isinstance(value, bool):
        return _record(0x205, head + struct.pack("<BB", value, 0))
    if isinstance(value, str):
        return _record(0x204, head + _xls_text(value))
    return _record(0x203, head + struct.pack("<d", value))


def _xls_text(text: str, *, short: bool = False) -> bytes:
    size = struct.pack("<B" if short else "<H", len(text))
    return size + b"\1" + text.encode("utf-16-le")


def _record(kind: int, body: bytes) -> bytes:
    return struct.pack("<HH", kind, len(body)) + body


def ole(name: str, stream: bytes) -> bytes:
    """Return an OLE file of one stream: the table of sectors in the first, the directory in the second."""
    sector, end, free = 512, 0xFFFFFFFE, 0xFFFFFFFF
    stream += bytes(max(4096 - len(stream), -len(stream) % sector))  # a short one would need a second table
    count = len(stream) // sector
    table = [0xFFFFFFFD, end, *range(3, count + 2), end]
    assert len(table) <= sector // 4
    header = OLE_MARK + bytes(16) + struct.pack("<HHHHH", 0x3E, 3, 0xFFFE, 9, 6) + bytes(6)
    header += struct.pack("<IIIIIIIII", 0, 1, 1, 0, 4096, end, 0, end, 0)
    header += struct.pack("<109I", 0, *[free] * 108)
    directory = ole_entry("Root Entry", 5, child=1, start=end, size=0)
    directory += ole_entry(name, 2, child=free, start=2, size=len(stream))
    packed = struct.pack("<128I", *table, *[free] * (128 - len(table)))
    return header + packed + directory + bytes(sector - len(directory)) + stream


def ole_entry(name: str, kind: int, *, child: int, start: int, size: int) -> bytes:
    """Return an entry of an OLE file's directory."""
    free = 0xFFFFFFFF
    encoded = f"{name}\0".encode("utf-16-le")
    return (
        encoded.ljust(64, b"\0")
        + struct.pack("<HBBIII", len(encoded), kind, 1, free, free, child)
        + bytes(36)
        + struct.pack("<IQ", start, size)
    )


# xlsb (MS-XLSB)


def xlsb(sheets: Mapping[str, Mapping[tuple[int, int], Value]], *, hidden: str = "") -> bytes:
    """Return a workbook of cells by sheet and place, (row, column) from 0."""
    bundle = b"".join(
        _xlsb_record(156, struct.pack("<II", title == hidden, n) + _wide(f"r{n}") + _wide(title))
        for n, title in enumerate(sheets, 1)
    )
    book = _xlsb_record(131) + _xlsb_record(143) + bundle + _xlsb_record(144) + _xlsb_record(132)
    related = [relation(f"r{n}", "worksheet", f"worksheets/sheet{n}.bin") for n in range(1, len(sheets) + 1)]
    files = {
        "_rels/.rels": relations([relation("r1", "officeDocument", "xl/workbook.bin")]).encode(),
        "xl/_rels/workbook.bin.rels": relations(related).encode(),
        "xl/workbook.bin": book,
    }
    for n, cells in enumerate(sheets.values(), 1):
        files[f"xl/worksheets/sheet{n}.bin"] = _xlsb_sheet(cells)
    return packed_as_zip(files)


def _xlsb_sheet(cells: Mapping[tuple[int, int], Value]) -> bytes:
    rows = b""
    for (line, column), value in sorted(cells.items()):
        rows += _xlsb_record(0, struct.pack("<I", line) + bytes(21)) + _xlsb_cell(column, value)
    last = max(cells, default=(0, 0))
    size = struct.pack("<IIII", 0, last[0], 0, max((column for _, column in cells), default=0))
    return (
        _xlsb_record(129) + _xlsb_record(148, size) + _xlsb_record(145) + rows + _xlsb_record(146) + _xlsb_record(130)
    )


def _xlsb_cell(column: int, value: Value) -> bytes:
    head = struct.pack("<II", column, 0)
    if isinstance(value, bool):
        return _xlsb_record(4, head + bytes([value]))
    if isinstance(value, str):
        return _xlsb_record(6, head + _wide(value))
    return _xlsb_record(5, head + struct.pack("<d", value))


def _wide(text: str) -> bytes:
    return struct.pack("<I", len(text)) + text.encode("utf-16-le")


def _xlsb_record(kind: int, body: bytes = b"") -> bytes:
    return _seven_bits(kind) + _seven_bits(len(body)) + body


def _seven_bits(value: int) -> bytes:
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*found, value])


PLAN: Final = {(0, 0): "二季度进度", (2, 0): "任务", (2, 2): "金额", (3, 0): "布线", (3, 2): 1200.0, (4, 2): 0.5}
SECRET: Final = {(0, 0): "铂金"}

XLSX: Final = xlsx(
    (
        "进度",
        row(1, A="二季度进度")
        + row(3, A="任务", C="日期", D="金额")
        + row(4, A="布线", C=number(47974), D=1200)
        + row(5, A="调试", C=number(48006), D=0.5)
        + row(7, A="The end — “fin”.", B=True),
    ),
    ("参数", row(1, A="铂金")),
    states={"参数": "hidden"},
    formats=("yyyy-mm-dd",),
)
"""A workbook with something of most kinds."""

ODS: Final = ods(
    ods_table("进度", ods_row("任务", ods_cell(), "金额"), ods_row("布线", ods_cell(repeated=2), "¥1,200.00")),
    ods_table("参数", ods_row("铂金"), style="ta2"),
    styles='<style:style style:name="ta2"><style:table-properties table:display="false"/></style:style>',
)
XLS: Final = xls({"进度": PLAN, "参数": SECRET}, hidden="参数")
XLSB: Final = xlsb({"进度": PLAN, "参数": SECRET}, hidden="参数")
