"""Late interaction: each token of a question looks for its like."""

from __future__ import annotations

import time

import numpy as np
import pytest
from numpy.typing import NDArray

from zhiku.errors import MissingExtra, ModelUnavailable
from zhiku.rerankers.late import LateReranker, likeness


class Letters:
    """Implements `zhiku.ports.TokenEmbedder`: each letter is a token and stands for itself; capitals weigh twice."""

    def __init__(self, pause_s: float = 0.0) -> None:
        self.pause_s = pause_s
        self.seen: list[str] = []

    def question_tokens(self, text: str) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        weights = np.array([2.0 if letter.isupper() else 1.0 for letter in text], np.float32)
        return self._states(text), weights

    def document_tokens(self, text: str) -> NDArray[np.float32]:
        time.sleep(self.pause_s)
        self.seen.append(text)
        return self._states(text)

    def _states(self, text: str) -> NDArray[np.float32]:
        return np.eye(26, dtype=np.float32)[[ord(letter) - ord("a") for letter in text.lower()]]


class Missing(Letters):
    def question_tokens(self, text: str) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        raise MissingExtra("not installed")


def test_likeness_is_the_share_of_the_question_that_has_its_like_by_weight() -> None:
    states, weights = Letters().question_tokens("abC")
    assert likeness(states, weights, Letters().document_tokens("zzab")) == pytest.approx(0.5)
    assert likeness(states, weights, Letters().document_tokens("c")) == pytest.approx(0.5)
    assert likeness(states, weights, Letters().document_tokens("cab")) == pytest.approx(1.0)


def test_more_likeness_is_a_higher_score() -> None:
    scores = LateReranker(Letters()).score("abcd", ["xyz", "a", "ab", "abcd"])
    assert scores == sorted(scores)
    assert scores[0] < 0.01 < 0.99 < scores[-1]


def test_no_texts_load_no_model() -> None:
    assert LateReranker(Missing()).score("abc", []) == []


def test_a_model_that_is_not_there_is_an_error() -> None:
    with pytest.raises(MissingExtra):
        LateReranker(Missing()).score("abc", ["a"])


def test_what_takes_too_long_ends_with_the_text_it_is_at() -> None:
    letters = Letters(pause_s=0.05)
    with pytest.raises(ModelUnavailable, match=r"[12] of 100 hits were scored within 0\.06 s"):
        LateReranker(letters).score("abc", ["a"] * 100, budget_s=0.06)
    assert len(letters.seen) < 10
