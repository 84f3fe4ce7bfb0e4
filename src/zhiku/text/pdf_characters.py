"""Clean the characters that come out of a PDF: radicals, ligatures, hyphen marks and control characters."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from zhiku.text.variants import SIMPLIFIED, VARIANTS

HYPHENS: Final = "\ufffe\x02\xad"
"""PDFium's marks for a hyphen at a line end, in its text and in its character list, and the soft hyphen."""

_HAN: Final = "\u2e80-\u2fdf\u3001-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef"
_FORMS: Final = re.compile("[\u2e80-\u2fdf\uf900-\ufaff\ufb00-\ufb06]")
_CONTROL: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ufeff\u200b\ufffe\xad]|[\ud800-\udfff]")
_SPACED_OUT: Final = re.compile(f"(?<=[{_HAN}\u2026\u2014])[ \u3000]+(?=[{_HAN}\u2026\u2014])")

_SPACED_TITLE: Final = re.compile(f"[{_HAN}](?:[ \u3000]+[{_HAN}]){{1,3}}")
"""A whole line such as 目　录, of up to four characters."""


def clean_characters(text: str) -> str:
    """Return a line with radicals and ligatures as the letters they stand for, without control characters.

    A hyphen mark at the very end stays: it says how the next line is joined.
    """
    text = text.strip()
    mark = text[-1:] if text[-1:] in HYPHENS else ""
    text = _FORMS.sub(lambda match: _unify(match.group()), text)
    text = _CONTROL.sub("", text).replace("\t", " ")
    gaps = len(_SPACED_OUT.findall(text))
    is_spaced_out = gaps >= 3 and gaps * 2 >= len("".join(text.split()))  # as titles are
    if is_spaced_out or _SPACED_TITLE.fullmatch(text):
        text = _SPACED_OUT.sub("", text)
    return f"{text}{mark}" if text else ""


def _unify(char: str) -> str:
    # Most radicals of U+2E80 to U+2EFF have no compatibility mapping; their characters are in another table.
    if "\u2e80" <= char <= "\u2eff":
        place = VARIANTS.find(char)
        return SIMPLIFIED[place] if place >= 0 else char
    return unicodedata.normalize("NFKC", char)


def junk_share(text: str) -> float:
    """Return the share of characters that no reader could have meant: private, unassigned or replaced."""
    shown = [char for char in text if not char.isspace() and char not in HYPHENS]
    junk = sum(char == "\ufffd" or unicodedata.category(char) in ("Co", "Cn", "Cc") for char in shown)
    return junk / len(shown) if shown else 0.0
