"""An index run over files that did not change, beside a bare walk that asks for the status of each: ratios in one run.

usage: unchanged.py [--text DIR] [--files N] [--runs N] [--write]

--text names a folder of retrieval sets (BEIR layout) to take real text from; without it zhiku's own samples are
repeated. The base is indexed by words. Each run takes its turns: `os.walk` with `os.stat`, the same by `os.scandir`,
zhiku's walk alone, and `Base.index`, all in this process; then the bare walk and `zhiku index` as whole processes with
their start-up. A ratio is the median over the runs.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import bare_walk
from corpus import write_small_notes
from words import ZHIKU, run

from zhiku.ingest.discover import DiscoverRules, discover
from zhiku.registry import FORMAT_ENDINGS
from zhiku.service.base import Base
from zhiku.service.library import Library

RESULTS = Path(__file__).parent / "results/unchanged.json"


def seconds(work: Callable[[], object]) -> float:
    """Return how long some work takes."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def index(base: Base, files: int) -> None:
    """Bring the base up to date; end the program unless every file was found unchanged."""
    (root,) = base.index(embed=False)
    if root.report.unchanged != files:
        raise SystemExit(f"not an unchanged run: {root.report}")


def turns_in_process(base: Base, notes: Path, files: int, runs: int) -> list[dict[str, float]]:
    """Return the seconds of each kind of work, run by run."""
    rules = DiscoverRules(
        endings=FORMAT_ENDINGS["markdown"], text_endings=FORMAT_ENDINGS["markdown"], looks_like_text=lambda _: True
    )
    works: dict[str, Callable[[], object]] = {
        "walk": lambda: bare_walk.walk(str(notes)),
        "scan": lambda: bare_walk.scan(str(notes)),
        "discover": lambda: sum(1 for _ in discover(notes, rules=rules)),
        "index": lambda: index(base, files),
    }
    for work in works.values():
        work()
    return [{name: seconds(work) for name, work in works.items()} for _ in range(runs)]


def turns_of_processes(home: Path, notes: Path, runs: int) -> list[dict[str, float]]:
    """Return the seconds of each whole process, run by run."""
    commands = {
        "walk": [sys.executable, bare_walk.__file__, str(notes)],
        "index": [*ZHIKU, "index", "--no-embed"],
        "start": [*ZHIKU, "index", "--help"],
    }
    for command in commands.values():
        run(command, home)
    return [{name: run(command, home).wall_s for name, command in commands.items()} for _ in range(runs)]


def ratio(turns: list[dict[str, float]], one: str, other: str) -> float:
    """Return the median ratio of two kinds of work."""
    return round(statistics.median(turn[one] / turn[other] for turn in turns), 2)


def measure(files: int, sources: Path | None, runs: int) -> dict[str, float]:
    """Return the figures at one size."""
    with tempfile.TemporaryDirectory() as folder:
        notes, home = Path(folder).resolve() / "notes", Path(folder) / "home"
        write_small_notes(notes, files, sources)
        base = Library(home).open_or_create("default")
        base.index([notes], embed=False)
        turns = turns_in_process(base, notes, files, runs)
        processes = turns_of_processes(home, notes, runs)
    return {
        "files": files,
        "walk_ms": round(statistics.median(turn["walk"] for turn in turns) * 1000, 1),
        "discover_to_walk": ratio(turns, "discover", "walk"),
        "index_to_walk": ratio(turns, "index", "walk"),
        "index_to_scan": ratio(turns, "index", "scan"),
        "process_to_walk": ratio(processes, "index", "walk"),
        "start_to_walk": ratio(processes, "start", "walk"),
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--text", type=Path, metavar="DIR")
    parser.add_argument("--files", type=int, default=20_000, metavar="N")
    parser.add_argument("--runs", type=int, default=15, metavar="N")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    machine = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, {platform.system()}"
    results = {"machine": machine, **measure(options.files, options.text, options.runs)}
    print(json.dumps(results, indent=2))
    if options.write:
        RESULTS.write_text(json.dumps(results, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()
