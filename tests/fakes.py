"""An embedder for tests, small, deterministic and without any meaning; a clock and a file system that are told."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from zhiku.model import CosineScale
from zhiku.registry import EMBEDDERS

DIMS = 8


@cache
def unit_vector(text: str, dims: int = DIMS) -> NDArray[np.float32]:
    """Return a direction that depends on nothing but the text."""
    seed = int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:8], "big")
    vector = np.random.default_rng(seed).normal(size=dims)
    return (vector / np.linalg.norm(vector)).astype(np.float32)


class FakeEmbedder:
    """Implements `zhiku.service.local_model.LocalEmbedder`; `seen` are the passages it was given, one after the other.

    `before` is called before each of them, and before the model is loaded (with None); what it raises is raised.
    """

    max_tokens = 512
    batch_size = 16
    is_remote = False
    scale = CosineScale(mean=0.0, std=0.35, script_gap=0.0, good=4.0)

    def __init__(
        self, name: str = "fake", dims: int = DIMS, before: Callable[[str | None], None] = lambda text: None
    ) -> None:
        self.name = name
        self.dims = dims
        self.before = before
        self.seen: list[str] = []

    @property
    def model(self) -> str:
        return self.name

    @property
    def fingerprint(self) -> str:
        return f"{self.name} {self.dims}"

    def check(self) -> None:
        self.before(None)

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        for text in texts:
            self.before(text)
            self.seen.append(text)
        return np.stack([unit_vector(self.name + text, self.dims) for text in texts])

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.before(None)
        return np.stack([unit_vector(self.name + text, self.dims) for text in texts])

    def embed_as_given(self, texts: Sequence[str]) -> tuple[NDArray[np.float32], int]:
        return self.embed_documents(texts), sum(map(len, texts))

    def count_tokens(self, text: str) -> int:
        self.before(None)
        return len(text)

    def question_tokens(self, text: str) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        return self.document_tokens(text), np.ones(max(1, len(text)), np.float32)

    def document_tokens(self, text: str) -> NDArray[np.float32]:
        self.before(None)
        return np.stack([unit_vector(self.name + each, self.dims) for each in text or " "])


def install(monkeypatch: pytest.MonkeyPatch, embedder: FakeEmbedder) -> None:
    """Register an embedder under its name."""

    def make(**_: Any) -> FakeEmbedder:
        return embedder

    monkeypatch.setattr(sys.modules[__name__], f"make_{embedder.name}", make, raising=False)
    monkeypatch.setitem(EMBEDDERS, embedder.name, f"{__name__}:make_{embedder.name}")


def stop_at(number: int, error: BaseException) -> Callable[..., None]:
    """Return a function that raises `error` when it is called for the `number`-th time, from 1, and never again."""
    left = iter(range(1, number + 1))

    def stop(*_: object) -> None:
        if next(left, None) == number:
            raise error

    return stop


class FakeReranker:
    """Implements `zhiku.ports.Reranker` by a table; `seen` are the questions and texts it was given.

    `before` is called first; what it raises is raised.
    """

    name = "fake reranker"

    def __init__(
        self, scores: Callable[[str], float] = lambda text: 0.5, before: Callable[..., None] = lambda *_: None
    ) -> None:
        self.scores = scores
        self.before = before
        self.seen: list[tuple[str, list[str]]] = []

    def score(self, question: str, texts: Sequence[str], *, budget_s: float = float("inf")) -> list[float]:
        self.before(budget_s)
        self.seen.append((question, list(texts)))
        return [self.scores(text) for text in texts]


class FakeClock:
    """Seconds that pass when a test says so."""

    def __init__(self) -> None:
        self.now_s = 1_000.0

    def __call__(self) -> float:
        return self.now_s


class FakeFileSystem:
    """Announces the changes that a test tells it; called with a root it implements `zhiku.ingest.watch.OpenEvents`.

    `refused` are roots that cannot be watched, and why; `watched` those that are.
    """

    def __init__(self) -> None:
        self.refused: dict[Path, OSError] = {}
        self._told: dict[Path, set[str] | OSError] = {}

    def __call__(self, root: Path) -> FakeEvents:
        if root in self.refused:
            raise self.refused[root]
        if not root.exists():
            raise FileNotFoundError(root)
        self._told[root] = set()
        return FakeEvents(self._told, root)

    @property
    def watched(self) -> list[Path]:
        return sorted(self._told)

    def tell(self, root: Path, *paths: Path) -> None:
        """Announce changes, of the root itself without paths."""
        told = self._told[root]
        assert isinstance(told, set)
        told.update(map(str, paths or [root]))

    def fail(self, root: Path, error: OSError) -> None:
        """Let the next look at the root's changes fail."""
        self._told[root] = error


class FakeEvents:
    """The changes of one root; implements `zhiku.ingest.watch.Events`."""

    def __init__(self, told: dict[Path, set[str] | OSError], root: Path) -> None:
        self._told = told
        self._root = root

    def poll(self) -> set[str]:
        found = self._told[self._root]
        if isinstance(found, OSError):
            raise found
        self._told[self._root] = set()
        return found

    def close(self) -> None:
        self._told.pop(self._root, None)
