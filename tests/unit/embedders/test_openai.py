"""The embedder behind an endpoint: nothing is taken on trust, and one bad text costs itself only."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import numpy as np
import pytest

from endpoints import Seen, Server, Told, embedded, serving, texts_of
from fakes import unit_vector
from zhiku.embedders.lock import Lock
from zhiku.embedders.openai import PROBE, OpenAIEmbedder, Options
from zhiku.errors import BadModelReply, ModelUnavailable
from zhiku.remote import Client, Endpoint

TEXTS = [f"passage {n}" for n in range(20)]
BAD = TEXTS[13]

Answer = Callable[[int, Seen], Told]
Open = Callable[..., tuple[OpenAIEmbedder, Server]]


@pytest.fixture
def over() -> Iterator[Open]:
    """Return a function that starts a server and gives an embedder over it."""
    with ExitStack() as stack:

        def start(answer: Answer, dims: int = 0, **options: object) -> tuple[OpenAIEmbedder, Server]:
            server = stack.enter_context(serving(answer))
            client = Client(pause=lambda seconds: None)
            stack.callback(client.close)
            instructions = {n: str(options.pop(n, "")) for n in ("query_instruction", "document_instruction")}
            lock = Lock(address=f"{server.url}/v1/embeddings", model="m", dims=dims, asked_dims=dims, **instructions)
            endpoint = Endpoint(url=server.url, model="m", timeout_s=20.0)
            return OpenAIEmbedder(endpoint, lock, client, Options(**options)), server

        yield start


def embed_all(embedder: OpenAIEmbedder, texts: list[str]) -> np.ndarray:
    """Embed all texts, with as many calls as it takes."""
    rows: list[np.ndarray] = []
    while len(rows) < len(texts):
        rows += list(embedder.embed_documents(texts[len(rows) :]))
    return np.stack(rows)


def ok(number: int, seen: Seen) -> Told:
    return embedded(seen)


def changed(change: Callable[[list[dict[str, object]]], object]) -> Answer:
    """Return a server whose data are changed before they are sent."""

    def answer(number: int, seen: Seen) -> Told:
        data = embedded(seen).body["data"]
        made = change(data)
        return Told(body={"data": data if made is None else made})

    return answer


def refusing(text: str, status: int) -> Answer:
    return lambda number, seen: Told(status=status) if text in seen.body["input"] else embedded(seen)


def spoiling(text: str, value: object) -> Answer:
    """Return a server that answers with `value` as the first number of one text's vector."""

    def answer(number: int, seen: Seen) -> Told:
        body = embedded(seen).body
        for each, of in zip(body["data"], seen.body["input"], strict=True):
            if of == text:
                each["embedding"] = [value, *each["embedding"][1:]]
        return Told(body=json.dumps(body).encode())

    return answer


def expected(texts: list[str], bad: str = "") -> np.ndarray:
    return np.stack([np.full(8, np.nan) if text == bad else unit_vector(text) for text in texts])


def test_what_is_sent_is_what_every_such_server_takes(over: Open) -> None:
    embedder, server = over(ok)
    embedder.embed_documents(TEXTS[:2])
    assert server.seen[0].path == "/v1/embeddings"
    assert server.seen[0].body == {"model": "m", "input": TEXTS[:2], "encoding_format": "float"}


def test_a_size_is_asked_for_only_where_one_is_set(over: Open) -> None:
    embedder, server = over(ok, dims=8)
    embedder.embed_documents(TEXTS[:1])
    assert server.seen[0].body["dimensions"] == 8


def test_the_size_is_learnt_from_the_first_reply(over: Open) -> None:
    embedder, _ = over(ok)
    before = embedder.fingerprint
    assert embedder.dims == 0
    embedder.embed_documents(TEXTS[:1])
    assert (embedder.dims, embedder.fingerprint == before) == (8, False)


def as_base64(data: list[dict[str, object]]) -> None:
    for each in data:
        each["embedding"] = base64.b64encode(np.array(each["embedding"], "<f4").tobytes()).decode()


def scaled(data: list[dict[str, object]]) -> None:
    for each in data:
        each["embedding"] = (3 * np.array(each["embedding"])).tolist()


@pytest.mark.parametrize("change", [list.reverse, as_base64, scaled, lambda data: None])
def test_vectors_come_in_the_order_of_the_texts_and_with_length_1(over: Open, change: Callable[..., None]) -> None:
    embedder, _ = over(changed(change))
    vectors = embed_all(embedder, TEXTS)
    assert vectors.dtype == np.float32
    assert np.allclose(vectors, expected(TEXTS), atol=1e-6)


def doubled(data: list[dict[str, object]]) -> None:
    for each in data:
        each["index"] = 0


def strange(embedding: object) -> Callable[[list[dict[str, object]]], object]:
    return lambda data: data[0].update(embedding=embedding)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: data[:-1], "answers with 2 vectors for 3 texts"),
        (lambda data: [*data, data[0]], "answers with 4 vectors for 3 texts"),
        (doubled, "does not say which vector is of which text"),
        (lambda data: data[1].update(index=None), "does not say which vector"),
        (lambda data: data[0].update(index=[0]), "does not say which vector"),
        (strange([1.0] * 7), "vectors of 7, 8 numbers"),
        (strange([]), "vectors of 0, 8 numbers"),
        (strange([[1.0] * 8]), "vectors of 1, 8 numbers"),
        (strange([[1.0]] * 8), "a vector that is none"),
        (strange(["x"] * 8), "a vector that is none"),
        (strange("no base64!"), "a vector that is none"),
        (strange(base64.b64encode(b"123").decode()), "a vector that is none"),
        (strange(None), "a vector that is none"),
        (lambda data: {}, "holds no vectors"),
        (lambda data: ["x"], "holds no vectors"),
    ],
)
def test_a_reply_that_cannot_be_right_is_refused(over: Open, change: Callable[..., object], message: str) -> None:
    embedder, server = over(changed(change))
    with pytest.raises(BadModelReply, match=message):
        embedder.embed_documents(TEXTS[:3])
    assert len(server.seen) == 1


def test_a_question_of_another_size_is_refused(over: Open) -> None:
    embedder, _ = over(lambda number, seen: embedded(seen, dims=16), dims=8)
    with pytest.raises(BadModelReply, match="vectors of 16 numbers instead of 8"):
        embedder.embed_queries(["where"])


@pytest.mark.parametrize("value", [float("nan"), float("inf"), None, 1e308])
def test_a_vector_that_is_none_costs_its_text_only(over: Open, value: object) -> None:
    embedder, server = over(spoiling(BAD, value))
    vectors = embed_all(embedder, TEXTS)
    assert np.allclose(vectors, expected(TEXTS, BAD), atol=1e-6, equal_nan=True)
    assert len(server.seen) <= 3


def test_zeros_are_no_vector(over: Open) -> None:
    def zeros(number: int, seen: Seen) -> Told:
        body = embedded(seen).body
        for each, text in zip(body["data"], seen.body["input"], strict=True):
            each["embedding"] = [0.0] * 8 if text == BAD else each["embedding"]
        return Told(body=body)

    embedder, _ = over(zeros)
    assert np.allclose(embed_all(embedder, TEXTS), expected(TEXTS, BAD), atol=1e-6, equal_nan=True)


def test_a_question_without_a_usable_vector_is_an_error(over: Open) -> None:
    embedder, _ = over(spoiling("where", float("nan")))
    with pytest.raises(BadModelReply, match="no usable vector for the question"):
        embedder.embed_queries(["where"])


@pytest.mark.parametrize("status", [400, 413, 422])
def test_a_batch_that_is_refused_is_halved_and_the_size_remembered(over: Open, status: int) -> None:
    embedder, server = over(lambda n, seen: Told(status=status) if len(seen.body["input"]) > 6 else embedded(seen))
    assert np.allclose(embed_all(embedder, TEXTS), expected(TEXTS), atol=1e-6)
    assert embedder.batch_size == 5
    asked = len(server.seen)
    embed_all(embedder, TEXTS)
    assert [len(texts) for texts in texts_of(server)[asked:]] == [5, 5, 5, 5]


def test_the_text_that_a_server_fails_over_is_found_and_the_others_are_embedded_once(over: Open) -> None:
    embedder, server = over(refusing(BAD, 500))
    assert np.allclose(embed_all(embedder, TEXTS), expected(TEXTS, BAD), atol=1e-6, equal_nan=True)
    done = [text for seen in server.seen if BAD not in seen.body["input"] for text in seen.body["input"]]
    assert sorted(done) == sorted([PROBE, *(text for text in TEXTS if text != BAD)])
    assert embedder.batch_size == 64
    assert len(server.seen) <= 20


def test_what_a_request_brought_is_given_back_before_the_next(over: Open) -> None:
    embedder, server = over(lambda n, seen: Told(status=400) if len(seen.body["input"]) > 6 else embedded(seen))
    assert len(embedder.embed_documents(TEXTS)) == 5
    assert [len(texts) for texts in texts_of(server)] == [20, 10, 5]


def test_a_text_that_is_refused_for_itself_does_not_make_batches_smaller(over: Open) -> None:
    embedder, _ = over(refusing(BAD, 400))
    assert np.allclose(embed_all(embedder, TEXTS), expected(TEXTS, BAD), atol=1e-6, equal_nan=True)
    assert embedder.batch_size == 64


def test_of_a_text_that_is_too_long_the_beginning_is_embedded(over: Open) -> None:
    def answer(number: int, seen: Seen) -> Told:
        return Told(status=413) if any(len(text) > 300 for text in seen.body["input"]) else embedded(seen)

    embedder, _ = over(answer)
    vectors = embed_all(embedder, ["short", "long " * 200])
    assert np.allclose(vectors, [unit_vector("short"), unit_vector(("long " * 200)[:250])], atol=1e-6)
    assert embedder.batch_size == 64


def test_a_server_that_fails_at_everything_ends_the_run_soon(over: Open) -> None:
    embedder, server = over(lambda number, seen: Told(status=500))
    with pytest.raises(ModelUnavailable, match="fails"):
        embed_all(embedder, TEXTS)
    assert len(server.seen) <= 14


def test_a_server_that_refuses_everything_is_quoted_since_nothing_of_the_user_was_sent(over: Open) -> None:
    def answer(number: int, seen: Seen) -> Told:
        return Told(status=400, body={"error": {"message": f"no model m for {seen.body['input'][0]}"}})

    embedder, _ = over(answer)
    with pytest.raises(BadModelReply, match=f"refuses every text .HTTP 400.: no model m for {PROBE}"):
        embed_all(embedder, TEXTS)


@pytest.mark.parametrize("status", [401, 404])
def test_a_wrong_key_or_model_is_not_tried_on_every_text(over: Open, status: int) -> None:
    embedder, server = over(lambda number, seen: Told(status=status))
    with pytest.raises(BadModelReply):
        embed_all(embedder, TEXTS)
    assert len(server.seen) == 1


def test_a_model_that_spoils_everything_is_no_fault_of_the_texts(over: Open) -> None:
    def answer(number: int, seen: Seen) -> Told:
        body = {"data": [{"index": i, "embedding": [0.0] * 8} for i in range(len(seen.body["input"]))]}
        return Told(body=body)

    embedder, _ = over(answer)
    with pytest.raises(BadModelReply, match="without a number"):
        embed_all(embedder, TEXTS)


def test_requests_hold_as_many_texts_as_is_set_and_no_more_tokens_than_is_usual(over: Open) -> None:
    embedder, server = over(ok, batch_size=8)
    embed_all(embedder, TEXTS)
    assert [len(texts) for texts in texts_of(server)] == [8, 8, 4]
    embed_all(embedder, ["字" * 9_000] * 4)
    assert [len(texts) for texts in texts_of(server)[3:]] == [2, 2]


def test_long_texts_are_cut_before_they_are_sent(over: Open) -> None:
    embedder, server = over(ok, max_input_tokens=50)
    embedder.embed_documents(["word " * 1_000, "short"])
    assert len(server.seen[0].body["input"][0]) < 300
    assert server.seen[0].body["input"][1] == "short"


def test_instructions_come_before_the_texts_they_are_for(over: Open) -> None:
    embedder, server = over(ok, query_instruction="Q: ", document_instruction="D: ")
    embedder.embed_documents(["a"])
    embedder.embed_queries(["b"])
    assert texts_of(server) == [["D: a"], ["Q: b"]]


@pytest.mark.parametrize("text", ["", " \n", "a\ud800b", "\0", "👩‍👩‍👧"])
def test_any_text_can_be_sent(over: Open, text: str) -> None:
    embedder, server = over(ok)
    assert np.isfinite(embedder.embed_documents([text])).all()
    assert server.seen[0].body["input"][0].strip()


def test_no_texts_cost_no_request(over: Open) -> None:
    embedder, server = over(ok, dims=8)
    assert embedder.embed_documents([]).shape == embedder.embed_queries([]).shape == (0, 8)
    assert server.seen == []
