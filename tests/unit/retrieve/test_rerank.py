"""A reranker's scores and the places that the search gave make one order; what keeps it from scoring is told."""

from __future__ import annotations

import pytest

from fakes import FakeReranker, stop_at
from shelf import Shelf
from zhiku.answer import Answer, Query
from zhiku.errors import MissingExtra, ModelUnavailable, QueryError, ZhikuError
from zhiku.retrieve.rerank import Reranking, blend
from zhiku.retrieve.search import search
from zhiku.text.analyze import Analyzer

GONE = ModelUnavailable("gone", hint="start it")


@pytest.fixture
def full(shelf: Shelf) -> Shelf:
    """Return a shelf of seven notes in which the words stand, the fewer the later."""
    for n in range(7):
        shelf.write(f"{n}.md", f"# 记录{n}\n\n" + "阀门 检查。" * (8 - n) + "其他的话。" * 4 * n)
    shelf.index()
    return shelf


def ask(shelf: Shelf, reranker: FakeReranker | None, **query: object) -> Answer:
    """Search by words with a reranker that keeps all hits but one, unless told otherwise."""
    kept = query.pop("rerank_top_k", 9)
    asked = Query(text="阀门 检查", mode="lexical", rerank=True, **query)
    with shelf.base.reading() as session:
        reranking = Reranking(reranker=reranker, reason=None if reranker else GONE, top_k=kept, budget_s=7.0)
        return search({"default": session}, asked, Analyzer(), None, reranking)


def paths(answer: Answer) -> list[str]:
    return [hit.path for hit in answer]


def plain(shelf: Shelf, **limits: object) -> list[str]:
    return shelf.found("阀门 检查", **limits)


def test_the_reranker_is_given_the_hits_as_an_embedder_is_and_its_time(full: Shelf) -> None:
    budgets: list[float] = []
    reranker = FakeReranker(before=budgets.append)
    ask(full, reranker)
    ((question, texts),) = reranker.seen
    assert (question, len(texts), budgets) == ("阀门 检查", 7, [7.0])
    assert texts[0].startswith("记录0\n记录0\n\n阀门 检查。")


def test_what_the_reranker_finds_better_stands_higher(full: Shelf) -> None:
    last = plain(full)[-1]
    answer = ask(full, FakeReranker(lambda text: 0.99 if f"记录{last[0]}" in text else 0.01))
    assert paths(answer)[0] == last or paths(answer)[1] == last
    assert {hit.rerank_score for hit in answer} == {0.99, 0.01}
    assert [hit.rank for hit in answer] == list(range(1, 8))
    assert [hit.score for hit in answer] == sorted((hit.score for hit in answer), reverse=True)
    assert (answer.health.reranker, answer.health.degraded) == ("fake reranker", ())


def test_hits_that_the_reranker_finds_alike_stay_in_order(full: Shelf) -> None:
    assert paths(ask(full, FakeReranker())) == plain(full)


def test_so_many_hits_are_kept(full: Shelf) -> None:
    answer = ask(full, FakeReranker(), top_k=6, rerank_top_k=2)
    assert paths(answer) == plain(full, top_k=6)[:2]


@pytest.mark.parametrize("kept", [4, 5, 100])
def test_more_than_can_be_kept_is_shrunk_and_told(full: Shelf, kept: int) -> None:
    answer = ask(full, FakeReranker(), top_k=4, rerank_top_k=kept)
    assert paths(answer) == plain(full, top_k=4)[:3]
    (told,) = answer.health.degraded
    assert f"of 4 hits 3 are kept, not {kept}" in told.message


def test_a_single_hit_is_not_reranked_and_that_is_told(full: Shelf) -> None:
    reranker = FakeReranker()
    answer = ask(full, reranker, top_k=1, rerank_top_k=1)
    assert (paths(answer), reranker.seen, answer.health.reranker) == (plain(full, top_k=1), [], None)
    assert "must be below top_k" in answer.health.degraded[0].message


@pytest.mark.parametrize("error", [GONE, MissingExtra("not installed")])
def test_a_reranker_that_fails_leaves_the_search_as_it_was_and_is_told(full: Shelf, error: ZhikuError) -> None:
    answer = ask(full, FakeReranker(before=stop_at(1, error)), top_k=6, rerank_top_k=2)
    assert paths(answer) == plain(full, top_k=6)
    assert [hit.rerank_score for hit in answer] == [None] * 6
    assert answer.health.reranker is None
    assert [type(each) for each in answer.health.degraded] == [ModelUnavailable, type(error)]


def test_where_there_is_no_reranker_it_is_told_why(full: Shelf) -> None:
    answer = ask(full, None)
    assert (paths(answer), answer.health.degraded) == (plain(full), (GONE,))


def test_a_fault_in_the_code_is_no_reason(full: Shelf) -> None:
    with pytest.raises(RuntimeError):
        ask(full, FakeReranker(before=stop_at(1, RuntimeError("bug"))))


def test_nothing_found_is_not_reranked(full: Shelf) -> None:
    reranker = FakeReranker()
    answer = ask(full, reranker, source="nothing")
    assert (len(answer), reranker.seen, answer.health.reranker, answer.health.degraded) == (0, [], None, ())


def test_hits_below_a_rerank_score_are_left_out_where_that_is_asked_for(full: Shelf) -> None:
    answer = ask(full, FakeReranker(lambda text: 0.9 if "记录3" in text else 0.2), min_relevance=0.5)
    assert (paths(answer), answer.health.degraded) == (["3.md"], ())


def test_without_reranker_words_alone_leave_out_nothing_and_say_so(full: Shelf) -> None:
    answer = ask(full, None, min_relevance=0.5)
    assert paths(answer) == plain(full)
    assert [type(each) for each in answer.health.degraded] == [ModelUnavailable, QueryError]


def test_the_place_and_both_scores_are_explained(full: Shelf) -> None:
    answer = ask(full, FakeReranker(lambda text: 0.9 if "记录3" in text else 0.2))
    assert [hit.explanation["place"] for hit in answer if hit.path == "3.md"] == [4.0]


def test_the_blend_grows_with_the_score_and_with_a_better_place() -> None:
    assert blend([]) == []
    same = blend([0.5, 0.5, 0.5])
    assert same == sorted(same, reverse=True)
    assert blend([0.5, 0.9])[1] > blend([0.5, 0.2])[1]
    assert all(0 <= score <= 1 for score in blend([1.0, 0.0, 1.0, 0.5]))
