"""Write a number the way a list of a word processor does (ECMA-376 part 1, 17.18.59)."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

MAX_NUMBER: Final = 9_999
"""No list goes further; a larger number, like one that a format has no sign for, is written in decimal digits."""

_ROMAN: Final = (
    (1000, "m"),
    (900, "cm"),
    (500, "d"),
    (400, "cd"),
    (100, "c"),
    (90, "xc"),
    (50, "l"),
    (40, "xl"),
    (10, "x"),
    (9, "ix"),
    (5, "v"),
    (4, "iv"),
    (1, "i"),
)
_MAX_ROMAN: Final = 3_999
_MAX_LETTER_REPEATS: Final = 30  # a, b … z, aa, bb … as word processors do
_CIRCLED: Final = "①②③④⑤⑥⑦⑧⑨⑩⑪⑫⑬⑭⑮⑯⑰⑱⑲⑳㉑㉒㉓㉔㉕㉖㉗㉘㉙㉚㉛㉜㉝㉞㉟㊱㊲㊳㊴㊵㊶㊷㊸㊹㊺㊻㊼㊽㊾㊿"
_SIMPLE: Final = ("〇一二三四五六七八九", "十百千", "零")
_LEGAL_SIMPLIFIED: Final = ("零壹贰叁肆伍陆柒捌玖", "拾佰仟", "零")
_LEGAL_TRADITIONAL: Final = ("零壹貳參肆伍陸柒捌玖", "拾佰仟", "零")
_JAPANESE: Final = ("〇一二三四五六七八九", "十百千", "")


def format_number(number: int, number_format: str) -> str:
    """Return a number in a format of that standard, such as `lowerRoman`, `chineseCounting` or `decimalZero`.

    One of no sign there, below zero, or in a format that is not known here, is written in decimal digits.
    """
    write = _WRITERS.get(number_format)
    text = write(number) if write is not None and 0 <= number <= MAX_NUMBER else ""
    return text or str(number)


def _roman(number: int) -> str:
    if number > _MAX_ROMAN:
        return ""
    parts = []
    for value, letters in _ROMAN:
        count, number = divmod(number, value)
        parts.append(letters * count)
    return "".join(parts)


def _letters(number: int) -> str:
    repeats, place = divmod(number - 1, 26)
    return chr(ord("a") + place) * (repeats + 1) if number and repeats < _MAX_LETTER_REPEATS else ""


def _han(signs: tuple[str, str, str]) -> Callable[[int], str]:
    """Return a writer with digits, units and the sign between parts that no unit joins: 一百零五."""
    digits, units, gap = signs

    def write(number: int) -> str:
        text = ""
        for place, digit in enumerate(map(int, reversed(str(number)))):
            if digit:
                text = digits[digit] + (units[place - 1] if place else "") + text
            elif gap and text and not text.startswith(gap):
                text = gap + text
        if units[0] == "十" and 10 <= number < 20:
            text = text.removeprefix("一")  # 十二, where nothing stands before it
        elif not gap:
            text = _without_ones(text)
        return text or digits[0]

    return write


def _without_ones(text: str) -> str:
    """Return a Japanese number as it is written: 百十, not 一百一十."""
    return re.sub("一(?=[十百千])", "", text)


def _digits(signs: str) -> Callable[[int], str]:
    return lambda number: "".join(signs[int(digit)] for digit in str(number))


def _cycle(signs: str) -> Callable[[int], str]:
    """Return a writer of signs of which there are only so many."""
    return lambda number: signs[number - 1] if 0 < number <= len(signs) else ""


def _ordinal(number: int) -> str:
    endings = {1: "st", 2: "nd", 3: "rd"}
    return f"{number}{'th' if number % 100 in (11, 12, 13) else endings.get(number % 10, 'th')}"


_WRITERS: Final[dict[str, Callable[[int], str]]] = {
    "decimalZero": lambda number: f"{number:02}",
    "lowerRoman": _roman,
    "upperRoman": lambda number: _roman(number).upper(),
    "lowerLetter": _letters,
    "upperLetter": lambda number: _letters(number).upper(),
    "ordinal": _ordinal,
    "hex": lambda number: f"{number:X}",
    "numberInDash": lambda number: f"- {number} -",
    "decimalFullWidth": _digits("０１２３４５６７８９"),
    "decimalFullWidth2": _digits("０１２３４５６７８９"),
    "decimalEnclosedCircle": _cycle(_CIRCLED),
    "decimalEnclosedCircleChinese": _cycle(_CIRCLED),
    "decimalEnclosedParen": _cycle("⑴⑵⑶⑷⑸⑹⑺⑻⑼⑽⑾⑿⒀⒁⒂⒃⒄⒅⒆⒇"),
    "decimalEnclosedFullstop": _cycle("⒈⒉⒊⒋⒌⒍⒎⒏⒐⒑⒒⒓⒔⒕⒖⒗⒘⒙⒚⒛"),
    "chineseCounting": _han(_SIMPLE),
    "chineseCountingThousand": _han(_SIMPLE),
    "chineseLegalSimplified": _han(_LEGAL_SIMPLIFIED),
    "taiwaneseCounting": _han(_SIMPLE),
    "taiwaneseCountingThousand": _han(_SIMPLE),
    "taiwaneseDigital": _digits("○一二三四五六七八九"),
    "ideographDigital": _digits("〇一二三四五六七八九"),
    "ideographLegalTraditional": _han(_LEGAL_TRADITIONAL),
    "japaneseCounting": _han(_JAPANESE),
    "japaneseDigitalTenThousand": _digits("〇一二三四五六七八九"),
    "ideographTraditional": _cycle("甲乙丙丁戊己庚辛壬癸"),
    "ideographZodiac": _cycle("子丑寅卯辰巳午未申酉戌亥"),
    "ideographEnclosedCircle": _cycle("㊀㊁㊂㊃㊄㊅㊆㊇㊈㊉"),
}
