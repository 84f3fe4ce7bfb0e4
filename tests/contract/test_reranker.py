"""What every registered reranker promises (`zhiku.ports.Reranker`)."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from math import isfinite

import pytest

from endpoints import overlap, reranked, serving
from zhiku.errors import MissingExtra, ModelError
from zhiku.ports import Reranker
from zhiku.registry import EMBEDDER_PACKAGES, EMBEDDERS, RERANKERS, load
from zhiku.remote import Client, Endpoint

QUESTION = "how often is the rain gauge calibrated"
TEXTS = [
    "The rain gauge is calibrated once a year, before the wet season.",
    "雨量筒每年在雨季之前校准一次。",
    "Bananas turn yellow when they ripen.",
    "食堂菜单：周三面条。",
    "def area(width, height):\n    return width * height",
    "The rain gauge stands on the roof.",
]
HOSTILE = {
    "empty": "",
    "blank": " \n\t ",
    "nul": "a\0b\0",
    "half surrogates": "a\ud800b\udfff",
    "control marks": "<s> </s> <pad> <unk> <mask>",
    "one long word": "a" * 20_000,
    "one long sentence": "的" * 20_000,
    "emoji": "👩‍👩‍👧 🇨🇳 👍🏽",
}


def over_an_endpoint() -> Iterator[Reranker]:
    with serving(lambda number, seen: reranked(seen, lambda q, t: 20 * overlap(q, t) - 10)) as server:
        made: Reranker = load(RERANKERS, "endpoint")(Endpoint(url=server.url, model="m", kind="rerank"), Client())
        yield made


def over_tokens() -> Iterator[Reranker]:
    missing = [package for package in EMBEDDER_PACKAGES["builtin"] if not find_spec(package)]
    if missing:
        pytest.skip(f"this system has no package {', '.join(missing)}")
    made: Reranker = load(RERANKERS, "late")(load(EMBEDDERS, "builtin")())
    yield made


MAKERS: dict[str, Callable[[], Iterator[Reranker]]] = {"endpoint": over_an_endpoint, "late": over_tokens}


@pytest.fixture(scope="module", params=RERANKERS)
def subject(request: pytest.FixtureRequest) -> Iterator[Reranker]:
    yield from MAKERS[request.param]()


def test_there_is_a_score_from_0_to_1_for_each_text(subject: Reranker) -> None:
    scores = subject.score(QUESTION, TEXTS)
    assert len(scores) == len(TEXTS)
    assert all(isfinite(score) and 0 <= score <= 1 for score in scores)


def test_no_texts_have_no_scores(subject: Reranker) -> None:
    assert subject.score(QUESTION, []) == []


def test_the_same_text_has_the_same_score_in_any_company_and_order(subject: Reranker) -> None:
    together = subject.score(QUESTION, TEXTS)
    reversed_ = subject.score(QUESTION, TEXTS[::-1])[::-1]
    alone = [subject.score(QUESTION, [text])[0] for text in TEXTS]
    assert together == pytest.approx(reversed_, abs=1e-4)
    assert together == pytest.approx(alone, abs=1e-4)
    assert subject.score(QUESTION, TEXTS * 2) == pytest.approx(together * 2, abs=1e-4)


def test_an_answer_scores_higher_than_what_is_about_something_else(subject: Reranker) -> None:
    scores = subject.score(QUESTION, TEXTS)
    assert max(range(len(TEXTS)), key=scores.__getitem__) == 0
    assert scores[0] > max(scores[2:5])


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_any_string_has_a_score_and_changes_no_other(subject: Reranker, text: str) -> None:
    first, second = subject.score(QUESTION, [text, TEXTS[0]])
    assert 0 <= first <= 1
    assert second == pytest.approx(subject.score(QUESTION, TEXTS[:1])[0], abs=1e-4)
    assert all(0 <= score <= 1 for score in subject.score(text or "?", TEXTS))


def test_what_cannot_be_done_in_time_is_an_error_soon(subject: Reranker) -> None:
    subject.score(QUESTION, TEXTS)
    began = time.monotonic()
    with pytest.raises((ModelError, MissingExtra)):
        subject.score(QUESTION, TEXTS * 200, budget_s=1e-6)
    assert time.monotonic() - began < 2


def test_it_has_a_name(subject: Reranker) -> None:
    assert subject.name
