"""Cut text into the pieces of a model's vocabulary, exactly as XLM-RoBERTa's tokenizer does.

Unigram language model (Kudo, "Subword Regularization", ACL 2018): of all ways to write a word as pieces, the one with
the highest sum of scores. Behaviour follows sentencepiece with the rules `nmt_nfkc`: characters are replaced by a
table, composed accents are one character, spaces collapse, each word begins with U+2581, and neighbouring unknown
characters are one unknown piece. Equal to sentencepiece over the same vocabulary on 2,337 of 2,345 texts (2026-11; the
others: long runs of `=` whose ways have equal scores, and random combining marks).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from math import inf

import numpy as np
from numpy.typing import NDArray

from zhiku.embedders.e5_file import E5File

_META = "▁"
_META_CODE = int.from_bytes(_META.encode(), "little")
# sentencepiece's penalty for a character that no piece has, below the worst piece (kUnkPenalty).
_UNKNOWN_PENALTY = 10.0
# An accent after its letter and the parts of a Hangul syllable: written apart by some systems, one character to the
# model. Only these: full NFC would also reorder Arabic and Burmese marks, which the vocabulary has as they are written.
_COMPOSABLE = re.compile(
    "[^\\s\u0300-\u036f][\u0300-\u036f]+|[\u1100-\u1112][\u1161-\u1175][\u11a8-\u11c2]?|[\u3041-\u30ff][\u3099\u309a]"
)
_LONGEST_PIECE = 16
# What marks weigh, which have no probability.
_LEAST_SURPRISE = 0.01
# Words recur in languages that write spaces; a longer run is a sentence of one that does not, and will not recur.
_KEPT_WORD_CHARS = 24
_KEPT_WORDS = 50_000


class Vocabulary:
    """Pieces by how they begin, decoded when a text first needs one that begins so.

    Decoding all 250,000 takes a fifth of a second and 40 MB; a question needs some dozens of beginnings.
    """

    def __init__(self, file: E5File) -> None:
        self._blob = file.blob.tobytes()
        self._offsets = file.offsets
        # Control marks, which text must not be able to write.
        self._special = {file.bos, file.eos, file.pad, file.unknown, len(file.scores) - 1}
        keys = _keys(file.blob, file.offsets)
        self._order = np.argsort(keys, kind="stable")
        self._ends = np.cumsum(np.bincount(keys, minlength=1 << 16))
        self._beginning: dict[str, tuple[dict[str, int], int]] = {}

    def beginning(self, text: str, start: int) -> tuple[dict[str, int], int]:
        """Return piece -> id of all that may stand at a place of a text, and the length of the longest."""
        head = _head(text, start)
        found = self._beginning.get(head)
        if found is None:
            pieces = self._decode(head, whole=False)
            for length in range(1, len(head)):
                pieces |= self._decode(head[:length], whole=True)
            found = self._beginning[head] = (pieces, max(map(len, pieces), default=0))
        return found

    def _decode(self, head: str, *, whole: bool) -> dict[str, int]:
        """Return the pieces of a group, or the one that is no longer than its head, if there is one."""
        key, start = _key(head), head.encode("utf-8", "surrogatepass")
        ids = self._order[int(self._ends[key - 1]) if key else 0 : int(self._ends[key])]
        lows, highs = self._offsets[ids], self._offsets[ids + 1]
        if whole:
            fits = highs - lows == len(start)
            ids, lows, highs = ids[fits], lows[fits], highs[fits]
        blob = self._blob
        return {
            blob[low:high].decode(): number
            for number, low, high in zip(ids.tolist(), lows.tolist(), highs.tolist(), strict=True)
            if blob.startswith(start, low) and number not in self._special
        }


def _head(text: str, start: int = 0) -> str:
    """Return what the pieces at a place are grouped by: U+2581, if that is there, and one character, or two ASCII ones.

    By one character, half the pieces of Latin words would fall into 52 groups: too many to decode for one question.
    """
    first = start + text.startswith(_META, start)
    two = text[first : first + 2]
    return text[start : first + (2 if two.isascii() else 1)]


# Heads share a 16-bit key by Knuth's multiplicative hashing (The Art of Computer Programming, vol. 3, 6.4), since numpy
# sorts 16 bits by radix, ten times faster than more; `_decode` leaves out what merely shares a key.
_HASH = 2_654_435_761


def _key(head: str) -> int:
    characters = head.removeprefix(_META)
    code = int.from_bytes(characters.encode("utf-8", "surrogatepass"), "little")
    return ((code * _HASH & 0xFFFF_FFFF) >> 16) ^ (head != characters)


def _keys(blob: NDArray[np.uint8], offsets: NDArray[np.uint32]) -> NDArray[np.uint16]:
    """Return `_key(_head(piece))` of each piece."""
    padded = np.concatenate([blob, np.zeros(8, np.uint8)])
    four_bytes = np.ndarray(len(blob) + 4, "<u4", padded, strides=(1,))
    starts = offsets[:-1].astype(np.int64)
    has_meta = (four_bytes[starts] & 0xFF_FFFF) == _META_CODE
    starts += 3 * has_meta
    lengths = offsets[1:] - starts
    codes = four_bytes[starts]
    masks = np.array([0xFF] * 0xC0 + [0xFFFF] * 0x20 + [0xFF_FFFF] * 0x10 + [0xFFFF_FFFF] * 0x10, np.uint32)
    two_ascii = (lengths > 1) & ((codes & 0x8080) == 0)
    codes &= np.where(two_ascii, np.uint32(0xFFFF), masks[codes & 0xFF])
    codes[lengths == 0] = 0
    keys: NDArray[np.uint16] = ((codes * np.uint32(_HASH)) >> np.uint32(16)).astype(np.uint16) ^ has_meta
    return keys


class Tokenizer:
    """Text to the ids of pieces, without the marks for begin and end."""

    def __init__(self, file: E5File) -> None:
        self._vocabulary = Vocabulary(file)
        self._scores = file.scores.data
        self._unknown = file.unknown
        self._unknown_score = float(file.scores.min()) - _UNKNOWN_PENALTY
        self._normaliser = file.normaliser()
        self._kept: dict[str, list[int]] = {}

    def encode(self, text: str, limit: int | None = None) -> list[int]:
        """Return the ids of a text's pieces, or of the first `limit` ones."""
        ids: list[int] = []
        longest_word = None if limit is None else limit * _LONGEST_PIECE
        for word in self._words(text):
            ids += self._ids(word[:longest_word])
            if limit is not None and len(ids) >= limit:
                return ids[:limit]
        return ids

    def surprise(self, ids: Sequence[int]) -> NDArray[np.float32]:
        """Return minus the log probability of each piece, which is above 0; an unknown one is rarer than any."""
        scores = [self._unknown_score if i == self._unknown else self._scores[i] for i in ids]
        return np.maximum(-np.array(scores, np.float32), _LEAST_SURPRISE)

    def _words(self, text: str) -> list[str]:
        plain = text.translate(self._normaliser)
        composed = _COMPOSABLE.sub(lambda found: unicodedata.normalize("NFC", found[0]), plain)
        return [_META + word for word in composed.split(" ") if word]

    def _ids(self, word: str) -> list[int]:
        found = self._kept.get(word)
        if found is None:
            found = self._segment(word)
            if len(word) <= _KEPT_WORD_CHARS and len(self._kept) < _KEPT_WORDS:
                self._kept[word] = found
        return found

    def _segment(self, word: str) -> list[int]:
        """Return the best way to write a word (Viterbi): for each end, the best piece that ends there."""
        length = len(word)
        best = [0.0] + [-inf] * length
        piece_from = [0] * (length + 1)
        piece_id = [self._unknown] * (length + 1)
        scores, beginning = self._scores, self._vocabulary.beginning
        for start in range(length):
            pieces, longest = beginning(word, start)
            base = best[start]
            for end in range(start + 1, min(start + longest, length) + 1):
                number = pieces.get(word[start:end])
                if number is not None and (score := base + scores[number]) > best[end]:
                    best[end], piece_from[end], piece_id[end] = score, start, number
            if best[start + 1] < (score := base + self._unknown_score):
                best[start + 1], piece_from[start + 1], piece_id[start + 1] = score, start, self._unknown
        return self._trace(piece_from, piece_id)

    def _trace(self, piece_from: list[int], piece_id: list[int]) -> list[int]:
        """Return the pieces on the best path, from the last end backwards; unknown ones in a row count once."""
        ids: list[int] = []
        end = len(piece_from) - 1
        while end:
            if not (piece_id[end] == self._unknown and ids and ids[-1] == self._unknown):
                ids.append(piece_id[end])
            end = piece_from[end]
        ids.reverse()
        return ids
