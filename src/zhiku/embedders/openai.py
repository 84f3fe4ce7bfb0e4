"""The embedder behind an OpenAI-compatible endpoint: Ollama, LM Studio, vLLM, TEI, or a service.

What an endpoint cannot take is found out by asking for less: a batch that is refused is halved, and the smaller size
remembered; one that fails again and again is halved down to the text that it fails over, which goes without a vector.
What one request brought is given back before the next is made, so that it can be stored.
Before a text is blamed, the endpoint must have embedded another one: a server that fails at everything ends the run.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from zhiku.embedders.families import family_of
from zhiku.embedders.lock import Lock
from zhiku.embedders.openai_reply import vectors_in
from zhiku.errors import BadModelReply, ModelError
from zhiku.model import CosineScale
from zhiku.remote import INDEXING, SEARCHING, Client, Endpoint, Load, Patience, detail_of, status_of
from zhiku.text.measure import estimate_tokens, fit
from zhiku.text.surrogates import repaired

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PATH = "embeddings"
MAX_BATCH_TOKENS = 16_384
"""About so many tokens go into a request; text-embeddings-inference refuses more, unless told otherwise."""

PROBE = "zhiku"
"""What an endpoint is asked for to learn whether it works: nothing of the user's."""

_TOO_MUCH = (400, 413, 422)
_LEAST_CHARS = 64
"""A refused text is not cut below this."""


@dataclass(frozen=True, kw_only=True)
class Options:
    """How an endpoint is asked."""

    batch_size: int = 64
    """Texts a request, at most."""
    max_input_tokens: int = 8192
    """About so many tokens of a text are sent, at most; what a lock says comes before it."""


class _BatchSize:
    """How many texts go into a request: fewer for a while after one failed, and for good if it was for its size."""

    def __init__(self, most: int) -> None:
        self.size = most
        self._before = most
        self._doubtful = 0
        """How many texts of the batch that failed are left, one of which may be the reason."""
        self._was_refused = False

    def halve(self, count: int, *, was_refused: bool) -> None:
        """Take note that a batch of so many texts failed."""
        if not self._doubtful:
            self._before, self._doubtful, self._was_refused = self.size, count, was_refused
        self.size = count // 2

    def done(self, count: int) -> None:
        """Take note that so many texts were embedded together."""
        self._doubtful = max(0, self._doubtful - count)
        if not self._doubtful and not self._was_refused:
            self.size = self._before

    def blame(self) -> None:
        """Take note that it was one text's fault."""
        self.size = self._before
        self._doubtful = 0


class OpenAIEmbedder:
    """Implements `zhiku.ports.Embedder` over an endpoint. Passages are for one thread at a time."""

    is_remote = True

    def __init__(self, endpoint: Endpoint, lock: Lock, client: Client, options: Options) -> None:
        """Take what is asked and how; the size of vectors is learnt from the first reply where `lock` has none."""
        self._endpoint = endpoint
        self._lock = lock
        self._client = client
        self._options = options
        self._batch = _BatchSize(options.batch_size)
        self._scale = family_of(lock.model).scale

    @property
    def lock(self) -> Lock:
        """Return what makes the vectors."""
        return self._lock

    @property
    def endpoint(self) -> Endpoint:
        """Return where texts are sent."""
        return self._endpoint

    @property
    def fingerprint(self) -> str:
        """Return what makes the vectors, in one line."""
        return self._lock.fingerprint

    @property
    def dims(self) -> int:
        """Return the length of a vector; 0 as long as it is not known."""
        return self._lock.dims

    @property
    def max_tokens(self) -> int:
        """Return about how many tokens of a text are sent."""
        return self._lock.max_input_tokens or self._options.max_input_tokens

    @property
    def batch_size(self) -> int:
        """Return how many texts a request holds, as far as the endpoint took so many."""
        return self._batch.size

    @property
    def scale(self) -> CosineScale:
        """Return what is known of the model's family."""
        return self._scale

    def check(self) -> None:
        """Ask the endpoint for a vector of a word, which tells its size. Raises `ModelError`."""
        self._probe()

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors of the first passages, as many as one request holds; the others are for the next call.

        A passage that the endpoint cannot embed has a row of NaN.
        """
        import numpy as np

        sendable = [self._sendable(self._lock.document_instruction, text) for text in texts[: self._batch.size]]
        if not sendable:
            return np.empty((0, self.dims), np.float32)
        return self._embed(sendable[: _fitting(sendable)])

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors of questions. Raises `BadModelReply` where one has none."""
        import numpy as np

        if not texts:
            return np.empty((0, self.dims), np.float32)
        vectors = self._request([self._sendable(self._lock.query_instruction, text) for text in texts], SEARCHING)
        if np.isnan(vectors).any():
            raise BadModelReply(
                "{address} has no usable vector for the question.",
                address=self._lock.address,
                hint="ask in other words, or search by words: --mode lexical",
            )
        return vectors

    def count_tokens(self, text: str) -> int:
        """Return about how many tokens a passage takes; nothing is sent for it."""
        return estimate_tokens(self._lock.document_instruction + text)

    def _sendable(self, instruction: str, text: str) -> str:
        """Return what is sent for a text: never blank, which many servers refuse, nor with half surrogates."""
        text = instruction + (text if text.strip() else ".")
        text = repaired(text)
        return text[: fit(text, 0, len(text), self.max_tokens)]

    def _embed(self, batch: Sequence[str]) -> NDArray[np.float32]:
        """Return a row for each of the first texts of a batch: of all, or of as many as the endpoint takes at once."""
        import numpy as np

        try:
            rows = self._request(batch, INDEXING)
        except ModelError as error:
            if status_of(error) not in (*_TOO_MUCH, 500):
                raise
            return self._embed_fewer(batch, error)
        bad = np.flatnonzero(np.isnan(rows).any(axis=1))
        if len(bad) == len(batch):
            return self._embed_fewer(batch, None)
        for i in map(int, bad):  # some servers spoil a text by what it is embedded with
            with suppress(ModelError):  # which must not cost the others
                rows[i] = self._embed([batch[i]])[0]
        self._batch.done(len(batch))
        return rows

    def _embed_fewer(self, batch: Sequence[str], error: ModelError | None) -> NDArray[np.float32]:
        """Do the same for a batch that was refused, or spoilt where there is no error, as a whole."""
        import numpy as np

        was_refused = error is not None and status_of(error) in _TOO_MUCH
        if len(batch) > 1:
            self._batch.halve(len(batch), was_refused=was_refused)
            return self._embed(batch[: self._batch.size])
        row = self._embed_part(batch[0]) if was_refused else None
        if row is None:
            self._check_others(error)
            row = np.full(self.dims, np.nan, np.float32)
        self._batch.blame()
        return row[None]

    def _embed_part(self, text: str) -> NDArray[np.float32] | None:
        """Return the vector of the beginning of a text that is refused, if that is taken."""
        while len(text) > _LEAST_CHARS:
            text = text[: len(text) // 2]
            try:
                row: NDArray[np.float32] = self._request([text], INDEXING)[0]
            except BadModelReply as error:
                if status_of(error) not in _TOO_MUCH:
                    raise
                continue
            return row
        return None

    def _check_others(self, error: ModelError | None) -> None:
        """Raise unless the endpoint embeds another text: then it is the text that is to blame."""
        try:
            self._probe()
        except ModelError as failure:
            if status_of(failure) in _TOO_MUCH and detail_of(failure):
                raise BadModelReply(
                    "{address} refuses every text (HTTP {status}): {detail}",
                    address=self._lock.address,
                    status=status_of(failure),
                    detail=detail_of(failure),  # of a request without any text of the user's
                    hint="check model_name and dimensions in config.toml",
                ) from error
            raise

    def _probe(self) -> None:
        import numpy as np

        if np.isnan(self._request([PROBE], INDEXING)).any():
            raise BadModelReply(
                "{address} answers with vectors without a number in them.",
                address=self._lock.address,
                hint="look into the log of that server, or use another model",
            )

    def _request(self, texts: Sequence[str], patience: Patience) -> NDArray[np.float32]:
        body: dict[str, object] = {"model": self._lock.model, "input": list(texts), "encoding_format": "float"}
        if self._lock.asked_dims:
            body["dimensions"] = self._lock.asked_dims
        load = Load(texts=len(texts), estimate=lambda: sum(map(estimate_tokens, texts)))
        reply = self._client.post(self._endpoint, PATH, body, load, patience)
        vectors = vectors_in(reply, len(texts), self._lock.dims, self._lock.address)
        if not self._lock.dims:
            self._lock = replace(self._lock, dims=vectors.shape[1])
        return vectors


def _fitting(texts: Sequence[str]) -> int:
    """Return how many of the texts, from the first on, go into a request for their tokens; at least one."""
    if estimate_tokens("".join(texts)) <= MAX_BATCH_TOKENS:  # as a rule, and several times as fast
        return len(texts)
    tokens = 0
    for count, text in enumerate(texts):
        tokens += estimate_tokens(text)
        if count and tokens > MAX_BATCH_TOKENS:
            return count
    return len(texts)
