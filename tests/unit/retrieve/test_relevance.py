"""From evidence to a probability."""

from __future__ import annotations

import pytest

from zhiku.retrieve.relevance import NOTHING_FOUND, Evidence, relevance_of

NEAR = Evidence(cosine=0.9, standing=6.0, vectors=1_000, nearness=6.0, crosses=False)
FAR = Evidence(cosine=0.78, standing=2.5, vectors=1_000, nearness=0.0, crosses=False)


def test_what_is_near_and_holds_the_words_is_relevant() -> None:
    assert relevance_of(NEAR, 0.8) > 0.95
    assert relevance_of(FAR, 0.0) < NOTHING_FOUND


@pytest.mark.parametrize("change", [{"standing": 5.0}, {"vectors": 100_000}, {"nearness": 4.0}])
def test_less_evidence_is_less_relevance(change: dict[str, float]) -> None:
    assert relevance_of(NEAR._replace(**change), 0.3) < relevance_of(NEAR, 0.3)


def test_words_that_are_not_there_count_less_against_another_language() -> None:
    assert relevance_of(NEAR._replace(crosses=True), 0.0) > relevance_of(NEAR, 0.0)


@pytest.mark.parametrize("vectors", [0, 1])
def test_a_single_passage_needs_no_luck(vectors: int) -> None:
    assert NEAR._replace(vectors=vectors).excess == NEAR.standing
