"""Tiny models in folders, made in the test: a tokenizer of single characters, and a network that looks each up."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Regex, Tokenizer, models, pre_tokenizers, processors

DIMS = 6
CHARACTERS = "abcdefghijklmnopqrstuvwxyz .水泵密封圈年更换"
WORDS = ["[UNK]", "[CLS]", "[SEP]", *CHARACTERS]
INPUTS = ("input_ids", "attention_mask", "token_type_ids")


def make_model(
    folder: Path,
    *,
    inputs: tuple[str, ...] = INPUTS,
    outputs: tuple[str, ...] = ("last_hidden_state",),
    integers: int = TensorProto.INT64,
    seed: int = 0,
    scale: int = 1,
    most_tokens: int = 1_000,
) -> Path:
    """Write a network that takes so many tokens, and a tokenizer, into a folder, and return it.

    Outputs named `pooled…` or `sentence_embedding` are the state of the last token; all others are the states.
    """
    folder.mkdir(parents=True, exist_ok=True)
    table = np.random.default_rng(seed).normal(size=(len(WORDS), DIMS)).astype(np.float32) * scale
    nodes = [
        helper.make_node("Shape", ["input_ids"], ["shape"]),
        helper.make_node("Gather", ["shape", "one"], ["n"]),
        helper.make_node("Gather", ["positions", "n"], ["position"]),
        helper.make_node("Gather", ["table", "input_ids"], ["words"]),
        helper.make_node("Add", ["words", "position"], ["states"]),
        helper.make_node("Gather", ["states", "last"], ["whole"], axis=1),
    ]
    shapes: dict[str, list[str | int]] = {}
    for name in outputs:
        is_whole = name.startswith(("pooled", "sentence"))
        nodes.append(helper.make_node("Identity", ["whole" if is_whole else "states"], [name]))
        shapes[name] = ["batch", DIMS] if is_whole else ["batch", "tokens", DIMS]
    positions = np.zeros(most_tokens + 1, np.float32)
    constants = {"table": table, "last": np.array(-1), "one": np.array(1), "positions": positions}
    graph = helper.make_graph(
        nodes,
        "tiny",
        [helper.make_tensor_value_info(name, integers, ["batch", "tokens"]) for name in inputs],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in shapes.items()],
        [numpy_helper.from_array(array, name) for name, array in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.save(model, str(folder / "model.onnx"))
    make_tokenizer(folder)
    return folder


def make_tokenizer(folder: Path, *, max_length: int = 0, marks: bool = True) -> None:
    """Write a tokenizer with a token for each character, between marks."""
    tokenizer = Tokenizer(models.WordLevel({word: i for i, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex("."), "isolated")
    if marks:
        tokenizer.post_processor = processors.TemplateProcessing(
            single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
        )
    tokenizer.enable_padding(length=64)
    if max_length:
        tokenizer.enable_truncation(max_length)
    tokenizer.save(str(folder / "tokenizer.json"))


def states_of(text: str, seed: int = 0) -> np.ndarray:
    """Return what the network gives for each token of a text."""
    table = np.random.default_rng(seed).normal(size=(len(WORDS), DIMS)).astype(np.float32)
    return table[[1, *(WORDS.index(c) if c in WORDS else 0 for c in text), 2]]
