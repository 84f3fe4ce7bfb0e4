"""Read the binary formats of Excel (.xls, .xlsb) with calamine, which may end the process: this is for a worker."""

from __future__ import annotations

import datetime as dt
import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from zhiku.errors import ParseFailed
from zhiku.model import ParsedDocument
from zhiku.parsers.archive import DamagedPart
from zhiku.parsers.ole import OleFile
from zhiku.parsers.ooxml import WORKBOOK_STREAMS, Package
from zhiku.parsers.ooxml_parts import Parts
from zhiku.parsers.sheets import SheetCells, Workbook
from zhiku.parsers.xls_grid import check_xls, check_xlsb
from zhiku.text.cell_format import show_general

if TYPE_CHECKING:
    from python_calamine import CalamineSheet


def read_xls(data: bytes, path: str, workbook: Workbook) -> ParsedDocument:
    """Return the document; raise PasswordNeeded, TooLarge or ParseFailed."""
    try:
        stream = OleFile(data).read(WORKBOOK_STREAMS)
    except DamagedPart as error:
        raise _damaged(path) from error
    check_xls(stream or b"", path)
    return _read(data, path, workbook)


def read_xlsb(package: Package, data: bytes, path: str, workbook: Workbook) -> ParsedDocument:
    """Return the document of a workbook whose parts are binary; raise what `read_xls` raises."""
    by_id = Parts(package, path, usual_main="xl/workbook.bin").by_id
    try:
        parts = [package.read(part) for part in sorted({found.part for found in by_id.values()})]
    except DamagedPart as error:
        raise _damaged(path) from error
    check_xlsb(filter(None, parts), path)
    return _read(data, path, workbook)


def _read(data: bytes, path: str, workbook: Workbook) -> ParsedDocument:
    import python_calamine as calamine  # only who has such files pays for it

    try:
        with _faults_told():
            book = calamine.load_workbook(io.BytesIO(data))
    except _Damaged as error:
        raise _damaged(path) from error
    count = 0
    for sheet in book.sheets_metadata:
        is_hidden = sheet.visible != calamine.SheetVisibleEnum.Visible
        if workbook.wants(is_hidden=is_hidden, is_sheet=sheet.typ == calamine.SheetTypeEnum.WorkSheet):
            try:
                with _faults_told():
                    cells = _read_sheet(book.get_sheet_by_name(sheet.name), workbook)
                workbook.add(sheet.name, cells)
            except _Damaged:
                count += 1
    warnings = [f"Sheets that are damaged and were left out: {count}"] if count else []
    return workbook.document(warnings=warnings)


class _Damaged(Exception):
    """Calamine cannot read something."""


@contextmanager
def _faults_told() -> Iterator[None]:
    """Raise _Damaged for whatever calamine raises."""
    import python_calamine as calamine

    try:
        yield
    except (calamine.CalamineError, ValueError, OSError) as error:
        raise _Damaged from error
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # what a panic of its Rust code becomes; it has no other name
            raise
        raise _Damaged from error


def _read_sheet(sheet: CalamineSheet, workbook: Workbook) -> SheetCells:
    cells = SheetCells()
    if sheet.start is None:
        return cells
    first_row, first_column = sheet.start
    for row, values in enumerate(sheet.to_python(), first_row + 1):  # from the first cell on, unlike iter_rows
        for column, value in enumerate(values, first_column + 1):
            if value != "":
                text = _show(value)
                workbook.count(len(text))
                cells.add(row, column, text)
    return cells


def _show(value: object) -> str:
    """Return a value as it is shown; how numbers are formatted is not known."""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int | float):
        return show_general(value)
    if isinstance(value, dt.datetime):
        return value.isoformat(" ", "seconds")
    if isinstance(value, dt.time):
        return value.isoformat("seconds")
    if isinstance(value, dt.timedelta):
        minutes, seconds = divmod(round(value.total_seconds()), 60)
        return f"{minutes // 60}:{minutes % 60:02d}:{seconds:02d}"
    return str(value)


def _damaged(path: str) -> ParseFailed:
    return ParseFailed(
        "{path} is damaged: {cause}",
        path=path,
        cause="it is cut off or corrupt",
        hint="open it in its own program to check it",
    )
