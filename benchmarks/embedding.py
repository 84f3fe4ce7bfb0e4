"""Speed and memory of the built-in embedder, as ratios to ONNX Runtime alone within one run.

usage: embedding.py [--text DIR] [--texts N] [--runs N] [--threads N] [--write]

--text names a folder of retrieval sets (BEIR layout) to take passages from; without it zhiku's own samples are cut
into passages. The bare loop runs the same graph over the same batches, made beforehand: what the embedder takes
beyond that goes to its tokenizer, the look-up of words, and pooling. Both are measured in turn, several times.
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
from collections.abc import Callable
from pathlib import Path

from corpus import iter_texts

from zhiku.embedders.builtin import DOCUMENT_PREFIX, MAX_TOKENS, QUERY_PREFIX, BuiltinEmbedder, batches
from zhiku.embedders.e5_file import E5File
from zhiku.embedders.e5_graph import E5Model
from zhiku.embedders.tokenizer import Tokenizer
from zhiku.embedders.weights import E5_SMALL, find_weights

RESULTS = Path(__file__).parent / "results/embedding.json"
PASSAGE_CHARS = 900

# Each prints a line when it is ready; the last argument is the file of verdicts.
COLD = {
    "imports": "import numpy, onnxruntime",
    "weights": "import numpy, onnxruntime; from zhiku.embedders.e5_file import E5File;"
    "from zhiku.embedders.e5_graph import E5Model; from zhiku.embedders.weights import *;"
    "E5Model(E5File(find_weights(E5_SMALL)), 1)",
    "first_query": "import sys; from pathlib import Path; from zhiku.embedders.builtin import BuiltinEmbedder;"
    "BuiltinEmbedder(verdicts=Path(sys.argv[1])).embed_queries(['雨量筒多久校准一次？'])",
}
INDEXING = (
    "import json, sys; from zhiku.embedders.builtin import BuiltinEmbedder; texts = json.load(open(sys.argv[1]));"
    "e = BuiltinEmbedder(); [e.embed_documents(texts[i:i + 64]) for i in range(0, len(texts), 64)];"
    "e.embed_documents(['雨量筒校准，' * 400] * 8)"
)


def passages(sources: Path | None, count: int) -> list[str]:
    """Return passages of both languages, in a fixed random order."""
    pieces = [
        text[at : at + PASSAGE_CHARS if text[at : at + 99].isascii() else at + PASSAGE_CHARS // 3]
        for text in iter_texts(sources)
        for at in range(0, len(text), PASSAGE_CHARS)
    ]
    return random.Random(1).sample(pieces, min(count, len(pieces)))


def questions(texts: list[str]) -> list[str]:
    """Return a piece of each text, as long as a question."""
    return [text[100:160] if text[:99].isascii() else text[100:120] for text in texts if len(text) > 160]


def seconds(action: Callable[[], object]) -> float:
    """Return how long an action takes."""
    began = time.perf_counter()
    action()
    return time.perf_counter() - began


def compare(bare: Callable[[], object], real: Callable[[], object], runs: int) -> tuple[float, float]:
    """Return the median ratio real / bare, pair by pair, and the median seconds of real."""
    pairs = [(seconds(bare), seconds(real)) for _ in range(runs)]
    return statistics.median(r / b for b, r in pairs), statistics.median(r for _, r in pairs)


class Bare:
    """ONNX Runtime over batches that were made beforehand."""

    def __init__(self, threads: int) -> None:
        file = E5File(find_weights(E5_SMALL))
        self._model, self._tokenizer = E5Model(file, threads), Tokenizer(file)
        self._marks = file.bos, file.eos

    def loop(self, texts: list[str], prefix: str) -> Callable[[], object]:
        """Return the action that runs all batches of these texts."""
        begin, end = self._marks
        ids = [[begin, *self._tokenizer.encode(prefix + text, MAX_TOKENS - 2), end] for text in texts]
        inputs = [self._model.look_up([ids[place] for place in batch]) for batch in batches(list(map(len, ids)))]
        return lambda: [self._model.run(batch) for batch in inputs]


def warm(texts: list[str], threads: int, runs: int) -> dict[str, float]:
    """Return how embedding compares to the bare loop: many texts, and single questions."""
    bare, embedder = Bare(threads), BuiltinEmbedder(threads=threads)
    embedder.embed_documents(texts[:1])
    asked = questions(texts)
    new, again = ask(bare, embedder, asked), ask(bare, embedder, asked)
    loop = bare.loop(texts, DOCUMENT_PREFIX)
    ratio, real_s = compare(loop, lambda: embedder.embed_documents(texts), runs)
    return {
        "rate_share_of_bare": round(1 / ratio, 3),
        "texts_per_s": round(len(texts) / real_s, 1),
        "new_query_ratio": round(statistics.median(ratio for ratio, _ in new), 3),
        "query_ratio": round(statistics.median(ratio for ratio, _ in again), 3),
        "query_ms": round(1000 * statistics.median(real_s for _, real_s in again), 2),
    }


def ask(bare: Bare, embedder: BuiltinEmbedder, asked: list[str]) -> list[tuple[float, float]]:
    """Return, for each question, the ratio of embedding it to one bare run, and the seconds it took."""
    found = []
    for text in asked:
        alone = bare.loop([text], QUERY_PREFIX)
        bare_s = statistics.median(seconds(alone) for _ in range(3))
        real_s = seconds(lambda text=text: embedder.embed_queries([text]))
        found.append((real_s / bare_s, real_s))
    return found


def run(code: str, argument: Path) -> tuple[float, float]:
    """Return seconds and peak memory in MB of a whole process."""
    began = time.perf_counter()
    child = subprocess.Popen([sys.executable, "-c", code, str(argument)])
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"a process ended with {child.returncode}")
    return time.perf_counter() - began, usage.ru_maxrss / (1024 * 1024 if sys.platform == "darwin" else 1024)


def cold(work: Path, texts: list[str], runs: int) -> dict[str, float]:
    """Return the time of whole processes up to the first vector, and the memory they take."""
    verdicts = work / "verdicts.json"
    hashing_s, _ = run(COLD["first_query"], verdicts)
    rounds = [{name: run(code, verdicts) for name, code in COLD.items()} for _ in range(runs)]
    found = {f"{name}_s": round(statistics.median(r[name][0] for r in rounds), 3) for name in COLD}
    found["first_query_ever_s"] = round(hashing_s, 3)
    found["cold_ratio"] = round(statistics.median(r["first_query"][0] / r["weights"][0] for r in rounds), 3)
    found["query_peak_mb"] = round(max(r["first_query"][1] for r in rounds), 1)
    (work / "texts.json").write_text(json.dumps(texts), "utf-8")
    found["indexing_peak_mb"] = round(run(INDEXING, work / "texts.json")[1], 1)
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--text", type=Path, metavar="DIR")
    parser.add_argument("--texts", type=int, default=60, metavar="N")
    parser.add_argument("--runs", type=int, default=7, metavar="N")
    parser.add_argument("--threads", type=int, default=1, metavar="N")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    machine = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, {platform.system()}"
    texts = passages(options.text, options.texts)
    results: dict[str, object] = {"machine": machine, "text": "sets" if options.text else "samples"}
    results |= {"texts": len(texts), "threads": options.threads}
    # First, since a child's peak memory counts from that of the process that starts it.
    with tempfile.TemporaryDirectory() as folder:
        results |= cold(Path(folder), texts, options.runs)
    results |= warm(texts, options.threads, options.runs)
    print("\n".join(f"{name}: {value}" for name, value in results.items()))
    if options.write:
        RESULTS.parent.mkdir(exist_ok=True)
        RESULTS.write_text(json.dumps(results, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()
