"""Folding makes spellings of one word equal, and knows where each character came from."""

from __future__ import annotations

import pytest

from zhiku.text.fold import fold, fold_with_map


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("plain ASCII stays", "plain ASCII stays"),
        ("Ａｐｉ，２０", "Api,20"),
        ("⽔⺠", "水民"),  # a Kangxi and a CJK radical
        ("請開通網絡", "请开通网络"),
        ("頭髮與發展", "头发与发展"),  # two traditional characters with one simplified form
        ("cafe\u0301", "café"),
        ("\u1112\u1161\u11ab", "한"),
        ("ｶﾞｽ", "ガス"),
        ("ﬁne", "fine"),
    ],
)
def test_spellings_of_one_word_become_one(text: str, folded: str) -> None:
    assert fold(text) == folded


def test_case_is_kept_because_it_shows_the_parts_of_identifiers() -> None:
    assert fold("HTTPServer 與 fooBar") == "HTTPServer 与 fooBar"


@pytest.mark.parametrize("text", ["請開通網絡權限。", "cafe\u0301 ", "ｶﾞｽ，", "中文无须改动。", "𠀀𠮷 "])
def test_long_texts_fold_as_short_ones_do(text: str) -> None:
    assert fold(text * 300) == fold(text) * 300


def test_folding_twice_changes_nothing() -> None:
    text = "⽔ 請開通 Ａ cafe\u0301 ｶﾞ ﷺ ㍿"
    assert fold(fold(text)) == fold(text)


def test_the_map_leads_every_folded_character_to_where_it_came_from() -> None:
    folded, offsets = fold_with_map("請e\u0301Ａ")

    assert (folded, offsets) == ("请éA", [0, 1, 3, 4])


def test_a_character_that_becomes_many_is_the_origin_of_all_of_them() -> None:
    folded, offsets = fold_with_map("甲\ufdfa乙")

    assert (folded[0], folded[-1]) == ("甲", "乙")
    assert offsets == [0, *[1] * (len(folded) - 2), 2, 3]


@pytest.mark.parametrize(
    "text",
    [
        "ｶﾞｷﾞ",  # half-width voice marks compose with what stands before them
        "a\uff9e\u0301",  # and let a mark behind them reach past them
        "\u09c7\u09be",  # two Bengali vowel signs make one
        "\u05e9\u05c1\u05bc",  # Hebrew points are put into their order
        "a\u0323\u0307\u0301",
        "\u1100\u1161\u11a8\u1100\u1161",
    ],
)
def test_the_map_folds_as_folding_without_a_map_does(text: str) -> None:
    assert fold_with_map(text)[0] == fold(text)
