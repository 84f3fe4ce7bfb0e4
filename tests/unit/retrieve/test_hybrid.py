"""Searching by words and meaning together, with vectors that the test chooses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import fakes
from shelf import Shelf
from zhiku.config import BaseSettings, save_base_settings
from zhiku.errors import ModelUnavailable, QueryError
from zhiku.model import CosineScale
from zhiku.service.library import Library

# Directions of meaning: a text means what it names, in either language.
MEANINGS = {"pump": 0, "泵": 0, "frost": 1, "霜": 1, "lantern": 2, "灯": 2}


class Dictionary(fakes.FakeEmbedder):
    """Two texts are near where they name the same things."""

    scale = CosineScale(mean=0.1, std=0.1, script_gap=0.0, good=4.0)

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.stack([self._vector(text) for text in texts])

    embed_queries = embed_documents

    def _vector(self, text: str) -> NDArray[np.float32]:
        noise = 0.2 * fakes.unit_vector(text)
        for word, axis in MEANINGS.items():
            noise[axis] += word in text.lower()
        return (noise / np.linalg.norm(noise)).astype(np.float32)


@pytest.fixture
def meant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shelf]:
    """Return a shelf whose bases are searched by meaning too."""
    fakes.install(monkeypatch, Dictionary("dictionary"))
    monkeypatch.setenv("ZHIKU_EMBEDDER", "dictionary")
    shelf = Shelf(tmp_path)
    shelf.write("pump.md", "# Water\n\nThe pump is greased every spring.\n")
    shelf.write("frost.md", "# Cold\n\nOn a night of frost the fans run.\n")
    shelf.write("灯.md", "# 夜\n\n守夜人点亮灯，记下风向。\n")
    for n in range(12):
        shelf.write(f"other{n}.md", f"The keeper counted {n} stones by the gate.\n")
    shelf.library.index([shelf.docs])
    yield shelf
    shelf.library.open("default").close()


def test_a_question_in_another_language_finds_what_means_the_same(meant: Shelf) -> None:
    answer = meant.search("霜", mode="hybrid")
    assert (answer.mode, answer.hits[0].path) == ("hybrid", "frost.md")
    assert "meaning" in answer.hits[0].why
    assert answer.health.legs["vector"].ran


def test_words_alone_do_not(meant: Shelf) -> None:
    assert meant.found("霜", mode="lexical") == []
    assert meant.search("lantern", mode="semantic").hits[0].path == "灯.md"


def test_the_parts_of_a_score_add_up_to_it(meant: Shelf) -> None:
    for hit in meant.search("greased pump", mode="hybrid"):
        parts = hit.explanation
        assert hit.score == pytest.approx(parts["words"] + parts["meaning"], abs=1e-4)


def test_a_hit_by_meaning_is_as_relevant_as_it_is_near(meant: Shelf) -> None:
    found = {hit.path: hit.relevance for hit in meant.search("the pump in spring", mode="hybrid", top_k=20)}
    assert found["pump.md"] is not None
    assert all(value is not None and 0 <= value <= 1 for value in found.values())
    assert max(found, key=lambda path: found[path] or 0.0) == "pump.md"


def test_min_relevance_leaves_the_others_out_and_ranks_stay_whole(meant: Shelf) -> None:
    every = meant.search("the pump in spring", mode="hybrid", top_k=20).hits
    middle = sorted(hit.relevance or 0.0 for hit in every)[len(every) // 2]
    left = meant.search("the pump in spring", mode="hybrid", top_k=20, min_relevance=middle).hits
    assert [hit.path for hit in left] == [hit.path for hit in every if (hit.relevance or 0.0) >= middle]
    assert [hit.rank for hit in left] == list(range(1, len(left) + 1))


@pytest.mark.parametrize("value", [-0.1, 1.1])
def test_a_relevance_out_of_range_is_refused(meant: Shelf, value: float) -> None:
    with pytest.raises(QueryError, match="from 0 to 1"):
        meant.search("pump", mode="hybrid", min_relevance=value)


def test_words_alone_know_no_relevance(meant: Shelf) -> None:
    with pytest.raises(QueryError, match="by meaning"):
        meant.search("pump", mode="lexical", min_relevance=0.5)


def test_a_passage_with_the_word_comes_before_what_only_means_something(meant: Shelf) -> None:
    found = meant.found("stones", mode="hybrid", top_k=12)
    assert len(found) == 12
    assert all(path.startswith("other") for path in found)


def test_a_filter_holds_for_meaning_too(meant: Shelf) -> None:
    assert meant.found("霜", mode="hybrid", source="other*") == meant.found("霜", mode="semantic", source="other*")
    assert all(path.startswith("other") for path in meant.found("霜", mode="hybrid", source="other*"))


def test_a_question_without_words_is_searched_by_meaning_only(meant: Shelf) -> None:
    answer = meant.search("😀", mode="hybrid")
    assert not answer.health.legs["lexical"].ran
    assert answer.health.legs["vector"].ran
    assert "no letter" in str(answer.health.degraded[0])


def test_several_bases_give_one_ranking_by_both(meant: Shelf) -> None:
    more = meant.docs.parent / "more"
    more.mkdir()
    (more / "泵.md").write_text("泵每年春天上一次油。\n", "utf-8")
    meant.library.index([more], "second")
    hits = meant.search("pump", mode="hybrid", top_k=4).hits
    assert {(hit.base, hit.path) for hit in hits[:2]} == {("default", "pump.md"), ("second", "泵.md")}
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


def test_a_base_without_vectors_is_searched_by_words_beside_one_that_has_them(meant: Shelf) -> None:
    more = meant.docs.parent / "more"
    more.mkdir()
    (more / "b.md").write_text("a second pump\n", "utf-8")
    meant.library.index([more], "second", embed=False)
    answer = meant.search("pump", mode="hybrid")
    assert {hit.base: hit.relevance is None for hit in answer.hits[:2]} == {"default": False, "second": True}
    assert "nothing in base 'second' has been embedded" in str(answer.health.degraded[0])
    assert answer.health.pending_vectors == 1


def test_meaning_alone_needs_vectors(meant: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ZHIKU_EMBEDDER", "none")
    with pytest.raises(ModelUnavailable, match="no embedder"):
        Library(meant.library.home).open("default").search("pump", mode="semantic")


def test_a_search_by_meaning_only_says_which_bases_it_leaves_out(meant: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    more = meant.docs.parent / "more"
    more.mkdir()
    (more / "b.md").write_text("a second pump\n", "utf-8")
    base = meant.library.open_or_create("second")
    save_base_settings(base.folder, BaseSettings(embedder="none"))
    monkeypatch.delenv("ZHIKU_EMBEDDER")
    meant.library = Library(meant.library.home)
    meant.library.index([more], "second")
    answer = meant.search("pump", mode="semantic")
    assert {hit.base for hit in answer} == {"default"}
    assert "base 'second' has no embedder" in str(answer.health.degraded[0])
    assert meant.search("pump", mode="hybrid").health.degraded == ()
