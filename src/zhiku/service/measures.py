"""Measures of rankings, and how far a figure may be off: pure arithmetic."""

from __future__ import annotations

import math
import operator
import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

Judged = Mapping[str, int]
"""The judged passages of one question: grade by passage id; a right answer has a grade above 0."""
Qrels = Mapping[str, Judged]
"""The judged passages by question id."""
Runs = Mapping[str, Sequence[str]]
"""Ranked passage ids, best first, by question id."""

RESAMPLES = 1000
TAIL = 0.025
"""What an interval leaves out at each of its ends."""
SEED = 20261130
"""Any number would do; a fixed one gives the same intervals for the same rankings."""


def ndcg(ranked: Sequence[str], judged: Judged, k: int = 10) -> float:
    """Return nDCG at k with linear gains (as trec_eval and BEIR compute it)."""
    gains = [judged.get(doc_id, 0) for doc_id in ranked[:k]]
    ideal = sorted(judged.values(), reverse=True)[:k]
    best = sum(gain / math.log2(i + 2) for i, gain in enumerate(ideal))
    return sum(gain / math.log2(i + 2) for i, gain in enumerate(gains)) / best if best else 0.0


def recall(ranked: Sequence[str], judged: Judged, k: int) -> float:
    """Return the share of right answers among the first k; 0 where there is none to find."""
    right = {doc_id for doc_id, grade in judged.items() if grade > 0}
    return len(right & set(ranked[:k])) / len(right) if right else 0.0


def reciprocal_rank(ranked: Sequence[str], judged: Judged, k: int) -> float:
    """Return 1 / rank of the first right answer among the first k; 0 where none is among them."""
    return next((1 / rank for rank, doc_id in enumerate(ranked[:k], 1) if judged.get(doc_id, 0) > 0), 0.0)


MEASURES: Mapping[str, Callable[[Sequence[str], Judged], float]] = {
    "ndcg@10": partial(ndcg, k=10),
    "recall@10": partial(recall, k=10),
    "recall@100": partial(recall, k=100),
    "mrr@10": partial(reciprocal_rank, k=10),
}


def scores(runs: Runs, qrels: Qrels, measure: str) -> list[float]:
    """Return a measure of every judged question, in the order of `qrels`; a question that was not run scores 0."""
    score = MEASURES[measure]
    return [score(runs.get(query_id, ()), judged) for query_id, judged in qrels.items()]


def mean(values: Sequence[float]) -> float:
    """Return the mean; 0 of nothing."""
    return sum(values) / len(values) if values else 0.0


def percentile(values: Sequence[float], share: float) -> float:
    """Return the smallest value that at least `share` (above 0, up to 1) of all values do not exceed."""
    return sorted(values)[math.ceil(share * len(values)) - 1]


@dataclass(frozen=True)
class Estimate:
    """A mean over questions, and the interval that it would fall into with other questions of the same kind."""

    mean: float
    low: float
    high: float

    def to_dict(self) -> dict[str, float]:
        """Return the three figures, rounded."""
        return {"mean": round(self.mean, 4), "low": round(self.low, 4), "high": round(self.high, 4)}


class Bootstrap:
    """Means and their differences with percentile intervals (Efron, 1979) from resampled questions.

    Every resample draws the same questions for all columns, so that differences are paired (Sakai, SIGIR 2006).
    """

    def __init__(self, columns: Sequence[Sequence[float]]) -> None:
        """Take columns of scores, all over the same questions in the same order."""
        rows = list(zip(*columns, strict=True))
        distinct = list(dict.fromkeys(rows))  # many questions score alike, and are added up at once
        number = {row: i for i, row in enumerate(distinct)}
        numbers = [number[row] for row in rows]
        draw = random.Random(SEED)  # noqa: S311 - a sample, not a secret
        self._means = [mean(column) for column in columns]
        self._resampled: list[list[float]] = [[] for _ in columns]
        for _ in range(RESAMPLES):
            counted = Counter(draw.choices(numbers, k=len(rows)))
            drawn = [distinct[i] for i in counted]
            for resampled, column in zip(self._resampled, zip(*drawn, strict=True), strict=True):
                resampled.append(sum(map(operator.mul, column, counted.values())) / len(rows))

    def estimate(self, column: int) -> Estimate:
        """Return the mean of a column."""
        return _estimate(self._means[column], self._resampled[column])

    def difference(self, column: int, other: int) -> Estimate:
        """Return by how much the mean of a column is above that of another."""
        resampled = [a - b for a, b in zip(self._resampled[column], self._resampled[other], strict=True)]
        return _estimate(self._means[column] - self._means[other], resampled)


def _estimate(value: float, resampled: Sequence[float]) -> Estimate:
    return Estimate(value, percentile(resampled, TAIL), percentile(resampled, 1 - TAIL))
