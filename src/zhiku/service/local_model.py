"""The model that comes along, for programs other than zhiku: texts as they are given, and how well passages answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from zhiku.ports import Embedder
from zhiku.registry import EMBEDDERS, default_embedder_name, load
from zhiku.service.meaning import NONE, VERDICTS_FILE

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

BEST = "builtin"


class LocalEmbedder(Embedder, Protocol):
    """An embedder that runs in this process."""

    @property
    def model(self) -> str:
        """Return the name by which the model is known, and by which a client chooses what it puts before texts."""
        ...

    def embed_as_given(self, texts: Sequence[str]) -> tuple[NDArray[np.float32], int]:
        """Return the vectors of texts before which nothing is put: (n, dims) float32, rows of length 1; and how many
        tokens of them were seen.
        """
        ...


@dataclass(frozen=True, kw_only=True)
class LocalModel:
    """A model that is loaded. Safe to use from several threads."""

    embedder: LocalEmbedder
    is_fallback: bool = False
    """Whether it stands in for a better one, whose package is not installed."""

    def relevance(self, query: str, documents: Sequence[str]) -> tuple[list[float], int]:
        """Return how well each document answers the query, from 0 to 1, and how many tokens were seen.

        The score of a document does not depend on the others.
        """
        question = self.embedder.embed_queries([query])[0]
        cosines = self.embedder.embed_documents(documents) @ question
        tokens = sum(min(self.embedder.count_tokens(text), self.embedder.max_tokens) for text in (query, *documents))
        return [min(max(float(cosine), 0.0), 1.0) for cosine in cosines], tokens


def open_local_model(home: Path) -> LocalModel:
    """Load the best model that is installed. Raises `MissingExtra` where there is none, and `ModelError`."""
    name = default_embedder_name()
    embedder: LocalEmbedder = load(EMBEDDERS, BEST if name == NONE else name)(verdicts=home / VERDICTS_FILE)
    embedder.check()  # where none is installed it is the best one that is missed
    return LocalModel(embedder=embedder, is_fallback=name != BEST)
