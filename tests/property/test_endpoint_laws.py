"""Whatever an endpoint does wrong in between, the index is in the end what a healthy one would have led to."""

from __future__ import annotations

import base64
import json
from collections import Counter, deque
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from endpoints import Seen, Server, Told, embedded, serving
from fakes import unit_vector
from zhiku.embedders.lock import Lock
from zhiku.embedders.openai import PROBE, OpenAIEmbedder, Options
from zhiku.ingest.embed import embed_pending
from zhiku.model import Chunk, ChunkTokens, ParsedDocument, Source
from zhiku.ports import Store
from zhiku.registry import STORES, load
from zhiku.remote import Client, Endpoint

TEXTS = [f"passage {n}" if n % 3 else f"第 {n} 段" for n in range(23)]
EXPECTED = {text: float(unit_vector(text) @ unit_vector("a question")) for text in TEXTS}
RUNS = 30


def _with_first(told: Told, first: object) -> Told:
    told.body["data"][-1]["embedding"][0] = first
    return Told(body=json.dumps(told.body).encode())


def _as_base64(told: Told) -> Told:
    for each in told.body["data"]:
        each["embedding"] = base64.b64encode(np.array(each["embedding"], "<f4").tobytes()).decode()
    return told


def _doubled(told: Told) -> Told:
    for each in told.body["data"]:
        each["index"] = 0
    return told


Fault = Callable[[Told], Told]
FAULTS: dict[str, Fault] = {
    "none": lambda told: told,
    "429": lambda told: Told(status=429, headers={"Retry-After": "1"}),
    "500": lambda told: Told(status=500),
    "503": lambda told: Told(status=503),
    "400": lambda told: Told(status=400),
    "401": lambda told: Told(status=401),
    "redirect": lambda told: Told(status=302, headers={"Location": "/"}),
    "no json": lambda told: Told(body=b"<html>"),
    "cut off": lambda told: Told(body=b"{}", headers={"Content-Length": "99", "Connection": "close"}),
    "error under 200": lambda told: Told(body={"error": "overloaded"}),
    "one too few": lambda told: Told(body={"data": told.body["data"][:-1]}),
    "one index for all": _doubled,
    "nan": lambda told: _with_first(told, float("nan")),
    "null": lambda told: _with_first(told, None),
    "reversed": lambda told: Told(body={"data": told.body["data"][::-1]}),
    "base64": _as_base64,
}
"""What may become of a reply. A request that is refused for its size is too, in effect: it is sent again in parts."""

plans = st.lists(st.sampled_from(sorted(FAULTS)), max_size=40)


class Faulty:
    """Answers each request by the next fault of a plan, and well once that is at its end."""

    def __init__(self) -> None:
        self.plan: deque[str] = deque()
        self.taken: list[str] = []

    def answer(self, number: int, seen: Seen) -> Told:
        fault = self.plan.popleft() if self.plan else "none"
        if fault in ("none", "reversed", "base64"):
            self.taken += seen.body["input"]
        return FAULTS[fault](embedded(seen))


@pytest.fixture(scope="module")
def faulty() -> Faulty:
    return Faulty()


@pytest.fixture(scope="module")
def server(faulty: Faulty) -> Iterator[Server]:
    with serving(faulty.answer) as opened:
        yield opened


def filled(folder: Path) -> Store:
    store: Store = load(STORES, "sqlite")(folder)
    with store.writing() as session:
        for n, text in enumerate(TEXTS):
            source = Source(root="/docs", path=str(n), size_bytes=1, mtime_ns=1, sha256=f"{n:064}")
            chunk = Chunk(text=text, char_start=0, char_end=len(text), line_start=1, line_end=1)
            tokens = [ChunkTokens(body=[], title=[], heading=[], name=[])]
            session.put(source, ParsedDocument(text=text, blocks=()), [chunk], tokens, format_name="plain")
    return store


def run(store: Store, server: Server) -> int:
    """Embed what is pending, as a command does, and return how much of it is left."""
    client = Client(pause=lambda seconds: None)
    lock = Lock(address=f"{server.url}/v1/embeddings", model="m")
    embedder = OpenAIEmbedder(Endpoint(url=server.url, model="m"), lock, client, Options(batch_size=8))
    try:
        with store.writing() as session:
            return embed_pending(session, embedder).pending
    finally:
        client.close()


def cosines(store: Store) -> dict[str, float]:
    with store.reading() as session:
        found = session.search_vectors(unit_vector("a question"), limit=len(TEXTS)).candidates
        stored = session.chunks([candidate.chunk_id for candidate in found])
        return {each.chunk.text: candidate.score for each, candidate in zip(stored, found, strict=True)}


@settings(max_examples=40, deadline=None)
@given(plan=plans)
def test_faults_cost_requests_and_nothing_else(plan: list[str], faulty: Faulty, server: Server) -> None:
    with TemporaryDirectory() as folder:
        store = filled(Path(folder))
        faulty.plan.extend(plan)
        faulty.taken.clear()
        for _ in range(RUNS):
            if not run(store, server):
                break
        found = cosines(store)
        with store.reading() as session:
            assert session.ledger() == []
        store.close()
    assert found == pytest.approx(EXPECTED, abs=1e-3)
    assert [text for text, times in Counter(faulty.taken).items() if times > 1 and text != PROBE] == []


@settings(max_examples=15, deadline=None)
@given(bad=st.sets(st.sampled_from(TEXTS), min_size=1, max_size=4))
def test_texts_that_a_server_always_fails_over_cost_the_others_nothing(bad: set[str]) -> None:
    def answer(number: int, seen: Seen) -> Told:
        return Told(status=500) if bad & set(seen.body["input"]) else embedded(seen)

    with TemporaryDirectory() as folder, serving(answer) as server:
        store = filled(Path(folder))
        assert run(store, server) == len(bad)
        taken = [text for seen in server.seen if not bad & set(seen.body["input"]) for text in seen.body["input"]]
        assert sorted(text for text in taken if text != PROBE) == sorted(set(TEXTS) - bad)
        assert set(cosines(store)) == set(TEXTS) - bad
        store.close()
