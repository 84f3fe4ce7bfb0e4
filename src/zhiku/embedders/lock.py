"""What a base's vectors were made by, where that is an endpoint: written into its manifest, and held to."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace


@dataclass(frozen=True, kw_only=True)
class Lock:
    """Vectors are of one space where all of this is equal."""

    provider: str = "openai"
    address: str
    """The whole address that texts are sent to."""
    model: str
    dims: int = 0
    """0 as long as the endpoint has not been asked."""
    asked_dims: int = 0
    """The size that the endpoint is asked for; 0 for the model's own."""
    query_instruction: str = ""
    document_instruction: str = ""

    @property
    def fingerprint(self) -> str:
        """Return it as one line."""
        instructions = f"{self.query_instruction!r} {self.document_instruction!r}"
        return f"{self.provider} {self.address} {self.model} {self.dims} {instructions}"

    def fits(self, other: Lock) -> bool:
        """Return whether both make the same vectors, as far as is known."""
        if self.dims and other.dims and self.dims != other.dims:
            return False
        return replace(self, dims=0, asked_dims=0) == replace(other, dims=0, asked_dims=0)

    def described(self, other: Lock | None = None) -> str:
        """Return it for people: model, size and address, and what else differs from another."""
        dims = f"{self.dims} dimensions" if self.dims else "dimensions unknown"
        parts = [f"{self.model}, {dims}, at {self.address}"]
        for name in ("query_instruction", "document_instruction"):
            if other is not None and getattr(self, name) != getattr(other, name):
                parts.append(f"{name} {getattr(self, name)!r}")
        return ", ".join(parts)

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
