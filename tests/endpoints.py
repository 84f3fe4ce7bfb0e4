"""A server on this computer that answers as a test says."""

from __future__ import annotations

import json
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any

from fakes import unit_vector


@dataclass(frozen=True, kw_only=True)
class Seen:
    """A request as the server saw it."""

    path: str
    headers: dict[str, str]
    body: Any


@dataclass(frozen=True, kw_only=True)
class Told:
    """What the server answers: a body as JSON, or as it is; `hangs` for never."""

    body: Any = field(default_factory=dict)
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    hangs: bool = False


class Server(ThreadingHTTPServer):
    """Answers each request by `answer`; `seen` are the requests so far, each with its number from 1."""

    daemon_threads = True

    def __init__(self, answer: Callable[[int, Seen], Told]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answer = answer
        self.seen: list[Seen] = []
        self.ended = Event()

    @property
    def port(self) -> int:
        return int(self.server_address[1])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing of clients that went away."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Server

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)))
        seen = Seen(path=self.path, headers=dict(self.headers.items()), body=body)
        self.server.seen.append(seen)
        told = self.server.answer(len(self.server.seen), seen)
        if told.hangs:
            self.server.ended.wait(60)
            return
        content = told.body if isinstance(told.body, bytes) else json.dumps(told.body).encode()
        self.send_response(told.status)
        for name, value in {"Content-Length": str(len(content)), **told.headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *args: object) -> None:
        pass


@contextmanager
def serving(answer: Callable[[int, Seen], Told], tls: ssl.SSLContext | None = None) -> Iterator[Server]:
    """Run a server until the block ends."""
    server = Server(answer)
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.ended.set()
        server.shutdown()
        server.server_close()
        thread.join(10)


def embedded(seen: Seen, dims: int = 8) -> Told:
    """Return what a model would answer: for each text a direction that depends on nothing but the text."""
    texts = seen.body["input"]
    data = [{"index": i, "embedding": unit_vector(text, dims).tolist()} for i, text in enumerate(texts)]
    return Told(body={"data": data, "usage": {"total_tokens": sum(map(len, texts))}})


def texts_of(server: Server) -> list[list[str]]:
    """Return the texts of each request so far."""
    return [seen.body["input"] for seen in server.seen]


def overlap(question: str, text: str) -> float:
    """Return which share of a question's pairs of characters a text has, from 0 to 1: what a test's reranker scores."""
    pairs = {question[i : i + 2] for i in range(len(question) - 1)} or {question}
    return sum(pair in text for pair in pairs) / len(pairs)


def reranked(seen: Seen, score: Callable[[str, str], float] = overlap) -> Told:
    """Return what a reranker would answer, the best first."""
    texts = seen.body["documents"]
    results = [{"index": i, "relevance_score": score(seen.body["query"], text)} for i, text in enumerate(texts)]
    return Told(body={"results": sorted(results, key=lambda result: -result["relevance_score"])})
