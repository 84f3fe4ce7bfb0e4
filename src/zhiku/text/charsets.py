"""Guess the encoding of bytes that carry no label and are not UTF-8."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import Final

from zhiku.text.commonness import Script, weigh

SAMPLE_BYTES: Final = 64 * 1024
"""How much of a file is scored: a whole 2 MB file names the same encoding and costs ten times as long."""

GOOD_SCORE: Final = 0.45
"""Mean weight per character from which text counts as the language of its encoding (measured 2026-11-30)."""

WIDER: Final = {
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "cp936": "gb18030",
    "big5": "big5hkscs",
    "cp950": "big5hkscs",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "iso8859-1": "cp1252",
}
"""Codec -> the superset that files labelled with it really use (as the WHATWG Encoding Standard does)."""

_MULTI_BYTE: Final = ("gb18030", "big5hkscs", "cp932", "euc_jp", "cp949")
_SINGLE_BYTE: Final = (
    *("cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "cp1258"),
    *("iso8859_2", "iso8859_5", "iso8859_6", "iso8859_7", "iso8859_15", "koi8_r", "koi8_u", "tis_620"),
    *("cp437", "cp850", "cp855", "cp866", "mac_roman", "mac_cyrillic"),
)
_SMALL_LETTERS: Final = b" abcdefghijklmnopqrstuvwxyz"
_CUT_REASONS: Final = ("incomplete multibyte sequence", "unexpected end of data", "truncated data")
_MAX_CHAR_BYTES: Final = 4
_HZ_RUN: Final = re.compile(rb"~\{(?:[\x21-\x77][\x21-\x7e])+~\}")

_WESTERN: Final = frozenset("àâäáãåçéèêëíîïñóôöõúùûüßœÀÂÄÁÇÉÈÊËÍÎÑÓÔÖÚÙÛÜŒ¿¡«»“”‘’–—…€£§°©®·\xa0")
# A Latin letter with an accent takes the letter after it along when it is read as two bytes of Chinese.
_STRAY: Final = re.compile(
    "(?<=[A-Za-z])[\u3400-\u9fff](?![\u3000-\uffff])|(?<![\u3000-\uffff])[\u3400-\u9fff](?=[A-Za-z])"
    "|(?<=[A-Za-z])[\uac00-\ud7a3](?=[A-Za-z])"
)

# Latin, Greek and Cyrillic, Hebrew and Arabic, Thai: what people kept as UTF-16 without a mark.
_ALPHABETIC: Final = re.compile("[\t\n\f\r -~\xa0-\u024f\u0370-\u052f\u05d0-\u06ff\u0e01-\u0e5b]")

_SCRIPTS: Final[dict[str, Script]] = {
    "gb18030": "zh",
    "big5hkscs": "zh",
    "cp932": "ja",
    "euc_jp": "ja",
    "cp949": "ko",
}


@dataclass(frozen=True)
class Guess:
    """An encoding and how much the text it gives looks like its language (above 2: no doubt)."""

    encoding: str
    score: float


def decode_strictly(data: bytes, encoding: str) -> tuple[str, int] | None:
    """Return the text and how many bytes of a cut last character were left out; None if nothing fits."""
    try:
        return data.decode(encoding), 0
    except UnicodeDecodeError as error:
        rest = len(data) - error.start
        if rest >= _MAX_CHAR_BYTES or error.reason not in _CUT_REASONS:
            return None
        return data[: error.start].decode(encoding), rest


def guess_utf16(data: bytes) -> Guess | None:
    """Tell UTF-16 without a byte order mark by the characters that its two byte orders would give."""
    sample = data[:SAMPLE_BYTES]
    if len(sample) < _MAX_CHAR_BYTES or (b"\0" not in sample and _is_mostly_latin(sample)):
        return None
    guesses = []
    for encoding in ("utf-16-le", "utf-16-be"):
        decoded = decode_strictly(sample, encoding)
        if decoded is not None:
            guesses.append(Guess(encoding, _score_utf16(decoded[0])))
    best = max(guesses, key=lambda guess: guess.score, default=None)
    return best if best is not None and best.score >= 1 else None


def guess_seven_bit(data: bytes) -> str:
    """Return the codec of 7-bit data that shifts to Chinese, Japanese or Korean; empty if it does not."""
    if b"\x1b$" in data:
        for encoding in ("iso2022_kr", "iso2022_jp_ext"):
            decoded = decode_strictly(data, encoding)
            if decoded is not None and _score(decoded[0], "any") >= GOOD_SCORE:
                return encoding
    if _HZ_RUN.search(data):
        decoded = decode_strictly(data, "hz")
        # Code such as `~{ab~}` is well-formed HZ, but for rare characters.
        if decoded is not None and _score(decoded[0], "zh") >= 1:
            return "hz"
    return ""


def guess_multi_byte(sample: bytes) -> Guess | None:
    """Return the Chinese, Japanese or Korean encoding whose text is the most usual; None if none fits."""
    guesses = []
    for encoding in _MULTI_BYTE:
        decoded = decode_strictly(sample, encoding)
        text = decoded[0] if decoded is not None else _decode_nearly(sample, encoding)
        if text:
            guesses.append(Guess(encoding, _score(text, _SCRIPTS[encoding])))
    best = max(guesses, key=lambda guess: guess.score, default=None)
    return best if best is not None and best.score >= GOOD_SCORE else None


def guess_single_byte(sample: bytes) -> str:
    """Return the code page of alphabetic text, or an empty string."""
    if _is_western(sample):
        return "cp1252"
    from charset_normalizer import from_bytes  # an import that few files need

    best = from_bytes(sample, cp_isolation=list(_SINGLE_BYTE)).best()
    return best.encoding if best is not None else ""


def is_multi_byte(encoding: str) -> bool:
    """Tell whether bytes above 0x7F come in groups, so that a strict decode proves something."""
    return encoding in _MULTI_BYTE


def _is_mostly_latin(sample: bytes) -> bool:
    """Tell a Latin text: small letters and spaces, which are one byte in four of Chinese UTF-16."""
    return len(sample.translate(None, _SMALL_LETTERS)) * 5 < len(sample) * 2


def _is_western(sample: bytes) -> bool:
    """Tell French, German, Spanish and the like, which short samples leave open between six code pages."""
    decoded = decode_strictly(sample, "cp1252")
    if decoded is None:
        return False
    accented = [char for char in decoded[0] if char >= "\x80"]
    return _WESTERN.issuperset(accented) and 5 * len(accented) <= 2 * len(decoded[0])


def _decode_nearly(sample: bytes, encoding: str) -> str:
    """Decode damaged text: at most one character in two hundred may be broken, else empty."""
    text = sample.decode(encoding, errors="replace")
    broken = text.count("\ufffd")
    non_ascii = len(text) - len(text.encode("ascii", errors="ignore"))
    return text.replace("\ufffd", "") if broken * 200 <= non_ascii else ""


def _score(text: str, script: Script) -> float:
    """Return the mean weight of the characters above ASCII; controls count, other ASCII does not."""
    total, number = 0.0, 0
    for char, count in Counter(text).items():
        if char >= "\x80":
            total += weigh(char, script) * count
            number += count
        elif char < " " and char not in "\t\n\r\f\0\x1b":
            total -= 3 * count
    total -= 2 * len(_STRAY.findall(text))
    return total / number if number else 0.0


def _score_utf16(text: str) -> float:
    total = 0.0
    for char, count in Counter(text).items():
        if char < " " and char not in "\t\n\r\f":
            return -1.0
        # In alphabets one byte in two is a control or NUL, which no other encoding of text has.
        total += (2.0 if _ALPHABETIC.match(char) else weigh(char, "any")) * count
    return total / len(text) if text else 0.0
