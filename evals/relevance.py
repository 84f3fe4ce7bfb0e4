"""Measure what relevance is worth: does it tell right first hits from those for questions that a base cannot answer?

usage: relevance.py [SETS] [--only NAME]... [--questions N] [--sizes N,N] [--vectors DIR] [--fit] [--write]

Every set of SETS (see hybrid.py) is asked its own questions, and as many questions of sets about other things, in both
languages. Of its own questions those count whose first hit is right. Prints, at the documented floor, which share of
right first hits is kept and which share of first hits for foreign questions is dropped; likewise for small bases drawn
from each set. --fit prints the coefficients of a logistic regression over all sets, each of the same weight, and what
each set would keep and drop if it had been left out of it.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from bases import CachedEmbedder, make_base
from numpy.typing import NDArray
from words import HERE, SKIPPED, unpacked

import zhiku
from zhiku.retrieve.relevance import NOTHING_FOUND
from zhiku.service.base import Base
from zhiku.service.beir import RetrievalSet, load_set
from zhiku.service.measures import mean

RESULTS = HERE / "results/relevance.json"
FEATURES = ("excess", "nearness", "share", "crosses")
NEAR = frozenset({"cmed", "scifact"})
"""Two sets of one field, medicine: neither is foreign to the other."""

KEPT, DROPPED = 0.95, 0.80


@dataclass(frozen=True)
class FirstHit:
    """The first hit of a question: what relevance is made of, what it is, and whether the hit is right."""

    features: tuple[float, ...]
    relevance: float
    is_foreign: bool


def family(name: str) -> str:
    """Return what a set is about."""
    if name.startswith(("xq", "cmrc", "drcd", "squad")):
        return "wiki"
    if name.startswith(("anchor-react", "par")):
        return "react"
    return name.removeprefix("anchor-").split("-")[0]


def are_apart(name: str, other: str) -> bool:
    """Return whether questions of one set have no answers in the other."""
    pair = {family(name), family(other)}
    return len(pair) == 2 and pair != NEAR


def first_hits(base: Base, data: RetrievalSet, own: Sequence[str], foreign: Sequence[str]) -> Iterator[FirstHit]:
    """Yield the first hit of each question; of a base's own questions only where it is right."""
    passages = {d.doc_id: data.files[d.source.path] for d in base.documents()}
    for query_id in own:
        hit = _first(base, data.queries[query_id])
        if hit is not None and data.qrels[query_id].get(passages[hit[0]], 0) > 0:
            yield FirstHit(*hit[1:], is_foreign=False)
    for text in foreign:
        if (hit := _first(base, text)) is not None:
            yield FirstHit(*hit[1:], is_foreign=True)


def _first(base: Base, text: str) -> tuple[int, tuple[float, ...], float] | None:
    answer = base.search(text, top_k=1) if text.strip() else ()
    for hit in answer:
        return hit.doc_id, tuple(hit.explanation[name] for name in FEATURES), hit.relevance or 0.0
    return None


def sample(ids: Sequence[str], count: int, seed: str) -> list[str]:
    """Return some of the ids, at random, always the same."""
    return random.Random(seed).sample(sorted(ids), min(count, len(ids)))


def gather(
    root: Path, names: Sequence[str], count: int, sizes: Sequence[int], embedder: CachedEmbedder
) -> dict[str, list[FirstHit]]:
    """Return the first hits of every set, and of small bases drawn from it under "NAME SIZE"."""
    questions = {}
    for folder in sorted(path for path in root.iterdir() if path.is_dir() and path.name not in SKIPPED):
        with (folder / "queries.jsonl").open(encoding="utf-8") as lines:
            questions[folder.name] = [json.loads(line)["text"] for line in lines]
    found = {}
    for name in names:
        strangers = [
            text for other, texts in questions.items() if are_apart(name, other) for text in sample(texts, 40, name)
        ]
        strangers = sample(strangers, count, name)
        with tempfile.TemporaryDirectory() as work:
            data = load_set(root / name, Path(work) / "files")
            base = make_base(Path(work) / "files", Path(work) / "home", embedder)
            found[name] = list(first_hits(base, data, sample(list(data.queries), count, name), strangers))
            base.close()
            for size in sizes:
                found[f"{name} {size}"] = list(_small(data, Path(work), size, strangers, embedder))
        embedder.save()
        print(_line(name, found[name], NOTHING_FOUND), flush=True)
    return found


def _small(
    data: RetrievalSet, work: Path, size: int, strangers: Sequence[str], embedder: CachedEmbedder
) -> Iterator[FirstHit]:
    chance = random.Random(size)
    by_passage = {passage: path for path, passage in data.files.items()}
    for number in range(12):
        starts = sample(list(data.queries), 6, f"{size} {number}")
        wanted = {by_passage[p] for q in starts for p, grade in data.qrels[q].items() if grade > 0 and p in by_passage}
        chosen = sorted(wanted)[:size] + chance.sample(
            sorted(data.files.keys() - wanted), max(0, min(size, len(data.files)) - len(wanted))
        )
        with tempfile.TemporaryDirectory(dir=work) as place:
            for path in chosen:
                (Path(place) / "files" / path).parent.mkdir(parents=True, exist_ok=True)
                (Path(place) / "files" / path).write_bytes((work / "files" / path).read_bytes())
            base = make_base(Path(place) / "files", Path(place) / "home", embedder)
            held = {data.files[path] for path in chosen}
            own = [q for q in starts if any(p in held for p, grade in data.qrels[q].items() if grade > 0)]
            yield from first_hits(base, data, own, strangers[number * 6 : number * 6 + 6])
            base.close()


def shares(hits: Sequence[FirstHit], relevances: Sequence[float], floor: float) -> tuple[float, float]:
    """Return the share of right first hits that a floor keeps, and of foreign ones that it drops."""
    kept = [r >= floor for hit, r in zip(hits, relevances, strict=True) if not hit.is_foreign]
    dropped = [r < floor for hit, r in zip(hits, relevances, strict=True) if hit.is_foreign]
    return mean(kept), mean(dropped)


def _line(name: str, hits: Sequence[FirstHit], floor: float) -> str:
    kept, dropped = shares(hits, [hit.relevance for hit in hits], floor)
    foreign = sum(hit.is_foreign for hit in hits)
    return f"{name:26} {len(hits) - foreign:6} {kept:6.3f} {foreign:7} {dropped:8.3f}"


def fit(sets: Sequence[Sequence[FirstHit]], ridge: float = 1e-3) -> NDArray[np.float64]:
    """Return bias and coefficients by Newton's method; all sets weigh alike, and so do both kinds of first hits."""
    rows = np.array([(1.0, *hit.features) for hits in sets for hit in hits])
    right = np.array([not hit.is_foreign for hits in sets for hit in hits], np.float64)
    weights = np.concatenate([_balanced(hits) for hits in sets])
    found = np.zeros(rows.shape[1])
    for _ in range(50):
        likely = 1 / (1 + np.exp(-rows @ found))
        slope = rows.T @ (weights * (right - likely)) - ridge * found
        curve = (rows * (weights * likely * (1 - likely))[:, None]).T @ rows + ridge * np.eye(len(found))
        found += np.linalg.solve(curve, slope)
    return found


def _balanced(hits: Sequence[FirstHit]) -> NDArray[np.float64]:
    foreign = np.array([hit.is_foreign for hit in hits])
    counts = np.where(foreign, max(1, foreign.sum()), max(1, (~foreign).sum()))
    return 1 / counts


def apply(coefficients: NDArray[np.float64], hits: Sequence[FirstHit]) -> list[float]:
    """Return the relevance that coefficients give."""
    rows = np.array([(1.0, *hit.features) for hit in hits])
    return [float(value) for value in 1 / (1 + np.exp(-rows @ coefficients))]


def report_fit(found: dict[str, list[FirstHit]], names: Sequence[str]) -> None:
    """Print the coefficients, the floor that keeps what it must, and what each set would be given by the others."""
    whole = fit([found[name] for name in names])
    print("bias and coefficients:", dict(zip(("bias", *FEATURES), whole.round(3).tolist(), strict=True)))
    by_set = {name: (found[name], apply(whole, found[name])) for name in found}
    for floor in np.arange(0.02, 0.6, 0.02):
        both = [shares(*by_set[name], floor) for name in names]
        print(f"floor {floor:.2f}: kept {mean([k for k, _ in both]):.3f}, dropped {mean([d for _, d in both]):.3f}")
    for name in found:
        others = [found[other] for other in names if family(other) != family(name.split(" ")[0])]
        kept, dropped = shares(found[name], apply(fit(others), found[name]), NOTHING_FOUND)
        print(f"left out: {name:26} kept {kept:.3f} dropped {dropped:.3f}")


def main() -> int:
    """Run the sets; return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("sets", nargs="?", type=Path, default=os.environ.get("ZHIKU_EVAL_SETS"))
    parser.add_argument("--only", action="append", default=[], metavar="NAME")
    parser.add_argument("--questions", type=int, default=300, metavar="N")
    parser.add_argument("--sizes", type=lambda text: [int(part) for part in text.split(",")], default=[20])
    parser.add_argument("--vectors", type=Path, metavar="DIR")
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    if options.sets is None or not Path(options.sets).exists():
        print(f"skipped: there are no retrieval sets at {options.sets}; name them, or set ZHIKU_EVAL_SETS")
        return 0
    embedder = CachedEmbedder(options.vectors)
    with unpacked(Path(options.sets)) as root:
        names = options.only or sorted(p.name for p in root.iterdir() if p.is_dir() and p.name not in SKIPPED)
        print(f"{'set':26} {'right':>6} {'kept':>6} {'foreign':>7} {'dropped':>8}   at relevance {NOTHING_FOUND}")
        found = gather(root, names, options.questions, options.sizes, embedder)
    for name in sorted(found.keys() - set(names)):
        print(_line(name, found[name], NOTHING_FOUND))
    at_floor = {name: shares(hits, [hit.relevance for hit in hits], NOTHING_FOUND) for name, hits in found.items()}
    kept, dropped = (mean([at_floor[name][side] for name in names]) for side in (0, 1))
    print(f"{'mean of the sets':33} {kept:6.3f} {dropped:16.3f}")
    if options.fit:
        report_fit(found, names)
    if options.write:
        RESULTS.parent.mkdir(exist_ok=True)
        figures = {name: {"kept": round(k, 3), "dropped": round(d, 3)} for name, (k, d) in at_floor.items()}
        RESULTS.write_text(
            json.dumps({"zhiku": zhiku.__version__, "floor": NOTHING_FOUND, "sets": figures}, indent=2) + "\n", "utf-8"
        )
    return 0 if kept >= KEPT and dropped >= DROPPED else 1


if __name__ == "__main__":
    sys.exit(main())
