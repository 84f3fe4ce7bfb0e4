"""Measure what reranking by late interaction adds to a search, beside other ways of using the same scores.

usage: rerank.py [SETS] [--only NAME]... [--limit N] [--vectors DIR] [--fit] [--write]

SETS as for hybrid.py. The best 20 candidates of every question are scored by the reranker that is set by `search.rerank
= "late"`. Prints nDCG@10 of the search itself; of the scores alone; of reciprocal rank fusion of both; and of the blend
that `zhiku search --rerank` does, over 20 and over 10 candidates; by how much the blend of 20 is above the search, with
a paired bootstrap interval; and the processor's time for a candidate. --fit prints a logistic regression of whether a
candidate is right on its score and its place; --write keeps the figures in results/rerank.json.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from bases import CachedEmbedder, make_base
from words import HERE, SKIPPED, unpacked

import zhiku
from zhiku.answer import Query
from zhiku.ports import Reranker
from zhiku.rerankers.late import LateReranker
from zhiku.retrieve.choose import choose, fetch
from zhiku.retrieve.rerank import blend
from zhiku.retrieve.search import rank
from zhiku.service.base import Base
from zhiku.service.beir import RetrievalSet, load_set
from zhiku.service.measures import Bootstrap, mean, scores
from zhiku.text.analyze import Analyzer
from zhiku.text.fields import passage_for_embedding

RESULTS = HERE / "results/rerank.json"
WAYS = ("search", "alone", "rrf", "blend", "blend of 10")
DEPTH = 20
RRF_K = 60


@dataclass(frozen=True)
class Scored:
    """The candidates of a question in the order of the search: which passage each is of, and its rerank score."""

    query_id: str
    passages: list[str]
    scores: list[float]


def score_all(base: Base, data: RetrievalSet, reranker: Reranker) -> Iterator[Scored]:
    """Yield the scored candidates of every question."""
    analyzer = Analyzer()
    with base.reading() as session:
        sessions, meanings = {base.name: session}, {base.name: base.meaning(session)}
        passages = {document.doc_id: data.files[document.source.path] for document in session.documents()}
        for query_id, text in data.queries.items():
            if not text.strip():  # published sets have empty questions
                continue
            ranking = rank(sessions, Query(text=text, top_k=DEPTH), analyzer, meanings)
            chosen = choose(ranking.chunks, DEPTH, is_keyword=ranking.plan.is_keyword)
            stored = fetch(sessions, chosen)
            texts = [passage_for_embedding(s.document.title, s.chunk.section, s.chunk.text) for s in stored]
            found = reranker.score(text, texts)
            yield Scored(query_id, [passages[each.doc_id] for each in chosen], found)


def order(scored: Scored, way: str) -> list[str]:
    """Return the passages of a question in the order of one way, each once."""
    places = range(len(scored.scores))
    best = sorted(places, key=lambda i: -scored.scores[i])
    ranks = {i: number for number, i in enumerate(best)}
    depth = 10 if way == "blend of 10" else DEPTH
    blended = blend(scored.scores[:depth])
    keys = {
        "search": lambda i: i,
        "alone": lambda i: -scored.scores[i],
        "rrf": lambda i: -1 / (RRF_K + i) - 1 / (RRF_K + ranks[i]),
        "blend": lambda i: -blended[i],
        "blend of 10": lambda i: -blended[i] if i < depth else i,
    }
    return list(dict.fromkeys(scored.passages[i] for i in sorted(places, key=keys[way])))


def measure(folder: Path, embedder: CachedEmbedder, limit: int | None) -> tuple[dict[str, Any], list[list[float]]]:
    """Return the figures of one set, and of each candidate the log odds of its score, the logarithm of its place, and
    whether it is right.
    """
    with tempfile.TemporaryDirectory() as work:
        data = load_set(folder, Path(work) / "files", limit=limit)
        base = make_base(Path(work) / "files", Path(work) / "home", embedder)
        began = time.process_time()
        found = list(score_all(base, data, LateReranker(embedder)))
        elapsed_s = time.process_time() - began
        embedder.save()
        base.close()
    runs = {way: {each.query_id: order(each, way) for each in found} for way in WAYS}
    qrels = {each.query_id: data.qrels[each.query_id] for each in found}
    columns = [scores(runs[way], qrels, "ndcg@10") for way in WAYS]
    figures = {
        "queries": len(found),
        "ndcg@10": {way: round(mean(column), 4) for way, column in zip(WAYS, columns, strict=True)},
        "gain": Bootstrap(columns).difference(WAYS.index("blend"), WAYS.index("search")).to_dict(),
        "ms": round(1000 * elapsed_s / sum(len(each.scores) for each in found), 1),
    }
    candidates = [
        [math.log(score / (1 - score)), math.log(place), float(qrels[each.query_id].get(passage, 0) > 0)]
        for each in found
        for place, (passage, score) in enumerate(zip(each.passages, each.scores, strict=True), 1)
        if 0 < score < 1
    ]
    return figures, candidates


def fit(sets: Sequence[Sequence[Sequence[float]]]) -> tuple[float, float, float]:
    """Return how the log odds that a candidate is right grow with those of its score, fall with the logarithm of its
    place, and what they are otherwise: logistic regression by Newton's method, every set of the same weight.
    """
    rows = np.concatenate([np.array(each) for each in sets])
    weights = np.concatenate([np.full(len(each), 1 / len(each)) for each in sets])
    inputs = np.stack([rows[:, 0], -rows[:, 1], np.ones(len(rows))], axis=1)
    found = np.zeros(3)
    for _ in range(50):
        chance = 1 / (1 + np.exp(-inputs @ found))
        slope = inputs.T @ (weights * (chance - rows[:, 2]))
        curve = (inputs * (weights * chance * (1 - chance))[:, None]).T @ inputs
        found -= np.linalg.solve(curve + 1e-9 * np.eye(3), slope)
    return float(found[0]), float(found[1]), float(found[2])


def shown(name: str, figures: Mapping[str, Any]) -> str:
    """Return the line of a set."""
    values = " ".join(f"{100 * figures['ndcg@10'][way]:11.1f}" for way in WAYS)
    gain = figures["gain"]
    interval = f"{100 * gain['mean']:+5.1f} [{100 * gain['low']:+.1f}, {100 * gain['high']:+.1f}]"
    return f"{name:22} {figures['queries']:7} {values}  {interval}  {figures['ms']:.0f} ms"


def main() -> int:
    """Run the sets; return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("sets", nargs="?", type=Path, default=os.environ.get("ZHIKU_EVAL_SETS"))
    parser.add_argument("--only", action="append", default=[], metavar="NAME")
    parser.add_argument("--limit", type=int, metavar="N", help="ask at most N questions of a set")
    parser.add_argument("--vectors", type=Path, metavar="DIR")
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    if options.sets is None or not Path(options.sets).exists():
        print(f"skipped: there are no retrieval sets at {options.sets}; name them, or set ZHIKU_EVAL_SETS")
        return 0
    embedder = CachedEmbedder(options.vectors)
    results: dict[str, Any] = {}
    candidates = []
    print(f"{'nDCG@10 x 100':22} {'queries':>7} {' '.join(f'{way:>11}' for way in WAYS)}   gain")
    with unpacked(Path(options.sets)) as root:
        for folder in sorted(path for path in root.iterdir() if path.is_dir() and path.name not in SKIPPED):
            if not options.only or folder.name in options.only:
                results[folder.name], found = measure(folder, embedder, options.limit)
                candidates.append(found)
                print(shown(folder.name, results[folder.name]), flush=True)
    means = [mean([figures["ndcg@10"][way] for figures in results.values()]) for way in WAYS]
    print(f"{'mean':30} {' '.join(f'{100 * value:11.1f}' for value in means)}")
    if options.fit:
        print("log odds = {:.2f} * those of the score - {:.2f} * ln(place) {:+.2f}".format(*fit(candidates)))
    if options.write:
        RESULTS.parent.mkdir(exist_ok=True)
        RESULTS.write_text(json.dumps({"zhiku": zhiku.__version__, "sets": results}, indent=2) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
