"""What will be looked for."""

from __future__ import annotations

import pytest

from zhiku.retrieve.plan import MAX_PHRASE_TOKENS, MAX_TERMS, Plan, build_plan
from zhiku.text.analyze import Analyzer


def plan(text: str) -> Plan:
    return build_plan(text, Analyzer())


def test_a_chinese_question_is_any_of_its_pairs() -> None:
    assert plan("召回率下降").lexical.terms == ("召回", "回率", "率下", "下降")


def test_a_single_character_is_the_beginning_of_a_token() -> None:
    lexical = plan("雨").lexical
    assert (lexical.terms, lexical.prefixes) == ((), ("雨",))


def test_words_that_stand_everywhere_are_left_out_beside_others() -> None:
    assert plan("how is the gauge calibrated").lexical.terms == ("gaug", "calibr")


def test_words_that_stand_everywhere_are_kept_where_there_are_no_others() -> None:
    assert plan("to be or not").lexical.terms == ("not",)
    assert plan("The Who").lexical.terms == ("the", "who")


def test_the_words_in_a_row_are_a_phrase() -> None:
    assert plan("gate opens").phrase.phrases == (("gate", "opens", "open"),)


def test_a_han_phrase_ends_with_its_last_pair_so_that_it_may_go_on() -> None:
    assert plan("召回率").phrase.phrases == (("召回", "回率"),)


def test_a_word_alone_is_no_phrase() -> None:
    assert plan("召回").phrase.phrases == ()


def test_a_long_question_is_no_phrase() -> None:
    assert plan("甲乙" * MAX_PHRASE_TOKENS).phrase.phrases == ()


def test_a_pasted_page_is_cut_to_a_bounded_number_of_terms() -> None:
    text = "".join(chr(0x4E00 + n) for n in range(2000))
    assert len(plan(text).lexical.terms) == MAX_TERMS


@pytest.mark.parametrize("text", ["召回", "雨", "gate-sync", "C++", "《备份》"])
def test_one_run_is_a_keyword(text: str) -> None:
    assert plan(text).is_keyword


@pytest.mark.parametrize("text", ["备份 恢复", "the gate", "用Python"])
def test_several_runs_are_a_question(text: str) -> None:
    assert not plan(text).is_keyword


@pytest.mark.parametrize("text", ["", "()", '"', "*", "——"])
def test_nothing_is_looked_for_where_there_is_no_word(text: str) -> None:
    assert not plan(text).lexical
    assert not plan(text).phrase
