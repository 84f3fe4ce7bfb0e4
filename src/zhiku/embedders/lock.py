"""What a base's vectors were made by, where that is a model of the user's own: in its manifest, and held to."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from typing import Any

ONNX = "onnx"

UNCUT_TOKENS = 2048
"""So long is no passage: a chunk has 400 tokens at most, and its title and headings some more. A limit from here on
cuts nothing, and changing it must not cost a base its vectors.
"""


@dataclass(frozen=True, kw_only=True)
class Lock:
    """Vectors are of one space where all of this is equal."""

    provider: str = "openai"
    """`openai` for an endpoint, `onnx` for a model in a folder."""
    address: str = ""
    """The whole address that texts are sent to; of an endpoint."""
    model: str
    """The model's name; of one in a folder, what stands for the content of its files."""
    dims: int = 0
    """0 as long as nobody knows."""
    asked_dims: int = 0
    """The size that the endpoint is asked for; 0 for the model's own."""
    query_instruction: str = ""
    document_instruction: str = ""
    max_input_tokens: int | None = None
    """About so many tokens of a text are sent; 0 for `UNCUT_TOKENS` or more, None where nobody noted it."""

    pooling: str = ""
    """How the states of tokens become a vector; of a model in a folder."""
    path: str = ""
    """Where that folder lies, which changes no vector."""

    @property
    def fingerprint(self) -> str:
        """Return it as one line."""
        instructions = f"{self.query_instruction!r} {self.document_instruction!r}"
        cut = f" {self.max_input_tokens}" if self.max_input_tokens else ""
        if self.provider == ONNX:  # whose size is that of its model, and not known before it is loaded
            return f"{self.provider} {self.model} {self.pooling} {instructions}{cut}"
        return f"{self.provider} {self.address} {self.model} {self.dims} {instructions}{cut}"

    def fits(self, other: Lock) -> bool:
        """Return whether both make the same vectors, as far as is known."""
        if 0 not in (self.dims, other.dims) and self.dims != other.dims:
            return False
        if self._is_cut_otherwise(other):
            return False
        unknown: dict[str, Any] = {"dims": 0, "asked_dims": 0, "max_input_tokens": None, "path": ""}
        return replace(self, **unknown) == replace(other, **unknown)

    def described(self, other: Lock | None = None) -> str:
        """Return it for people: model, size and address, and what else differs from another."""
        dims = f"{self.dims} dimensions" if self.dims else "dimensions unknown"
        parts = [f"{self.model}, {dims}, {f'in {self.path}' if self.provider == ONNX else f'at {self.address}'}"]
        for name in ("query_instruction", "document_instruction", "pooling"):
            if other is not None and getattr(self, name) != getattr(other, name):
                parts.append(f"{name} {getattr(self, name)!r}")
        if other is not None and self._is_cut_otherwise(other):
            parts.append(f"max_input_tokens {self.max_input_tokens or f'from {UNCUT_TOKENS} on'}")
        return ", ".join(parts)

    def _is_cut_otherwise(self, other: Lock) -> bool:
        known = {self.max_input_tokens, other.max_input_tokens}
        return None not in known and len(known) > 1

    def to_json(self) -> str:
        """Return it as it stands in a manifest."""
        return json.dumps(asdict(self), ensure_ascii=False, sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> Lock | None:
        """Return it from a manifest; None where that was written by something else."""
        try:
            return cls(**json.loads(text))
        except (ValueError, TypeError):
            return None
