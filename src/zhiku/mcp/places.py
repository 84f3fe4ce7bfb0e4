"""Places and names in the words of a result."""

from __future__ import annotations

import re
from collections.abc import Sequence

from zhiku.model import FileState

_OTHER_SURROGATES = re.compile("[\ud800-\udc7f\udd00-\udfff]")
"""Halves of characters of Windows, which stand for no byte."""
_ESCAPES = re.compile(r"(?:%[0-9A-F]{2})+")

MAX_CHAIN_CHARS = 200

STATES: dict[FileState, str] = {
    "changed": "its file has changed since it was indexed",
    "missing": "its file is gone or out of reach",
    "moved": "its file was moved",
    "unchanged": "",
}


def readable(locator: str) -> str:
    """Return a locator with letters of any script as they are, which means the same.

    Escaped, a Chinese name takes nine characters for each of its own.
    """
    return _ESCAPES.sub(_letters, locator)


def _letters(escapes: re.Match[str]) -> str:
    text = bytes.fromhex(escapes[0].replace("%", "")).decode("utf-8", "surrogateescape")
    return "".join(
        char if not char.isascii() and char.isalnum() else "".join(f"%{byte:02X}" for byte in _bytes(char))
        for char in text
    )


def _bytes(char: str) -> bytes:
    return char.encode("utf-8", "surrogateescape")


def place(lines: tuple[int | None, int | None], pages: tuple[int | None, int | None]) -> str:
    """Return a place in words: `page 3`, `lines 10-40`, or nothing."""
    for name, (first, last) in (("page", pages), ("line", lines)):
        if first is not None:
            return f"{name} {first}" if last in (None, first) else f"{name}s {first}-{last}"
    return ""


def chain(section: Sequence[str]) -> str:
    """Return the headings above a passage in one line; of a very long one, its end."""
    line = " › ".join(section)
    return line if len(line) <= MAX_CHAIN_CHARS else "…" + line[-MAX_CHAIN_CHARS:]


def sendable(text: str) -> str:
    """Return a text that UTF-8 can hold: what stands for bytes that are no UTF-8, in the names of files, as \\xNN."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        text = _OTHER_SURROGATES.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
        return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    return text
