"""Read spreadsheets in OpenDocument format, which holds what each cell shows (ISO/IEC 26300-1, 9 and 19)."""

from __future__ import annotations

from typing import Any, Final

from zhiku.errors import ParseFailed
from zhiku.model import ParsedDocument
from zhiku.parsers.archive import DamagedPart, needs_password
from zhiku.parsers.comments import show_comment
from zhiku.parsers.ooxml import Package
from zhiku.parsers.ooxml_properties import Properties
from zhiku.parsers.sheets import Note, SheetCells, Workbook, column_letters
from zhiku.parsers.xml_walk import Attributes, Handlers, attribute, parse_whole

CONTENT_PART: Final = "content.xml"
ENCRYPTED_PART: Final = "encrypted-package"
"""Where a program since LibreOffice 24.8 keeps all parts of an encrypted file."""
_MANIFEST_PART: Final = "META-INF/manifest.xml"
_PROPERTIES_PART: Final = "meta.xml"
_MAX_ROWS: Final = 1 << 24
# What is no cell's text: deletions that are tracked, drawings above the cells.
_PASSED_OVER: Final = ("table:tracked-changes", "table:shapes", "table:content-validations")
_VALUES: Final = ("string-value", "date-value", "time-value", "boolean-value", "value")
_SIGNS: Final = {"text:tab": " ", "text:line-break": "\n", "text:s": " "}


def read_ods(package: Package, path: str, workbook: Workbook) -> ParsedDocument:
    """Return the document; raise PasswordNeeded, TooLarge, or ParseFailed if it is damaged, or no spreadsheet."""
    _refuse_encrypted(package, path)
    reader, properties = _ContentReader(workbook), Properties()
    try:
        package.walk(CONTENT_PART, reader.handlers())
    except DamagedPart as error:
        raise ParseFailed(
            "{path} is damaged: {cause}", path=path, cause=str(error), hint="open it in its own program to check it"
        ) from error
    if not reader.is_spreadsheet:
        raise ParseFailed("{path} is not a spreadsheet", path=path, hint="give the file the ending of what it is")
    warnings = []
    try:
        package.walk(_PROPERTIES_PART, properties.handlers())
    except DamagedPart:
        names = _PROPERTIES_PART
        warnings.append(f"Parts of the file that are damaged and were left out: {names}")
    return workbook.document(title=properties.title, metadata=properties.metadata, warnings=warnings)


def _refuse_encrypted(package: Package, path: str) -> None:
    """Raise PasswordNeeded if the cells are encrypted; macros may be so alone."""
    part = ""
    encrypted: set[str] = set()

    def start_part(attributes: Attributes) -> None:
        nonlocal part
        part = attribute(attributes, "full-path")

    def note(_: Attributes) -> None:
        encrypted.add(part)

    handlers = Handlers(
        starts={"manifest:file-entry": start_part, "manifest:encryption-data": note},
        ends={},
        characters=lambda _: None,
    )
    try:
        package.walk(_MANIFEST_PART, handlers, allow_doctype=True)  # OpenOffice 2 wrote one
    except DamagedPart:
        return  # nothing that is needed to read the rest
    if encrypted & {CONTENT_PART, ENCRYPTED_PART}:
        raise needs_password(path)


class _ContentReader:
    """Reads all sheets. A row or a cell may stand for many, most often for those without content behind the last."""

    def __init__(self, workbook: Workbook) -> None:
        self.is_spreadsheet = False
        self._workbook = workbook
        self._hidden_styles: set[str] = set()
        self._style = ""
        self._name = ""
        self._sheet: SheetCells | None = None
        self._row = 0
        self._row_repeats = 1
        self._cells: list[tuple[int, int, str]] = []
        self._column = 0
        self._column_repeats = 1
        self._in_cell = False
        self._attributes: Attributes = {}
        self._paragraphs: list[list[str]] = []
        self._in_paragraph = 0
        self._comments: list[tuple[int, str, str]] = []
        self._author: list[str] = []
        self._in_author = False
        self._of_cell: list[list[str]] = []

    def handlers(self) -> Handlers:
        return Handlers(
            starts={
                **dict.fromkeys(_PASSED_OVER, lambda _: True),
                **{name: self._sign(sign) for name, sign in _SIGNS.items()},
                "style:style": self._start_style,
                "style:table-properties": self._set_table_properties,
                "office:spreadsheet": self._start_spreadsheet,
                "table:table": self._start_sheet,
                "table:table-row": self._start_row,
                "table:table-cell": self._start_cell,
                "table:covered-table-cell": self._cover_cell,
                "text:p": self._start_paragraph,
                "office:annotation": self._start_comment,
                "dc:creator": self._start_author,
            },
            ends={
                "table:table": self._end_sheet,
                "table:table-row": self._end_row,
                "table:table-cell": self._end_cell,
                "text:p": self._end_paragraph,
                "office:annotation": self._end_comment,
                "dc:creator": self._end_author,
            },
            characters=self._add,
        )

    def _start_style(self, attributes: Attributes) -> None:
        self._style = attribute(attributes, "name")

    def _set_table_properties(self, attributes: Attributes) -> None:
        if attribute(attributes, "display") == "false":
            self._hidden_styles.add(self._style)

    def _start_spreadsheet(self, _: Attributes) -> None:
        self.is_spreadsheet = True

    def _start_sheet(self, attributes: Attributes) -> bool:
        is_hidden = attribute(attributes, "style-name") in self._hidden_styles
        # A table inside a cell, which no program makes, is passed over.
        if self._sheet is not None or not self._workbook.wants(is_hidden=is_hidden):
            return True
        self._sheet = SheetCells()
        self._name = attribute(attributes, "name")
        self._row = 1
        return False

    def _end_sheet(self) -> None:
        if self._sheet is not None:
            self._workbook.add(self._name, self._sheet)
        self._sheet = None

    def _start_row(self, attributes: Attributes) -> None:
        self._row_repeats = _repeats(attributes, "number-rows-repeated")
        self._column = 1
        self._cells = []
        self._comments = []

    def _end_row(self) -> None:
        for column, repeats, text in self._cells:
            self._workbook.count(len(text), repeats * self._row_repeats)
            for row in range(self._row, self._row + self._row_repeats):
                for place in range(column, column + repeats):
                    if self._sheet is not None:
                        self._sheet.add(row, place, text)
        for column, author, text in self._comments:
            shown = show_comment(author, text, f"{column_letters(column)}{self._row}")
            if shown and self._sheet is not None:
                note = Note(self._row, shown)
                self._workbook.count_note(note)
                self._sheet.add_note(note)
        self._row = min(self._row + self._row_repeats, _MAX_ROWS)

    def _start_cell(self, attributes: Attributes) -> None:
        self._column_repeats = _repeats(attributes, "number-columns-repeated")
        self._in_cell = True
        self._paragraphs = []
        self._attributes = attributes

    def _start_comment(self, _: Attributes) -> None:
        self._author = []
        self._of_cell, self._paragraphs = self._paragraphs, []

    def _end_comment(self) -> None:
        if self._in_cell:
            self._comments.append((self._column, "".join(self._author), _joined(self._paragraphs)))
        self._paragraphs = self._of_cell

    def _start_author(self, _: Attributes) -> None:
        self._in_author = True

    def _end_author(self) -> None:
        self._in_author = False

    def _end_cell(self) -> None:
        text = _joined(self._paragraphs)
        if not self._paragraphs:  # a program that does not say how it is shown
            values = (attribute(self._attributes, name) for name in _VALUES)
            text = next(filter(None, values), "").removesuffix("T00:00:00")
        if text.strip():
            self._cells.append((self._column, self._column_repeats, text))
        self._column += self._column_repeats
        self._in_cell = False

    def _cover_cell(self, attributes: Attributes) -> bool:
        """Pass over a cell that a merged one covers."""
        self._column += _repeats(attributes, "number-columns-repeated")
        return True

    def _start_paragraph(self, _: Attributes) -> None:
        self._in_paragraph += 1
        self._paragraphs.append([])

    def _end_paragraph(self) -> None:
        self._in_paragraph -= 1

    def _sign(self, sign: str) -> Any:
        return lambda _: self._add(sign)

    def _add(self, text: str) -> None:
        if self._in_author:
            self._author.append(text)
        elif self._in_cell and self._in_paragraph and self._paragraphs:
            self._paragraphs[-1].append(text)


def _joined(paragraphs: list[list[str]]) -> str:
    return "\n".join("".join(parts) for parts in paragraphs)


def _repeats(attributes: Attributes, name: str) -> int:
    return max(1, parse_whole(attribute(attributes, name)) or 1)
