"""Speed and memory of indexing and searching by words, as ratios within one run.

usage: words.py [--text DIR] [--chunks N]... [--runs N] [--write]

--text names a folder of retrieval sets (BEIR layout) to take real text from; without it zhiku's own samples are
repeated. --chunks names the sizes; 1000000 takes about 4 GB in the folder for temporary files (TMPDIR), and ten minutes
or more. --write keeps what an earlier run wrote of other sizes. Every figure is taken from whole processes, in turn
with a bare `python -c pass` of the same interpreter, since these ratios hold on another machine and seconds do not.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import apsw
from corpus import iter_texts, write_notes

from zhiku.chunkers.structure import StructureChunker
from zhiku.model import Source
from zhiku.parsers.markdown import MarkdownParser
from zhiku.stores.sqlite.schema import STEPS
from zhiku.text.analyze import Analyzer
from zhiku.text.fields import FieldAnalyzer

RESULTS = Path(__file__).parent / "results/words.json"
ZHIKU = [sys.executable, "-m", "zhiku"]
LAUNCHER = """
import os, subprocess, sys, time
began = time.perf_counter()
child = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
_, status, usage = os.wait4(child.pid, 0)
child.returncode = os.waitstatus_to_exitcode(status)
print(child.returncode, time.perf_counter() - began, usage.ru_maxrss)
"""
"""Starts what is measured: on Linux a process begins with the peak of the one that made it, which must be small."""


@dataclass(frozen=True, kw_only=True)
class Process:
    """One finished process."""

    wall_s: float
    peak_mb: float


def run(command: list[str], home: Path) -> Process:
    """Run a command to its end; its output is dropped."""
    told = subprocess.check_output([sys.executable, "-c", LAUNCHER, *command], env=environment(home), text=True)
    code, wall_s, peak = told.split()
    if int(code) not in (0, 1):
        raise SystemExit(f"{command} ended with {code}")
    per_mb = 1024 * 1024 if sys.platform == "darwin" else 1024
    return Process(wall_s=float(wall_s), peak_mb=int(peak) / per_mb)


def environment(home: Path) -> dict[str, str]:
    """Return the environment of a measured process."""
    # Compiled modules are part of what a user has; without them every start would compile zhiku anew.
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "ZHIKU_HOME": str(home)}


def ratio(command: list[str], home: Path, runs: int) -> tuple[float, float]:
    """Return the median ratio of a command to bare Python, pair by pair, and its peak memory in MB."""
    ratios, peak = [], 0.0
    run(command, home)
    for _ in range(runs):
        bare = run([sys.executable, "-c", "pass"], home)
        real = run(command, home)
        ratios.append(real.wall_s / bare.wall_s)
        peak = max(peak, real.peak_mb)
    return round(statistics.median(ratios), 2), round(peak, 1)


def queries(sources: Path | None, count: int) -> list[str]:
    """Return questions of both languages: stretches of real text."""
    chance = random.Random(2)
    texts = [text for text in iter_texts(sources) if len(text) > 300]
    found: list[str] = []
    while len(found) < count:
        text = chance.choice(texts)
        start = chance.randrange(len(text) - 200)
        piece = text[start : start + (14 if ord(text[start + 5]) > 0x3000 else 45)].replace("\n", " ").strip()
        if piece and not piece.startswith("-"):
            found.append(piece)
    return found


def index_share(notes: Path, work: Path) -> float:
    """Return (parse + chunk + analyze + bare insert) / (zhiku's indexing), both in this process over the same notes."""
    paths = sorted(notes.rglob("*.md"))
    began = time.perf_counter()
    _bare_index(paths, work / "bare.sqlite3")
    bare_s = time.perf_counter() - began
    from zhiku.service.library import Library

    began = time.perf_counter()
    Library(work / "home").open_or_create("default").index([notes], embed=False)
    return round(bare_s / (time.perf_counter() - began), 2)


def _bare_index(paths: list[Path], target: Path) -> None:
    connection = apsw.Connection(str(target))
    connection.execute("PRAGMA journal_mode=WAL")
    table = next(s for s in STEPS[0] if s.startswith("CREATE VIRTUAL TABLE lexical USING"))
    connection.execute(table)
    connection.execute("CREATE TABLE texts (body TEXT)")
    parser, chunker, analyzer = MarkdownParser(), StructureChunker(), Analyzer()
    with connection:
        for path in paths:
            data = path.read_bytes()
            source = Source(root="", path=path.name, size_bytes=len(data), mtime_ns=0, sha256="")
            parsed = parser.parse(source, data)
            fields = FieldAnalyzer(analyzer, path.name, parsed.title, parsed.metadata)
            connection.execute("INSERT INTO texts VALUES (?)", (parsed.text,))
            rows = [fields.tokens(chunk.text, chunk.section) for chunk in chunker.chunk(parsed)]
            connection.executemany(
                "INSERT INTO lexical (body, title, heading, name) VALUES (?, ?, ?, ?)",
                [tuple(map(" ".join, (r.body, r.title, r.heading, r.name))) for r in rows],
            )
        connection.execute("INSERT INTO lexical(lexical) VALUES ('optimize')")
    connection.close()


def measure(chunks: int, sources: Path | None, runs: int) -> dict[str, float]:
    """Return the figures at one size."""
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        files = write_notes(work / "notes", chunks, sources)
        text_mb = sum(path.stat().st_size for path in (work / "notes").rglob("*.md")) / 1e6
        home = work / "measured"
        indexing = run([*ZHIKU, "index", "--no-embed", str(work / "notes")], home)
        index_mb = sum(p.stat().st_size for p in (home / "bases/default").glob("index*")) / 1e6
        listed = json.loads(
            subprocess.check_output([*ZHIKU, "--home", str(home), "list", "--format", "json"], text=True)
        )
        found = {"files": files, "text_mb": round(text_mb, 1), "index_mb": round(index_mb, 1)}
        found["chunks"] = listed["bases"][0]["chunks"]
        found["index_mb_per_s"] = round(text_mb / indexing.wall_s, 2)
        found["index_peak_mb"] = round(indexing.peak_mb, 1)
        asked = queries(sources, 10)
        cold = [ratio([*ZHIKU, "search", "--mode", "lexical", "--", text], home, runs) for text in asked]
        found["search_ratio"] = round(statistics.median(r for r, _ in cold), 2)
        found["search_ratio_max"] = max(r for r, _ in cold)
        found["search_peak_mb"] = max(peak for _, peak in cold)
        found |= warm(home, queries(sources, 200))
        if chunks <= 10_000:
            found["bare_share_of_indexing"] = index_share(work / "notes", work)
    return found


def warm(home: Path, asked: list[str]) -> dict[str, float]:
    """Return latencies of searches in one process, in ms."""
    from zhiku.service.library import Library

    base = Library(home).open("default")
    times = []
    for text in asked:
        began = time.perf_counter()
        base.search(text, mode="lexical")
        times.append((time.perf_counter() - began) * 1000)
    times.sort()
    return {"warm_p50_ms": round(times[len(times) // 2], 2), "warm_p95_ms": round(times[int(len(times) * 0.95)], 2)}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--text", type=Path, metavar="DIR")
    parser.add_argument("--chunks", type=int, action="append", metavar="N")
    parser.add_argument("--runs", type=int, default=7, metavar="N")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    machine = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, {platform.system()}"
    with tempfile.TemporaryDirectory() as home:
        help_ratio, _ = ratio([*ZHIKU, "--help"], Path(home), options.runs * 3)
    results: dict[str, object] = json.loads(RESULTS.read_text("utf-8")) if options.write and RESULTS.exists() else {}
    results |= {"machine": machine, "text": "sets" if options.text else "samples", "help_ratio": help_ratio}
    print(machine, f"\nzhiku --help: {help_ratio} x bare Python")
    for chunks in options.chunks or [1_000, 10_000, 100_000]:
        results[str(chunks)] = measure(chunks, options.text, options.runs)
        print(chunks, results[str(chunks)], flush=True)
    if options.write:
        RESULTS.parent.mkdir(exist_ok=True)
        RESULTS.write_text(json.dumps(results, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()
