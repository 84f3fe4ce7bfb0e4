"""Late interaction: each word of a question looks for its like among the words of a text (MaxSim).

After Khattab and Zaharia, "ColBERT: Efficient and Effective Passage Search via Contextualized Late Interaction over
BERT" (SIGIR 2020, section 3.3), over the token states of an embedder that was not trained for it; rarer tokens count
more. States are made when they are asked for, which costs as much as embedding the text. Figures, and where the numbers
below come from: docs/adr/0012-rerank.md.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from math import exp
from typing import TYPE_CHECKING

from zhiku.errors import ModelUnavailable
from zhiku.ports import TokenEmbedder
from zhiku.text.script import script_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NAME = "late"

# Of multilingual-e5-small.
_MIDDLE = 0.82
"""The likeness of a first hit that may as well be wrong."""
_SLOPE = 50.0
"""By how much the log odds of a score grow with likeness."""
_SCRIPT_GAP = 0.08
"""By how much likeness is higher where question and text are of one script, right or wrong."""


class LateReranker:
    """Implements `zhiku.ports.Reranker` over an embedder's token states; the model is loaded when first needed."""

    def __init__(self, embedder: TokenEmbedder) -> None:
        self._embedder = embedder

    @property
    def name(self) -> str:
        """Return the name under which it is set."""
        return NAME

    def score(self, question: str, texts: Sequence[str], *, budget_s: float = float("inf")) -> list[float]:
        """Return for each text how well it answers, 0 to 1. Raises `MissingExtra` or `ModelError`."""
        ends_at = time.monotonic() + budget_s
        scores: list[float] = []
        if not texts:
            return scores
        states, weights = self._embedder.question_tokens(question)
        script = script_of(question)
        for text in texts:
            if time.monotonic() >= ends_at:
                raise ModelUnavailable(
                    "{done} of {count} hits were scored within {seconds:g} s, which is not enough.",
                    done=len(scores),
                    count=len(texts),
                    seconds=budget_s,
                    hint="rerank fewer (-k), or raise rerank_timeout in config.toml",
                )
            gap = 0.0 if script_of(text) == script else _SCRIPT_GAP
            scores.append(_in_unit(likeness(states, weights, self._embedder.document_tokens(text)) + gap))
        return scores


def likeness(question: NDArray[np.float32], weights: NDArray[np.float32], text: NDArray[np.float32]) -> float:
    """Return the weighted mean, over a question's tokens, of the cosine with the nearest token of a text."""
    nearest = (question @ text.T).max(axis=1)
    return float(nearest @ weights / weights.sum())


def _in_unit(likeness: float) -> float:
    return 1 / (1 + exp(-_SLOPE * (likeness - _MIDDLE)))
