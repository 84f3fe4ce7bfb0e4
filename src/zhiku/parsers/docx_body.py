"""Walk through the body of a Word document: its paragraphs, tables, text boxes and notes, in order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from zhiku.parsers.docx_content import Box, Item, Paragraph, Row, show_paragraph
from zhiku.parsers.docx_notes import COMMENT, Notes
from zhiku.parsers.docx_numbering import Numberings
from zhiku.parsers.docx_styles import Styles, heading_level
from zhiku.parsers.ooxml import relationship_id
from zhiku.parsers.ooxml_text import TextReader
from zhiku.parsers.xml_walk import Attributes, Handlers, attribute, parse_whole

MAX_NESTED: Final = 8
"""Tables inside one another, and text boxes; of deeper ones the text is read as if it stood in the last."""

# What is not shown: deletions, what something was before a change, the other of two scripts, properties without text.
_PASSED_OVER: Final = (
    "w:moveFrom",
    "w:pPrChange",
    "w:rPrChange",
    "w:trPrChange",
    "w:tcPrChange",
    "w:tblPr",
    "w:tblPrEx",
    "w:tblGrid",
    "w:tabs",
    "w:sectPr",
    "w:sdtPr",
    "w:sdtEndPr",
    "w:rt",
)
_NO_NOTES: Final = frozenset(("separator", "continuationSeparator", "continuationNotice"))


class BodyReader:
    """Reads the main part of a document, or a part of notes; `items` is what was read.

    `notes` are those of the document, each of which is shown behind the paragraph or table that points at it. Of a part
    of notes, what was read is in `notes`, and who wrote it in `authors`, by id. `read_drawing` returns what stands in a
    diagram or chart that is a part of its own, by the id of its relationship.
    """

    def __init__(
        self,
        path: str,
        styles: Styles,
        numberings: Numberings,
        *,
        notes: Notes | None = None,
        read_drawing: Callable[[str], list[Item]] = lambda _: [],
    ) -> None:
        self.text = TextReader(path, self._write)
        self.is_document = False
        self.title = ""
        self.has_foreign_parts = False
        self.notes: dict[str, list[Item]] = {}
        self.authors: dict[str, str] = {}
        self._styles = styles
        self._numberings = numberings
        self._notes = notes or Notes()
        self._read_drawing = read_drawing
        self._boxes = [Box()]
        self._text_boxes = 0
        self._rows: list[Row] = []
        self._tables = 0
        self._table = 0  # the number of the outermost one
        self._note_id = ""
        self._pending_notes: list[Item] = []
        self._in_paragraph_properties = False
        self._in_row_properties = False

    @property
    def items(self) -> list[Item]:
        """Return what was read."""
        return self._boxes[0].items

    def handlers(self) -> Handlers:
        """Return what reads the part."""
        starts: dict[str, Callable[[Attributes], bool | None]] = {
            **dict.fromkeys(_PASSED_OVER, lambda _: True),
            **self.text.starts(),
            "w:document": self._start_document,
            "w:p": self._start_paragraph,
            "a:p": self._start_paragraph,
            "w:pPr": self._start_properties,
            "w:pStyle": self._set_style,
            "w:outlineLvl": self._set_outline,
            "w:numId": self._set_num_id,
            "w:ilvl": self._set_num_level,
            "w:del": self._delete,
            "w:tbl": self._start_table,
            "w:tr": self._start_row,
            "w:trPr": self._start_row_properties,
            "w:tc": self._start_cell,
            "w:txbxContent": self._start_text_box,
            "a:txBody": self._start_text_box,
            "w:footnote": self._start_note,
            "w:endnote": self._start_note,
            "w:comment": self._start_note,
            "w:footnoteReference": lambda attributes: self._point_at_note("footnote", attributes),
            "w:endnoteReference": lambda attributes: self._point_at_note("endnote", attributes),
            "w:commentReference": lambda attributes: self._point_at_note(COMMENT, attributes),
            "w:altChunk": self._see_foreign_part,
            "dgm:relIds": lambda attributes: self._add_drawing(attribute(attributes, "dm")),
            "c:chart": lambda attributes: self._add_drawing(relationship_id(attributes)),
        }
        ends = {
            **self.text.ends(),
            "w:p": self._end_paragraph,
            "a:p": self._end_paragraph,
            "w:pPr": self._end_properties,
            "w:trPr": self._end_properties,
            "w:tbl": self._end_table,
            "w:tr": self._end_row,
            "w:tc": self._end_cell,
            "w:txbxContent": self._end_text_box,
            "a:txBody": self._end_text_box,
            "w:footnote": self._end_note,
            "w:endnote": self._end_note,
            "w:comment": self._end_note,
            "w:body": self._end_body,
        }
        return Handlers(starts=starts, ends=ends, characters=self.text.add_characters)

    def _start_document(self, _: Attributes) -> None:
        self.is_document = True

    def _end_body(self) -> None:
        self._finish(self._boxes[-1])
        self._show_notes()

    # Paragraphs

    def _write(self, text: str) -> None:
        if paragraph := self._paragraph():
            paragraph.parts.append(text)

    def _paragraph(self) -> Paragraph | None:
        box = self._boxes[-1]
        return box.open[-1] if box.open else None

    def _start_paragraph(self, _: Attributes) -> None:
        self.text.end_codes()
        box = self._boxes[-1]
        paragraph = Paragraph()
        if box.unfinished:
            paragraph.parts, paragraph.after = box.unfinished.parts, box.unfinished.after
            box.unfinished = None
        box.open.append(paragraph)

    def _end_paragraph(self) -> None:
        self.text.end_codes()
        box = self._boxes[-1]
        paragraph = box.open.pop()
        if paragraph.is_joined:
            box.unfinished = paragraph
        else:
            self._show(paragraph, box)

    def _show(self, paragraph: Paragraph, box: Box) -> None:
        style = self._styles.style(paragraph.style_id)
        level = heading_level([paragraph.outline, style.level])
        if style.is_title and paragraph.outline is None and not level:
            level = 1
        label = self._numberings.label(style, paragraph.num_id, paragraph.num_level)
        self.text.count(len(label))
        list_level = paragraph.num_level if paragraph.num_level is not None else style.num_level or 0
        items = show_paragraph(paragraph, label=label, level=level, list_level=list_level, in_row=bool(self._rows))
        if style.is_title and items and not self.title:
            self.title = items[0].text
        box.add(items)
        box.add(paragraph.after)
        self._show_notes()

    def _finish(self, box: Box) -> None:
        """Show a paragraph that should have gone on in another one, where there is none."""
        if box.unfinished:
            paragraph, box.unfinished = box.unfinished, None
            if paragraph.after or any(part.strip() for part in paragraph.parts):
                self._show(paragraph, box)

    def _start_properties(self, _: Attributes) -> None:
        self._in_paragraph_properties = True

    def _start_row_properties(self, _: Attributes) -> None:
        self._in_row_properties = True

    def _end_properties(self) -> None:
        self._in_paragraph_properties = self._in_row_properties = False

    def _set_style(self, attributes: Attributes) -> None:
        if paragraph := self._paragraph():
            paragraph.style_id = attribute(attributes, "val")

    def _set_outline(self, attributes: Attributes) -> None:
        if paragraph := self._paragraph():
            paragraph.outline = parse_whole(attribute(attributes, "val"))

    def _set_num_id(self, attributes: Attributes) -> None:
        if paragraph := self._paragraph():
            paragraph.num_id = attribute(attributes, "val")

    def _set_num_level(self, attributes: Attributes) -> None:
        if paragraph := self._paragraph():
            paragraph.num_level = parse_whole(attribute(attributes, "val"))

    def _delete(self, _: Attributes) -> bool:
        """Pass over deleted text; as a property, it says that the end of a paragraph or a row is deleted."""
        paragraph = self._paragraph()
        if self._in_row_properties and self._rows:
            self._rows[-1].is_deleted = True
        elif self._in_paragraph_properties and paragraph:
            paragraph.is_joined = True
        return True

    # Tables

    def _start_table(self, _: Attributes) -> None:
        self._finish(self._boxes[-1])
        self._table += not self._tables
        self._tables += 1

    def _end_table(self) -> None:
        self._tables -= 1
        self._show_notes()

    def _start_row(self, _: Attributes) -> None:
        if self._tables <= MAX_NESTED:
            self._rows.append(Row())

    def _end_row(self) -> None:
        if self._tables <= MAX_NESTED:
            self._boxes[-1].add(self._rows.pop().items(self._table))

    def _start_cell(self, _: Attributes) -> None:
        if self._tables <= MAX_NESTED and self._rows:
            self._boxes.append(Box())

    def _end_cell(self) -> None:
        if self._tables <= MAX_NESTED and self._rows:
            self._rows[-1].cells.append(self._close_box())

    # Text boxes and drawings

    def _start_text_box(self, _: Attributes) -> None:
        self._text_boxes += 1
        if self._text_boxes <= MAX_NESTED:
            self._boxes.append(Box())

    def _end_text_box(self) -> None:
        if self._text_boxes <= MAX_NESTED:
            items = self._close_box()
            self._boxes[-1].add(items)
        self._text_boxes -= 1

    def _close_box(self) -> list[Item]:
        box = self._boxes.pop()
        self._finish(box)
        return box.items

    def _add_drawing(self, relationship: str) -> None:
        items = self._read_drawing(relationship)
        self.text.count(sum(len(item.text) for item in items))
        self._boxes[-1].add(items)

    def _see_foreign_part(self, _: Attributes) -> None:
        self.has_foreign_parts = True

    # Notes

    def _start_note(self, attributes: Attributes) -> bool:
        if attribute(attributes, "type") in _NO_NOTES:
            return True
        self._note_id = attribute(attributes, "id")
        self.authors[self._note_id] = attribute(attributes, "author")
        self._boxes.append(Box())
        return False

    def _end_note(self) -> None:
        self.notes[self._note_id] = self._close_box()

    def _point_at_note(self, kind: str, attributes: Attributes) -> None:
        mark, items = self._notes.take(kind, attributes)
        if mark:
            self.text.add(mark)
        self.text.count(sum(len(item.text) for item in items))
        self._pending_notes += items

    def _show_notes(self) -> None:
        """Show the notes of a paragraph or table, once it is at its end."""
        if self._pending_notes and len(self._boxes) == 1 and not self._tables and not self._boxes[0].open:
            self._boxes[0].add(self._pending_notes)
            self._pending_notes = []
