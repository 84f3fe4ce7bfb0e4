"""What a terminal can show, and text made fit for it. Nothing here prints."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TextIO

from zhiku.cli.columns import TAB_COLUMNS, clean, clean_line, fold
from zhiku.i18n import translate

if TYPE_CHECKING:
    from zhiku.i18n import Language

# Select Graphic Rendition (ECMA-48, 8.3.117).
_STYLES = {"bold": "1", "dim": "2", "path": "36", "mark": "1;33", "warn": "33"}
DEFAULT_COLUMNS = 80
MIN_COLUMNS = 20


class Screen:
    """A stream as the reader sees it: language, terminal or not, colour, links and columns."""

    def __init__(self, language: Language, stream: TextIO, environ: Mapping[str, str]) -> None:
        self.language = language
        self.is_terminal = stream.isatty()
        speaks_escapes = self.is_terminal and environ.get("TERM", "") not in ("", "dumb")
        self.has_links = speaks_escapes
        # An empty NO_COLOR counts as unset (no-color.org).
        self.has_colour = speaks_escapes and not environ.get("NO_COLOR")
        self.columns = _columns(stream, environ) if self.is_terminal else None

    def tr(self, template: str, /, **params: object) -> str:
        """Return a template in the reader's language, filled in and safe to print."""
        return clean(translate(template, self.language, **params))

    def style(self, text: str, name: str) -> str:
        """Return one line of text, safe to print, in a style where the terminal has it."""
        text = clean_line(text)
        return f"\x1b[{_STYLES[name]}m{text}\x1b[0m" if self.has_colour and text else text

    def link(self, text: str, file: str) -> str:
        """Return one line of text that opens a file where the terminal knows links (OSC 8)."""
        from pathlib import Path  # help has no links

        styled = self.style(text, "path")
        if not self.has_links or not Path(file).is_absolute():
            return styled
        return f"\x1b]8;;{Path(file).as_uri()}\x1b\\{styled}\x1b]8;;\x1b\\"

    def marked(self, text: str, start: int, end: int, marks: Iterable[tuple[int, int]]) -> str:
        """Return `text[start:end]`, safe to print, with the marked spans standing out."""
        if not self.has_colour:
            return self._plain(text[start:end])
        parts = []
        at = start
        for first, last in marks:
            first, last = max(first, at), min(last, end)
            if first < last:
                parts += [self._plain(text[at:first]), self.style(text[first:last], "mark")]
                at = last
        return "".join(parts) + self._plain(text[at:end])

    def folded(self, lines: Iterable[str]) -> Iterator[str]:
        """Yield lines without styles, those that are too long for the terminal in several."""
        for line in lines:
            yield from fold(clean_line(line), self.columns)

    def _plain(self, text: str) -> str:
        text = clean(text)
        return text.replace("\t", " " * TAB_COLUMNS) if self.is_terminal else text


def joined(parts: Sequence[str], separator: str = "  ") -> str:
    """Return the parts that say something, in one line."""
    return separator.join(part for part in parts if part)


def _columns(stream: TextIO, environ: Mapping[str, str]) -> int:
    told = environ.get("COLUMNS", "")
    if told.isdecimal() and int(told):
        return max(MIN_COLUMNS, int(told))
    try:
        found = os.get_terminal_size(stream.fileno()).columns
    except (OSError, ValueError):
        found = 0
    return max(MIN_COLUMNS, found or DEFAULT_COLUMNS)
