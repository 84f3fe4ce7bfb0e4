"""The question as a vector, once for each embedder."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

from fakes import FakeEmbedder, stop_at
from zhiku.errors import MissingExtra, ModelUnavailable, ZhikuError
from zhiku.retrieve.meaning import Meaning, embed_question, embedding

NO_EMBEDDER = ModelUnavailable("words only")
STALE = ModelUnavailable("stale")


class Counting(FakeEmbedder):
    """Counts how often it is asked."""

    asked = 0

    def embed_queries(self, texts):
        self.asked += 1
        return super().embed_queries(texts)


def test_each_embedder_embeds_the_question_once() -> None:
    one, same, other = Counting("one"), Counting("one"), Counting("other")
    bases = {"a": one, "b": one, "c": same, "d": other}
    embedded = embed_question("水泵", {name: Meaning(embedder=embedder) for name, embedder in bases.items()})
    assert (one.asked, same.asked, other.asked) == (1, 0, 1)
    assert {name: question.space for name, question in embedded.questions.items()} == {
        "a": "one 8",
        "b": "one 8",
        "c": "one 8",
        "d": "other 8",
    }
    assert np.array_equal(embedded.questions["a"].vector, one.embed_queries(["水泵"])[0])
    assert (embedded.questions["a"].scale, embedded.questions["a"].script) == (one.scale, "han")
    assert embedded.reasons == embedded.faults == ()


def test_bases_without_an_embedder_give_their_reasons_and_faults_are_told() -> None:
    meanings = {
        "a": Meaning(reason=NO_EMBEDDER),
        "b": Meaning(reason=STALE, is_fault=True),
        "c": Meaning(embedder=FakeEmbedder()),
    }
    embedded = embed_question("水泵", meanings)
    assert (list(embedded.questions), embedded.reasons, embedded.faults) == (["c"], (NO_EMBEDDER, STALE), (STALE,))


@pytest.mark.parametrize("error", [ModelUnavailable("gone"), MissingExtra("not installed")])
def test_an_embedder_that_fails_is_a_fault_once_and_others_go_on(error: ZhikuError) -> None:
    failing = FakeEmbedder("failing", before=stop_at(1, error))
    meanings = {
        "a": Meaning(embedder=failing),
        "b": Meaning(embedder=failing),
        "c": Meaning(embedder=FakeEmbedder()),
    }
    embedded = embed_question("水泵", meanings)
    assert (list(embedded.questions), embedded.reasons, embedded.faults) == (["c"], (error,), (error,))


def test_a_fault_in_the_code_is_no_reason() -> None:
    with pytest.raises(RuntimeError):
        embed_question("水泵", {"a": Meaning(embedder=FakeEmbedder(before=stop_at(1, RuntimeError("bug"))))})


def test_no_bases_have_no_question() -> None:
    embedded = embed_question("水泵", {})
    assert (embedded.questions, embedded.reasons, embedded.faults) == ({}, (), ())


def test_the_thread_of_a_question_ends_with_the_block() -> None:
    def slow(text: str | None) -> None:
        time.sleep(0.2)

    embedder = FakeEmbedder("slow", before=slow)
    with pytest.raises(KeyError), embedding("?", {"a": Meaning(embedder=embedder)}):
        raise KeyError
    assert all(thread.name != "embed-question" for thread in threading.enumerate())


def test_a_fault_in_the_thread_is_raised_where_its_result_is_asked_for() -> None:
    embedder = FakeEmbedder("odd", before=stop_at(1, ZeroDivisionError()))
    with pytest.raises(ZeroDivisionError), embedding("?", {"a": Meaning(embedder=embedder)}) as asked:
        asked()
