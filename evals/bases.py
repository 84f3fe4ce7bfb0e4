"""Retrieval sets as bases that are searched by meaning too, with a store of vectors that were made before.

Embedding all sets takes most of an hour on two cores; a run after it reads the vectors from a folder. The key is the
text and what it was embedded as, so that only what a change of chunks or context touches is embedded again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from zhiku.config import ModelSettings, Settings
from zhiku.embedders.builtin import BuiltinEmbedder
from zhiku.service.base import Base
from zhiku.service.endpoints import EmbedOptions, Endpoints
from zhiku.service.meaning import Embedders
from zhiku.service.reranking import Rerankers
from zhiku.text.analyze import Analyzer

KEY_BYTES = 16


class CachedEmbedder(BuiltinEmbedder):
    """The built-in embedder, with every vector kept in float16: what the index holds too."""

    def __init__(self, folder: Path | None) -> None:
        super().__init__()
        self._folder = folder
        self._known: dict[bytes, NDArray[np.float16]] = {}
        self._fresh = 0
        for path in sorted(folder.glob("*.npz")) if folder else ():
            with np.load(path) as part:
                self._known |= {key.tobytes(): vector for key, vector in zip(part["keys"], part["vec"], strict=True)}

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors of passages."""
        return self._cached("d", texts)

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors of questions."""
        return self._cached("q", texts)

    def save(self) -> None:
        """Keep what was embedded since the last time."""
        if self._folder is None or not self._fresh:
            return
        self._folder.mkdir(parents=True, exist_ok=True)
        made = list(self._known.items())[-self._fresh :]
        keys = np.frombuffer(b"".join(key for key, _ in made), np.uint8).reshape(-1, KEY_BYTES)
        name = hashlib.sha256(keys.tobytes()).hexdigest()[:16]
        np.savez(self._folder / f"{name}.npz", keys=keys, vec=np.stack([vector for _, vector in made]))
        self._fresh = 0

    def _cached(self, kind: str, texts: Sequence[str]) -> NDArray[np.float32]:
        keys = [hashlib.sha256((kind + text).encode("utf-8", "surrogatepass")).digest()[:KEY_BYTES] for text in texts]
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in self._known}
        if missing:
            make = super().embed_documents if kind == "d" else super().embed_queries
            self._known |= dict(zip(missing, make(list(missing.values())).astype(np.float16), strict=True))
            self._fresh += len(missing)
        return np.stack([self._known[key] for key in keys]).astype(np.float32)


class CachedEmbedders(Embedders):
    """Gives every base the one cached embedder."""

    def __init__(self, home: Path, embedder: CachedEmbedder) -> None:
        super().__init__(home, "builtin")
        self._embedder = embedder

    def get(
        self,
        name: str,  # noqa: ARG002 - there is but one
        threads: int = 1,  # noqa: ARG002
        manifest: Mapping[str, str] | None = None,  # noqa: ARG002
    ) -> CachedEmbedder:
        """Return the cached embedder."""
        return self._embedder


def make_base(files: Path, home: Path, embedder: CachedEmbedder) -> Base:
    """Return a base over all files below a folder, indexed and embedded."""
    folder = home / "bases" / "default"
    folder.mkdir(parents=True)
    embedders = CachedEmbedders(home, embedder)
    rerankers = Rerankers(home, Settings(), Endpoints(ModelSettings(), {}, EmbedOptions()), embedders)
    base = Base("default", folder, Settings(), Analyzer(), embedders, rerankers)
    base.index([files])
    embedder.save()
    return base
