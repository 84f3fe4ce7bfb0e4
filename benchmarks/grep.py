"""`zhiku grep` beside ripgrep on the same files: cold whole processes in turn, and whether both find the same lines.

usage: grep.py [--text DIR] [--chunks N]... [--runs N] [--write]

--text names a folder of retrieval sets (BEIR layout) to take real text from; without it zhiku's own samples are
repeated. Needs ripgrep's `rg`; without it, it says "skipped" and ends well. The keywords are picked from the text by
kind. Both ignore case and print every line whole; the *default* of zhiku stops after 200 lines. The files are in the
system's cache, for both.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from corpus import write_notes
from words import ZHIKU, environment, run

RESULTS = Path(__file__).parent / "results/grep.json"
HAN = "[\u4e00-\u9fff]"
KINDS = {
    "two Han characters": f"(?<!{HAN}){HAN}{{2}}(?!{HAN})",
    "identifier": r"\b[a-z]+(?:_[a-z]+)+\b",
    "rare word": r"\b[a-z]{8,}\b",
    "frequent word": r"\b[a-z]{4,}\b",
}
SAMPLE_NOTES = 200
EVERY = "1000000000"


def keywords(notes: Path) -> dict[str, str]:
    """Return a keyword of each kind: the most common of its pattern in some notes, or the least common if rare."""
    sample = "\n".join(path.read_text("utf-8") for path in sorted(notes.rglob("*.md"))[:SAMPLE_NOTES])
    found = {}
    for kind, pattern in KINDS.items():
        if common := Counter(re.findall(pattern, sample)).most_common():
            found[kind] = common[-1 if kind.startswith("rare") else 0][0]
    return found


def commands(keyword: str, notes: Path) -> dict[str, list[str]]:
    """Return what is timed."""
    whole = ["--max-lines", EVERY, "--max-chars-per-line", EVERY]
    return {
        "bare": [sys.executable, "-c", "pass"],
        "rg": ["rg", "-i", "-F", "-n", "--no-heading", "--no-ignore", "--", keyword, str(notes)],
        "zhiku": [*ZHIKU, "grep", *whole, "--", keyword],
        "default": [*ZHIKU, "grep", "--", keyword],
    }


def lines_of_rg(command: list[str], notes: Path) -> set[tuple[str, int]]:
    """Return the file and line number of each line that ripgrep prints."""
    printed = subprocess.run([*command[:1], "--null", *command[1:]], capture_output=True, check=False).stdout
    found = set()
    for line in filter(None, printed.split(b"\n")):
        path, _, rest = line.partition(b"\0")
        found.add((str(Path(os.fsdecode(path)).relative_to(notes)), int(rest.partition(b":")[0])))
    return found


def lines_of_zhiku(command: list[str], home: Path) -> set[tuple[str, int]]:
    """Return the same of `zhiku grep`."""
    at = command.index("--")
    as_json = [*command[:at], "--format", "json", *command[at:]]
    printed = subprocess.run(as_json, capture_output=True, check=False, env=environment(home)).stdout
    return {(item["path"], item["line"]) for item in json.loads(printed)["items"]}


def compare(keyword: str, notes: Path, home: Path, runs: int) -> dict[str, object]:
    """Return the figures for one keyword."""
    timed = commands(keyword, notes)
    by_rg, by_zhiku = lines_of_rg(timed["rg"], notes), lines_of_zhiku(timed["zhiku"], home)
    turns = [{name: run(command, home) for name, command in timed.items()} for _ in range(runs)]

    def ratio(one: str, other: str) -> float:
        return round(statistics.median(turn[one].wall_s / turn[other].wall_s for turn in turns), 2)

    return {
        "keyword": keyword,
        "lines": len(by_rg),
        "only_rg": len(by_rg - by_zhiku),
        "only_zhiku": len(by_zhiku - by_rg),
        "zhiku_to_rg": ratio("zhiku", "rg"),
        "default_to_rg": ratio("default", "rg"),
        "zhiku_to_bare_python": ratio("zhiku", "bare"),
        "rg_to_bare_python": ratio("rg", "bare"),
        "zhiku_peak_mb": round(max(turn["zhiku"].peak_mb for turn in turns), 1),
    }


def measure(chunks: int, sources: Path | None, runs: int) -> dict[str, object]:
    """Return the figures at one size."""
    with tempfile.TemporaryDirectory() as folder:
        notes, home = Path(folder).resolve() / "notes", Path(folder) / "home"
        write_notes(notes, chunks, sources)
        run([*ZHIKU, "index", "--no-embed", str(notes)], home)
        return {kind: compare(word, notes, home, runs) for kind, word in keywords(notes).items()}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--text", type=Path, metavar="DIR")
    parser.add_argument("--chunks", type=int, action="append", metavar="N")
    parser.add_argument("--runs", type=int, default=7, metavar="N")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    if not shutil.which("rg"):
        print("skipped: ripgrep (rg) is not installed")
        return
    machine = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, {platform.system()}"
    version = subprocess.check_output(["rg", "--version"], text=True).split("\n")[0]
    results: dict[str, object] = {"machine": machine, "rg": version, "text": "sets" if options.text else "samples"}
    for chunks in options.chunks or [10_000, 100_000]:
        results[str(chunks)] = measure(chunks, options.text, options.runs)
        print(chunks, json.dumps(results[str(chunks)], ensure_ascii=False, indent=2), flush=True)
    if options.write:
        RESULTS.write_text(json.dumps(results, ensure_ascii=False, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()
