"""The built-in model as other programs meet it, without a socket."""

from __future__ import annotations

import base64
import json
import logging
from typing import Any

import anyio
import numpy as np
import pytest
from starlette.testclient import TestClient

from fakes import FakeEmbedder, stop_at, unit_vector
from zhiku.errors import ModelUnavailable
from zhiku.service.local_model import LocalModel
from zhiku.web.models_app import CLIENT_GONE, MAX_BODY_BYTES, PORTION_TOKENS, models_app, portions
from zhiku.web.requests import MAX_TEXTS

TEXTS = ["query: 雨量筒 校准", "passage: the rain gauge", ""]
BASE = "http://127.0.0.1:8456"


def client_of(embedder: FakeEmbedder, *, is_fallback: bool = False) -> TestClient:
    app = models_app(LocalModel(embedder=embedder, is_fallback=is_fallback))
    return TestClient(app, base_url=BASE, raise_server_exceptions=False)


@pytest.fixture
def embedder() -> FakeEmbedder:
    return FakeEmbedder("m1")


@pytest.fixture
def client(embedder: FakeEmbedder) -> TestClient:
    return client_of(embedder)


def error_of(client: TestClient, path: str, body: Any) -> tuple[int, dict[str, Any]]:
    done = client.post(path, json=body)
    return done.status_code, done.json()["error"]


# --- embeddings ---


def test_texts_are_embedded_as_given_in_their_order(client: TestClient, embedder: FakeEmbedder) -> None:
    done = client.post("/v1/embeddings", json={"model": "m1", "input": TEXTS}).json()
    assert embedder.seen == TEXTS
    assert [each["index"] for each in done["data"]] == [0, 1, 2]
    assert [each["object"] for each in done["data"]] == ["embedding"] * 3
    for text, each in zip(TEXTS, done["data"], strict=True):
        assert np.array_equal(np.array(each["embedding"], np.float32), unit_vector(f"m1{text}"))
    assert (done["object"], done["model"]) == ("list", "m1")
    assert done["usage"] == {"prompt_tokens": sum(map(len, TEXTS)), "total_tokens": sum(map(len, TEXTS))}


def test_one_text_needs_no_list(client: TestClient, embedder: FakeEmbedder) -> None:
    assert len(client.post("/v1/embeddings", json={"model": "m1", "input": "one"}).json()["data"]) == 1
    assert embedder.seen == ["one"]


def test_base64_holds_the_same_numbers(client: TestClient) -> None:
    body = {"model": "m1", "input": "one", "encoding_format": "base64"}
    (each,) = client.post("/v1/embeddings", json=body).json()["data"]
    assert np.array_equal(np.frombuffer(base64.b64decode(each["embedding"]), "<f4"), unit_vector("m1one"))


def test_many_texts_are_embedded_in_portions_and_lose_nothing(client: TestClient, embedder: FakeEmbedder) -> None:
    texts = [f"{n} " + "字" * 200 for n in range(50)]
    data = client.post("/v1/embeddings", json={"model": "m1", "input": texts}).json()["data"]
    assert embedder.seen == texts
    assert np.array_equal(np.array(data[37]["embedding"], np.float32), unit_vector(f"m1{texts[37]}"))


def test_what_other_clients_send_beside_it_does_no_harm(client: TestClient) -> None:
    body = {"model": "m1", "input": "one", "user": "u", "truncate": True, "dimensions": 8}
    assert client.post("/v1/embeddings", json=body).status_code == 200


@pytest.mark.parametrize(
    ("change", "status", "param", "word"),
    [
        ({"model": "m2"}, 404, "model", "m1"),
        ({"model": None}, 422, "model", "string"),
        ({"dimensions": 4}, 400, "dimensions", "8"),
        ({"dimensions": "many"}, 422, "dimensions", "integer"),
        ({"encoding_format": "hex"}, 422, "encoding_format", "base64"),
        ({"input": []}, 422, "input", "1"),
        ({"input": None}, 422, "input", "list"),
        ({"input": ["a", 3]}, 422, "input", "input.1"),
        ({"input": [[1, 2]]}, 422, "input", "string"),
        ({"input": ["a"] * (MAX_TEXTS + 1)}, 413, "input", "2,048"),
    ],
)
def test_what_cannot_be_served_is_refused_with_the_reason(
    client: TestClient, embedder: FakeEmbedder, change: dict[str, Any], status: int, param: str, word: str
) -> None:
    found, error = error_of(client, "/v1/embeddings", {"model": "m1", "input": "one", **change})
    assert (found, error["param"]) == (status, param)
    assert word in error["message"]
    assert error["type"] == "invalid_request_error"
    assert embedder.seen == []


@pytest.mark.parametrize(
    ("content", "kind", "status"),
    [
        (b'{"model":', "application/json", 400),
        (b"\xff\xfe", "application/json", 400),
        (b"[" * 100_000, "application/json", 400),
        (b"[]", "application/json", 422),
        (b"", "application/json", 422),
        (b'{"model": "m1", "input": "one"}', "text/plain", 422),
        (b" " * (MAX_BODY_BYTES + 1), "application/json", 413),
    ],
    ids=["cut off", "no UTF-8", "deep", "list", "empty", "text", "too large"],
)
def test_a_body_that_is_none_is_refused(client: TestClient, content: bytes, kind: str, status: int) -> None:
    done = client.post("/v1/embeddings", content=content, headers={"Content-Type": kind})
    assert done.status_code == status
    assert done.json()["error"]["message"]


def test_an_error_never_quotes_a_text(client: TestClient) -> None:
    for body in ({"input": ["秘密"]}, {"model": "m1", "input": {"秘密": 1}}, {"model": "m1", "input": ["秘密", 1]}):
        assert "秘密" not in client.post("/v1/embeddings", json=body).text


# --- rerank ---


def test_documents_come_back_by_their_relevance(client: TestClient) -> None:
    body = {"model": "m1", "query": "水泵", "documents": ["阀门", {"text": "水泵"}, "pump"]}
    done = client.post("/v1/rerank", json=body).json()
    scores = [each["relevance_score"] for each in done["results"]]
    assert done["results"][0] == {"index": 1, "relevance_score": pytest.approx(1.0)}
    assert sorted(each["index"] for each in done["results"]) == [0, 1, 2]
    assert scores == sorted(scores, reverse=True)
    assert done["usage"]["total_tokens"] > 0


def test_only_the_best_come_back_with_their_text_if_asked(client: TestClient) -> None:
    body = {"query": "b", "documents": ["a", "b", "c"], "top_n": 1, "return_documents": True}
    done = client.post("/v1/rerank", json=body).json()
    assert [each["document"] for each in done["results"]] == [{"text": "b"}]


def test_half_a_surrogate_does_no_harm(client: TestClient) -> None:
    half = b"\\ud800"
    content = b'{"query": "q", "documents": ["' + half + b'"], "return_documents": true}'
    done = client.post("/v1/rerank", content=content, headers={"Content-Type": "application/json"})
    assert half in done.content
    content = b'{"model": "m1", "input": "' + half + b'"}'
    assert (
        client.post("/v1/embeddings", content=content, headers={"Content-Type": "application/json"}).status_code == 200
    )


def test_equal_documents_keep_their_order_over_all_portions(client: TestClient) -> None:
    documents = ["字" * 400] * 9
    results = client.post("/v1/rerank", json={"query": "q", "documents": documents}).json()["results"]
    assert [each["index"] for each in results] == list(range(9))


@pytest.mark.parametrize(
    ("change", "status", "param"),
    [
        ({"model": "m2"}, 404, "model"),
        ({"query": None}, 422, "query"),
        ({"documents": []}, 422, "documents"),
        ({"documents": [{"title": "x"}]}, 422, "documents"),
        ({"top_n": 0}, 422, "top_n"),
        ({"documents": ["a"] * (MAX_TEXTS + 1)}, 413, "documents"),
    ],
)
def test_a_wrong_question_for_relevance_is_refused(
    client: TestClient, change: dict[str, Any], status: int, param: str
) -> None:
    found, error = error_of(client, "/v1/rerank", {"query": "q", "documents": ["a"], **change})
    assert (found, error["param"]) == (status, param)


# --- what there is ---


def test_the_model_is_listed(client: TestClient) -> None:
    listed = client.get("/v1/models").json()
    assert listed["object"] == "list"
    (card,) = listed["data"]
    assert (card["id"], card["object"], card["dimensions"], card["is_fallback"]) == ("m1", "model", 8, False)
    assert client.get("/v1/models/m1").json() == card
    assert client.get("/v1/models/m2").status_code == 404
    assert client.get("/health").json() == {"status": "ok", "model": "m1"}


def test_a_model_that_stands_in_for_another_says_so(embedder: FakeEmbedder) -> None:
    (card,) = client_of(embedder, is_fallback=True).get("/v1/models").json()["data"]
    assert card["is_fallback"] is True


@pytest.mark.parametrize(("method", "path"), [("GET", "/v1/nothing"), ("GET", "/docs"), ("OPTIONS", "/v1/embeddings")])
def test_what_is_not_there_is_an_error_of_the_same_shape(client: TestClient, method: str, path: str) -> None:
    done = client.request(method, path)
    assert done.status_code in (404, 405)
    assert path in done.json()["error"]["message"]


def test_other_names_for_this_computer_are_refused_on_every_path(client: TestClient) -> None:
    for path in ("/health", "/v1/models", "/v1/embeddings", "/openapi.json", "/nothing"):
        assert client.get(path, headers={"Host": "evil.example:8456"}).status_code == 421


# --- what goes wrong ---


def test_a_model_that_fails_is_an_error_of_the_server(caplog: pytest.LogCaptureFixture) -> None:
    failure = ModelUnavailable("the model file is gone.")
    client = client_of(FakeEmbedder("m1", before=stop_at(1, failure)))
    status, error = error_of(client, "/v1/embeddings", {"model": "m1", "input": "one"})
    assert (status, error["type"], error["code"]) == (500, "server_error", "model_unavailable")
    assert "the model file is gone" in caplog.text
    assert client.post("/v1/embeddings", json={"model": "m1", "input": "one"}).status_code == 200


def test_a_bug_is_logged_with_its_traceback_and_ends_nothing(caplog: pytest.LogCaptureFixture) -> None:
    client = client_of(FakeEmbedder("m1", before=stop_at(1, ZeroDivisionError("oops"))))
    status, error = error_of(client, "/v1/embeddings", {"model": "m1", "input": "秘密"})
    assert (status, error["type"]) == (500, "server_error")
    assert "ZeroDivisionError" in caplog.text
    assert "秘密" not in caplog.text
    assert client.get("/health").status_code == 200


def test_the_log_counts_and_quotes_nothing(client: TestClient, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    client.post("/v1/embeddings", json={"model": "m1", "input": ["秘密", "b"]})
    client.post("/v1/rerank", json={"query": "秘密", "documents": ["秘密"]})
    assert "2 texts" in caplog.text
    assert "秘密" not in caplog.text


def test_what_a_client_that_is_gone_wanted_is_given_up() -> None:
    embedder = FakeEmbedder("m1")
    body = [json.dumps({"model": "m1", "input": ["字" * 400] * 9}).encode()]
    said: list[Any] = []

    async def receive() -> Any:
        if body:
            return {"type": "http.request", "body": body.pop()}
        if not embedder.seen:
            await anyio.sleep_forever()
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        said.append(message)

    scope = {
        "type": "http",
        "method": "POST",
        "path": "/v1/embeddings",
        "query_string": b"",
        "headers": [(b"host", b"127.0.0.1:8456"), (b"content-type", b"application/json")],
        "server": ("127.0.0.1", 8456),
    }
    anyio.run(models_app(LocalModel(embedder=embedder)), scope, receive, send)
    assert said[0]["status"] == CLIENT_GONE
    assert len(embedder.seen) == 1


# --- portions ---


def test_portions_hold_every_text_once_and_no_more_than_the_model_does_in_a_moment() -> None:
    texts = ["short"] * 300 + ["字" * 5_000] * 3 + ["short"]
    made = list(portions(texts, 512))
    assert [text for portion in made for text in portion] == texts
    assert len(made) < 20
    assert ["字" * 5_000] in made
    assert PORTION_TOKENS >= 512
