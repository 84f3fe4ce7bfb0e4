"""The model that comes along, as other programs use it."""

from __future__ import annotations

from pathlib import Path

import pytest

from fakes import FakeEmbedder, install
from zhiku import registry
from zhiku.errors import MissingExtra
from zhiku.service.local_model import LocalModel, open_local_model


def test_a_document_that_says_what_is_asked_is_the_most_relevant() -> None:
    scores, _ = LocalModel(embedder=FakeEmbedder()).relevance("水泵", ["阀门", "水泵", "pump"])
    assert scores[1] == pytest.approx(1.0)
    assert max(scores) == scores[1]
    assert all(0 <= score <= 1 for score in scores)


def test_relevance_does_not_depend_on_the_other_documents() -> None:
    model = LocalModel(embedder=FakeEmbedder())
    together, _ = model.relevance("q", ["a", "b", "c"])
    assert together == pytest.approx([model.relevance("q", [text])[0][0] for text in "abc"], abs=1e-6)


def test_tokens_are_counted_as_far_as_they_are_seen() -> None:
    embedder = FakeEmbedder()
    _, tokens = LocalModel(embedder=embedder).relevance("four", ["two", "x" * 10_000])
    assert tokens == 4 + 3 + embedder.max_tokens


def test_where_the_better_model_is_missing_the_other_one_stands_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(registry.EMBEDDER_PACKAGES, "builtin", ("no_such_package",))
    monkeypatch.setitem(registry.EMBEDDER_PACKAGES, "fallback", ())
    stand_in = FakeEmbedder("fallback")
    install(monkeypatch, stand_in)
    model = open_local_model(tmp_path)
    assert (model.embedder, model.is_fallback) == (stand_in, True)


def test_where_there_is_no_model_the_one_to_install_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in registry.EMBEDDER_PACKAGES:
        monkeypatch.setitem(registry.EMBEDDER_PACKAGES, name, ("no_such_package",))
    error = MissingExtra("the embedding model is not installed.")

    def missing(text: str | None) -> None:
        raise error

    install(monkeypatch, FakeEmbedder("builtin", before=missing))
    with pytest.raises(MissingExtra) as raised:
        open_local_model(tmp_path)
    assert raised.value is error
