"""The embedder over an ONNX model of the user's own: a folder with a network and a tokenizer.

Texts are run one by one: nothing is padded, and a text's vector does not depend on its neighbours, not even where the
network quantises activations over all that it is given at once.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from zhiku.embedders.families import family_of
from zhiku.embedders.lock import Lock
from zhiku.model import CosineScale
from zhiku.text.surrogates import repaired

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from zhiku.embedders.onnx_model import OnnxModel

BATCH_SIZE = 16


class OnnxEmbedder:
    """Implements `zhiku.ports.Embedder`. The model is loaded when first needed. Safe to use from several threads."""

    is_remote = False
    batch_size = BATCH_SIZE

    def __init__(self, lock: Lock, *, family: str = "", threads: int = 1) -> None:
        """Take what makes the vectors; `family` is a name by which the model's cosines may be known."""
        self._lock = lock
        self._threads = threads
        self._scale = family_of(family).scale
        self._loading = threading.Lock()
        self._loaded: OnnxModel | None = None

    @property
    def lock(self) -> Lock:
        """Return what makes the vectors."""
        return replace(self._lock, dims=self.dims)

    @property
    def fingerprint(self) -> str:
        """Return what makes the vectors, in one line."""
        return self._lock.fingerprint

    @property
    def dims(self) -> int:
        """Return the length of a vector; 0 as long as it is not known."""
        return self._loaded.dims if self._loaded else self._lock.dims

    @property
    def max_tokens(self) -> int:
        """Return how many tokens of a text are seen, instruction and marks included."""
        return self._load().max_tokens

    @property
    def scale(self) -> CosineScale:
        """Return what is known of the model's family."""
        return self._scale

    def check(self) -> None:
        """Load the model. Raises `MissingExtra` or `ModelError` where that cannot be done."""
        self._load()

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors of passages."""
        return self._embed(self._lock.document_instruction, texts)

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors of questions."""
        return self._embed(self._lock.query_instruction, texts)

    def count_tokens(self, text: str) -> int:
        """Return how many tokens a passage takes, instruction and marks included."""
        return self._load().count_tokens(repaired(self._lock.document_instruction + text))

    def _embed(self, instruction: str, texts: Sequence[str]) -> NDArray[np.float32]:
        import numpy as np

        model = self._load()
        rows = [model.embed(repaired(instruction + text)) for text in texts]
        return np.stack(rows) if rows else np.empty((0, model.dims), np.float32)

    def _load(self) -> OnnxModel:
        with self._loading:
            if self._loaded is None:
                from zhiku.embedders.onnx_model import OnnxModel  # an extra, and slow to import

                lock = self._lock
                self._loaded = OnnxModel(
                    Path(lock.path), lock.pooling, max_tokens=lock.max_input_tokens or 0, threads=self._threads
                )
            return self._loaded
