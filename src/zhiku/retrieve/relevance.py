"""How likely a hit answers the question (docs/adr/0008-relevance.md has the figures)."""

from __future__ import annotations

import math
from typing import NamedTuple

from zhiku.answer import Answer

NOTHING_FOUND = 0.2
"""Below this relevance of its first hit an answer is better given as "nothing found": that keeps .95 of right first
hits and drops .80 of those for questions about other things (means over the retrieval sets of evals/)."""

# Logistic regression over first hits, right ones and such for questions that a base cannot answer; every retrieval
# set weighs alike (evals/relevance.py --fit).
_BIAS = -4.88
_PER_EXCESS = 1.11
_PER_NEARNESS = 0.59
_PER_SHARE = 8.23
_PER_CROSSING = 2.24


class Evidence(NamedTuple):
    """What meaning says of a passage beside its place in the ranking."""

    cosine: float
    standing: float
    """Standard deviations above the mean of its script (`zhiku.retrieve.standing`)."""
    vectors: int
    """Among how many it stands out: the best of many stands out by chance."""
    nearness: float
    """Its cosine above what the model gives any two texts, in standard deviations of that."""
    crosses: bool
    """Whether it is in another script than the question."""

    @property
    def excess(self) -> float:
        """Return its standing beyond that of the best of as many random values.

        The best of n independent normal values stands about sqrt(2 ln n) above their mean (Cramér, 1946).
        """
        return self.standing - math.sqrt(2 * math.log(max(1, self.vectors)))


def relevance_of(evidence: Evidence, share: float) -> float:
    """Return the probability, 0 to 1, that a passage answers the question.

    `share` is the part of the question's words, by weight, that the passage holds.
    """
    odds = _BIAS + _PER_EXCESS * evidence.excess + _PER_NEARNESS * evidence.nearness + _PER_SHARE * share
    return 1 / (1 + math.exp(-(odds + _PER_CROSSING * evidence.crosses)))


def is_unlikely(answer: Answer) -> bool:
    """Return whether an answer has hits, and none of them is likely to answer the question; False where words alone
    were looked for, which do not tell.
    """
    known = [hit.relevance for hit in answer if hit.relevance is not None]
    return 0 < len(known) == len(answer) and max(known) < NOTHING_FOUND
