"""Measure searching by words, by meaning and by both on retrieval sets, beside other ways of merging the two.

usage: hybrid.py [SETS] [--only NAME]... [--limit N] [--vectors DIR] [--write]

SETS is a folder or .tar.xz with one folder a set in BEIR layout (default: the environment's ZHIKU_EVAL_SETS). Each
set is indexed and embedded by zhiku into a base of its own, and every question is ranked as a search ranks it; a
passage counts where its best chunk stands. Prints nDCG@10 of every way, and by how much the merged ranking is above
the better of its legs, with a paired bootstrap interval; exits 1 where a floor of floors.toml is missed. --vectors
keeps vectors in a folder for the next run; --write keeps the figures in results/hybrid.json.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from bases import CachedEmbedder, make_base
from words import HERE, SKIPPED, unpacked

import zhiku
from zhiku.answer import Query
from zhiku.retrieve.present import Ranked
from zhiku.retrieve.search import rank
from zhiku.service.base import Base
from zhiku.service.beir import RetrievalSet, load_set
from zhiku.service.measures import Bootstrap, Runs, mean, scores
from zhiku.text.analyze import Analyzer

RESULTS = HERE / "results/hybrid.json"
WAYS = ("words", "meaning", "cosine", "sum", "rrf", "hybrid")
RRF_K = 60
MEANING_WEIGHT = 0.6
HARD = ("cmed-im-dev", "anchor-tidb-zh", "anchor-react-en", "cookbook-code-chunk", "cosqa-dev", "scifact")
"""The sets on which words have most to gain."""


def orders(by_words: Sequence[Ranked], fused: Sequence[Ranked]) -> dict[str, list[int]]:
    """Return the chunk ids of one question in the order of every way of ranking."""
    words = {ranked.chunk_id: ranked.score for ranked in by_words}
    near = {ranked.chunk_id: ranked.evidence.cosine for ranked in fused if ranked.evidence}
    place = {ranked.chunk_id: ranked.evidence.standing for ranked in fused if ranked.evidence}
    return {
        "words": _descending(words, words.get),
        "meaning": _descending(place, place.get),
        "cosine": _descending(near, near.get),
        "sum": _descending(near, _plain_sum(words, near)),
        "rrf": _descending(near, _reciprocal_ranks(words, near)),
        "hybrid": [ranked.chunk_id for ranked in fused],
    }


def _descending(ids: Mapping[int, float], key: Callable[[int], Any]) -> list[int]:
    return sorted(ids, key=lambda chunk_id: (-key(chunk_id), chunk_id))


def _plain_sum(words: Mapping[int, float], near: Mapping[int, float]) -> Callable[[int], float]:
    best = max(words.values(), default=1.0) or 1.0
    low, high = min(near.values(), default=0.0), max(near.values(), default=1.0)
    width = (high - low) or 1.0
    return lambda i: MEANING_WEIGHT * (near[i] - low) / width + (1 - MEANING_WEIGHT) * words.get(i, 0.0) / best


def _reciprocal_ranks(words: Mapping[int, float], near: Mapping[int, float]) -> Callable[[int], float]:
    lists = (_descending(words, words.__getitem__), _descending(near, near.__getitem__)[:100])
    ranks = [{chunk_id: number for number, chunk_id in enumerate(each, 1)} for each in lists]
    return lambda i: sum(1 / (RRF_K + each[i]) for each in ranks if i in each)


def run_all(base: Base, data: RetrievalSet) -> dict[str, Runs]:
    """Return the ranked passages of every question by every way."""
    analyzer = Analyzer()
    runs: dict[str, dict[str, list[str]]] = {way: {} for way in WAYS}
    with base.reading() as session:
        meanings = {base.name: base.meaning(session)}
        passages = {document.doc_id: data.files[document.source.path] for document in session.documents()}
        for query_id, text in data.queries.items():
            found = {}
            if text.strip():  # published sets have empty questions
                by_words = rank({base.name: session}, Query(text=text, mode="lexical"), analyzer).chunks
                fused = rank({base.name: session}, Query(text=text), analyzer, meanings).chunks
                found = orders(by_words, fused)
            for way in WAYS:
                runs[way][query_id] = list(dict.fromkeys(passages[i >> 20] for i in found.get(way, ())))
    return runs


def measure(folder: Path, embedder: CachedEmbedder, limit: int | None) -> dict[str, Any]:
    """Return the figures of one set."""
    with tempfile.TemporaryDirectory() as work:
        data = load_set(folder, Path(work) / "files", limit=limit)
        base = make_base(Path(work) / "files", Path(work) / "home", embedder)
        runs = run_all(base, data)
        embedder.save()
        chunks = base.status().totals.chunks
        base.close()
    columns = [scores(runs[way], data.qrels, "ndcg@10") for way in WAYS]
    means = dict(zip(WAYS, map(mean, columns), strict=True))
    better = max(("words", "meaning", "cosine"), key=means.__getitem__)
    gain = Bootstrap(columns).difference(WAYS.index("hybrid"), WAYS.index(better))
    return {
        "passages": len(data.files),
        "chunks": chunks,
        "queries": len(data.queries),
        "ndcg@10": {way: round(value, 4) for way, value in means.items()},
        "recall@100": round(mean(scores(runs["hybrid"], data.qrels, "recall@100")), 4),
        "better_leg": better,
        "gain": gain.to_dict(),
    }


def shown(name: str, figures: Mapping[str, Any]) -> str:
    """Return the line of a set."""
    values = " ".join(f"{100 * figures['ndcg@10'][way]:7.1f}" for way in WAYS)
    gain = figures["gain"]
    interval = f"[{100 * gain['low']:+.1f}, {100 * gain['high']:+.1f}]"
    return (
        f"{name:22} {figures['queries']:7} {values}  {100 * gain['mean']:+5.1f} {interval} over {figures['better_leg']}"
    )


def misses(results: Mapping[str, Any], floors: Mapping[str, float]) -> list[str]:
    """Return what falls below its floor: a set, or a mean over several of them."""
    found = []
    for name, figures in results.items():
        reached, gain = figures["ndcg@10"]["hybrid"], figures["gain"]["mean"]
        if reached < floors.get(name, 0.0):
            found.append(f"{name}: {reached:.3f}, floor {floors[name]}")
        if gain < -0.01:
            found.append(f"{name}: {gain:+.3f} against its better leg, floor -0.01")
    for name, value in averages(results).items():
        if value < floors[name]:
            found.append(f"{name}: {value:+.3f}, floor {floors[name]}")
    return found


def averages(results: Mapping[str, Any]) -> dict[str, float]:
    """Return the mean gains that have floors, as far as their sets were run."""
    found = {"all sets over the better legs": mean([figures["gain"]["mean"] for figures in results.values()])}
    if set(HARD) <= set(results):
        ndcg = [results[name]["ndcg@10"] for name in HARD]
        found["hard sets over words"] = mean([each["hybrid"] - each["words"] for each in ndcg])
    return found


def main() -> int:
    """Run the sets; return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("sets", nargs="?", type=Path, default=os.environ.get("ZHIKU_EVAL_SETS"))
    parser.add_argument("--only", action="append", default=[], metavar="NAME")
    parser.add_argument("--limit", type=int, metavar="N", help="ask at most N questions of a set")
    parser.add_argument("--vectors", type=Path, metavar="DIR")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    if options.sets is None or not Path(options.sets).exists():
        print(f"skipped: there are no retrieval sets at {options.sets}; name them, or set ZHIKU_EVAL_SETS")
        return 0
    floors = tomllib.loads((HERE / "floors.toml").read_text("utf-8"))["hybrid"]
    embedder = CachedEmbedder(options.vectors)
    results: dict[str, Any] = {}
    print(f"{'nDCG@10 x 100':22} {'queries':>7} {' '.join(f'{way:>7}' for way in WAYS)}   gain")
    with unpacked(Path(options.sets)) as root:
        for folder in sorted(path for path in root.iterdir() if path.is_dir() and path.name not in SKIPPED):
            if not options.only or folder.name in options.only:
                results[folder.name] = measure(folder, embedder, options.limit)
                print(shown(folder.name, results[folder.name]), flush=True)
    means = [mean([figures["ndcg@10"][way] for figures in results.values()]) for way in WAYS]
    print(f"{'mean':30} {' '.join(f'{100 * value:7.1f}' for value in means)}")
    print("\n".join(f"{name}: {100 * value:+.1f}" for name, value in averages(results).items()))
    if options.write:
        RESULTS.parent.mkdir(exist_ok=True)
        RESULTS.write_text(json.dumps({"zhiku": zhiku.__version__, "sets": results}, indent=2) + "\n", "utf-8")
    missed = misses(results, floors)
    print("\n".join(["below the floor:", *missed]) if missed else "every floor holds")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
