"""The reranker behind an endpoint: styles and scales are learnt once, limits are found out, failures cost little."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from math import exp
from pathlib import Path
from typing import Any

import pytest

from endpoints import Seen, Server, Told, overlap, reranked, serving
from zhiku.errors import BadModelReply, ModelError, ModelUnavailable
from zhiku.remote import Client, Endpoint
from zhiku.rerankers.http import PROBE, PROBE_TEXTS, HttpReranker

QUESTION = "水泵保修期为三年"
TEXTS = ["食堂菜单：周三面条。", "保修条款：水泵保修期为三年。", "阀门保修条款另见附件。"]
SCORES = [overlap(QUESTION, text) for text in TEXTS]


def made(server: Server, memory: Path | None = None, **options: Any) -> HttpReranker:
    endpoint = Endpoint(url=server.url, model="m", kind="rerank")
    return HttpReranker(endpoint, Client(), memory=memory, **options)


def asked(server: Server, name: str = "documents") -> list[list[str]]:
    """Return the texts of each request that was not about the known pair."""
    return [seen.body[name] for seen in server.seen if seen.body["query"] != PROBE]


def probes(server: Server) -> int:
    return sum(seen.body["query"] == PROBE for seen in server.seen)


def logits(question: str, text: str) -> float:
    return 20 * overlap(question, text) - 10


def answering(score: Callable[[str, str], float]) -> Callable[[int, Seen], Told]:
    return lambda number, seen: reranked(seen, score)


def as_tei(number: int, seen: Seen) -> Told:
    if "texts" not in seen.body:
        return Told(status=422, body=b"Failed to deserialize the JSON body: missing field `texts`")
    found = [{"index": i, "score": overlap(seen.body["query"], t)} for i, t in enumerate(seen.body["texts"])]
    return Told(body=found[::-1])


def test_each_text_has_the_score_that_the_endpoint_gave_it() -> None:
    with serving(answering(overlap)) as server:
        assert made(server).score(QUESTION, TEXTS) == SCORES
    seen = server.seen[-1]
    assert seen.path == "/v1/rerank"
    assert seen.body == {"query": QUESTION, "documents": TEXTS, "top_n": 3, "model": "m"}


def test_nothing_is_asked_about_no_texts() -> None:
    with serving(answering(overlap)) as server:
        assert made(server).score(QUESTION, []) == []
    assert server.seen == []


def test_an_instruction_stands_before_the_question() -> None:
    with serving(answering(overlap)) as server:
        made(server, instruction="Query: ").score(QUESTION, TEXTS)
    assert server.seen[-1].body["query"] == f"Query: {QUESTION}"


def test_an_endpoint_that_wants_texts_is_given_texts() -> None:
    with serving(as_tei) as server:
        assert made(server).score(QUESTION, TEXTS) == SCORES
    assert server.seen[-1].body == {"query": QUESTION, "texts": TEXTS, "truncate": True, "model": "m"}


def test_logits_become_their_sigmoid_and_shares_pass_unchanged() -> None:
    with serving(answering(logits)) as server:
        found = made(server).score(QUESTION, TEXTS)
    assert found == pytest.approx([1 / (1 + exp(10 - 20 * score)) for score in SCORES])


def test_the_scale_belongs_to_the_endpoint_not_to_a_reply() -> None:
    with serving(answering(lambda question, text: 5.0 if text in PROBE_TEXTS else 0.4)) as server:
        found = made(server).score(QUESTION, TEXTS)
    assert found == pytest.approx([1 / (1 + exp(-0.4))] * 3)


def test_a_share_near_nothing_stays_near_nothing() -> None:
    with serving(answering(lambda question, text: 0.007)) as server:
        assert made(server).score(QUESTION, TEXTS) == [0.007] * 3


def test_a_score_that_cannot_be_a_share_shows_that_they_are_logits(tmp_path: Path) -> None:
    memory = tmp_path / "rerankers.json"
    with serving(answering(lambda question, text: 0.5 if text in PROBE_TEXTS else len(text) - 12.0)) as server:
        subject = made(server, memory)
        found = subject.score(QUESTION, TEXTS)
        again = made(server, memory).score(QUESTION, TEXTS[1:])
    assert found == pytest.approx([1 / (1 + exp(12.0 - len(text))) for text in TEXTS])
    assert again == found[1:]


def test_a_text_without_a_number_has_the_lowest_score() -> None:
    with serving(answering(lambda question, text: float("nan") if text == TEXTS[1] else 0.5)) as server:
        assert made(server).score(QUESTION, TEXTS) == [0.5, 0.0, 0.5]


def test_extreme_logits_are_certain() -> None:
    values = dict(zip(TEXTS, (-1e300, 1e300, -800.0), strict=True))
    with serving(answering(lambda question, text: values.get(text, -5.0))) as server:
        assert made(server).score(QUESTION, TEXTS) == pytest.approx([0.0, 1.0, 0.0])


# --- what is remembered ---


def test_what_was_learnt_is_not_asked_again_by_the_next_process(tmp_path: Path) -> None:
    memory = tmp_path / "rerankers.json"
    with serving(as_tei) as server:
        made(server, memory).score(QUESTION, TEXTS)
        made(server, memory).score(QUESTION, TEXTS)
    assert probes(server) == 2  # of which one was refused
    assert memory.stat().st_mode & 0o077 == 0 or not hasattr(memory, "owner")
    assert QUESTION not in memory.read_text("utf-8")


def test_another_model_at_the_same_address_is_learnt_by_itself(tmp_path: Path) -> None:
    memory = tmp_path / "rerankers.json"
    with serving(answering(overlap)) as server:
        for model in ("a", "b", "a"):
            endpoint = Endpoint(url=server.url, model=model, kind="rerank")
            HttpReranker(endpoint, Client(), memory=memory).score(QUESTION, TEXTS)
    assert probes(server) == 2


@pytest.mark.parametrize("content", ["", "[]", "{", '{"KEY": 1}', '{"KEY": {"style": "texts"}}'])
def test_a_memory_that_cannot_be_read_is_as_good_as_none(tmp_path: Path, content: str) -> None:
    memory = tmp_path / "rerankers.json"
    with serving(answering(overlap)) as server:
        memory.write_text(content.replace("KEY", f"{server.url}/v1/rerank m"), "utf-8")
        assert made(server, memory).score(QUESTION, TEXTS) == SCORES
    assert json.loads(memory.read_text("utf-8"))


def test_a_memory_that_cannot_be_written_costs_no_scores(tmp_path: Path) -> None:
    with serving(answering(overlap)) as server:
        assert made(server, tmp_path / "missing" / "rerankers.json").score(QUESTION, TEXTS) == SCORES


def test_a_server_that_was_replaced_by_one_of_another_style_is_learnt_anew(tmp_path: Path) -> None:
    memory = tmp_path / "rerankers.json"
    with serving(answering(overlap)) as server:
        made(server, memory).score(QUESTION, TEXTS)
        server.answer = as_tei
        assert made(server, memory).score(QUESTION, TEXTS) == SCORES


# --- limits ---


def test_long_lists_are_split() -> None:
    texts = [f"text {n} {QUESTION[: n % 8]}" for n in range(70)]
    with serving(answering(overlap)) as server:
        assert made(server).score(QUESTION, texts) == [overlap(QUESTION, text) for text in texts]
    assert [len(each) for each in asked(server)] == [32, 32, 6]


@pytest.mark.parametrize("status", [400, 413, 422])
def test_a_list_that_is_refused_is_halved_and_the_size_remembered(tmp_path: Path, status: int) -> None:
    def answer(number: int, seen: Seen) -> Told:
        return Told(status=status) if len(seen.body["documents"]) > 3 else reranked(seen)

    memory = tmp_path / "rerankers.json"
    texts = TEXTS * 2
    with serving(answer) as server:
        assert made(server, memory).score(QUESTION, texts) == SCORES * 2
        before = len(asked(server))
        made(server, memory).score(QUESTION, texts)
    assert [len(each) for each in asked(server)[before:]] == [3, 3]


def test_an_endpoint_that_takes_one_text_at_a_time_is_asked_so() -> None:
    def answer(number: int, seen: Seen) -> Told:
        return Told(status=413) if len(seen.body["documents"]) > 1 else reranked(seen)

    with serving(answer) as server:
        assert made(server).score(QUESTION, TEXTS) == SCORES


@pytest.mark.parametrize("status", [413, 500])
def test_texts_that_are_too_long_are_cut_and_the_length_is_remembered(tmp_path: Path, status: int) -> None:
    def answer(number: int, seen: Seen) -> Told:
        too_long = any(len(text) > 100 for text in seen.body["documents"])
        return Told(status=status) if too_long else reranked(seen)

    memory = tmp_path / "rerankers.json"
    texts = [text + "。" * 150 for text in TEXTS] + TEXTS
    with serving(answer) as server:
        assert made(server, memory).score(QUESTION, texts) == SCORES * 2
        before = len(asked(server))
        made(server, memory).score(QUESTION, texts)
    assert [len(each) for each in asked(server)[before:]] == [6]


def test_very_long_texts_and_questions_are_cut_before_they_are_sent() -> None:
    with serving(answering(overlap)) as server:
        made(server).score("泵" * 10_000, ["水" * 10_000])
    body = server.seen[-1].body
    assert 100 < len(body["query"]) < 1_000
    assert 100 < len(body["documents"][0]) < 1_000


# --- failures ---


def test_a_server_that_fails_at_everything_is_not_asked_for_less(tmp_path: Path) -> None:
    memory = tmp_path / "rerankers.json"
    with serving(answering(overlap)) as server:
        made(server, memory).score(QUESTION, TEXTS)
        server.answer = lambda number, seen: Told(status=500)
        before = len(server.seen)
        with pytest.raises(ModelUnavailable):
            made(server, memory).score(QUESTION, TEXTS)
    assert len(server.seen) - before == 2


def test_an_error_with_status_200_is_an_error() -> None:
    with serving(lambda number, seen: Told(body={"error": "validation"})) as server, pytest.raises(BadModelReply):
        made(server).score(QUESTION, TEXTS)


def test_an_endpoint_that_takes_neither_style_says_why() -> None:
    refusal = Told(status=422, body={"error": "no such model"})
    with serving(lambda number, seen: refusal) as server, pytest.raises(BadModelReply, match=r"422.*no such model"):
        made(server).score(QUESTION, TEXTS)
    assert len(server.seen) == 2


def test_a_server_that_hangs_costs_the_budget() -> None:
    with serving(lambda number, seen: Told(hangs=True)) as server:
        began = time.monotonic()
        with pytest.raises(ModelUnavailable, match="did not answer"):
            made(server).score(QUESTION, TEXTS, budget_s=0.3)
        assert time.monotonic() - began < 2


def test_a_server_that_hangs_after_a_while_costs_the_budget_too() -> None:
    texts = [f"text {n}" for n in range(100)]
    with serving(lambda number, seen: Told(hangs=True) if number > 2 else reranked(seen)) as server:
        began = time.monotonic()
        with pytest.raises(ModelError):
            made(server).score(QUESTION, texts, budget_s=0.3)
        assert time.monotonic() - began < 2


def test_a_missing_path_is_named() -> None:
    missing = Told(status=404)
    with serving(lambda number, seen: missing) as server, pytest.raises(BadModelReply, match="/v1/rerank does not"):
        made(server).score(QUESTION, TEXTS)
