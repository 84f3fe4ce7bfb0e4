"""Rating every way of searching on a retrieval set, in a base of its own that is gone afterwards."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zhiku.answer import Mode
from zhiku.config import DEFAULT_BASE
from zhiku.errors import ZhikuError
from zhiku.ingest.embed import EmbedProgress
from zhiku.ingest.pipeline import Progress
from zhiku.service.base import Base
from zhiku.service.beir import RetrievalSet, load_set, run_set
from zhiku.service.library import Library
from zhiku.service.measures import MEASURES, RESAMPLES, TAIL, Bootstrap, Estimate, Qrels, Runs, scores

Figures = Mapping[str, Estimate]
"""An estimate by the name of its measure."""

MODES: tuple[Mode, ...] = ("lexical", "semantic", "hybrid")
COMPARISONS: tuple[tuple[Mode, Mode], ...] = (("hybrid", "lexical"), ("hybrid", "semantic"))
"""What fusing adds to each leg."""


@dataclass(frozen=True, kw_only=True)
class Rating:
    """How well each way of searching ranks the passages of a set."""

    name: str
    passages: int
    indexed: int
    """Passages that are in the index: those without text, for one, are not."""
    chunks: int
    questions: int
    modes: Mapping[Mode, Figures]
    differences: Mapping[tuple[Mode, Mode], Figures]
    """By (mode, what it is compared with), where both ran."""
    failure: ZhikuError | None = None
    """Why the passages could not be embedded."""

    @property
    def left_out(self) -> tuple[Mode, ...]:
        """Return the ways of searching that the base could not do."""
        return tuple(mode for mode in MODES if mode not in self.modes)

    def to_dict(self) -> dict[str, Any]:
        """Return the rating as JSON has it (docs/json.md)."""
        return {
            "set": self.name,
            "passages": self.passages,
            "indexed": self.indexed,
            "chunks": self.chunks,
            "questions": self.questions,
            "modes": {mode: _to_dict(figures) for mode, figures in self.modes.items()},
            "differences": [
                {"mode": mode, "against": other, **_to_dict(figures)}
                for (mode, other), figures in self.differences.items()
            ],
            "left_out": list(self.left_out),
            "confidence": 1 - 2 * TAIL,
            "resamples": RESAMPLES,
        }


def _to_dict(figures: Figures) -> dict[str, Any]:
    return {name: estimate.to_dict() for name, estimate in figures.items()}


def rate_set(
    folder: Path,
    *,
    limit: int | None = None,
    progress: Progress | None = None,
    embed_progress: EmbedProgress | None = None,
    asked: Callable[[int, int, Mode], None] | None = None,
) -> Rating:
    """Index the passages of a set in BEIR layout into a temporary base, ask its questions in every mode, and rate.

    `limit` asks only so many of the questions (see `load_set`). `progress` and `embed_progress` are told of the
    indexing, `asked` of questions asked, questions in all and the mode. Raises `UsageError` for what is no such set.
    """
    with tempfile.TemporaryDirectory(prefix="zhiku-eval-") as work:
        data = load_set(folder, Path(work) / "passages", limit=limit)
        base = Library(Path(work) / "home").open_or_create(DEFAULT_BASE)
        try:
            done = base.index([Path(work) / "passages"], progress=progress, embed_progress=embed_progress)
            if done.interrupted:
                raise KeyboardInterrupt  # half of the passages would give half of the truth
            failure = done.embedding.failure if done.embedding else None
            able = ("lexical",) if failure else _modes_of(base, data)
            runs = {mode: run_set(base, data, mode, _telling(asked, mode)) for mode in able}
            chunks = [document.chunk_count for document in base.documents()]
        finally:
            base.close()  # else Windows cannot remove its files
    modes, differences = compare(runs, data.qrels)
    return Rating(
        name=data.name,
        passages=len(data.files),
        indexed=sum(count > 0 for count in chunks),
        chunks=sum(chunks),
        questions=len(data.queries),
        modes=modes,
        differences=differences,
        failure=failure,
    )


def _telling(asked: Callable[[int, int, Mode], None] | None, mode: Mode) -> Callable[[int, int], None] | None:
    return (lambda done, total: asked(done, total, mode)) if asked else None


def _modes_of(base: Base, data: RetrievalSet) -> tuple[Mode, ...]:
    """Return the ways of searching that the base can do, found out by asking it."""
    question = next((text for text in data.queries.values() if text.strip()), "?")
    vector = base.search(question, top_k=1).health.legs.get("vector")
    return MODES if vector is not None and vector.ran else ("lexical",)


def compare(runs: Mapping[Mode, Runs], qrels: Qrels) -> tuple[dict[Mode, Figures], dict[tuple[Mode, Mode], Figures]]:
    """Return the figures of each mode, and by how much one is above another, over the same questions."""
    columns = [(mode, name) for mode in runs for name in MEASURES]
    bootstrap = Bootstrap([scores(runs[mode], qrels, name) for mode, name in columns])
    at = {column: i for i, column in enumerate(columns)}
    modes: dict[Mode, Figures] = {
        mode: {name: bootstrap.estimate(at[mode, name]) for name in MEASURES} for mode in runs
    }
    differences: dict[tuple[Mode, Mode], Figures] = {
        (mode, other): {name: bootstrap.difference(at[mode, name], at[other, name]) for name in MEASURES}
        for mode, other in COMPARISONS
        if mode in runs and other in runs
    }
    return modes, differences
