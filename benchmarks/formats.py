"""Indexing the same text in each format, words only: speed, memory and size, as ratios to plain text in one run.

usage: formats.py [--text DIR] [--chunks N] [--runs N] [--write]

--text names a folder of retrieval sets (BEIR layout) to take real text from; without it zhiku's own samples are
repeated. Every file is made from the same notes by `writers.py`. A run is a whole `zhiku index --no-embed`, with its
start-up, into a base of its own; formats take turns, and a ratio is the median of those within one turn. Where /proc
tells it, memory is that of zhiku and its workers together, asked many times a second, shared pages counted once.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from corpus import write_notes
from words import ZHIKU, environment
from writers import WRITERS, pieces

RESULTS = Path(__file__).parent / "results/formats.json"
PLAIN = "plain text"
POLL_S = 0.02


@dataclass(frozen=True, kw_only=True)
class Indexing:
    """One finished `zhiku index`; `peak_mb` of all its processes is None where it cannot be told."""

    wall_s: float
    peak_mb: float | None
    index_mb: float
    chunks: int


def write_files(notes: Path, target: Path) -> None:
    """Write every note in every format, each format into a folder of its own below `target`."""
    for path in sorted(notes.rglob("*.md")):
        content = pieces(path.read_text("utf-8"))
        for name, (suffix, write) in WRITERS.items():
            copy = target / name / path.relative_to(notes).with_suffix(suffix)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(write(content))


def index(files: Path, home: Path) -> Indexing:
    """Index a folder into a new home. Raises SystemExit where not every file became a document."""
    command = [*ZHIKU, "index", "--no-embed", str(files)]
    began = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, env=environment(home)) as child:
        peak = 0
        while child.poll() is None:
            peak = max(peak, sum(map(_pss_kb, _family(child.pid))))
            with suppress(subprocess.TimeoutExpired):
                child.wait(POLL_S)
    wall_s = time.perf_counter() - began
    listed = json.loads(subprocess.check_output([*ZHIKU, "list", "--format", "json"], env=environment(home), text=True))
    (base,) = listed["bases"]
    if child.returncode or base["documents"] != sum(path.is_file() for path in files.rglob("*")):
        raise SystemExit(f"{files.name}: {base['documents']} documents, exit code {child.returncode}")
    return Indexing(
        wall_s=wall_s,
        peak_mb=peak / 1024 or None,
        index_mb=sum(path.stat().st_size for path in (home / "bases/default").glob("index*")) / 1e6,
        chunks=base["chunks"],
    )


def _family(pid: int) -> list[int]:
    """Return a process and those that it started, as far as /proc tells."""
    found = [pid]
    with suppress(OSError):
        for children in Path(f"/proc/{pid}/task").glob("*/children"):
            found += map(int, children.read_text().split())
    return found


def _pss_kb(pid: int) -> int:
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1])
    return 0


def figures(
    name: str, files: Path, done: list[Indexing], plain_done: list[Indexing], text_mb: float
) -> dict[str, float]:
    """Return what the runs of one format give."""
    paths = [path for path in (files / name).rglob("*") if path.is_file()]
    wall_s = statistics.median(each.wall_s for each in done)
    peaks = [each.peak_mb for each in done if each.peak_mb]
    turns = zip(done, plain_done, strict=True)
    return {
        "files": len(paths),
        "files_mb": round(sum(path.stat().st_size for path in paths) / 1e6, 2),
        "chunks": done[0].chunks,
        "files_per_s": round(len(paths) / wall_s, 1),
        "text_mb_per_s": round(text_mb / wall_s, 2),
        "chunks_per_s": round(done[0].chunks / wall_s),
        "time_to_plain_text": round(statistics.median(each.wall_s / plain.wall_s for each, plain in turns), 2),
        **({"peak_mb": round(max(peaks), 1)} if peaks else {}),
        "index_to_text": round(done[0].index_mb / text_mb, 2),
    }


def measure(chunks: int, sources: Path | None, runs: int) -> dict[str, object]:
    """Return the figures of all formats."""
    done: dict[str, list[Indexing]] = {name: [] for name in WRITERS}
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        write_notes(work / "notes", chunks, sources)
        write_files(work / "notes", work / "files")
        text_mb = sum(path.stat().st_size for path in (work / "files" / PLAIN).rglob("*.txt")) / 1e6
        for turn in range(runs):
            for name, results in done.items():
                results.append(index(work / "files" / name, work / f"home-{turn}-{name}"))
        rows = {name: figures(name, work / "files", done[name], done[PLAIN], text_mb) for name in WRITERS}
    return {"text_mb": round(text_mb, 2), **rows}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--text", type=Path, metavar="DIR")
    parser.add_argument("--chunks", type=int, default=5_000, metavar="N")
    parser.add_argument("--runs", type=int, default=3, metavar="N")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    machine = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, {platform.system()}"
    results: dict[str, object] = {"machine": machine, "text": "sets" if options.text else "samples"}
    results |= measure(options.chunks, options.text, options.runs)
    print(json.dumps(results, indent=2))
    if options.write:
        RESULTS.write_text(json.dumps(results, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()
