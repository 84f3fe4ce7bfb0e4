"""What embedding through an endpoint takes beyond its requests, as ratios to a bare loop of them within one run.

usage: endpoint.py [--text DIR] [--texts N] [--runs N] [--write]

A server in another process answers at once, with vectors made beforehand. The bare loop posts the same texts in the
same batches with the same client, httpx2, and takes the JSON of each reply. Beyond that, the embedder checks vectors
and brings them to length 1; with a base, its texts are read too, and each reply is stored durably before the next
request is made. --text names a folder of retrieval sets (BEIR layout) to take passages from; without it zhiku's own
samples are repeated.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import platform
import shutil
import socketserver
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import numpy as np
from corpus import write_notes

from zhiku.cli.main import GC_THRESHOLD
from zhiku.embedders.lock import Lock
from zhiku.embedders.openai import OpenAIEmbedder, Options
from zhiku.ingest.embed import embed_pending
from zhiku.ports import Store
from zhiku.registry import STORES, load
from zhiku.remote import Client, Endpoint
from zhiku.service.library import Library
from zhiku.stores.sqlite.usage import UsageLog

RESULTS = Path(__file__).parent / "results/endpoint.json"
SIZES = (384, 1024)
"""Of multilingual-e5-small, and of what is served most: Qwen3-Embedding-0.6B, bge-m3."""
MODEL = "m"


# --- the server ---


class _Server(socketserver.TCPServer):
    def __init__(self, dims: int) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self._dims = dims
        self._replies: dict[int, bytes] = {}

    def reply(self, count: int) -> bytes:
        """Return a whole response with so many vectors, made once."""
        if count not in self._replies:
            vectors = np.random.default_rng(count).normal(size=(count, self._dims)).astype(np.float32)
            data = [{"object": "embedding", "index": i, "embedding": row} for i, row in enumerate(vectors.tolist())]
            body = json.dumps({"object": "list", "data": data, "model": MODEL, "usage": {"total_tokens": 99}}).encode()
            head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
            self._replies[count] = head.encode() + body
        return self._replies[count]


class _Handler(socketserver.StreamRequestHandler):
    server: _Server

    def handle(self) -> None:
        while self.rfile.readline():
            length = 0
            while (line := self.rfile.readline().lower()) not in (b"\r\n", b""):
                if line.startswith(b"content-length:"):
                    length = int(line.partition(b":")[2])
            count = len(json.loads(self.rfile.read(length))["input"])
            self.wfile.write(self.server.reply(count))


def answer_at_once(dims: int) -> None:
    """Serve until killed; the port is printed."""
    with _Server(dims) as server:
        print(server.server_address[1], flush=True)
        server.serve_forever()


@contextmanager
def serving(dims: int) -> Iterator[str]:
    """Run the server in a process of its own, and give its address."""
    command = [sys.executable, __file__, "--serve", str(dims)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield f"http://127.0.0.1:{int(server.stdout.readline())}/v1"
        finally:
            server.kill()


# --- what is compared ---


def bare_loop(url: str, batches: list[list[str]]) -> None:
    """Post the batches, and take the JSON of each reply."""
    with httpx2.Client(trust_env=False) as http:
        for batch in batches:
            body = {"model": MODEL, "input": batch, "encoding_format": "float"}
            http.post(f"{url}/embeddings", json=body).raise_for_status().json()


class Noting(Client):
    """Notes the texts of each request."""

    def __init__(self) -> None:
        super().__init__()
        self.batches: list[list[str]] = []

    def post(self, endpoint: Endpoint, path: str, body: Any, *rest: Any) -> object:
        self.batches.append(body["input"])
        return super().post(endpoint, path, body, *rest)


def embedder_at(url: str, client: Client) -> OpenAIEmbedder:
    """Return an embedder over the server."""
    endpoint = Endpoint(url=url, model=MODEL)
    return OpenAIEmbedder(endpoint, Lock(address=endpoint.address("embeddings"), model=MODEL), client, Options())


def embed_texts(url: str, batches: list[list[str]]) -> None:
    """Embed the same texts, and store nothing."""
    client = Client()
    embedder = embedder_at(url, client)
    for batch in batches:
        assert len(embedder.embed_documents(batch)) == len(batch)
    client.close()


def embed_base(url: str, folder: Path, client: Client) -> None:
    """Embed a base that has no vectors."""
    with opened(folder).writing() as session:
        report = embed_pending(session, embedder_at(url, client))
    assert report.pending == 0, report
    client.close()


def opened(folder: Path) -> Store:
    """Return the store of a base."""
    store: Store = load(STORES, "sqlite")(folder)
    return store


def seconds(action: Callable[[], object]) -> tuple[float, float]:
    """Return how long an action takes, by the clock and by this process's processor time."""
    began, busy = time.perf_counter(), time.process_time()
    action()
    return time.perf_counter() - began, time.process_time() - busy


def measure(dims: int, work: Path, runs: int) -> dict[str, object]:
    """Return medians over rounds in which all are measured in turn."""
    copied = work / "copy"

    def fresh() -> Path:
        shutil.rmtree(copied, ignore_errors=True)
        return Path(shutil.copytree(work / "home" / "bases" / "default", copied))

    with serving(dims) as url:
        noting = Noting()
        embed_base(url, fresh(), noting)
        batches = noting.batches
        rounds = []
        for _ in range(runs):
            folder = fresh()
            bare = seconds(lambda: bare_loop(url, batches))
            texts = seconds(lambda: embed_texts(url, batches))
            base = seconds(lambda folder=folder: embed_base(url, folder, Client(UsageLog(work / "usage"))))
            rounds.append(
                (*bare, *(mine / theirs for each in (texts, base) for mine, theirs in zip(each, bare, strict=True)))
            )
    bare_s, _, texts, texts_busy, base, base_busy = (statistics.median(each) for each in zip(*rounds, strict=True))
    return {
        "dims": dims,
        "texts": sum(map(len, batches)),
        "requests": len(batches),
        "characters_per_text": round(statistics.mean(len(text) for batch in batches for text in batch)),
        "bare_s": round(bare_s, 2),
        "embedder_to_bare": round(texts, 2),
        "base_to_bare": round(base, 2),
        "embedder_to_bare_processor": round(texts_busy, 2),
        "base_to_bare_processor": round(base_busy, 2),
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--text", type=Path, metavar="DIR")
    parser.add_argument("--texts", type=int, default=10_000, metavar="N")
    parser.add_argument("--runs", type=int, default=5, metavar="N")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--serve", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        answer_at_once(options.serve)
    gc.set_threshold(GC_THRESHOLD)  # as the command does
    machine = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, {platform.system()}"
    results: dict[str, object] = {"machine": machine, "text": "sets" if options.text else "samples"}
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        write_notes(work / "notes", options.texts, options.text)
        Library(work / "home").index([work / "notes"], embed=False)
        results |= {"rounds": options.runs, "sizes": [measure(dims, work, options.runs) for dims in SIZES]}
    print(json.dumps(results, indent=2))
    if options.write:
        RESULTS.parent.mkdir(exist_ok=True)
        RESULTS.write_text(json.dumps(results, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()
