"""A base over a model in a folder of the user's own: held to what is in it, wherever it lies."""

from __future__ import annotations

from pathlib import Path

import pytest

from onnx_models import DIMS, make_model, make_tokenizer
from shelf import Shelf
from zhiku.config import CONFIG_FILE
from zhiku.errors import ConfigError, ManifestMismatch, ModelUnavailable
from zhiku.service.embedding import Embedding
from zhiku.service.endpoints import HASHES_FILE, EmbedOptions
from zhiku.service.library import Library


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return make_model(tmp_path / "tiny-e5")


@pytest.fixture
def full(shelf: Shelf, model: Path, monkeypatch: pytest.MonkeyPatch) -> Shelf:
    monkeypatch.delenv("ZHIKU_EMBEDDER", raising=False)
    for word in ("pump", "valve", "gauge"):
        shelf.write(f"{word}.txt", f"the {word}")
    configure(shelf, model)
    return shelf


def configure(shelf: Shelf, model: Path | None, more: str = "", options: EmbedOptions | None = None) -> None:
    shelf.library.home.mkdir(exist_ok=True)
    section = f'[models.embedding]\nkind = "onnx"\npath = "{model.as_posix()}"\n' if model else ""
    (shelf.library.home / CONFIG_FILE).write_text(section + more, "utf-8")
    shelf.library = Library(shelf.library.home, options)


def index(shelf: Shelf, **options: object) -> Embedding:
    embedding = shelf.library.index([shelf.docs], **options).embedding
    assert embedding is not None
    return embedding


def found(shelf: Shelf, mode: str = "semantic") -> list[str]:
    return [hit.path for hit in shelf.search("the pump", mode=mode)]


def test_a_model_in_a_folder_embeds_new_bases_and_their_questions(full: Shelf) -> None:
    assert full.library.sending() is None
    assert (index(full).failure, len(found(full))) == (None, 3)
    configure(full, None)
    assert (index(full).failure, found(full)[0]) == (None, found(full, "hybrid")[0])
    assert full.base.status().embedder_name == "endpoint"
    with full.base.reading() as session:
        assert session.check(DIMS) == []
    assert (full.library.home / HASHES_FILE).exists()


def test_a_model_that_sees_the_beginning_of_passages_alone_is_told_when_it_embeds(
    full: Shelf, model: Path, caplog: pytest.LogCaptureFixture
) -> None:
    make_tokenizer(model, max_length=128)
    index(full)
    assert "only the first 128 tokens" in caplog.text
    caplog.clear()
    index(full)
    configure(full, model, "max_input_tokens = 512\n")
    full.base.rebuild()
    assert caplog.text == ""


def test_its_name_tells_what_stands_before_texts(full: Shelf) -> None:
    index(full)
    with full.base.reading() as session:
        assert "'query: ' 'passage: '" in session.manifest()["embedder"]


def test_it_may_move_and_have_another_name_in_the_settings(full: Shelf, model: Path, tmp_path: Path) -> None:
    index(full)
    moved = model.rename(tmp_path / "elsewhere-e5")
    named = f'[models.embedding.mine]\nkind = "onnx"\npath = "{moved.as_posix()}"\n'
    configure(full, None, more=named)
    full.write("new.txt", "another")
    assert (index(full).failure, len(found(full))) == (None, 4)
    assert full.base.status().embedder_name == "mine"
    configure(full, None)
    assert len(found(full)) == 4


def test_another_model_in_its_place_is_refused_and_a_rebuild_takes_it(full: Shelf, model: Path) -> None:
    index(full)
    make_model(model, seed=1)
    for wanted in (model, None):
        configure(full, wanted)
        assert isinstance(index(full).failure, ManifestMismatch)
        with pytest.raises(ManifestMismatch, match=f"dimensions, in .*{model.name}"):
            found(full)
        assert found(full, "lexical") == ["pump.txt"]
    configure(full, model)
    full.base.rebuild()
    assert len(found(full)) == 3


@pytest.mark.parametrize("more", ['pooling = "cls"\n', 'query_instruction = "Q: "\n', "max_input_tokens = 9\n"])
def test_what_changes_vectors_is_held_to(full: Shelf, model: Path, more: str) -> None:
    index(full)
    configure(full, model, more)
    failure = index(full).failure
    assert isinstance(failure, ManifestMismatch)
    assert more.partition(" ")[0] in failure.message


def test_a_folder_that_is_gone_leaves_a_search_its_words(full: Shelf, model: Path) -> None:
    index(full)
    (model / "model.onnx").unlink()
    configure(full, model)
    answer = full.search("pump", mode="hybrid")
    assert (answer.mode, [hit.path for hit in answer]) == ("lexical", ["pump.txt"])
    assert isinstance(answer.health.degraded[0], ConfigError)
    with pytest.raises(ConfigError, match=r"holds no model\.onnx"):
        index(full)


def test_a_model_that_cannot_run_fails_nothing_but_vectors(full: Shelf, model: Path) -> None:
    (model / "model.onnx").write_bytes(b"garbage")
    assert isinstance(index(full).failure, ModelUnavailable)
    assert full.found("pump") == ["pump.txt"]


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ('kind = "onnx"', "no folder is set"),
        ('kind = "onnx"\npath = "models/tiny"', "is not absolute"),
        ('kind = "onx"', "kind cannot be 'onx'"),
        ('kind = "onnx"\npooling = "max"', "pooling cannot be 'max'"),
    ],
)
def test_settings_of_no_model_are_told(full: Shelf, section: str, message: str) -> None:
    full.index()
    (full.base.folder / "base.toml").write_text(f'roots = ["{full.docs.as_posix()}"]\nembedder = "mine"\n')

    def run() -> None:
        configure(full, None, f"[models.embedding.mine]\n{section}\n")
        index(full)

    with pytest.raises(ConfigError, match=message):
        run()


def test_options_that_name_an_endpoint_come_before_a_folder(full: Shelf, model: Path) -> None:
    configure(full, model, options=EmbedOptions(base_url="http://192.0.2.1:9", model="m"))
    sending = full.library.sending()
    assert sending is not None
    assert sending.address == "http://192.0.2.1:9/v1/embeddings"
