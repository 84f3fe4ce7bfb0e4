"""Read spreadsheets of any format that Excel and LibreOffice write, told apart by what is in them."""

from __future__ import annotations

from typing import Final

from zhiku.errors import UnsupportedFormat
from zhiku.model import ParsedDocument, Source
from zhiku.parsers.ods import CONTENT_PART, ENCRYPTED_PART, read_ods
from zhiku.parsers.ooxml import ENCRYPTED_PACKAGE, OLD_WORKBOOKS, OLE_MARK, SAVE_ANEW, Package
from zhiku.parsers.sheets import Workbook
from zhiku.parsers.xls import read_xls, read_xlsb
from zhiku.parsers.xlsx import read_xlsx

_BEFORE_EXCEL_5: Final = (b"\x09\0\x04\0", b"\x09\x02\x06\0", b"\x09\x04\x06\0")
"""How the records of a workbook begin that lie in no container yet: BOF of BIFF 2, 3 and 4."""


class SpreadsheetParser:
    """Read the cells of all sheets, of hidden ones only if asked, with comments and charts; no formulas and macros."""

    def __init__(self, *, hidden_sheets: bool = False) -> None:
        self._hidden_sheets = hidden_sheets

    def parse(self, source: Source, data: bytes) -> ParsedDocument:
        """Return the document: a section for each sheet; line n of it is row n.

        Raise PasswordNeeded if it is encrypted, UnsupportedFormat if it is of Excel 4 or older, or another document of
        Office 97-2003, TooLarge if it holds or unpacks to too much, ParseFailed if it is damaged, no spreadsheet, or
        declares a document type.
        """
        path = source.path
        if data.startswith(_BEFORE_EXCEL_5):
            raise UnsupportedFormat("{path} is a workbook of Excel 4 or older", path=path, hint=SAVE_ANEW)
        workbook = Workbook(path, hidden_sheets=self._hidden_sheets)
        if data.startswith(OLE_MARK) and ENCRYPTED_PACKAGE not in data and any(name in data for name in OLD_WORKBOOKS):
            return read_xls(data, path, workbook)
        package = Package(data, path)
        if package.has(CONTENT_PART) or package.has(ENCRYPTED_PART):
            return read_ods(package, path, workbook)
        if package.has("xl/workbook.bin"):
            return read_xlsb(package, data, path, workbook)
        return read_xlsx(package, path, workbook)
