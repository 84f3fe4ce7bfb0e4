"""Whatever an endpoint does wrong in between, the index is in the end what a healthy one would have led to."""

from __future__ import annotations

import base64
import json
import re
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from email.utils import format_datetime
from http.server import ThreadingHTTPServer
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from case_doors import CASES
from endpoints import Seen, Server, Told, embedded, serving
from fakes import DIMS, unit_vector
from zhiku.embedders.lock import Lock
from zhiku.embedders.openai import PROBE, OpenAIEmbedder, Options
from zhiku.ingest.embed import embed_pending
from zhiku.model import Chunk, ChunkTokens, ParsedDocument, Source
from zhiku.ports import Store
from zhiku.registry import STORES, load
from zhiku.remote import Client, Endpoint

TEXTS = [f"passage {n}" if n % 3 else f"第 {n} 段" for n in range(23)]
EXPECTED = {text: float(unit_vector(text) @ unit_vector("a question")) for text in TEXTS}
MAX_FAULTS = 40


def _with_last(told: Told, vector: list[Any]) -> Told:
    told.body["data"][-1]["embedding"] = vector
    return Told(body=json.dumps(told.body).encode())


def _as_base64(told: Told) -> Told:
    for each in told.body["data"]:
        each["embedding"] = base64.b64encode(np.array(each["embedding"], "<f4").tobytes()).decode()
    return told


def _doubled(told: Told) -> Told:
    for each in told.body["data"]:
        each["index"] = 0
    return told


def now() -> datetime:
    return datetime.now(UTC)


Fault = Callable[[Told], Told]
FAULTS: dict[str, Fault] = {
    "none": lambda told: told,
    "429": lambda told: Told(status=429),
    "429, come back in a second": lambda told: Told(status=429, headers={"Retry-After": "1"}),
    "429, come back at a time": lambda told: Told(status=429, headers={"Retry-After": format_datetime(now(), True)}),
    "429, come back tomorrow": lambda told: Told(status=429, headers={"Retry-After": "86400"}),
    "500": lambda told: Told(status=500),
    "503": lambda told: Told(status=503),
    "400": lambda told: Told(status=400),
    "401": lambda told: Told(status=401),
    "404": lambda told: Told(status=404),
    "413": lambda told: Told(status=413),
    "422": lambda told: Told(status=422),
    "redirect": lambda told: Told(status=302, headers={"Location": "/"}),
    "no json": lambda told: Told(body=b"<html>"),
    "cut off": lambda told: Told(body=b"{}", headers={"Content-Length": "99", "Connection": "close"}),
    "error under 200": lambda told: Told(body={"error": "overloaded"}),
    "one too few": lambda told: Told(body={"data": told.body["data"][:-1]}),
    "one index for all": _doubled,
    "another size": lambda told: _with_last(told, [1.0] * (DIMS + 1)),
    "zeros": lambda told: _with_last(told, [0.0] * DIMS),
    "nan": lambda told: _with_last(told, [float("nan")] * DIMS),
    "infinite": lambda told: _with_last(told, [float("inf")] * DIMS),
    "null": lambda told: _with_last(told, [None] * DIMS),
    "reversed": lambda told: Told(body={"data": told.body["data"][::-1]}),
    "base64": _as_base64,
}
"""What may become of a reply."""
GOOD = ("none", "reversed", "base64")

plans = st.lists(st.sampled_from(sorted(FAULTS)), max_size=MAX_FAULTS)


class Faulty:
    """Answers each request by the next fault of a plan, and well once that is at its end."""

    def __init__(self) -> None:
        self.plan: deque[str] = deque()
        self.taken: list[str] = []

    def answer(self, number: int, seen: Seen) -> Told:
        fault = self.plan.popleft() if self.plan else "none"
        if fault in GOOD:
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


def run(store: Store, url: str) -> int:
    """Embed what is pending, as a command does, and return how much of it is left."""
    client = Client(pause=lambda seconds: None)
    lock = Lock(address=f"{url}/v1/embeddings", model="m", dims=DIMS)
    embedder = OpenAIEmbedder(Endpoint(url=url, model="m"), lock, client, Options(batch_size=8))
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
        for _ in range(MAX_FAULTS + 1):
            if not run(store, server.url):
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
        assert run(store, server.url) == len(bad)
        taken = [text for seen in server.seen if not bad & set(seen.body["input"]) for text in seen.body["input"]]
        assert sorted(text for text in taken if text != PROBE) == sorted(set(TEXTS) - bad)
        assert set(cosines(store)) == set(TEXTS) - bad
        store.close()


# --- the server that reported faults are tested with: it may be worse, better or otherwise at each run ---


class Misbehaving(ThreadingHTTPServer):
    """The fake endpoint of the cases; `opt` is how it misbehaves, `sent` what it was sent since that changed."""

    daemon_threads = True

    def __init__(self) -> None:
        spec = spec_from_file_location("fake_endpoint", CASES / "tools" / "fake_endpoint.py")
        assert spec is not None
        assert spec.loader is not None
        tool = module_from_spec(spec)
        spec.loader.exec_module(tool)

        def rec(handler: Any, number: int, body: Any, error: str | None) -> None:
            self.sent += body["input"]

        super().__init__(("127.0.0.1", 0), type("Handler", (tool.H,), {"rec": rec}))
        self.lock = threading.Lock()
        self.vector_of: Callable[[str, int], list[float]] = tool.vec
        self.change({})

    def change(self, opt: dict[str, str]) -> None:
        self.opt = opt
        self.n = 0
        self.sent: list[str] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def cosines(self) -> dict[str, float]:
        question = unit_vector("a question")
        return {text: float(np.array(self.vector_of(text, DIMS)) @ question) for text in TEXTS}


@pytest.fixture(scope="module")
def misbehaving() -> Iterator[Misbehaving]:
    with Misbehaving() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join(10)


WAYS = {
    "order": ("reversed",),
    "enc": ("float", "base64"),
    "max_batch": ("1", "3"),
    "max_chars": ("8", "9"),
    "nan_on": ("7", "第", "passage 1"),
    "nan_value": ("7", "第", "passage 1"),
    "limit429": ("1", "4", "9"),
    "retry_after": ("1", "date", "none"),
    "fail_after": ("0", "1", "3"),
    "paths": ("/elsewhere",),
    "dup_index": ("1",),
    "drop_last": ("1",),
    "dim": ("16",),
}
"""Every way in which the fake endpoint can misbehave about embeddings."""

states = st.fixed_dictionaries({}, optional={name: st.sampled_from(values) for name, values in WAYS.items()})


def without_vector(store: Store) -> set[str]:
    with store.writing() as session:
        return {item.text for item in session.view().pending_texts(after=-1, limit=len(TEXTS))}


def test_the_ways_are_all_that_the_fake_endpoint_has() -> None:
    text = (CASES / "tools" / "fake_endpoint.py").read_text("utf-8")
    told = text[text.index("Embedding options:") : text.index("Rerank options:")]
    assert set(re.findall(r"(\w+)=", told)) == set(WAYS)


@settings(max_examples=40, deadline=None)
@given(plan=st.lists(states, max_size=5))
def test_a_server_that_misbehaves_for_some_runs_leaves_the_index_of_a_healthy_one(
    plan: list[dict[str, str]], misbehaving: Misbehaving
) -> None:
    with TemporaryDirectory() as folder:
        store = filled(Path(folder))
        for opt in [*plan, {}]:
            before = without_vector(store)
            misbehaving.change(opt)
            left = run(store, misbehaving.url)
            assert set(misbehaving.sent) <= before | {PROBE}
            assert left == len(without_vector(store))
        found = cosines(store)
        with store.reading() as session:
            assert session.ledger() == []
        store.close()
    assert found == pytest.approx(misbehaving.cosines(), abs=1e-3)
