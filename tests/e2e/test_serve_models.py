"""`zhiku serve-models` by the real command, over a real socket."""

from __future__ import annotations

import base64
import json
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import httpx2
import numpy as np
import pytest

from patience import PROMPT_S
from served import HAS_BUILTIN, Served, served

if TYPE_CHECKING:
    from conftest import Cli

pytestmark = pytest.mark.skipif(not HAS_BUILTIN, reason="this system has no built-in model")

MODEL = "multilingual-e5-small"
TEXTS = ["query: how often is the rain gauge calibrated", "passage: 雨量筒每年春天校准一次。", "passage: 猫在睡觉。"]
needs_signals = pytest.mark.skipif(sys.platform == "win32", reason="Windows cannot send SIGINT to another process")


@pytest.fixture(scope="module")
def server(new_cli: Callable[[], Cli]) -> Iterator[Served]:
    cli = new_cli()
    with served(cli.folder, cli.environ()) as running:
        yield running


def client(server: Served, **options: Any) -> httpx2.Client:
    return httpx2.Client(base_url=server.url, trust_env=False, timeout=60, **options)


def port_of(server: Served) -> int:
    return httpx2.URL(server.url).port or 0


def test_texts_in_two_languages_are_embedded_so_that_the_answer_is_the_nearest(server: Served) -> None:
    with client(server) as http:
        done = http.post("/embeddings", json={"model": MODEL, "input": TEXTS}).json()
        coded = http.post("/embeddings", json={"model": MODEL, "input": TEXTS, "encoding_format": "base64"}).json()
    vectors = np.array([each["embedding"] for each in done["data"]], np.float32)
    assert vectors.shape == (3, 384)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2]
    same = [np.frombuffer(base64.b64decode(each["embedding"]), "<f4") for each in coded["data"]]
    assert np.array_equal(np.stack(same), vectors)
    assert done["usage"]["total_tokens"] > 20


def test_the_document_that_answers_is_the_most_relevant(server: Served) -> None:
    documents = [
        "The cat sleeps on the sofa.",
        "The rain gauge is calibrated once a year.",
        "Two people carry the ladder.",
    ]
    for question in ("How often is the rain gauge calibrated?", "雨量筒多久校准一次？"):
        with client(server) as http:
            done = http.post("/rerank", json={"model": MODEL, "query": question, "documents": documents}).json()
        assert done["results"][0]["index"] == 1


def test_only_this_computer_can_reach_it_and_it_says_so_of_its_model(server: Served) -> None:
    with client(server) as http:
        (card,) = http.get("/models").json()["data"]
        assert (card["id"], card["dimensions"], card["is_fallback"]) == (MODEL, 384, False)
        assert http.get("/models", headers={"Host": f"evil.example:{port_of(server)}"}).status_code == 421
        assert http.get("/models", headers={"Origin": "http://evil.example"}).status_code == 403
        assert not [name for name in http.get("/models").headers if name.startswith("access-control")]
    with pytest.raises((ConnectionRefusedError, TimeoutError)):
        socket.create_connection((_address_of_this_computer(), port_of(server)), timeout=5)


def _address_of_this_computer() -> str:
    """Return an address that other computers know; nothing is sent for it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            pytest.skip("this computer has no network")
        return str(probe.getsockname()[0])


def test_a_body_that_is_too_large_is_refused_and_the_next_one_is_not(server: Served) -> None:
    with client(server) as http:
        assert http.post("/embeddings", content=(b" " * 1_000_000 for _ in range(17))).status_code == 413
        assert http.post("/embeddings", json={"model": MODEL, "input": "a"}).status_code == 200


def send_long_list(server: Served) -> socket.socket:
    """Ask for more than a minute's work, and return the connection that waits for it."""
    body = json.dumps({"model": MODEL, "input": [f"{n} " + "word " * 400 for n in range(2_000)]}).encode()
    head = f"POST /v1/embeddings HTTP/1.1\r\nHost: 127.0.0.1:{port_of(server)}\r\nContent-Type: application/json\r\n"
    waiting = socket.create_connection(("127.0.0.1", port_of(server)), timeout=60)
    waiting.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
    return waiting


def test_a_question_does_not_wait_for_a_long_list(server: Served) -> None:
    with client(server) as http, send_long_list(server):
        for _ in range(3):
            assert http.post("/embeddings", json={"model": MODEL, "input": "short"}).status_code == 200
        assert "2000 texts" not in server.notes


@needs_signals
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_ends_at_once_whatever_is_under_way_and_starts_again(cli: Cli, number: int) -> None:
    with served(cli.folder, cli.environ()) as server, client(server) as http, send_long_list(server):
        assert http.post("/embeddings", json={"model": MODEL, "input": "short"}).status_code == 200
        assert server.end(number) < PROMPT_S
        assert "Stopped serving" in server.notes
        port = str(port_of(server))
    with served(cli.folder, cli.environ(), "--port", port) as again:
        assert httpx2.get(f"{again.url}/models", trust_env=False, timeout=60).status_code == 200


def test_a_port_that_is_taken_is_said_to_be(cli: Cli, server: Served) -> None:
    done = cli("serve-models", "--port", str(port_of(server)))
    assert (done.returncode, done.stdout) == (2, "")
    assert "--port 0" in done.stderr


def test_an_address_that_others_can_reach_is_refused(cli: Cli) -> None:
    done = cli("serve-models", "--host", "0.0.0.0")
    assert (done.returncode, done.stdout) == (2, "")
    assert "other computers" in done.stderr
