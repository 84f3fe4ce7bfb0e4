"""A loaded ONNX model with its tokenizer: text to vector."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from zhiku.embedders.onnx_files import MODEL_FILE, TOKENIZER_FILE
from zhiku.errors import MissingExtra, ModelUnavailable

if TYPE_CHECKING:
    import numpy as np
    import onnxruntime
    import tokenizers
    from numpy.typing import NDArray

DEFAULT_MAX_TOKENS = 512
"""Where neither the settings nor the tokenizer say how many the network takes: what most do."""

PROBE = "zhiku"
WHOLE_TEXT = "sentence_embedding"
"""The output that is a vector already."""
STATES = ("last_hidden_state", "token_embeddings")
"""Outputs with a vector for each token."""
AUTO = "auto"

_INTEGERS = {"tensor(int64)": "int64", "tensor(int32)": "int32"}
_LEAST_NORM = 1e-9
_MAX_CAUSE_CHARS = 200


class OnnxModel:
    """Raises `MissingExtra` or `ModelUnavailable` where the model cannot be loaded or is not one that embeds."""

    def __init__(self, folder: Path, pooling: str, *, max_tokens: int = 0, threads: int = 1) -> None:
        """Take the folder, how states become a vector, and a limit of tokens; 0 for that of the tokenizer."""
        self._path = folder / MODEL_FILE
        self._pooling = pooling
        self._session = _open_session(self._path, threads)
        self._tokenizer, self.max_tokens = _open_tokenizer(folder / TOKENIZER_FILE, max_tokens)
        self._inputs = {each.name: each.type for each in self._session.get_inputs()}
        self._output = self._find_output()
        self.dims = len(self._run(self._ids(PROBE)))

    def embed(self, text: str) -> NDArray[np.float32]:
        """Return the vector of a text at length 1; NaN where the network gives no direction."""
        import numpy as np

        vector = self._run(self._ids(text))
        norm = np.linalg.norm(vector)
        is_usable = np.isfinite(norm) and norm > _LEAST_NORM
        return (vector / norm if is_usable else np.full(len(vector), np.nan)).astype(np.float32)

    def count_tokens(self, text: str) -> int:
        """Return how many tokens a text takes, whatever the limit."""
        encoding = self._tokenizer.encode(text)
        return len(encoding.ids) + sum(self._added_tokens(part) for part in encoding.overflowing)

    def _added_tokens(self, part: tokenizers.Encoding) -> int:
        return len(part.ids) - sum(part.special_tokens_mask)

    def _ids(self, text: str) -> list[int]:
        # A tokenizer without marks makes nothing of nothing, and a network cannot run on that.
        ids = self._tokenizer.encode(text).ids or self._tokenizer.encode(".").ids
        return [int(each) for each in ids]

    def _run(self, ids: Sequence[int]) -> NDArray[np.float64]:
        import numpy as np

        told = {
            "input_ids": ids,
            "attention_mask": [1] * len(ids),
            "token_type_ids": [0] * len(ids),
            "position_ids": range(len(ids)),
        }
        feed = {}
        for name, kind in self._inputs.items():
            if name not in told or kind not in _INTEGERS:
                raise ModelUnavailable(
                    "the model {path} wants an input {name!r} ({kind}), which a text does not give.",
                    path=self._path,
                    name=name,
                    kind=kind,
                    hint="export it as one that embeds (feature extraction), without a cache of keys and values",
                )
            feed[name] = np.array([told[name]], _INTEGERS[kind])
        try:
            output = np.asarray(self._session.run([self._output], feed)[0], np.float64)
        except Exception as error:  # ONNX Runtime's errors have no class in common but this
            raise ModelUnavailable(
                "the model {path} fails over {tokens} tokens: {cause}.",
                path=self._path,
                tokens=len(ids),
                cause=_cause(error),
                hint="lower max_input_tokens in config.toml, or export the model anew",
            ) from error
        return self._pooled(output, len(ids))

    def _pooled(self, output: NDArray[np.float64], tokens: int) -> NDArray[np.float64]:
        if self._output == WHOLE_TEXT and output.ndim == 2 and len(output) == 1:
            vector: NDArray[np.float64] = output[0]
        elif output.ndim == 3 and output.shape[:2] == (1, tokens):
            states = output[0]
            vector = states[0] if self._pooling == "cls" else states[-1] if self._pooling == "last" else states.mean(0)
        else:
            raise ModelUnavailable(
                "the model {path} answers {tokens} tokens with the shape {shape}, which is no vector for each.",
                path=self._path,
                tokens=tokens,
                shape=output.shape,
                hint="export it as one that embeds (feature extraction)",
            )
        return vector

    def _find_output(self) -> str:
        names = [each.name for each in self._session.get_outputs()]
        if WHOLE_TEXT in names and (self._pooling == AUTO or not set(STATES) & set(names)):
            return WHOLE_TEXT
        with_states = [name for name in STATES if name in names]
        with_states += [each.name for each in self._session.get_outputs() if len(each.shape or ()) == 3]
        if not with_states:
            raise ModelUnavailable(
                "the model {path} has no output with a vector for each token; it has: {names}.",
                path=self._path,
                names=", ".join(names),
                hint="export it as one that embeds (feature extraction)",
            )
        return with_states[0]


def _open_session(path: Path, threads: int) -> onnxruntime.InferenceSession:
    try:
        import onnxruntime

        from zhiku.embedders.runtime import session_options
    except ImportError as error:
        raise _missing("onnxruntime") from error
    try:
        return onnxruntime.InferenceSession(path, session_options(threads), providers=["CPUExecutionProvider"])
    except Exception as error:  # as above
        raise _unusable(path, error) from error


def _open_tokenizer(path: Path, max_tokens: int) -> tuple[tokenizers.Tokenizer, int]:
    """Return a tokenizer that cuts, and where: at `max_tokens`, or where it stops by itself; 0 for no wish."""
    try:
        import tokenizers
    except ImportError as error:
        raise _missing("tokenizers") from error
    try:
        tokenizer = tokenizers.Tokenizer.from_file(str(path))
    except Exception as error:  # the package raises nothing narrower
        raise ModelUnavailable(
            "{path} is no tokenizer: {cause}.",
            path=path,
            cause=_cause(error),
            hint="take the tokenizer.json that belongs to the model",
        ) from error
    limit = max_tokens or (tokenizer.truncation or {}).get("max_length", DEFAULT_MAX_TOKENS)
    tokenizer.no_padding()
    tokenizer.enable_truncation(limit)
    return tokenizer, limit


def _missing(package: str) -> MissingExtra:
    return MissingExtra(
        "a model in a folder needs the package {package}, which is not installed.",
        package=package,
        hint='install it with: pip install "zhiku[onnx]"',
    )


def _unusable(path: Path, error: Exception) -> ModelUnavailable:
    return ModelUnavailable(
        "ONNX Runtime cannot run {path}: {cause}.",
        path=path,
        cause=_cause(error),
        hint="export it anew, or set another path in config.toml",
    )


def _cause(error: Exception) -> str:
    """Return the first line of what a library says, which may be a page long."""
    return next(iter(str(error).splitlines()), type(error).__name__)[:_MAX_CAUSE_CHARS].rstrip(". ")
