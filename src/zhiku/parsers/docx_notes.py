"""The footnotes, endnotes and comments of a Word document, each shown once, where it is pointed at."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from zhiku.parsers.comments import show_comment
from zhiku.parsers.docx_content import Item
from zhiku.parsers.ooxml_text import OFF
from zhiku.parsers.xml_walk import Attributes, attribute
from zhiku.text.numerals import format_number

NOTE_FORMATS: Final = {"footnote": "decimal", "endnote": "lowerRoman"}
"""How Word numbers each kind of notes unless it is told otherwise."""

COMMENT: Final = "comment"
"""What has no number, but an author."""


class Notes:
    """Notes by kind and id, as their parts hold them, of which each is taken once."""

    def __init__(self) -> None:
        self._notes: dict[str, dict[str, list[Item]]] = {}
        self._counts = dict.fromkeys(NOTE_FORMATS, 0)

    def add(self, kind: str, notes: Mapping[str, list[Item]], authors: Mapping[str, str]) -> None:
        """Add all that a part holds; `authors` are those of comments."""
        if kind == COMMENT:
            self._notes[kind] = {number: _comment(authors[number], items) for number, items in notes.items()}
        else:
            self._notes[kind] = dict(notes)

    def take(self, kind: str, attributes: Attributes) -> tuple[str, list[Item]]:
        """Return the mark where a reference to a note stands, and the note with its mark; nothing if there is none."""
        note = self._notes.get(kind, {}).pop(attribute(attributes, "id"), None)
        if not note:
            return "", []
        mark = ""
        if kind in NOTE_FORMATS and attribute(attributes, "customMarkFollows") in OFF | {""}:
            self._counts[kind] += 1
            mark = f"[{format_number(self._counts[kind], NOTE_FORMATS[kind])}]"
        first, *others = (Item("paragraph", item.text) for item in note)
        return mark, [Item("paragraph", f"{mark} {first.text}".strip()), *others]


def _comment(author: str, items: list[Item]) -> list[Item]:
    text = show_comment(author, "\n".join(item.text for item in items))
    return [Item("paragraph", text)] if text else []
