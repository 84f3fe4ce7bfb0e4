"""The reranker behind a /rerank endpoint: Jina, Cohere, vLLM, text-embeddings-inference, llama.cpp, or a service.

Servers differ in what a request calls the texts, in the form of the reply and in what a score is. The first two show
by themselves; a reply does not show the last: a logit may lie between 0 and 1 by chance. So an endpoint is asked once
for a pair that is known, and what that says is remembered. Its limits are found out by asking for less, and remembered
too.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from math import exp
from pathlib import Path

from zhiku.errors import BadModelReply, ModelError
from zhiku.remote import Client, Endpoint, Load, Patience, detail_of, status_of
from zhiku.rerankers.reply import scores_in
from zhiku.rerankers.traits import Scale, Style, Traits, load_traits, save_traits
from zhiku.text.measure import estimate_tokens, fit

PATH = "rerank"
MAX_TOKENS = 512
"""About so many tokens of a text, and of a question, are sent: what a chunk has, and what most models see."""

PROBE = "What is the capital of France?"
PROBE_TEXTS = ("The capital of France is Paris.", "Bananas turn yellow when they ripen.")
"""An answer and what is none: nothing of the user's."""

_REFUSED = (400, 413, 422)
_OTHER_STYLE = (400, 422)
_LEAST_CHARS = 32
"""A refused text is not cut below this."""
_FAR = 500.0
"""A logit beyond this is as good as certain; a float holds no higher odds than those of 709."""
_TOLERANCE = 0.001
"""By so much a score may be outside 0 to 1 for rounding."""


class HttpReranker:
    """Implements `zhiku.ports.Reranker` over an endpoint."""

    def __init__(
        self, endpoint: Endpoint, client: Client, *, memory: Path | None = None, instruction: str = ""
    ) -> None:
        """Take what is asked, the file in which its traits are remembered, and what is put before questions."""
        self._endpoint = endpoint
        self._client = client
        self._memory = memory
        self._instruction = instruction
        self._address = endpoint.address(PATH)
        self._key = f"{self._address} {endpoint.model}"
        self._traits = load_traits(memory, self._key)

    @property
    def name(self) -> str:
        """Return the address that texts are sent to."""
        return self._address

    def score(self, question: str, texts: Sequence[str], *, budget_s: float = float("inf")) -> list[float]:
        """Return for each text how well it answers, 0 to 1. Raises `ModelError`."""
        if not texts:
            return []
        ends_at = time.monotonic() + budget_s
        asked = _cut(self._instruction + question)
        is_checked = self._traits is None
        batches = _Batches(self._traits or self._learn(None, ends_at))
        scores: list[float] = []
        while len(scores) < len(texts):
            batch = batches.first_of(texts[len(scores) :])
            try:
                scores += self._ask(batches.traits.style, asked, batch, ends_at)
            except ModelError as error:
                if status_of(error) not in (*_REFUSED, 500):
                    raise
                # A server that fails at everything is not asked for less, and one that was replaced asked anew.
                found = batches.traits if is_checked else self._learn(batches.traits, ends_at)
                is_checked = True
                if found.style == batches.traits.style:
                    batches.lessen(batch, error)
                else:
                    batches.traits = found
        if batches.traits.scale == "unit" and any(map(_is_logit, scores)):  # by chance, the known pair did not show it
            batches.traits = replace(batches.traits, scale="logit")
        self._remember(batches.traits)
        return [_in_unit(score, batches.traits.scale) for score in scores]

    def _learn(self, known: Traits | None, ends_at: float) -> Traits:
        """Return how the endpoint is asked and what its scores are, found out with a known pair."""
        style, scores = self._probe(known.style if known else "documents", ends_at)
        if known and known.style == style:
            return known
        scale: Scale = "logit" if any(map(_is_logit, scores)) else "unit"
        found = replace(known, style=style, scale=scale) if known else Traits(style=style, scale=scale)
        self._remember(found)
        return found

    def _probe(self, first: Style, ends_at: float) -> tuple[Style, list[float]]:
        styles: tuple[Style, Style] = ("texts", "documents") if first == "texts" else ("documents", "texts")
        refusals: list[ModelError] = []
        for style in styles:
            try:
                return style, self._ask_pair(style, ends_at)
            except ModelError as error:
                if status_of(error) not in _OTHER_STYLE:
                    raise
                refusals.append(error)
        raise BadModelReply(
            "{address} takes texts neither as documents nor as texts (HTTP {status}): {detail}",
            address=self._address,
            status=status_of(refusals[0]),
            detail=detail_of(refusals[0]),  # of a request without any text of the user's
            hint="check api_url and model_name of [models.rerank] in config.toml",
        )

    def _ask_pair(self, style: Style, ends_at: float) -> list[float]:
        try:
            return self._ask(style, PROBE, PROBE_TEXTS, ends_at)
        except ModelError as error:
            if status_of(error) != 413:
                raise
            return [self._ask(style, PROBE, [text], ends_at)[0] for text in PROBE_TEXTS]

    def _ask(self, style: Style, question: str, texts: Sequence[str], ends_at: float) -> list[float]:
        body: dict[str, object] = {"query": question, style: list(texts)}
        if style == "documents":
            body["top_n"] = len(texts)
        else:
            body["truncate"] = True
        if self._endpoint.model:
            body["model"] = self._endpoint.model
        load = Load(texts=len(texts), estimate=lambda: sum(map(estimate_tokens, (question, *texts))))
        # A text that fails alone may be cut for it, and must have failed twice.
        patience = Patience(tries=2, tries_at_500=2 if len(texts) == 1 else 1, budget_s=ends_at - time.monotonic())
        reply = self._client.post(self._endpoint, PATH, body, load, patience)
        return scores_in(reply, len(texts), self._address)

    def _remember(self, traits: Traits) -> None:
        if traits != self._traits:
            save_traits(self._memory, self._key, traits)
            self._traits = traits


class _Batches:
    """How much is sent at a time: less after a request failed, and for good if it was refused for its size."""

    def __init__(self, traits: Traits) -> None:
        self.traits = traits
        self._size = self._whole = traits.max_texts

    def first_of(self, texts: Sequence[str]) -> list[str]:
        """Return what the next request holds of some texts: as many as go into it, and of each as much."""
        return [_cut(text)[: self.traits.max_chars] for text in texts[: self._size]]

    def lessen(self, batch: Sequence[str], error: ModelError) -> None:
        """Take note that a batch failed; raise the error where nothing less can be sent."""
        if len(batch) > 1:
            self._size = len(batch) // 2
            if status_of(error) in _REFUSED:
                self.traits = replace(self.traits, max_texts=self._size)
            return
        length = len(batch[0]) // 2
        if length < _LEAST_CHARS:
            raise error
        # It was for the length of one, not for their number.
        self._size = self._whole
        self.traits = replace(self.traits, max_texts=self._whole, max_chars=length)


def _cut(text: str) -> str:
    return text[: fit(text, 0, len(text), MAX_TOKENS)]


def _is_logit(score: float) -> bool:
    return score < -_TOLERANCE or score > 1 + _TOLERANCE


def _in_unit(score: float, scale: Scale) -> float:
    """Return a score from 0 to 1: as it is where it is of that scale, else its sigmoid; 0 for what is no number."""
    if score != score:
        return 0.0
    if scale == "unit":
        return min(max(score, 0.0), 1.0)
    odds = exp(min(max(score, -_FAR), _FAR))
    return odds / (1 + odds)
