"""What requests cost: told, one by one, to whoever keeps count."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from zhiku.remote.endpoint import Kind


@dataclass(frozen=True, kw_only=True)
class Load:
    """What a request carries: texts, and about how many tokens these are."""

    texts: int = 0
    tokens: int = 0


NOT_COUNTED = Load()


@dataclass(frozen=True, kw_only=True)
class Call:
    """One try of a request."""

    kind: Kind
    address: str
    model: str
    texts: int
    tokens: int
    """As the endpoint counted them, else as `Load` has them; 0 for a try that failed."""
    is_estimate: bool
    """Whether the endpoint did not say how many tokens it counted."""
    error: str = ""
    """Why it failed: a status, `timeout` or `connection`; empty where it did not."""
    elapsed_s: float


Record = Callable[[Call], None]


def tokens_in(reply: object) -> int | None:
    """Return how many tokens a reply says that it cost; None where it does not."""
    usage: Any = reply.get("usage") if isinstance(reply, dict) else None
    if not isinstance(usage, dict):
        return None
    for name in ("total_tokens", "prompt_tokens"):
        if isinstance(count := usage.get(name), int) and count >= 0:
            return count
    return None
