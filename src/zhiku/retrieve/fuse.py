"""One ranking out of two: by words and by meaning (docs/adr/0007-fusion.md has the figures behind every constant).

A candidate's score is a sum of two squares. Meaning counts by how far a passage's cosine stands out from those of the
passages in its own script (`zhiku.retrieve.standing`). Words count as a share of the best match, but never of less than
a part of a perfect one, so that a question in another language earns almost nothing by the words it happens to share;
and for as much as the best document stands out from the tenth.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from zhiku.frozen import frozen

PERFECT_SHARE = 0.25
"""The best match by words counts as at least this share of a perfect one."""

COMPARED_RANK = 10
"""The document from which the best one has to stand out."""

COMPLETE_SHARE = 0.5
"""A passage that holds every word counts at least this part of its share, not squared."""

MISSING_BOOST = 1.75
"""How much more meaning may count in documents that cannot have the question's words."""


@frozen
class Words:
    """What the words of a question can earn."""

    full: float
    """The score by words that counts as 1."""
    distinct: float
    """How far the best document stands out from the tenth, 0 to 1."""
    missing: Mapping[str, float]
    """By script, how far its documents cannot say what was asked in its own words, 0 to 1; 0 where not named."""


def weigh(
    scores: Sequence[float], perfect: float, lacking: Mapping[str, float], own: Sequence[float] | None = None
) -> Words:
    """Return what the words of a question can earn.

    `scores` are those of all documents found by words, `perfect` is that of a passage full of every word, `lacking` by
    script the share of the words, by weight, that its documents lack although the others have them; `own` are the
    scores without what a glossary gave.
    """
    own = scores if own is None else own
    floor = PERFECT_SHARE * perfect
    trust = min(1.0, max(own, default=0.0) / floor) if floor else 0.0
    return Words(
        full=max((floor, *scores)) or 1.0,
        # Documents that a glossary adds take nothing from what the question's own words tell apart.
        distinct=max(_distinct(scores), _distinct(own)),
        missing={script: trust * share for script, share in lacking.items()},
    )


def _distinct(scores: Sequence[float]) -> float:
    ordered = sorted(scores, reverse=True)
    if not ordered or not ordered[0]:
        return 0.0
    tenth = ordered[COMPARED_RANK - 1] if len(ordered) >= COMPARED_RANK else 0.0
    return 1 - tenth / ordered[0]


class Fused(NamedTuple):
    """A candidate's score: the words' part and the meaning's."""

    words: float
    meaning: float

    @property
    def score(self) -> float:
        """Return the sum, which grows with relevance."""
        return self.words + self.meaning


def fuse(score: float, z: float, z_scale: float, script: str, words: Words, *, is_complete: bool) -> Fused:
    """Return the score of a candidate with this score by words, standing out by `z` in meaning.

    A passage that holds every word is what was asked for by name, however many others do. Where a script's documents
    lack the question's words, meaning counts for more.
    """
    meaning = (max(0.0, z) / z_scale) ** 2
    share = score / words.full
    by_name = max(words.distinct, COMPLETE_SHARE) * share if is_complete else 0.0
    return Fused(
        words=max(words.distinct * share**2, by_name),
        meaning=meaning * (1 + MISSING_BOOST * words.missing.get(script, 0.0)),
    )
