"""Measure the first hit in small bases of two languages, where there are few passages to compare a cosine with.

usage: small.py [SETS] [--set NAME]... [--sizes N,N] [--questions N] [--vectors DIR] [--write]

SETS is a folder with sets in BEIR layout whose passages stand in one of two languages each (made by a script beside
the sets: xq-zhq-pool and others). Bases of so many passages are drawn at random with a fixed seed, and each is asked
the questions that it can answer. Prints the share of questions whose first hit is right, apart for answers in the
question's language and in the other; exits 1 below the floors of floors.toml.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

from bases import CachedEmbedder, make_base
from words import HERE

import zhiku
from zhiku.answer import Query
from zhiku.retrieve.search import rank
from zhiku.service.beir import RetrievalSet, load_set
from zhiku.service.measures import mean
from zhiku.text.analyze import Analyzer
from zhiku.text.script import script_of

RESULTS = HERE / "results/small.json"
POOLS = ("par-enq-pool", "par-zhq-pool", "xq-enq-pool", "xq-zhq-pool")


def draws(data: RetrievalSet, size: int, questions: int) -> Iterator[tuple[list[str], list[str]]]:
    """Yield (files, ids of the questions that they answer) of random bases, until enough questions were asked."""
    chance = random.Random(size)
    left = questions
    while left > 0:
        files = sorted(chance.sample(sorted(data.files), min(size, len(data.files))))
        held = {data.files[path] for path in files}
        asked = [query_id for query_id, judged in data.qrels.items() if judged.keys() <= held][:left]
        left -= len(asked)
        yield files, asked


def hits(
    data: RetrievalSet, folder: Path, files: Sequence[str], asked: Sequence[str], embedder: CachedEmbedder
) -> Iterator[tuple[bool, bool]]:
    """Yield (whether the answer is in the question's language, whether the first hit is right) of every question."""
    with tempfile.TemporaryDirectory() as work:
        for path in files:
            (Path(work) / "files" / path).parent.mkdir(parents=True, exist_ok=True)
            (Path(work) / "files" / path).write_bytes((folder / path).read_bytes())
        base = make_base(Path(work) / "files", Path(work) / "home", embedder)
        analyzer = Analyzer()
        with base.reading() as session:
            meanings = {base.name: base.meaning(session)}
            documents = {document.doc_id: document for document in session.documents()}
            scripts = {data.files[d.source.path]: d.script for d in documents.values()}
            for query_id in asked:
                text = data.queries[query_id]
                first = rank({base.name: session}, Query(text=text), analyzer, meanings).chunks[0]
                right = data.files[documents[first.doc_id].source.path] in data.qrels[query_id]
                yield script_of(text) in {scripts[i] for i in data.qrels[query_id]}, right
        base.close()


def main() -> int:
    """Run the sets; return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("sets", nargs="?", type=Path, default=os.environ.get("ZHIKU_EVAL_SETS"))
    parser.add_argument("--set", action="append", dest="names", metavar="NAME")
    parser.add_argument("--sizes", type=lambda text: [int(part) for part in text.split(",")], default=[4, 20, 60, 200])
    parser.add_argument("--questions", type=int, default=600, metavar="N")
    parser.add_argument("--vectors", type=Path, metavar="DIR")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    names = [name for name in options.names or POOLS if options.sets and (options.sets / name).is_dir()]
    if not names:
        print(f"skipped: there are no two-language sets in {options.sets}; name their folder, or set ZHIKU_EVAL_SETS")
        return 0
    floors = tomllib.loads((HERE / "floors.toml").read_text("utf-8"))["small"]
    embedder = CachedEmbedder(options.vectors)
    results: dict[str, dict[str, float]] = {}
    print(f"{'set':14} {'passages':>8} {'own language':>13} {'other':>6}")
    for name in names:
        with tempfile.TemporaryDirectory() as work:
            data = load_set(options.sets / name, Path(work))
            for size in options.sizes:
                found = [
                    hit
                    for files, asked in draws(data, size, options.questions)
                    for hit in hits(data, Path(work), files, asked, embedder)
                ]
                figures = {
                    which: round(mean([right for is_own, right in found if is_own == own]), 3)
                    for which, own in (("own", True), ("other", False))
                }
                results[f"{name} {size}"] = figures
                print(f"{name:14} {size:8} {figures['own']:13.3f} {figures['other']:6.3f}", flush=True)
    if options.write:
        RESULTS.parent.mkdir(exist_ok=True)
        RESULTS.write_text(json.dumps({"zhiku": zhiku.__version__, "bases": results}, indent=2) + "\n", "utf-8")
    missed = [
        f"{case}: {which} {figures[which]:.3f}, floor {floor}"
        for case, figures in results.items()
        if case.endswith(" 20")
        for which, floor in floors.items()
        if figures[which] < floor
    ]
    print("\n".join(["below the floor:", *missed]) if missed else "every floor holds")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
