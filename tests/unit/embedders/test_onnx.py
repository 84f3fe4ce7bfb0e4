"""A model in a folder: found, known by its content, run, pooled; what is wrong with it is said."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto

from onnx_models import DIMS, INPUTS, make_model, make_tokenizer, states_of
from zhiku.embedders.lock import Lock
from zhiku.embedders.onnx import OnnxEmbedder
from zhiku.embedders.onnx_files import model_digest
from zhiku.embedders.onnx_model import DEFAULT_MAX_TOKENS, OnnxModel
from zhiku.errors import ConfigError, MissingExtra, ModelUnavailable


def over(folder: Path, pooling: str = "auto", **other: object) -> OnnxEmbedder:
    return OnnxEmbedder(Lock(provider="onnx", model="m", path=str(folder), pooling=pooling, **other))


def unit(vector: np.ndarray) -> np.ndarray:
    return vector / np.linalg.norm(vector)


# --- what it makes ---


@pytest.mark.parametrize(
    ("pooling", "expected"),
    [
        ("auto", lambda states: states.mean(axis=0)),
        ("mean", lambda states: states.mean(axis=0)),
        ("cls", lambda states: states[0] + 0),
        ("last", lambda states: states[-1] + 0),
    ],
)
def test_the_states_of_tokens_become_one_vector_of_length_1(tmp_path: Path, pooling: str, expected: object) -> None:
    (vector,) = over(make_model(tmp_path), pooling).embed_documents(["pump"])
    assert callable(expected)
    assert np.allclose(vector, unit(expected(states_of("pump"))), atol=1e-6)


def test_an_output_that_is_a_vector_already_is_taken_unless_told_otherwise(tmp_path: Path) -> None:
    make_model(tmp_path, outputs=("token_embeddings", "sentence_embedding"))
    whole = unit(states_of("pump")[-1])
    assert np.allclose(over(tmp_path).embed_documents(["pump"])[0], whole, atol=1e-6)
    mean = unit(states_of("pump").mean(axis=0))
    assert np.allclose(over(tmp_path, "mean").embed_documents(["pump"])[0], mean, atol=1e-6)


def test_a_network_with_one_vector_alone_or_states_of_another_name_is_used_too(tmp_path: Path) -> None:
    only = make_model(tmp_path / "only", outputs=("sentence_embedding",))
    assert np.allclose(over(only, "mean").embed_documents(["pump"])[0], unit(states_of("pump")[-1]), atol=1e-6)
    other = make_model(tmp_path / "other", outputs=("pooled", "hidden"))
    assert np.allclose(over(other).embed_documents(["pump"])[0], unit(states_of("pump").mean(axis=0)), atol=1e-6)


@pytest.mark.parametrize("inputs", [("input_ids",), ("input_ids", "position_ids"), INPUTS])
@pytest.mark.parametrize("integers", [TensorProto.INT64, TensorProto.INT32])
def test_a_network_is_given_the_inputs_it_has(tmp_path: Path, inputs: tuple[str, ...], integers: int) -> None:
    make_model(tmp_path, inputs=inputs, integers=integers)
    assert over(tmp_path).embed_queries(["pump"]).shape == (1, DIMS)


def test_instructions_stand_before_texts(tmp_path: Path) -> None:
    embedder = over(make_model(tmp_path), query_instruction="q ", document_instruction="d ")
    mean = unit(states_of("q pump").mean(axis=0))
    assert np.allclose(embedder.embed_queries(["pump"])[0], mean, atol=1e-6)
    assert np.allclose(embedder.embed_documents(["pump"]), over(tmp_path).embed_documents(["d pump"]), atol=1e-6)
    assert embedder.count_tokens("pump") == len("d pump") + 2


def test_a_text_is_cut_where_the_settings_or_the_tokenizer_say_so(tmp_path: Path) -> None:
    folder = make_model(tmp_path)
    assert over(folder).max_tokens == DEFAULT_MAX_TOKENS
    cut = over(folder, max_input_tokens=6)
    assert np.allclose(cut.embed_documents(["pumpen"]), cut.embed_documents(["pump"]), atol=1e-6)
    assert cut.count_tokens("pumpen" * 9) == 56
    make_tokenizer(folder, max_length=8)
    assert [over(folder, max_input_tokens=n).max_tokens for n in (0, 6, 100)] == [8, 6, 100]


def test_a_tokenizer_without_marks_makes_something_of_nothing(tmp_path: Path) -> None:
    make_tokenizer(make_model(tmp_path), marks=False)
    assert np.allclose(np.linalg.norm(over(tmp_path).embed_documents(["", " "]), axis=1), 1)


def test_a_text_without_a_direction_is_no_number(tmp_path: Path) -> None:
    assert np.isnan(over(make_model(tmp_path, scale=0)).embed_documents(["pump"])).all()


# --- what it is known by ---


def test_the_size_of_vectors_is_known_once_the_model_is_loaded_and_then_kept(tmp_path: Path) -> None:
    embedder = over(make_model(tmp_path))
    before = embedder.fingerprint
    assert embedder.dims == 0
    embedder.check()
    assert (embedder.dims, embedder.lock.dims, embedder.fingerprint) == (DIMS, DIMS, before)
    assert OnnxEmbedder(embedder.lock).dims == DIMS


def test_a_model_is_known_by_each_of_its_files(tmp_path: Path) -> None:
    folder = make_model(tmp_path / "one")
    digests = {model_digest(folder)}
    (folder / "model.onnx_data").write_bytes(b"weights that lie beside it")
    digests.add(model_digest(folder))
    make_tokenizer(folder, max_length=9)
    digests.add(model_digest(folder))
    make_model(folder, seed=1)
    digests.add(model_digest(folder))
    assert len(digests) == 4
    (folder / "README.md").write_text("says nothing")
    assert model_digest(folder.rename(tmp_path / "moved")) in digests


def test_what_a_file_was_found_to_be_is_remembered_while_its_size_and_time_stay(tmp_path: Path) -> None:
    folder, known = make_model(tmp_path / "m"), tmp_path / "hashes.json"
    digest = model_digest(folder, known)
    file = folder / "model.onnx"
    status = file.stat()
    file.write_bytes(bytes(status.st_size))
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert model_digest(folder, known) == digest
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns + 1))
    changed = model_digest(folder, known)
    assert changed != digest
    for damage in ("no JSON", "[]", json.dumps({str(file): "?"})):
        known.write_text(damage)
        assert model_digest(folder, known) == changed
    known.unlink()
    known.mkdir()
    assert model_digest(folder, known) == changed


# --- what is wrong ---


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
def test_a_missing_file_is_named(tmp_path: Path, name: str) -> None:
    (make_model(tmp_path) / name).unlink()
    with pytest.raises(ConfigError, match=f"holds no {name}"):
        model_digest(tmp_path)


def test_files_that_are_none_of_a_model_are_named(tmp_path: Path) -> None:
    (make_model(tmp_path) / "model.onnx").write_bytes(b"garbage")
    with pytest.raises(ModelUnavailable, match=r"cannot run .*model\.onnx"):
        over(tmp_path).check()
    make_model(tmp_path)
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(ModelUnavailable, match=r"tokenizer\.json is no tokenizer"):
        over(tmp_path).check()


def test_a_network_that_is_none_of_an_embedder_is_named_with_why(tmp_path: Path) -> None:
    make_model(tmp_path, inputs=("input_ids", "past_key_values.0"))
    with pytest.raises(ModelUnavailable, match=r"wants an input 'past_key_values\.0'"):
        over(tmp_path).check()
    make_model(tmp_path, outputs=("pooled",))
    with pytest.raises(ModelUnavailable, match="no output with a vector for each token; it has: pooled"):
        over(tmp_path).check()


def test_a_text_that_the_network_fails_over_says_what_helps(tmp_path: Path) -> None:
    embedder = over(make_model(tmp_path, most_tokens=8))
    with pytest.raises(ModelUnavailable, match="fails over 10 tokens") as caught:
        embedder.embed_documents(["pumppump"])
    assert "max_input_tokens" in caught.value.hint


@pytest.mark.parametrize("package", ["tokenizers", "onnxruntime"])
def test_a_missing_package_is_told_with_the_extra(
    tmp_path: Path, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_model(tmp_path)
    monkeypatch.setitem(__import__("sys").modules, package, None)
    monkeypatch.delitem(__import__("sys").modules, "zhiku.embedders.runtime", raising=False)
    with pytest.raises(MissingExtra) as caught:
        over(tmp_path).check()
    assert "zhiku[onnx]" in caught.value.hint


def test_it_uses_as_many_cores_as_it_may(tmp_path: Path) -> None:
    model = OnnxModel(make_model(tmp_path), "mean", threads=3)
    assert model._session.get_session_options().intra_op_num_threads == 3
