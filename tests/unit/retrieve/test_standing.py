"""How far a cosine stands out."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from zhiku.model import CosineScale, ScriptStatistics
from zhiku.retrieve.standing import Standing

SCALE = CosineScale(mean=0.78, std=0.02, script_gap=0.06, good=5.0)


def statistics(*cosines: float) -> ScriptStatistics:
    values = np.array(cosines)
    return ScriptStatistics(
        count=len(values), mean=float(values.mean()), std=float(values.std()), best=float(values.max())
    )


def many(mean: float, std: float, count: int, best: float) -> ScriptStatistics:
    """Return the statistics of a normal sample, with one far better value in it."""
    values = np.random.default_rng(1).normal(mean, std, count - 1)
    return statistics(*values, best)


def test_in_a_large_base_a_standing_is_in_standard_deviations_of_the_others() -> None:
    standing = Standing({"latin": many(0.8, 0.01, 20_000, 0.95)}, "latin", SCALE)
    assert standing.of(0.83, "latin") == pytest.approx(3.0, abs=0.1)


def test_the_best_passage_does_not_hide_itself() -> None:
    few = Standing({"latin": statistics(*[0.78, 0.80] * 5, 0.9)}, "latin", SCALE)
    without = Standing({"latin": statistics(*[0.78, 0.80] * 5, 0.8)}, "latin", SCALE)
    assert few.of(0.9, "latin") == pytest.approx(without.of(0.9, "latin"), rel=0.02)


@pytest.mark.parametrize("cosines", [(0.84,), (0.84, 0.84), (0.84, 0.80)])
def test_the_smallest_bases_go_by_what_is_known_of_the_model(cosines: tuple[float, ...]) -> None:
    standing = Standing({"han": statistics(*cosines)}, "han", SCALE)
    assert 1.5 < standing.of(0.84, "han") < 3.5


def test_two_languages_are_made_comparable_by_what_is_seen_of_them() -> None:
    parts = {"han": many(0.86, 0.01, 3_000, 0.93), "latin": many(0.78, 0.01, 3_000, 0.85)}
    standing = Standing(parts, "han", SCALE)
    assert standing.of(0.89, "han") == pytest.approx(standing.of(0.81, "latin"), abs=0.2)


def test_where_one_language_has_a_single_passage_the_models_gap_counts() -> None:
    parts = {"han": many(0.84, 0.01, 3_000, 0.9), "latin": statistics(0.82)}
    standing = Standing(parts, "han", SCALE)
    assert standing.of(0.82, "latin") == pytest.approx(standing.of(0.82 + SCALE.script_gap, "han"), abs=0.1)


def test_a_question_in_a_third_script_finds_no_gap_between_the_others_twice() -> None:
    standing = Standing({"latin": many(0.8, 0.01, 500, 0.9)}, "han", SCALE)
    alone = Standing({"latin": many(0.8, 0.01, 500, 0.9)}, "latin", SCALE)
    assert standing.of(0.85, "latin") == pytest.approx(alone.of(0.85, "latin"), abs=0.2)


def test_equal_cosines_are_no_standing_without_end() -> None:
    standing = Standing({"latin": statistics(*[0.8] * 10_000)}, "latin", SCALE)
    assert abs(standing.of(0.8, "latin")) < 1.0


def test_a_growing_base_does_not_jump() -> None:
    values = list(np.random.default_rng(2).normal(0.8, 0.02, 60))
    steps = [Standing({"latin": statistics(*values[:n], 0.9)}, "latin", SCALE).of(0.9, "latin") for n in range(5, 60)]
    assert max(abs(a - b) for a, b in pairwise(steps)) < 1.0
