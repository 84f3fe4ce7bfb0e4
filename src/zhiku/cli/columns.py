"""Text in terminal columns: how wide it is, where its lines break, and what must never reach a terminal."""

from __future__ import annotations

import unicodedata

ELLIPSIS = "…"
TAB_COLUMNS = 4
MAX_LOOK_BACK = 40
"""How many characters of a line are given up at most to end it at a good place."""

# Every control character but tab and line break: in a document's text, a title or a file's name, one of them could
# move the cursor, rename the window or type for the user. Tables, not patterns, which each start-up would compile.
_CONTROLS = dict.fromkeys({*range(0x20), *range(0x7F, 0xA0), 0x2028, 0x2029} - {9, 10})
# In a name or a title, marks that turn the direction of what follows (Unicode Standard Annex 9, section 2) could make
# one file look like another; in running text they have their place.
_TURNS = dict.fromkeys([*range(0x202A, 0x202F), *range(0x2066, 0x206A)])
_CONTROLS_AND_BREAKS = _CONTROLS | _TURNS | {0x09: " ", 0x0A: " "}

# What must not begin a line, and what must not end one (after W3C's Requirements for Chinese Text Layout, 3.1.3).
_NOT_FIRST = frozenset("，。、；：！？）」』】》〉〕…—～·”’,.;:!?)]}%")
_NOT_LAST = frozenset("（「『【《〈〔“‘([{")


def clean(text: str) -> str:
    """Return `text` without control characters, but for tabs and line breaks."""
    return text if text.isprintable() else text.translate(_CONTROLS)


def clean_line(text: str) -> str:
    """Return `text` as one line without control characters and changes of direction."""
    return text if text.isprintable() else text.translate(_CONTROLS_AND_BREAKS)


def char_width(char: str) -> int:
    """Return the columns that a character takes: 2 for wide ones, 0 for those that join the one before."""
    if " " <= char <= "~":
        return 1
    if char == "\t":
        return TAB_COLUMNS
    if unicodedata.east_asian_width(char) in "WF":
        return 2
    # Unicode Standard Annex 11 leaves marks and format characters to the terminal; those known all give them no room.
    return 0 if unicodedata.category(char) in ("Mn", "Me", "Cf", "Cc") else 1


def width(text: str) -> int:
    """Return the columns that a line of text takes."""
    if text.isascii() and text.isprintable():
        return len(text)
    return sum(map(char_width, text))


def cut(text: str, columns: int) -> str:
    """Return as much of a line as fits into `columns`, with `…` for the rest."""
    if width(text) <= columns:
        return text
    taken = 0
    for i, char in enumerate(text):
        taken += char_width(char)
        if taken > columns - width(ELLIPSIS):
            return text[:i] + ELLIPSIS
    return text


def pad(text: str, columns: int) -> str:
    """Return a line filled up with blanks to `columns`."""
    return text + " " * (columns - width(text))


def wrap(text: str, columns: int | None) -> list[tuple[int, int]]:
    """Return the spans of the lines that `text` makes in `columns`; line breaks and blanks at them stay outside."""
    spans = []
    at = 0
    for line in text.split("\n"):
        spans += _wrap_line(text, at, at + len(line), columns) if columns else [(at, at + len(line))]
        at += len(line) + 1
    return spans


def fold(line: str, columns: int | None) -> list[str]:
    """Return a line as the lines it makes in `columns`, those after the first a little further in."""
    if columns is None or width(line) <= columns:
        return [line]
    text = line.lstrip(" ")
    indent = " " * (len(line) - len(text))
    pieces = [text[start:end] for start, end in wrap(text, columns - len(indent) - 2)]
    return [indent + pieces[0], *(f"{indent}  {piece}" for piece in pieces[1:])]


def _wrap_line(text: str, start: int, end: int, columns: int) -> list[tuple[int, int]]:
    spans = []
    while (stop := _overflow(text, start, end, columns)) < end:
        cut_at = _break_before(text, start, stop)
        spans.append((start, start + len(text[start:cut_at].rstrip())))
        start = cut_at
        while start < end and text[start] == " ":
            start += 1
    if start < end or not spans:
        spans.append((start, end))
    return spans


def _overflow(text: str, start: int, end: int, columns: int) -> int:
    """Return the first character that does not fit any more, but never the first of the line."""
    taken = 0
    for i in range(start, end):
        taken += char_width(text[i])
        if taken > columns and i > start:
            return i
    return end


def _break_before(text: str, start: int, stop: int) -> int:
    """Return the last place at or before `stop` where a line may end; `stop` itself where there is none."""
    places = range(stop, max(start, stop - MAX_LOOK_BACK), -1)
    for may_break in (_is_good_break, _is_fair_break):
        for i in places:
            if may_break(text[i - 1], text[i]):
                return i
    while stop > start + 1 and char_width(text[stop]) == 0:
        stop -= 1
    return stop


def _is_good_break(before: str, after: str) -> bool:
    if after == " " or before in " \t":
        return True
    wide = char_width(before) == 2 or char_width(after) == 2
    return wide and char_width(after) > 0 and after not in _NOT_FIRST and before not in _NOT_LAST


def _is_fair_break(before: str, after: str) -> bool:
    return before in ",;/|&?=" and after not in ",;/|&?="
