"""Lengths in tokens, and where a text may be cut."""

from __future__ import annotations

import pytest

from zhiku.text.measure import best_cut, estimate_tokens, fit, is_grapheme_boundary, overlap_start

FAMILY = "👩\u200d👩\u200d👧"


def test_an_empty_text_has_no_tokens_and_any_other_at_least_one() -> None:
    assert (estimate_tokens(""), estimate_tokens("a"), estimate_tokens("雨")) == (0, 1, 1)


def test_a_han_character_costs_about_three_times_a_letter() -> None:
    assert estimate_tokens("雨" * 1000) == pytest.approx(780, abs=1)
    assert estimate_tokens("a" * 1000) == pytest.approx(250, abs=1)
    assert estimate_tokens("7" * 1000) == pytest.approx(440, abs=1)
    assert estimate_tokens("-" * 1000) == pytest.approx(640, abs=1)


def test_the_estimate_adds_up_over_classes() -> None:
    parts = ["雨" * 100, "rain" * 100, "2026" * 100]
    assert estimate_tokens("".join(parts)) == pytest.approx(sum(map(estimate_tokens, parts)), abs=3)


def test_lone_surrogates_can_be_measured() -> None:
    assert estimate_tokens("a\udcffb") > 0


@pytest.mark.parametrize("text", ["雨" * 500, "rain " * 300, "1-2" * 200, "雨rain 12;" * 60])
def test_what_fits_has_at_most_the_tokens_that_were_allowed(text: str) -> None:
    end = fit(text, 10, len(text), 40)

    assert estimate_tokens(text[10:end]) <= 40
    assert estimate_tokens(text[10 : end + 8]) > 35


@pytest.mark.parametrize("character", ["雨", "a", "7", "-", "𠀀"])
def test_a_text_that_fits_is_left_whole(character: str) -> None:
    for count in range(1, 60):
        text = character * count
        assert (fit(text, 0, count, 40) == count) == (estimate_tokens(text) <= 40)


def test_at_least_one_character_fits() -> None:
    assert fit("𠀀𠀀", 0, 2, 1) == 1


@pytest.mark.parametrize(
    ("text", "head"),
    [
        ("第一句。第二句\n第三", "第一句。第二句\n"),
        ("第一句。第二，三", "第一句。"),
        ("第一，第二 第三", "第一，第二 "),
        ("One end. Two", "One end."),
        ("version 3.11 of", "version 3.11 "),
        ("他说：“好。”然后", "他说：“好。”"),
    ],
)
def test_a_cut_prefers_lines_then_sentences_then_clauses(text: str, head: str) -> None:
    assert text[: best_cut(text, 0, len(text))] == head


def test_a_cut_in_an_unbroken_run_leaves_characters_whole() -> None:
    text = "x" * 9 + FAMILY
    assert best_cut(text, 0, len(text) - 1) == 9


@pytest.mark.parametrize(
    ("text", "at"), [("e\u0301", 1), (FAMILY, 1), (FAMILY, 2), ("🇨🇳", 1), ("\u1112\u1161", 1), ("葛\U000e0100", 1)]
)
def test_there_is_no_boundary_inside_a_character_as_readers_see_it(text: str, at: int) -> None:
    assert not is_grapheme_boundary(text, at)


def test_there_is_a_boundary_between_characters_and_at_both_ends() -> None:
    assert all(is_grapheme_boundary("召回", at) for at in (0, 1, 2))


def test_an_overlap_begins_with_a_sentence_if_one_begins_there() -> None:
    text = "很长的第一句话。第二句"
    assert text[overlap_start(text, 4, len(text)) :] == "第二句"


def test_nothing_is_repeated_behind_a_whole_sentence() -> None:
    text = "只有一句话。"
    assert overlap_start(text, 3, len(text)) == len(text)


def test_an_overlap_in_an_unbroken_run_begins_with_a_whole_character() -> None:
    text = "x" + FAMILY + "yyy"
    assert overlap_start(text, 3, len(text)) == 1 + len(FAMILY)
