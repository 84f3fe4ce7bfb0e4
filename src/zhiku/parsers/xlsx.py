"""Read workbooks in the present format of Excel: their sheets in order, each cell as it is shown."""

from __future__ import annotations

from typing import Final, NamedTuple

from zhiku.errors import ParseFailed
from zhiku.model import ParsedDocument
from zhiku.parsers.ooxml import Package, relationship_id
from zhiku.parsers.ooxml_parts import Parts
from zhiku.parsers.sheets import Workbook
from zhiku.parsers.xlsx_notes import read_notes, read_persons
from zhiku.parsers.xlsx_sheet import CellReading, SheetReader
from zhiku.parsers.xlsx_tables import CellFormats, SharedStrings
from zhiku.parsers.xml_walk import Attributes, Handlers, attribute

_SHEET_KINDS: Final = ("worksheet", "chartsheet")


class _Sheet(NamedTuple):
    """A sheet as the workbook names it."""

    name: str
    relationship: str
    is_hidden: bool


def read_xlsx(package: Package, path: str, workbook: Workbook) -> ParsedDocument:
    """Return the document; raise TooLarge, ParseFailed if it is damaged, or no workbook."""
    parts = Parts(package, path, usual_main="xl/workbook.xml")
    properties = parts.read_properties()
    contents = _Contents()
    parts.walk_main(contents.handlers())
    if not contents.is_workbook:
        raise ParseFailed("{path} is not an Excel workbook", path=path, hint="give the file the ending of what it is")
    strings, formats = SharedStrings(), CellFormats()
    parts.walk(parts.by_kind.get("sharedStrings", ""), strings.handlers())
    parts.walk(parts.by_kind.get("styles", ""), formats.handlers())
    reading = CellReading(strings=strings, formats=formats, from_1904=contents.from_1904)
    persons = read_persons(parts)
    count = 0
    for sheet in contents.sheets:
        found = parts.by_id.get(sheet.relationship)
        if found is None or not package.has(found.part):
            count += 1
        elif workbook.wants(is_hidden=sheet.is_hidden, is_sheet=found.kind in _SHEET_KINDS):
            reader = SheetReader(reading, workbook)
            parts.walk(found.part, reader.handlers())
            for note in read_notes(parts, found.part, persons):
                workbook.count_note(note)
                reader.cells.add_note(note)
            workbook.add(sheet.name, reader.cells)
    warnings = [*parts.warnings(), *([f"Sheets that are missing from the file: {count}"] if count else [])]
    return workbook.document(title=properties.title, metadata=properties.metadata, warnings=warnings)


class _Contents:
    """What the main part says: which sheets there are, and from when days are counted."""

    def __init__(self) -> None:
        self.is_workbook = False
        self.from_1904 = False
        self.sheets: list[_Sheet] = []

    def handlers(self) -> Handlers:
        return Handlers(
            starts={"s:workbook": self._start, "s:workbookPr": self._set_properties, "s:sheet": self._add_sheet},
            ends={},
            characters=lambda _: None,
        )

    def _start(self, _: Attributes) -> None:
        self.is_workbook = True

    def _set_properties(self, attributes: Attributes) -> None:
        self.from_1904 = attribute(attributes, "date1904") in ("1", "true", "on")

    def _add_sheet(self, attributes: Attributes) -> None:
        is_hidden = attribute(attributes, "state") in ("hidden", "veryHidden")
        self.sheets.append(_Sheet(attribute(attributes, "name"), relationship_id(attributes), is_hidden))
