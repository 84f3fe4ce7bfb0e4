"""How soon `zhiku mcp` lists its tools, and what a search through it costs, as ratios within one run.

usage: agents.py [--text DIR] [--chunks N] [--runs N] [--write]

--text names a folder of retrieval sets (BEIR layout) to take real text from; without it zhiku's own samples are
repeated. Vectors are drawn at random around those of real passages, as in hybrid.py.

Figures: from the start of `zhiku mcp` to its list of tools, in each revision of the protocol, against `python -c
"import mcp"` in turn with it; kb_search over the standard streams of a server that has answered before, against the
same search in one process, question by question in turn.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from corpus import iter_texts, write_notes
from hybrid import fill
from words import ZHIKU, environment, queries, run

from zhiku.answer import Query
from zhiku.service.library import Library
from zhiku.service.view import View

RESULTS = Path(__file__).parent / "results/agents.json"
ABOUT = {"clientInfo": {"name": "benchmark", "version": "0"}}
INITIALIZE = {"protocolVersion": "2025-11-25", "capabilities": {}, **ABOUT}
ENVELOPE = {
    f"io.modelcontextprotocol/{name}": value
    for name, value in {"protocolVersion": "2026-07-28", "clientCapabilities": {}, **ABOUT}.items()
}


class Server:
    """A running `zhiku mcp`, spoken with line by line."""

    def __init__(self, home: Path) -> None:
        self._process = subprocess.Popen(
            [*ZHIKU, "mcp"],
            env=environment(home),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Return the result of a request."""
        assert self._process.stdout
        self.send({"id": 1, "method": method, "params": params})
        result: dict[str, Any] = json.loads(self._process.stdout.readline())["result"]
        return result

    def send(self, message: dict[str, Any]) -> None:
        """Send a message."""
        assert self._process.stdin
        self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self._process.stdin.flush()

    def shake_hands(self) -> None:
        """Begin in revision 2025-11-25."""
        self.ask("initialize", INITIALIZE)
        self.send({"method": "notifications/initialized"})

    def end(self) -> None:
        """Close its input, and wait until it has ended."""
        self._process.communicate()


def list_tools(home: Path, revision: str) -> float:
    """Return how many seconds a server takes from its start to its list of tools."""
    began = time.perf_counter()
    server = Server(home)
    if revision == "2025-11-25":
        server.shake_hands()
    tools = server.ask("tools/list", {} if revision == "2025-11-25" else {"_meta": ENVELOPE})["tools"]
    took = time.perf_counter() - began
    server.end()
    assert len(tools) > 1
    return took


def start(home: Path, runs: int) -> dict[str, Any]:
    """Return how long a start takes, in each revision, against the import of the SDK alone."""
    figures: dict[str, Any] = {}
    for revision in ("2025-11-25", "2026-07-28"):
        list_tools(home, revision)
        pairs = [
            (run([sys.executable, "-c", "import mcp"], home).wall_s, list_tools(home, revision)) for _ in range(runs)
        ]
        figures[revision] = {
            "import_s": round(statistics.median(bare for bare, _ in pairs), 3),
            "listed_s": round(statistics.median(listed for _, listed in pairs), 3),
            "ratio": round(statistics.median(listed / bare for bare, listed in pairs), 2),
        }
    return figures


def warm(home: Path, asked: Sequence[str]) -> dict[str, float]:
    """Return how long searches take through a server and in this process, in milliseconds."""
    view = View(Library(home))
    server = Server(home)
    server.shake_hands()
    here: list[float] = []
    there: list[float] = []
    for text in [asked[0], *asked]:
        began = time.perf_counter()
        view.search(Query(text=text))
        between = time.perf_counter()
        server.ask("tools/call", {"name": "kb_search", "arguments": {"query": text}})
        here.append((between - began) * 1000)
        there.append((time.perf_counter() - between) * 1000)
    server.end()
    here, there = sorted(here[1:]), sorted(there[1:])
    p50, p95 = len(here) // 2, int(len(here) * 0.95)
    return {
        "process_p50_ms": round(here[p50], 2),
        "process_p95_ms": round(here[p95], 2),
        "stdio_p50_ms": round(there[p50], 2),
        "stdio_p95_ms": round(there[p95], 2),
        "over_ms": round(there[p50] - 1.5 * here[p50], 2),
    }


def measure(chunks: int, sources: Path | None, runs: int) -> dict[str, Any]:
    """Return all figures over a base of about so many chunks."""
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        home = work / "home"
        write_notes(work / "notes", chunks, sources)
        run([*ZHIKU, "index", "--no-embed", str(work / "notes")], home)
        texts = [text[:600] for _, text in zip(range(200), iter_texts(sources), strict=False)]
        held = fill(home / "bases/default", texts)
        return {"chunks": held, "start": start(home, runs), "warm": warm(home, queries(sources, 200))}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--text", type=Path, metavar="DIR")
    parser.add_argument("--chunks", type=int, default=10_000, metavar="N")
    parser.add_argument("--runs", type=int, default=9, metavar="N")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    machine = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, {platform.system()}"
    results = {"machine": machine, "text": "sets" if options.text else "samples"}
    results |= measure(options.chunks, options.text, options.runs)
    print(json.dumps(results, indent=2))
    if options.write:
        RESULTS.write_text(json.dumps(results, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()
