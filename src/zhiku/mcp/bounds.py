"""How long a result may be. Both of its forms count: some clients give a model the one, some the other, some both."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

MAX_RESULT_CHARS = 20_000
"""Of text and JSON together. A Chinese character is about a token, four of English are one."""


def json_chars(item: Any) -> int:
    """Return how many characters a dataclass takes as JSON, or some fewer: fields with their defaults count here."""
    return len(json.dumps(asdict(item), ensure_ascii=False, separators=(",", ":")))


def both_chars(text: str) -> int:
    """Return how many characters a text takes in both forms."""
    return len(text) + len(json.dumps(text, ensure_ascii=False))


def counted(count: int, noun: str) -> str:
    """Return a number of things in words."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
