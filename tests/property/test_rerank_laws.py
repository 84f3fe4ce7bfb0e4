"""Whatever a reranker says, hits are neither lost nor invented."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fakes import FakeReranker
from shelf import Shelf
from zhiku.answer import Answer, Query
from zhiku.retrieve.rerank import Reranking
from zhiku.retrieve.search import search
from zhiku.text.analyze import Analyzer

bounded = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
HITS = 12
shares = st.integers(0, 100).map(lambda n: n / 100)


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Shelf:
    """Return a shelf of two bases with a dozen passages that the words stand in."""
    made = Shelf(Path(tmp_path_factory.mktemp("rerank")))
    for n in range(4):
        made.write(f"{n}.md", "".join(f"# 节{n}{m}\n\n阀门{'阀门' * n} 检查{m}\n\n" for m in range(3)))
    made.index()
    made.write("0.md", "阀门 检查 另一处")
    made.index(name="other")
    return made


def ask(shelf: Shelf, reranker: FakeReranker | None, **limits: Any) -> Answer:
    kept = limits.pop("kept", 1)
    query = Query(text="阀门 检查", mode="lexical", rerank=reranker is not None, **limits)
    reranking = Reranking(reranker=reranker, top_k=kept, budget_s=1.0) if reranker else None
    with shelf.library.open("default").reading() as one, shelf.library.open("other").reading() as other:
        return search({"default": one, "other": other}, query, Analyzer(), None, reranking)


def places(answer: Answer) -> list[str]:
    return [hit.locator for hit in answer]


@bounded
@given(
    scores=st.lists(shares, min_size=HITS, max_size=HITS),
    top_k=st.integers(1, HITS),
    kept=st.integers(1, HITS + 2),
    min_relevance=shares,
)
def test_reranking_orders_the_hits_of_the_search_and_no_others(
    shelf: Shelf, scores: list[float], top_k: int, kept: int, min_relevance: float
) -> None:
    plain = ask(shelf, None, top_k=top_k)
    table: dict[str, float] = {}

    def score(text: str) -> float:
        if text not in table:
            table[text] = scores[len(table)]
        return table[text]

    reranker = FakeReranker(score)
    answer = ask(shelf, reranker, top_k=top_k, kept=kept)

    assert set(places(answer)) <= set(places(plain))
    assert len(set(places(answer))) == len(answer)
    assert len(answer) == (min(kept, top_k - 1, len(plain)) if top_k > 1 else len(plain))
    assert [hit.rank for hit in answer] == list(range(1, len(answer) + 1))
    if top_k > 1:
        assert all(hit.rerank_score is not None for hit in answer)

    above = ask(shelf, reranker, top_k=top_k, kept=kept, min_relevance=min_relevance)
    wanted = [hit.locator for hit in answer if hit.rerank_score is None or hit.rerank_score >= min_relevance]
    assert places(above) == wanted
