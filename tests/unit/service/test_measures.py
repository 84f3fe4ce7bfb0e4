import math

import pytest

from zhiku.service.measures import MEASURES, RESAMPLES, Bootstrap, ndcg, percentile, recall, reciprocal_rank, scores

JUDGED = {"a": 2, "b": 1, "c": 0}


def test_ndcg_is_one_for_the_ideal_order_and_less_for_any_other() -> None:
    assert ndcg(["a", "b", "x"], JUDGED) == 1
    assert ndcg(["b", "a"], JUDGED) == pytest.approx((1 + 2 / math.log2(3)) / (2 + 1 / math.log2(3)))
    assert ndcg(["x", "a"], {"a": 1}) == pytest.approx(1 / math.log2(3))
    assert ndcg(["a"], {"a": 0}) == 0


def test_ndcg_looks_at_the_first_k_only() -> None:
    assert ndcg(["x", "a"], {"a": 1}, k=1) == 0
    assert ndcg(["a"], {"a": 1, "b": 1}, k=1) == 1


def test_recall_counts_right_answers_only() -> None:
    assert recall(["c", "a"], JUDGED, 2) == 0.5
    assert recall(["c", "a"], JUDGED, 1) == 0
    assert recall(["c"], {"c": 0}, 1) == 0


def test_the_reciprocal_rank_is_that_of_the_first_right_answer() -> None:
    assert reciprocal_rank(["x", "c", "b", "a"], JUDGED, 10) == pytest.approx(1 / 3)
    assert reciprocal_rank(["x", "c", "b"], JUDGED, 2) == 0


def test_a_question_that_was_not_run_scores_nothing() -> None:
    assert scores({"q2": ["a"]}, {"q1": JUDGED, "q2": JUDGED}, "mrr@10") == [0, 1]
    assert set(MEASURES) == {"ndcg@10", "recall@10", "recall@100", "mrr@10"}


@pytest.mark.parametrize(("share", "value"), [(0.5, 2), (0.51, 3), (0.95, 4), (1, 4), (0.01, 1)])
def test_a_percentile_is_one_of_the_values(share: float, value: int) -> None:
    assert percentile([4, 1, 3, 2], share) == value


def test_an_interval_holds_the_mean_and_is_as_wide_as_theory_says() -> None:
    column = [0.0, 1.0] * 200
    estimate = Bootstrap([column]).estimate(0)

    assert estimate.mean == 0.5
    # The standard error of 400 tosses is .025; 1,000 resamples give its 1.96-fold within a tenth.
    assert (estimate.high - estimate.low) / 2 == pytest.approx(1.96 * 0.025, rel=0.1)
    assert estimate.low < 0.5 < estimate.high


def test_differences_are_paired() -> None:
    column = [i / 100 for i in range(100)]
    bootstrap = Bootstrap([[value + 0.1 for value in column], column])

    difference = bootstrap.difference(0, 1)

    # Question by question one is .1 above the other: however they are drawn, so is the mean.
    assert (difference.mean, difference.low, difference.high) == pytest.approx((0.1, 0.1, 0.1))
    assert bootstrap.estimate(0).high - bootstrap.estimate(0).low > 0.1


def test_the_same_scores_give_the_same_intervals() -> None:
    column = [0.0, 0.3, 1.0, 0.5]
    assert Bootstrap([column]).estimate(0) == Bootstrap([column]).estimate(0)
    assert RESAMPLES >= 1000
