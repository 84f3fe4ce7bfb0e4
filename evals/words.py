"""Measure the search by words on retrieval sets, and hold the floor.

usage: words.py [SETS] [--only NAME]... [--write]

SETS is a folder or .tar.xz with one folder a set in BEIR layout (default: the environment's ZHIKU_EVAL_SETS). Each
set is indexed by zhiku into a base of its own; every question is ranked as a search ranks it, and a passage counts
where its best chunk stands. Prints nDCG@10, recall@10 and recall@100 beside the floor of floors.toml and exits 1
where one is missed; --write keeps the figures in results/words.json.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tarfile
import tempfile
import time
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import zhiku
from zhiku.service.beir import load_set, run_set
from zhiku.service.library import Library
from zhiku.service.measures import mean, scores

HERE = Path(__file__).parent
RESULTS = HERE / "results/words.json"
SKIPPED = {"chunk-eval"}  # its own layout, for judging chunkers


@contextmanager
def unpacked(sets: Path) -> Iterator[Path]:
    """Yield the folder of the sets, unpacked into a temporary place if they come as an archive."""
    if sets.is_dir():
        yield sets
        return
    with tempfile.TemporaryDirectory() as folder, tarfile.open(sets) as archive:
        archive.extractall(folder, filter="data")
        yield Path(folder)


def measure(folder: Path, work: Path) -> dict[str, float]:
    """Return the figures of one set."""
    data = load_set(folder, work / "files")
    base = Library(work / "home").open_or_create("default")
    (done,) = base.index([work / "files"])
    began = time.perf_counter()
    runs = run_set(base, data, "lexical")
    elapsed_ms = (time.perf_counter() - began) * 1000
    return {
        "passages": len(data.files),
        "chunks": done.report.chunks,
        "queries": len(data.queries),
        **{name: round(mean(scores(runs, data.qrels, name)), 4) for name in ("ndcg@10", "recall@10", "recall@100")},
        "ms_per_query": round(elapsed_ms / len(data.queries), 2),
    }


def main() -> int:
    """Run the sets; return the exit code."""
    parser = argparse.ArgumentParser(description="Measure the search by words on retrieval sets.")
    parser.add_argument("sets", nargs="?", type=Path, default=os.environ.get("ZHIKU_EVAL_SETS"))
    parser.add_argument("--only", action="append", default=[], metavar="NAME")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    if options.sets is None or not Path(options.sets).exists():
        print(f"skipped: there are no retrieval sets at {options.sets}; name them, or set ZHIKU_EVAL_SETS")
        return 0
    floors = tomllib.loads((HERE / "floors.toml").read_text("utf-8"))["words"]
    results: dict[str, dict[str, float]] = {}
    missed = []
    print(f"{'set':22} {'queries':>7} {'nDCG@10':>8} {'floor':>6} {'R@10':>6} {'R@100':>6} {'ms/query':>8}")
    with unpacked(Path(options.sets)) as root:
        for folder in sorted(path for path in root.iterdir() if path.is_dir() and path.name not in SKIPPED):
            if options.only and folder.name not in options.only:
                continue
            with tempfile.TemporaryDirectory() as work:
                figures = results[folder.name] = measure(folder, Path(work))
            floor = floors.get(folder.name, 0.0)
            print(
                f"{folder.name:22} {figures['queries']:7} {figures['ndcg@10']:8.4f} {floor:6.3f}"
                f" {figures['recall@10']:6.3f} {figures['recall@100']:6.3f} {figures['ms_per_query']:8.2f}",
                flush=True,
            )
            if figures["ndcg@10"] < floor:
                missed.append(folder.name)
    if options.write:
        RESULTS.parent.mkdir(exist_ok=True)
        RESULTS.write_text(json.dumps({"zhiku": zhiku.__version__, "sets": results}, indent=2) + "\n", "utf-8")
    print(f"below the floor: {', '.join(missed)}" if missed else "every floor holds")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
