"""Run multilingual-e5-small: a graph without weights, fed with those of the installed file.

The graph (e5_small.onnx) is made by scripts/make_e5_graph.py, which takes sizes and names from here. Weights go in as
8-bit integers, one scale for each output; activations are quantised when it runs, one scale for each token.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from zhiku.embedders.e5_file import E5File, widen
from zhiku.embedders.runtime import session_options

GRAPH = Path(__file__).with_name("e5_small.onnx")
HIDDEN = 384
FEED_FORWARD = 1536
LAYERS = 12
HEADS = 12
EPSILON = 1e-12
INPUT, OUTPUT = "embeddings", "states"
# Of a layer, by the names that the weights file uses: inputs of each linear map, and tensors that stay float32.
LINEAR_INPUTS = {"q": HIDDEN, "k": HIDDEN, "v": HIDDEN, "ao": HIDDEN, "fi": HIDDEN, "fo": FEED_FORWARD}
FLOATS = ("ao.b", "aln.w", "aln.b", "fi.b", "fo.b", "oln.w", "oln.b")
# -127 to 127. On x86 without VNNI, sums of two products may saturate at 16 bits; in a simulation (2026-11) that moved
# vectors by .0004 in cosine, less than the 7-bit weights that would rule it out (.0005).
_INT8_MAX = 127


class E5Model:
    """The loaded network: token ids to vectors."""

    def __init__(self, file: E5File, threads: int) -> None:
        self._words = file.blocks("emb.word", HIDDEN)
        types = file.floats("emb.type").reshape(-1, HIDDEN)
        self._positions = file.floats("emb.pos").reshape(-1, HIDDEN) + types[0]
        # The session reads these arrays in place, so they must live as long as it does.
        self._arrays = dict(_tensors(file))
        self._session = _open_session(self._arrays, threads)

    def embed(self, ids: Sequence[Sequence[int]]) -> NDArray[np.float32]:
        """Return the vectors of texts of one length: (n, 384) float32, rows of length 1."""
        return pool(self.run(self.look_up(ids)))

    def look_up(self, ids: Sequence[Sequence[int]]) -> NDArray[np.float32]:
        """Return the input of the network: (n, tokens, 384) float32."""
        table = np.array(ids)
        words = widen(self._words[table.ravel()]).reshape(*table.shape, HIDDEN)
        words += self._positions[: table.shape[1]]
        return words

    def run(self, embeddings: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the state of each token: (n, tokens, 384) float32."""
        states: NDArray[np.float32] = self._session.run([OUTPUT], {INPUT: embeddings})[0]
        return states


def pool(states: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the mean of each text's states, at length 1."""
    vectors: NDArray[np.float32] = states.mean(axis=1)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors


def _open_session(arrays: dict[str, NDArray[np.generic]], threads: int) -> onnxruntime.InferenceSession:
    options = session_options(threads)
    values = [onnxruntime.OrtValue.ortvalue_from_numpy(array) for array in arrays.values()]
    options.add_external_initializers(list(arrays), values)
    return onnxruntime.InferenceSession(GRAPH, options, providers=["CPUExecutionProvider"])


def _tensors(file: E5File) -> Iterator[tuple[str, NDArray[np.generic]]]:
    """Yield name and values of everything that the graph leaves open."""
    # Copies, since those in the file are not aligned.
    for name in ("emb.ln.w", "emb.ln.b"):
        yield name, file.floats(name).copy()
    for layer in range(LAYERS):
        prefix = f"l{layer}."
        for name, inputs in LINEAR_INPUTS.items():
            weights, scales = _to_int8(widen(file.blocks(f"{prefix}{name}.w", inputs)))
            yield f"{prefix}{name}.w", weights
            yield f"{prefix}{name}.s", scales
        yield f"{prefix}qkv.b", np.concatenate([file.floats(f"{prefix}{name}.b") for name in "qkv"])
        for name in FLOATS:
            yield prefix + name, file.floats(prefix + name).copy()


def _to_int8(weights: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Return weights (outputs, inputs) as (inputs, outputs) int8, and the scale of each output."""
    scales = np.maximum(weights.max(axis=1), -weights.min(axis=1)) / np.float32(_INT8_MAX)
    weights /= scales[:, None]
    np.rint(weights, out=weights)
    return np.ascontiguousarray(weights.astype(np.int8).T), scales
