"""Write src/zhiku/embedders/e5_small.onnx: the graph of multilingual-e5-small without its weights.

usage: make_e5_graph.py [--check]

--check compares instead, and ends with 1 where the file is not what this script makes. Needs the package onnx
(pip install .[dev]); the program itself does not. Architecture: XLM-RoBERTa encoder, post-norm (Vaswani et al.,
"Attention Is All You Need", 2017; Conneau et al., "Unsupervised Cross-lingual Representation Learning at Scale",
2020), by the contrib operators of ONNX Runtime. The input is the sum of the embeddings, looked up outside.
"""

from __future__ import annotations

import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from zhiku.embedders.e5_graph import (
    EPSILON,
    FEED_FORWARD,
    FLOATS,
    GRAPH,
    HEADS,
    HIDDEN,
    INPUT,
    LAYERS,
    LINEAR_INPUTS,
    OUTPUT,
)

CONTRIB = "com.microsoft"
OPSETS = [helper.make_opsetid("", 18), helper.make_opsetid(CONTRIB, 1)]
IR_VERSION = 9
# Operators of ONNX Runtime's own set; all others are of the ONNX standard.
CONTRIB_OPERATORS = {"MultiHeadAttention", "SkipLayerNormalization", "BiasGelu", "MatMulIntegerToFloat"}
OUTPUTS = {"q": HIDDEN, "k": HIDDEN, "v": HIDDEN, "ao": HIDDEN, "fi": FEED_FORWARD, "fo": HIDDEN}


class Graph:
    """Nodes and initializers in the making; a method adds what computes its result, and returns that one's name."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.initializers: list[onnx.TensorProto] = []

    def op(self, operator: str, inputs: list[str], output: str, **attributes: object) -> str:
        domain = CONTRIB if operator in CONTRIB_OPERATORS else ""
        self.nodes.append(helper.make_node(operator, inputs, [output], name=output, domain=domain, **attributes))
        return output

    def constant(self, name: str, value: object) -> str:
        self.initializers.append(numpy_helper.from_array(np.array(value), name))
        return name

    def weight(self, name: str, kind: int, *shape: int) -> str:
        """Declare a tensor that is given when the graph is loaded."""
        tensor = onnx.TensorProto(name=name, data_type=kind, dims=shape, data_location=TensorProto.EXTERNAL)
        tensor.external_data.add(key="location", value="given-in-memory")
        self.initializers.append(tensor)
        return name

    def quantise(self, x: str) -> tuple[str, str]:
        """Return x as uint8 around 128 with a scale for each token, and these scales: (tokens, 1)."""
        largest = self.op("ReduceMax", [self.op("Abs", [x], f"{x}.abs"), "last"], f"{x}.max", keepdims=1)
        column = self.op("Mul", [largest, "step"], f"{x}.scale")
        row = self.op("Squeeze", [column, "last"], f"{x}.scale.row")
        shape = self.op("Shape", [row], f"{x}.shape")
        middle = helper.make_tensor("value", TensorProto.UINT8, [1], [128])
        zeros = self.op("ConstantOfShape", [shape], f"{x}.zero", value=middle)
        return self.op("QuantizeLinear", [x, row, zeros], f"{x}.int", axis=0), column

    def linear(self, x: tuple[str, str], name: str, part: str) -> str:
        """Return x times the weights, still without bias."""
        weights = self.weight(f"{name}.w", TensorProto.INT8, LINEAR_INPUTS[part], OUTPUTS[part])
        scales = self.weight(f"{name}.s", TensorProto.FLOAT, OUTPUTS[part])
        product = self.op("MatMulIntegerToFloat", [x[0], weights, "one", scales, "middle"], f"{name}.product")
        return self.op("Mul", [product, x[1]], f"{name}.y")

    def attention(self, x: str, prefix: str) -> str:
        """Return what each token takes from the others."""
        quantised = self.quantise(x)
        parts = [self.linear(quantised, prefix + part, part) for part in "qkv"]
        parts = [self.op("Reshape", [part, "shape"], f"{part}.3d") for part in parts]
        bias = self.weight(f"{prefix}qkv.b", TensorProto.FLOAT, 3 * HIDDEN)
        heads = self.op("MultiHeadAttention", [*parts, bias], f"{prefix}heads", num_heads=HEADS)
        return self.op("Reshape", [heads, "flat"], f"{prefix}context")

    def layer(self, x: str, prefix: str) -> str:
        """Return the states after one layer: attention, then feed forward, each added and normalised."""
        for name in FLOATS:
            self.weight(prefix + name, TensorProto.FLOAT, FEED_FORWARD if name == "fi.b" else HIDDEN)
        y = self.linear(self.quantise(self.attention(x, prefix)), f"{prefix}ao", "ao")
        x = self.add_norm(y, x, f"{prefix}ao.b", f"{prefix}aln")
        y = self.linear(self.quantise(x), f"{prefix}fi", "fi")
        y = self.op("BiasGelu", [y, f"{prefix}fi.b"], f"{prefix}gelu")
        y = self.linear(self.quantise(y), f"{prefix}fo", "fo")
        return self.add_norm(y, x, f"{prefix}fo.b", f"{prefix}oln")

    def add_norm(self, y: str, x: str, bias: str, norm: str) -> str:
        return self.op("SkipLayerNormalization", [y, x, f"{norm}.w", f"{norm}.b", bias], f"{norm}.y", epsilon=EPSILON)


def make_model() -> onnx.ModelProto:
    """Return the whole model: `INPUT` (texts, tokens, hidden) to `OUTPUT` of the same shape."""
    graph = Graph()
    graph.constant("flat", np.array([-1, HIDDEN], np.int64))
    graph.constant("last", np.array([1], np.int64))
    graph.constant("one", np.float32(1))
    graph.constant("step", np.float32(1 / 127))
    graph.constant("middle", np.uint8(128))
    graph.op("Shape", [INPUT], "shape")
    x = graph.op("Reshape", [INPUT, "flat"], "flat_input")
    norm = [graph.weight(f"emb.ln.{part}", TensorProto.FLOAT, HIDDEN) for part in "wb"]
    x = graph.op("LayerNormalization", [x, *norm], "emb.ln.y", epsilon=EPSILON, axis=-1)
    for layer in range(LAYERS):
        x = graph.layer(x, f"l{layer}.")
    graph.op("Reshape", [x, "shape"], OUTPUT)
    shape = ["texts", "tokens", HIDDEN]
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name in (INPUT, OUTPUT)]
    made = helper.make_graph(graph.nodes, "e5_small", ends[:1], ends[1:], graph.initializers)
    return helper.make_model(made, opset_imports=OPSETS, ir_version=IR_VERSION, producer_name="zhiku")


def main() -> int:
    """Write the file, or compare it."""
    data = make_model().SerializeToString(deterministic=True)
    if "--check" in sys.argv[1:]:
        same = GRAPH.exists() and GRAPH.read_bytes() == data
        print(f"{GRAPH.name} is {'up to date' if same else 'not what this script makes: run it without --check'}")
        return 0 if same else 1
    GRAPH.write_bytes(data)
    print(f"{GRAPH.name}: {len(data)} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
