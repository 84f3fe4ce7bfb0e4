"""One score out of what words and meaning say."""

from __future__ import annotations

import pytest

from zhiku.retrieve.fuse import COMPLETE_SHARE, MISSING_BOOST, PERFECT_SHARE, fuse, weigh

GOOD = 5.0


def test_the_best_match_counts_as_one_if_it_stands_out() -> None:
    words = weigh([8.0, 2.0], 10.0, {})
    assert (words.full, words.distinct) == (8.0, 1.0)
    assert fuse(8.0, 0.0, GOOD, "latin", words, is_complete=False).score == 1.0


def test_a_match_that_ten_documents_share_counts_for_nothing() -> None:
    words = weigh([4.0] * 10, 10.0, {})
    assert fuse(4.0, 0.0, GOOD, "latin", words, is_complete=False).score == 0.0


def test_half_of_the_best_stands_out_by_half() -> None:
    assert weigh([4.0] * 9 + [2.0], 10.0, {}).distinct == 0.5


def test_a_poor_best_match_is_measured_against_a_perfect_one() -> None:
    words = weigh([1.0], 40.0, {})
    assert words.full == PERFECT_SHARE * 40.0
    assert fuse(1.0, 0.0, GOOD, "latin", words, is_complete=False).words == pytest.approx(0.01)


def test_meaning_counts_by_the_square_of_its_standing() -> None:
    words = weigh([], 0.0, {})
    scores = [fuse(0.0, z, GOOD, "latin", words, is_complete=False).score for z in (-3.0, 0.0, 2.5, 5.0)]
    assert scores == [0.0, 0.0, 0.25, 1.0]


def test_a_passage_with_every_word_counts_although_many_have_them() -> None:
    words = weigh([4.0] * 12, 10.0, {})
    assert fuse(4.0, 0.0, GOOD, "latin", words, is_complete=True).words == COMPLETE_SHARE


def test_meaning_counts_for_more_where_words_cannot_stand() -> None:
    words = weigh([9.0], 10.0, {"han": 0.5})
    plain, boosted = (fuse(0.0, 5.0, GOOD, script, words, is_complete=False).score for script in ("latin", "han"))
    assert (plain, boosted) == (1.0, 1.0 + MISSING_BOOST * 0.5)


def test_words_that_are_not_to_be_trusted_boost_nothing() -> None:
    assert weigh([0.0], 100.0, {"han": 1.0}).missing == {"han": 0.0}
    assert weigh([12.5], 100.0, {"han": 1.0}).missing == {"han": 0.5}


def test_without_any_words_nothing_is_divided_by_zero() -> None:
    words = weigh([], 0.0, {"han": 1.0})
    assert fuse(0.0, 1.0, GOOD, "han", words, is_complete=False).words == 0.0
