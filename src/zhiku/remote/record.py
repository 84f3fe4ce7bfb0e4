"""What requests cost: told, one by one, to whoever keeps count."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from zhiku.remote.endpoint import Kind


@dataclass(frozen=True, kw_only=True)
class Load:
    """What a request carries: texts, and about how many tokens these are, for a server that does not tell."""

    texts: int = 0
    estimate: Callable[[], int] = lambda: 0


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


@dataclass(frozen=True, kw_only=True)
class Usage:
    """What the requests to one endpoint for one kind of work cost together."""

    kind: str
    address: str
    model: str
    calls: int
    """Tries, those that failed too."""
    texts: int
    """Of the tries that were answered."""
    tokens: int
    """Likewise: as the endpoint counted them, else estimated."""
    tokens_estimated: int
    """How many of `tokens` are estimated."""
    errors: int
    """Tries that failed, or were given up."""
    seconds: float
    """Waited for answers."""

    def to_dict(self) -> dict[str, object]:
        """Return it as JSON has it."""
        return {**asdict(self), "seconds": round(self.seconds, 3)}


def tokens_in(reply: object) -> int | None:
    """Return how many tokens a reply says that it cost; None where it does not."""
    usage: Any = reply.get("usage") if isinstance(reply, dict) else None
    if not isinstance(usage, dict):
        return None
    for name in ("total_tokens", "prompt_tokens"):
        if isinstance(count := usage.get(name), int) and count >= 0:
            return count
    return None
