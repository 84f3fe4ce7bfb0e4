"""Pairs that a text says to be one thing are found, and remarks in parentheses are none."""

from __future__ import annotations

from collections import Counter

import pytest

from zhiku.text.pairs import Pair, find_pairs, long_form, pair_of_link
from zhiku.text.term_head import are_alike_in_size, head_of


def pairs(text: str) -> list[tuple[str, str]]:
    return [(pair.term, pair.alias) for _, pair in find_pairs(text)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("the Name Service Switch (NSS) asks", [("Name Service Switch", "NSS")]),
        ("A tissue (all-trans-retinoic acid (ATRA)) was", [("all-trans-retinoic acid", "ATRA")]),
        ("北京大学（北大）", [("北京大学", "北大")]),
        ("中国共产党（以下简称“中共”）", [("中国共产党", "中共")]),
        ("马铃薯（又称：土豆）", [("马铃薯", "土豆")]),
        ("主引导记录（Master Boot Record，MBR）", [("主引导记录", "Master Boot Record"), ("主引导记录", "MBR")]),
        ("用 Server Name Indication（服务器名称指示）时", [("Server Name Indication", "服务器名称指示")]),
        ("THP（透明大页）", [("THP", "透明大页")]),
    ],
)
def test_what_a_text_explains_is_a_pair(text: str, found: list[tuple[str, str]]) -> None:
    assert pairs(text) == found


@pytest.mark.parametrize(
    "text",
    [
        "参数（默认为 5）",
        "设置（例如，WHERE、JOIN）",
        "the server (see Section 2)",
        "the pump (if any)",
        "存储服务（如 Amazon S3、GCS）",
        "函数（useSyncExternalStore）",
        "文件（mysql.tidb）",
        "debian/tmp（多个二进制软件包）",
        "install（维护者版本）",
        "使用 DOM（将菜品放在桌子上）",
        "值（CXXFLAGS）",
        "（）(  )（，）",
    ],
)
def test_a_remark_is_no_pair(text: str) -> None:
    assert pairs(text) == []


def test_a_link_has_two_names_of_one_note() -> None:
    assert pair_of_link("notes/水泵", "离心泵") == Pair("水泵", "离心泵", "link")
    for target, text in (
        ("2024-01-01", "2024"),
        ("水泵", "水泵"),
        ("Pump", "pump"),
        ("a", "see what he said about it then"),
        ("水泵", "见此：这里"),
    ):
        assert pair_of_link(target, text) is None


def test_the_place_of_a_pair_is_that_of_its_second_word() -> None:
    text = "一\n主引导记录（MBR）"
    ((at, pair),) = find_pairs(text)
    assert text[at : at + 3] == "MBR"
    assert pair == Pair("主引导记录", "MBR", "latin", is_whole=False)


@pytest.mark.parametrize(
    ("before", "short", "long"),
    [
        ("of the National Hockey League", "NHL", "National Hockey League"),
        ("messenger RNAs", "mRNAs", "messenger RNAs"),
        ("with human papillomavirus genotype 31", "HPV31", "human papillomavirus genotype 31"),
        ("we used it", "XYZ", None),
        ("the ABC", "ABC", None),
        ("a method", "it", None),
    ],
)
def test_an_abbreviation_stands_for_the_words_that_hold_its_letters(before: str, short: str, long: str | None) -> None:
    assert long_form(before, short) == long


@pytest.mark.parametrize(
    ("pair", "is_telling"),
    [
        (Pair("参数", "day", "latin"), False),
        (Pair("副作用", "side effect", "latin"), True),
        (Pair("主引导记录", "MBR", "latin"), True),
        (Pair("Wiki", "维基", "han"), False),
        (Pair("北京大学", "北大", "short"), True),
    ],
)
def test_a_single_word_has_to_stand_more_than_once(pair: Pair, is_telling: bool) -> None:
    assert pair.is_telling == is_telling


TEXTS = [
    "训练大语言模型要很多数据",
    "大语言模型会出错",
    "用大语言模型回答",
    "语言模型不大",
    "模型很多",
    "课程介绍了大语言模型",
]


def count(run: str) -> int:
    return sum(Counter(text)[run] if len(run) == 1 else text.count(run) for text in TEXTS)


@pytest.mark.parametrize(
    ("run", "alias", "term"),
    [
        ("课程介绍了大语言模型", "LLM", "大语言模型"),
        ("我们训练大语言模型", "large language model", "大语言模型"),
        ("防霜风扇", "frost fan", "防霜风扇"),
        ("通常是全称域名", "FQDN", None),
        ("不常见的", "rare", None),
        ("口", "mouth", None),
    ],
)
def test_a_term_begins_where_it_stands_in_other_sentences_too(run: str, alias: str, term: str | None) -> None:
    assert head_of(run, [alias], count) == term


def test_names_of_one_thing_are_about_as_long() -> None:
    assert are_alike_in_size("主引导记录", "MBR")
    assert not are_alike_in_size("邮件", "Domain Keys Identified Mail")
    assert not are_alike_in_size("将订单送到桌子前面去了", "DOM")
    assert are_alike_in_size("马铃薯", "土豆")
