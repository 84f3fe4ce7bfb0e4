"""Speed and memory of searching by words and meaning together, as ratios within one run.

usage: hybrid.py [--text DIR] [--chunks N]... [--runs N] [--write]

--text names a folder of retrieval sets (BEIR layout) to take real text from; without it zhiku's own samples are
repeated. The text is indexed as `zhiku index` does it; its vectors are drawn at random around those of some real
passages, since a scan takes as long over any vectors and embedding 100,000 passages takes an hour. --chunks 1000000
takes about 6 GB in the folder for temporary files (TMPDIR) and an hour. --write keeps what an earlier run wrote of
other sizes.

Figures: a whole process `zhiku search` against one that only imports ONNX Runtime and numpy and loads the weights; a
search in a process that stays against embedding the question and a bare scan of the same vectors; peak memory of both,
and of a `zhiku index` that embeds.
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
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from corpus import iter_texts, write_notes
from embedding import COLD
from numpy.typing import NDArray
from words import ZHIKU, queries, run

from zhiku.embedders.builtin import DIMS, BuiltinEmbedder
from zhiku.ingest.embed import embed_pending
from zhiku.service.library import Library
from zhiku.service.meaning import EMBEDDER_NAME, FINGERPRINT
from zhiku.stores.sqlite.store import SqliteStore
from zhiku.stores.sqlite.vectors import BLOCK_ROWS

RESULTS = Path(__file__).parent / "results/hybrid.json"


class Imitation(BuiltinEmbedder):
    """Gives passages vectors near those of some real ones; a question gets its own."""

    def __init__(self, texts: Sequence[str]) -> None:
        super().__init__()
        self._real = BuiltinEmbedder().embed_documents(texts)
        self._chance = np.random.default_rng(1)

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return a vector for each text that says nothing of it."""
        near = self._real[self._chance.integers(len(self._real), size=len(texts))]
        noisy = near + self._chance.normal(0, 0.02, size=near.shape).astype(np.float32)
        return noisy / np.linalg.norm(noisy, axis=1, keepdims=True)


def fill(base_folder: Path, texts: Sequence[str]) -> int:
    """Give every chunk of a base a vector; return how many it has."""
    imitation = Imitation(texts)
    with SqliteStore(base_folder).writing() as session:
        session.set_manifest({EMBEDDER_NAME: "builtin", FINGERPRINT: imitation.fingerprint})
        report = embed_pending(session, imitation)
    return report.embedded + report.reused


def median_ms(actions: Sequence[Callable[[], object]]) -> tuple[float, float]:
    """Return the median and the 95th percentile of how long actions take, each of them once."""
    times = []
    for action in actions:
        began = time.perf_counter()
        action()
        times.append((time.perf_counter() - began) * 1000)
    times.sort()
    return statistics.median(times), times[int(len(times) * 0.95)]


def resident(home: Path, asked: Sequence[str], chunks: int) -> dict[str, float]:
    """Return the latency of searches in one process, beside that of their two unavoidable parts."""
    base = Library(home).open("default")
    embedder = BuiltinEmbedder()
    vectors = np.random.default_rng(2).integers(-127, 127, size=(chunks, DIMS), dtype=np.int8)
    question = embedder.embed_queries(["雨量筒"])[0]

    def scan() -> object:
        return [
            vectors[start : start + BLOCK_ROWS].astype(np.float32) @ question for start in range(0, chunks, BLOCK_ROWS)
        ]

    began = time.perf_counter()
    base.search(asked[0])
    first_ms = (time.perf_counter() - began) * 1000
    scan()
    # Question by question in turn, so that a busy machine is as busy for one as for the other.
    embeds, scans, searches, words, meaning = [], [], [], [], []
    for text in asked:
        embeds.append(median_ms([lambda text=text: embedder.embed_queries([text])])[0])
        scans.append(median_ms([scan])[0])
        searches.append(median_ms([lambda text=text: base.search(text)])[0])
        words.append(median_ms([lambda text=text: base.search(text, mode="lexical")])[0])
        meaning.append(median_ms([lambda text=text: base.search(text, mode="semantic")])[0])
    parts = statistics.median(embeds) + statistics.median(scans)
    for times in (searches, words, meaning):
        times.sort()
    p95 = searches[int(len(searches) * 0.95)]
    return {
        "first_ms": round(first_ms, 1),
        "query_embedding_ms": round(statistics.median(embeds), 2),
        "scan_ms": round(statistics.median(scans), 2),
        "hybrid_p50_ms": round(statistics.median(searches), 2),
        "hybrid_p95_ms": round(p95, 2),
        "words_p50_ms": round(statistics.median(words), 2),
        "words_p95_ms": round(words[int(len(words) * 0.95)], 2),
        "meaning_p50_ms": round(statistics.median(meaning), 2),
        "meaning_p95_ms": round(meaning[int(len(meaning) * 0.95)], 2),
        "resident_ratio": round(p95 / parts, 2),
    }


def cold(home: Path, asked: Sequence[str], runs: int) -> dict[str, float]:
    """Return the time of a whole process against one that only loads the model, and its peak memory."""
    ratios, peak = [], 0.0
    for text in asked:
        command = [*ZHIKU, "search", "--", text]
        run(command, home)
        for _ in range(runs):
            bare = run([sys.executable, "-c", COLD["weights"]], home)
            real = run(command, home)
            ratios.append(real.wall_s / bare.wall_s)
            peak = max(peak, real.peak_mb)
    return {"cold_ratio": round(statistics.median(ratios), 2), "search_peak_mb": round(peak, 1)}


def measure(chunks: int, sources: Path | None, runs: int) -> dict[str, float]:
    """Return the figures at one size."""
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        home = work / "home"
        write_notes(work / "notes", chunks, sources)
        run([*ZHIKU, "index", "--no-embed", str(work / "notes")], home)
        words_mb = _index_mb(home)
        texts = [text[:600] for _, text in zip(range(200), iter_texts(sources), strict=False)]
        held = fill(home / "bases/default", texts)
        found = {"chunks": held, "words_mb": words_mb, "index_mb": _index_mb(home)}
        found |= cold(home, queries(sources, 5), runs)
        return found | resident(home, queries(sources, 200), held)


def _index_mb(home: Path) -> float:
    return round(sum(path.stat().st_size for path in (home / "bases/default").glob("index*")) / 1e6, 1)


def embedding_peak(sources: Path | None) -> float:
    """Return the peak memory, in MB, of a process that indexes and embeds a few hundred chunks."""
    with tempfile.TemporaryDirectory() as folder:
        write_notes(Path(folder) / "notes", 300, sources)
        return round(run([*ZHIKU, "index", str(Path(folder) / "notes")], Path(folder) / "home").peak_mb, 1)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--text", type=Path, metavar="DIR")
    parser.add_argument("--chunks", type=int, action="append", metavar="N")
    parser.add_argument("--runs", type=int, default=5, metavar="N")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    machine = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, {platform.system()}"
    results: dict[str, object] = json.loads(RESULTS.read_text("utf-8")) if options.write and RESULTS.exists() else {}
    results |= {"machine": machine, "text": "sets" if options.text else "samples"}
    results["embedding_peak_mb"] = embedding_peak(options.text)
    print(machine, f"\nzhiku index, with embedding: {results['embedding_peak_mb']} MB at most")
    for chunks in options.chunks or [1_000, 10_000, 100_000]:
        results[str(chunks)] = measure(chunks, options.text, options.runs)
        print(chunks, results[str(chunks)], flush=True)
    if options.write:
        RESULTS.parent.mkdir(exist_ok=True)
        RESULTS.write_text(json.dumps(results, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()
