"""Folding: spellings that stand for the same word become one, with a map back to the original.

Folding serves the lexical index alone, on both of its sides. What is shown, quoted or embedded is never folded.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import cache

from zhiku.text.variants import SIMPLIFIED, VARIANTS

# Full-width marks that NFKC would turn into ASCII ones. Both separate words, so text whose only compatibility
# characters are these, as nearly all Chinese text is, is spared the normalisation (27 against 16 MB/s, 2026-11-30).
_PLAIN_MARKS = frozenset("，：；！？（）［］｛｝…～")

# What normalisation may compose or decompose together: a character and the marks that follow it, or a run of
# conjoining Hangul letters (Unicode Standard Annex 15; Hangul: Unicode Standard, section 3.12).
_CLUSTER = re.compile(r"[\u1100-\u11ff\ua960-\ua97c\ud7b0-\ud7fb]+|(?s:.)[\u0300-\u036f\u3099\u309a]*")


@cache
def _variants() -> dict[int, int]:
    return str.maketrans(VARIANTS, SIMPLIFIED)


# Both patterns treat everything beyond the basic plane as a reason: a character class stays fast (a bit table)
# only within it.
@cache
def _needs_variants() -> re.Pattern[str]:
    return re.compile(f"[{''.join(c for c in VARIANTS if ord(c) <= 0xFFFF)}\U00010000-\U0010ffff]")


@cache
def _needs_nfkc() -> re.Pattern[str]:
    """Return a pattern for every character that NFKC may change, alone or with what stands before it."""
    chars = [
        chr(code)
        for code in range(0x80, 0x10000)
        if not unicodedata.is_normalized("NFKC", chr(code)) or unicodedata.combining(chr(code))
    ]
    return re.compile(f"[{''.join(c for c in chars if c not in _PLAIN_MARKS)}\u1100-\u11ff\U00010000-\U0010ffff]")


def fold(text: str, *, bulk: bool = False) -> str:
    """Return `text` with one spelling for each word: NFKC, radicals as characters, simplified Han.

    Case is kept, since it shows where an identifier's parts begin; the analyzer folds it word by word. The length
    may change; `fold_with_map` says where each character came from. `bulk` looks first whether there is anything to
    fold: the same words come out (some punctuation may differ), faster on much text, after 13 ms once.
    """
    if text.isascii():
        return text
    if not bulk or _needs_nfkc().search(text):
        text = unicodedata.normalize("NFKC", text)
    if not bulk or _needs_variants().search(text):
        text = text.translate(_variants())
    return text


def fold_with_map(text: str) -> tuple[str, list[int]]:
    """Return the folded text and, for each of its characters, the offset in `text` that it came from.

    The list has one entry more than the folded text: the length of `text`.
    """
    folded = fold(text)
    if len(folded) == len(text) and _folds_in_place(text):
        return folded, list(range(len(text) + 1))
    folded, offsets = _fold_pieces(text, (match.end() for match in _CLUSTER.finditer(text)))
    if folded != fold(text):
        # Marks beyond those that `_CLUSTER` knows (half-width voice marks, Indic vowel signs, points out of order).
        folded, offsets = _fold_pieces(text, _iter_boundaries(text))
    return folded, offsets


def _folds_in_place(text: str) -> bool:
    """Return whether each character folds by itself and to one, as in most text; then nothing has moved."""
    normal = unicodedata.normalize("NFKC", text)
    if len(normal) != len(text):
        return False
    changed = {pair for pair in zip(text, normal, strict=True) if pair[0] != pair[1]}
    return all(unicodedata.normalize("NFKC", before) == after for before, after in changed)


def _fold_pieces(text: str, ends: Iterable[int]) -> tuple[str, list[int]]:
    parts: list[str] = []
    offsets: list[int] = []
    start = 0
    for end in ends:
        folded = fold(text[start:end])
        parts.append(folded)
        offsets.extend([start] * len(folded))
        start = end
    offsets.append(len(text))
    return "".join(parts), offsets


def _iter_boundaries(text: str) -> Iterator[int]:
    """Yield every place where the text folds as its two sides do, as far as the nearest characters tell."""
    start = 0
    for at in range(1, len(text)):
        # A half-width voice mark is a letter that only its decomposition shows to be a mark.
        if unicodedata.combining(unicodedata.normalize("NFKD", text[at])[0]):
            continue
        if fold(text[start : at + 1]) == fold(text[start:at]) + fold(text[at]):
            yield at
            start = at
    yield len(text)
