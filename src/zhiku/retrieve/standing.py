"""How far a passage's cosine stands out from those of all others: what a ranking by meaning goes by.

A cosine by itself says little. It depends on the base, and a small model puts passages in the question's own script
first, right or wrong. So a cosine is measured in standard deviations from the mean of its own script. Where there are
too few passages for that, what is known of the model takes the place of statistics, smoothly (docs/adr/0007-fusion.md).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from zhiku.model import CosineScale, ScriptStatistics

GROUP_COUNT = 30
"""With this many vectors a script's own statistics count for half, those of the whole base for the rest."""

GAP_COUNT = 30
"""With this many vectors in the smaller script the observed gap counts for half, the model's for the rest."""

BASE_COUNT = 2
"""With this many vectors a base's statistics count for half, what is known of the model for the rest."""

MIN_STD = 1e-4


@dataclass(frozen=True, kw_only=True)
class _Rest:
    """The cosines of a script without the best of them, which may be the answer."""

    count: int
    mean: float
    variance: float


class Standing:
    """Tells how far a cosine of one question stands out, in standard deviations above the mean."""

    def __init__(self, statistics: Mapping[str, ScriptStatistics], own: str, scale: CosineScale) -> None:
        """Take what the cosines of all vectors are like, by script, and the question's own script."""
        self.own = own
        self.counts = {script: part.count for script, part in statistics.items()}
        """How many vectors there are, by script."""
        rests = {script: _without_best(part) for script, part in statistics.items()}
        gap = _gap(rests, own, scale)
        self._shifts = {script: 0.0 if script == own else gap for script in rests}
        shifted = {
            script: _Rest(count=rest.count, mean=rest.mean + self._shifts[script], variance=rest.variance)
            for script, rest in rests.items()
        }
        whole = _whole(shifted.values(), scale)
        self._parts = {script: _shrunk(rest, whole) for script, rest in shifted.items()}

    def of(self, cosine: float, script: str) -> float:
        """Return how many standard deviations a cosine stands above the mean of its script."""
        mean, std = self._parts[script]
        return (cosine + self._shifts[script] - mean) / max(std, MIN_STD)


def pooled(parts: Iterable[ScriptStatistics]) -> ScriptStatistics:
    """Return the statistics of several sets of cosines as if they were one."""
    known = list(parts)
    count = sum(part.count for part in known)
    mean = sum(part.count * part.mean for part in known) / count
    variance = sum(part.count * (part.std**2 + (part.mean - mean) ** 2) for part in known) / count
    return ScriptStatistics(count=count, mean=mean, std=math.sqrt(variance), best=max(part.best for part in known))


def _without_best(part: ScriptStatistics) -> _Rest:
    count = part.count - 1
    if count == 0:
        return _Rest(count=0, mean=0.0, variance=0.0)
    mean = (part.count * part.mean - part.best) / count
    squares = (part.count * (part.std**2 + part.mean**2) - part.best**2) / count
    return _Rest(count=count, mean=mean, variance=max(0.0, squares - mean**2))


def _gap(rests: Mapping[str, _Rest], own: str, scale: CosineScale) -> float:
    """Return by how much cosines in the question's own script are higher than those in the other."""
    others = [rest for script, rest in rests.items() if script != own]
    if own not in rests or not others:
        return scale.script_gap
    smaller = min(rests[own].count, *(rest.count for rest in others))
    observed = rests[own].mean - others[0].mean
    return _blend(observed, scale.script_gap, smaller, GAP_COUNT) if smaller else scale.script_gap


def _whole(rests: Iterable[_Rest], scale: CosineScale) -> tuple[float, float]:
    """Return mean and standard deviation of a whole base."""
    known = [rest for rest in rests if rest.count]
    count = sum(rest.count for rest in known)
    if not count:
        return scale.mean, scale.std
    mean = sum(rest.count * rest.mean for rest in known) / count
    squares = sum(rest.count * (rest.variance + rest.mean**2) for rest in known) / count
    variance = max(0.0, squares - mean**2)
    return (
        _blend(mean, scale.mean, count, BASE_COUNT),
        math.sqrt(_blend(variance, scale.std**2, count, BASE_COUNT)),
    )


def _shrunk(rest: _Rest, whole: tuple[float, float]) -> tuple[float, float]:
    return (
        _blend(rest.mean, whole[0], rest.count, GROUP_COUNT),
        _blend(math.sqrt(rest.variance), whole[1], rest.count, GROUP_COUNT),
    )


def _blend(observed: float, prior: float, count: int, half: int) -> float:
    """Return a mean of what was observed in `count` vectors and what is expected, equal parts at `half` of them."""
    own = count / (count + half)
    return own * observed + (1 - own) * prior
