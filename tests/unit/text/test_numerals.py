"""Numbers as lists of a word processor show them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zhiku.text import numerals
from zhiku.text.numerals import format_number


@pytest.mark.parametrize(
    ("number_format", "shown"),
    [
        ("decimal", {0: "0", 12: "12"}),
        ("decimalZero", {7: "07", 12: "12"}),
        ("lowerRoman", {4: "iv", 9: "ix", 1994: "mcmxciv", 4000: "4000"}),
        ("upperRoman", {14: "XIV"}),
        ("lowerLetter", {1: "a", 26: "z", 27: "aa", 53: "aaa", 0: "0"}),
        ("upperLetter", {2: "B"}),
        ("ordinal", {1: "1st", 2: "2nd", 3: "3rd", 11: "11th", 22: "22nd"}),
        ("chineseCounting", {0: "〇", 1: "一", 10: "十", 11: "十一", 20: "二十", 21: "二十一", 99: "九十九"}),
        (
            "chineseCountingThousand",
            {100: "一百", 101: "一百零一", 110: "一百一十", 1001: "一千零一", 2025: "二千零二十五"},
        ),
        ("chineseLegalSimplified", {10: "壹拾", 15: "壹拾伍", 305: "叁佰零伍"}),
        ("ideographLegalTraditional", {26: "貳拾陸"}),
        ("japaneseCounting", {10: "十", 12: "十二", 110: "百十", 2000: "二千"}),
        ("ideographDigital", {10: "一〇", 23: "二三"}),
        ("ideographTraditional", {1: "甲", 10: "癸", 11: "11"}),
        ("ideographZodiac", {12: "亥"}),
        ("decimalEnclosedCircle", {1: "①", 20: "⑳", 35: "㉟", 50: "㊿", 51: "51"}),
        ("decimalEnclosedParen", {3: "⑶"}),
        ("decimalFullWidth", {12: "１２"}),
        ("numberInDash", {3: "- 3 -"}),
        ("never heard of", {3: "3"}),
    ],
)
def test_numbers_are_written_as_lists_show_them(number_format: str, shown: dict[int, str]) -> None:
    assert {number: format_number(number, number_format) for number in shown} == shown


@given(st.integers(-(10**10), 10**10), st.sampled_from(sorted(numerals._WRITERS)))
def test_every_number_has_a_short_text_in_every_format(number: int, number_format: str) -> None:
    assert 0 < len(format_number(number, number_format)) <= 31


@given(st.integers(1, 9_999), st.integers(1, 9_999))
def test_different_numbers_look_different(one: int, other: int) -> None:
    for number_format in ("chineseCountingThousand", "lowerRoman", "chineseLegalSimplified", "ideographDigital"):
        assert (format_number(one, number_format) == format_number(other, number_format)) == (one == other)
