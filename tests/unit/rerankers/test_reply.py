"""Scores are taken from every form of reply that servers give, and from nothing else."""

from __future__ import annotations

from math import isnan, nan

import pytest

from zhiku.errors import BadModelReply
from zhiku.rerankers.reply import scores_in


def scores(reply: object, count: int = 2) -> list[float]:
    return scores_in(reply, count, "http://h/v1/rerank")


@pytest.mark.parametrize(
    "reply",
    [
        {"results": [{"index": 1, "relevance_score": 0.9}, {"index": 0, "relevance_score": 0.1}]},
        {"results": [{"index": 1, "relevance_score": 0.9, "document": None}, {"index": 0, "relevance_score": 0.1}]},
        {"data": [{"index": 0, "relevance_score": 0.1}, {"index": 1, "relevance_score": 0.9}], "object": "list"},
        {"results": [{"index": 0, "score": 0.1}, {"index": 1, "score": 0.9}]},
        [{"index": 1, "score": 0.9, "text": "b"}, {"index": 0, "score": 0.1, "text": "a"}],
        {"scores": [0.1, 0.9]},
        [0.1, 0.9],
    ],
)
def test_every_form_of_reply_gives_the_scores_in_the_order_of_the_texts(reply: object) -> None:
    assert scores(reply) == [0.1, 0.9]


def test_entries_for_texts_that_were_not_sent_are_left_out() -> None:
    entries = [{"index": index, "score": 99.0} for index in (7, -1, True, 1.0, "0", None)]
    assert scores([*entries, {"score": 99.0}, "x", {"index": 0, "score": 0.1}, {"index": 1, "score": 0.9}]) == [
        0.1,
        0.9,
    ]


def test_of_two_scores_for_one_text_the_first_counts() -> None:
    assert scores([{"index": 0, "score": 0.1}, {"index": 1, "score": 0.9}, {"index": 0, "score": 0.7}]) == [0.1, 0.9]


@pytest.mark.parametrize("score", [nan, None, "0.5", True, []])
def test_what_is_no_number_is_no_score(score: object) -> None:
    found = scores([{"index": 0, "score": score}, {"index": 1, "score": 0.9}])
    assert isnan(found[0])
    assert found[1] == 0.9


def test_a_text_without_an_entry_has_no_score() -> None:
    assert isnan(scores({"results": [{"index": 1, "relevance_score": 0.9}]})[0])


@pytest.mark.parametrize(
    "reply",
    [
        {},
        {"results": {}},
        {"results": []},
        [],
        "scores",
        None,
        7,
        {"results": [{"index": 5, "relevance_score": 1.0}]},
        {"results": [{"index": 0}]},
        {"scores": [None, None]},
        {"message": "no"},
    ],
)
def test_a_reply_without_any_score_is_refused(reply: object) -> None:
    with pytest.raises(BadModelReply):
        scores(reply)


def test_bare_scores_for_another_number_of_texts_are_refused() -> None:
    with pytest.raises(BadModelReply, match="3 scores for 2 texts"):
        scores({"scores": [0.1, 0.2, 0.3]})
