"""What every registered embedder promises (`zhiku.ports.Embedder`, `zhiku.service.local_model.LocalEmbedder`)."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec

import numpy as np
import pytest

from onnx_models import make_model
from zhiku.embedders.families import family_of
from zhiku.embedders.lock import Lock
from zhiku.registry import EMBEDDER_PACKAGES, EMBEDDERS, FOLDER_EMBEDDERS, default_embedder_name, load
from zhiku.service.local_model import LocalEmbedder as Embedder

TEXTS = [
    "The rain gauge is calibrated once a year, before the wet season.",
    "雨量筒每年在雨季之前校准一次。",
    "Short.",
    "The solar panels charge the batteries; below 11.8 V the datalogger shuts down to save them.",
    "太阳能板给蓄电池充电，电压低于 11.8 V 时数据采集器关机。",
    "def area(width, height):\n    return width * height",
]
PAIRS = [
    ("The cat is sleeping on the sofa.", "猫正在沙发上睡觉。"),
    ("The company's profit rose in the third quarter.", "公司第三季度的利润增长了。"),
    ("How do I reset my password?", "我怎样重置密码？"),
    ("It will rain heavily in the mountains tomorrow.", "明天山区有大雨。"),
]
HOSTILE = {
    "empty": "",
    "blank": " \n\t ",
    "nul": "a\0b\0",
    "only nul": "\0",
    "half surrogates": "a\ud800b\udfff",
    "ligature that becomes 18 characters": "\ufdfa" * 40,
    "emoji": "👩‍👩‍👧 🇨🇳 👍🏽",
    "control marks": "<s> </s> <pad> <unk> <mask>",
    "one long word": "a" * 20_000,
    "one long sentence": "的" * 20_000,
    "combining marks": "e" + "\u0301" * 2_000,
    "private use": "\ue000\U0010ffff",
}


@cache
def embedder(name: str) -> Embedder:
    made: Embedder = load(EMBEDDERS, name)()
    return made


@pytest.fixture(scope="session")
def of_a_folder(tmp_path_factory: pytest.TempPathFactory) -> Embedder:
    """Return an embedder over a model in a folder, which is tiny and knows no meaning."""
    folder = make_model(tmp_path_factory.mktemp("model"))
    lock = Lock(provider="onnx", model="m", path=str(folder), pooling="auto", document_instruction="p ")
    made: Embedder = load(FOLDER_EMBEDDERS, "onnx")(lock)
    made.check()
    return made


@pytest.fixture(params=[*EMBEDDERS, *FOLDER_EMBEDDERS])
def any_embedder(request: pytest.FixtureRequest) -> Embedder:
    made: Embedder = request.getfixturevalue("of_a_folder") if request.param in FOLDER_EMBEDDERS else installed(request)
    return made


@pytest.fixture(params=EMBEDDERS)
def subject(request: pytest.FixtureRequest) -> Embedder:
    return installed(request)


def installed(request: pytest.FixtureRequest) -> Embedder:
    missing = [package for package in EMBEDDER_PACKAGES[request.param] if not find_spec(package)]
    if missing:
        pytest.skip(f"this system has no package {', '.join(missing)}")
    return embedder(request.param)


def test_vectors_are_unit_rows_of_float32(any_embedder: Embedder) -> None:
    for vectors in (any_embedder.embed_documents(TEXTS), any_embedder.embed_queries(TEXTS)):
        assert vectors.shape == (len(TEXTS), any_embedder.dims)
        assert vectors.dtype == np.float32
        assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


def test_no_texts_give_no_rows(any_embedder: Embedder) -> None:
    assert any_embedder.embed_documents([]).shape == any_embedder.embed_queries([]).shape == (0, any_embedder.dims)


def test_the_same_text_has_the_same_vector_whatever_it_is_embedded_with(any_embedder: Embedder) -> None:
    together = any_embedder.embed_documents(TEXTS)
    reversed_ = any_embedder.embed_documents(TEXTS[::-1])[::-1]
    alone = np.concatenate([any_embedder.embed_documents([text]) for text in TEXTS])
    assert np.allclose(together, reversed_, atol=1e-5)
    assert np.allclose(together, alone, atol=1e-5)


def test_texts_that_occur_twice_have_one_vector(any_embedder: Embedder) -> None:
    twice = any_embedder.embed_documents(TEXTS + TEXTS)
    assert np.allclose(twice[: len(TEXTS)], twice[len(TEXTS) :], atol=1e-5)


def test_a_translation_is_nearer_than_any_other_sentence(subject: Embedder) -> None:
    english, chinese = (subject.embed_documents(side) for side in zip(*PAIRS, strict=True))
    cosines = english @ chinese.T
    assert (cosines.argmax(axis=0) == np.arange(len(PAIRS))).all()
    assert (cosines.argmax(axis=1) == np.arange(len(PAIRS))).all()


def test_a_question_finds_its_passage(subject: Embedder) -> None:
    passages = subject.embed_documents(TEXTS)
    for question, answers in {"how often is the rain gauge calibrated": {0, 1}, "电池电压太低会怎样": {3, 4}}.items():
        best = int((passages @ subject.embed_queries([question])[0]).argmax())
        assert best in answers, question


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_any_string_has_a_vector(any_embedder: Embedder, text: str) -> None:
    vectors = np.concatenate([any_embedder.embed_documents([text, TEXTS[0]]), any_embedder.embed_queries([text])])
    assert np.isfinite(vectors).all()
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert np.allclose(vectors[1], any_embedder.embed_documents(TEXTS[:1])[0], atol=1e-5)
    assert any_embedder.count_tokens(text) >= 0


@pytest.mark.parametrize("unit", ["word ", "雨量筒校准，"])
def test_text_above_the_limit_is_not_seen_and_text_below_is(any_embedder: Embedder, unit: str) -> None:
    times = 1
    while any_embedder.count_tokens(unit * (times + 1)) <= any_embedder.max_tokens:
        times += 1
    end = "zebra stripes"
    below, full, above = any_embedder.embed_documents(
        [unit * (times - 20) + end, unit * (times + 60), unit * (times + 60) + end]
    )
    assert np.allclose(full, above, atol=1e-5)
    assert not np.allclose(full, below, atol=1e-3)


def test_more_text_takes_more_tokens(any_embedder: Embedder) -> None:
    counts = [any_embedder.count_tokens("雨量筒 rain gauge " * times) for times in (0, 1, 10, 100)]
    assert counts == sorted(set(counts))


def test_the_fingerprint_needs_no_model_and_does_not_change(subject: Embedder) -> None:
    fresh: Embedder = type(subject)()
    assert fresh.fingerprint == subject.fingerprint
    assert str(fresh.dims) in fresh.fingerprint


def test_a_client_that_knows_the_model_by_its_name_makes_the_same_vectors(subject: Embedder) -> None:
    family = family_of(subject.model)
    questions, _ = subject.embed_as_given([family.query_instruction + text for text in TEXTS])
    passages, _ = subject.embed_as_given([family.document_instruction + text for text in TEXTS])
    assert np.array_equal(questions, subject.embed_queries(TEXTS))
    assert np.array_equal(passages, subject.embed_documents(TEXTS))
    assert family.scale == subject.scale


def test_the_tokens_of_texts_as_given_are_those_that_are_seen(subject: Embedder) -> None:
    _, one = subject.embed_as_given(["rain"])
    _, many = subject.embed_as_given(["rain", "rain " * 5_000])
    assert one > 0
    assert many == one + subject.max_tokens


def test_fingerprints_differ() -> None:
    assert len({embedder(name).fingerprint for name in EMBEDDERS}) == len(EMBEDDERS)


def test_the_default_is_an_embedder_of_this_system() -> None:
    name = default_embedder_name()
    assert name == "none" or all(find_spec(package) for package in EMBEDDER_PACKAGES[name])


def test_the_builtin_embedder_tells_questions_from_passages() -> None:
    if not all(find_spec(package) for package in EMBEDDER_PACKAGES["builtin"]):
        pytest.skip("this system has no built-in model")
    subject = embedder("builtin")
    assert not np.allclose(subject.embed_queries(TEXTS), subject.embed_documents(TEXTS), atol=1e-3)
