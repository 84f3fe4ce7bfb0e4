"""Readers that search in a loop while the base is written: failures, and how much longer a search takes than at rest.

usage: readers.py [--text DIR] [--files N] [--changed N] [--readers N] [--rest-s S] [--processes] [--write]

--text names a folder of retrieval sets (BEIR layout) to take real text from; without it zhiku's own samples are
repeated. Each reader is a process that keeps the base open and searches by words without a pause; with --processes it
starts `zhiku search` anew each time. They search at rest for a while, and then for as long as `zhiku index --no-embed`
takes over some changed files, which competes with them for the processor as well. A failure is an exception, an exit
code for one, or no hit for words that stand in the text.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import platform
import random
import statistics
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from corpus import write_small_notes
from words import ZHIKU, environment, queries, run

import zhiku

RESULTS = Path(__file__).parent / "results/readers.json"
START_S = 120
"""How long the readers may take until each has searched once."""

Ask = Callable[[str], str]
"""Searches for a text, and returns what failed, or nothing."""


@dataclass(frozen=True, kw_only=True)
class Search:
    """One search of a reader; `began` and `ended` by the clock that all processes share."""

    began: float
    ended: float
    fault: str


def ask_resident(base: zhiku.Base, text: str) -> str:
    """Search in a base that stays open."""
    try:
        return "" if base.search(text, mode="lexical").hits else "no hits"
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def ask_process(home: Path, text: str) -> str:
    """Search as a process."""
    command = [*ZHIKU, "search", "--mode", "lexical", "--", text]
    done = subprocess.run(command, capture_output=True, check=False, env=environment(home), text=True)
    return f"exit code {done.returncode}: {done.stderr[:200]}" if done.returncode else ""


def read_in_a_loop(home: Path, texts: Sequence[str], as_process: bool, signals: Path) -> list[Search]:
    """Search until `signals` holds a file `stop`; tell by a file of one's own that the first search is done."""
    ask: Ask = partial(ask_process, home) if as_process else partial(ask_resident, zhiku.open("default", home=home))
    chance = random.Random(os.getpid())
    ask(texts[0])
    (signals / f"ready-{os.getpid()}").touch()
    done: list[Search] = []
    while not (signals / "stop").exists():
        began = time.time()
        fault = ask(chance.choice(texts))
        done.append(Search(began=began, ended=time.time(), fault=fault))
    return done


def change(notes: Path, count: int) -> None:
    """Add a paragraph to `count` notes, spread over all of them; what stood in them stays."""
    paths = sorted(notes.rglob("*.md"))
    for path in random.Random(4).sample(paths, count):
        with path.open("a", encoding="utf-8") as file:
            file.write("\n## Added\n\nOne more paragraph 添加的一段文字.\n")


def wait_for_readers(signals: Path, count: int) -> None:
    """Return once every reader has searched; end the program if one does not."""
    deadline = time.monotonic() + START_S
    while len(list(signals.glob("ready-*"))) < count:
        if time.monotonic() > deadline:
            raise SystemExit("a reader does not start")
        time.sleep(0.05)


def figures(searches: Sequence[Search], began: float, ended: float) -> dict[str, Any]:
    """Return what the searches that lie within a time came to."""
    within = [search for search in searches if search.began >= began and search.ended <= ended]
    took_ms = sorted((search.ended - search.began) * 1000 for search in within)
    faults = Counter(search.fault for search in within if search.fault)
    return {
        "s": round(ended - began, 1),
        "searches": len(within),
        "failures": faults.total(),
        "faults": dict(faults.most_common(3)),
        "p50_ms": round(statistics.median(took_ms), 2),
        "p95_ms": round(took_ms[int(len(took_ms) * 0.95)], 2),
        "max_ms": round(took_ms[-1], 1),
    }


def measure(options: argparse.Namespace, work: Path) -> dict[str, object]:
    """Return the figures at rest and during a run."""
    notes, home, signals = work / "notes", work / "home", work / "signals"
    signals.mkdir()
    write_small_notes(notes, options.files, options.text)
    run([*ZHIKU, "index", "--no-embed", str(notes)], home)
    base = zhiku.open("default", home=home)
    texts = [text for text in queries(options.text, 200) if not ask_resident(base, text)]
    with ProcessPoolExecutor(options.readers, mp_context=multiprocessing.get_context("spawn")) as pool:
        readers = [pool.submit(read_in_a_loop, home, texts, options.processes, signals) for _ in range(options.readers)]
        try:
            wait_for_readers(signals, options.readers)
            marks = [time.time()]
            time.sleep(options.rest_s)
            marks.append(time.time())
            change(notes, options.changed)
            marks.append(time.time())
            run([*ZHIKU, "index", "--no-embed"], home)
            marks.append(time.time())
        finally:
            (signals / "stop").touch()
        searches = [search for reader in readers for search in reader.result()]
    rest, during = figures(searches, *marks[:2]), figures(searches, *marks[2:])
    ratios = {f"{name}_ratio": round(during[f"{name}_ms"] / rest[f"{name}_ms"], 2) for name in ("p50", "p95")}
    return {"files": options.files, "changed": options.changed, "rest": rest, "during": during, **ratios}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--text", type=Path, metavar="DIR")
    parser.add_argument("--files", type=int, default=10_000, metavar="N")
    parser.add_argument("--changed", type=int, default=3_000, metavar="N")
    parser.add_argument("--readers", type=int, default=8, metavar="N")
    parser.add_argument("--rest-s", type=float, default=20.0, metavar="S")
    parser.add_argument("--processes", action="store_true")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    machine = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, {platform.system()}"
    with tempfile.TemporaryDirectory() as folder:
        measured = measure(options, Path(folder).resolve())
    print(machine, json.dumps(measured, ensure_ascii=False, indent=2))
    if options.write:
        results = json.loads(RESULTS.read_text("utf-8")) if RESULTS.exists() else {}
        results |= {"machine": machine, "readers": options.readers}
        results["processes" if options.processes else "resident"] = measured
        RESULTS.write_text(json.dumps(results, ensure_ascii=False, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()
