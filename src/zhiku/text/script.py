"""The script that a text is written in, as far as ranking by meaning needs to know."""

from __future__ import annotations

import re
from typing import Final

from zhiku.model import ParsedDocument

LATIN: Final = "latin"
HAN: Final = "han"
SCRIPTS: Final = (LATIN, HAN)

HAN_SHARE = 0.05
"""A document counts as Han from this share of its letters on: a Chinese manual full of code is Chinese."""

SAMPLE_CHARS = 100_000

_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_LETTER = re.compile(r"[^\W\d_]")


def script_of(text: str) -> str:
    """Return `han` if at least `HAN_SHARE` of the letters at the text's beginning are Han, else `latin`."""
    sample = text[:SAMPLE_CHARS]
    han = len(_HAN.findall(sample))
    if not han:
        return LATIN
    return HAN if han >= HAN_SHARE * len(_LETTER.findall(sample)) else LATIN


def script_of_document(document: ParsedDocument) -> str:
    """Return the script of a document's prose: what stands in code fences says nothing of the language it is in."""
    prose = (document.text[b.char_start : b.char_end] for b in document.blocks if b.kind != "fence")
    text = "\n".join(prose)
    return script_of(text if _LETTER.search(text) else document.text)
