"""How long a result may be. Both of its forms count: some clients give a model the one, some the other, some both."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import Any, TypeVar

T = TypeVar("T")

MAX_RESULT_CHARS = 20_000
"""Of text and JSON together. A Chinese character is about a token, four of English are one."""
MAX_NAMED = 8
"""Of bases, in a sentence."""


def json_chars(item: Any) -> int:
    """Return how many characters a dataclass takes as JSON, or some fewer: fields with their defaults count here."""
    return len(json.dumps(asdict(item), ensure_ascii=False))


def fitting(items: Iterable[T], size: Callable[[T], int], room: int) -> Iterator[T]:
    """Yield items as long as there is room for them; `size` is what one takes in both forms."""
    for item in items:
        room -= size(item)
        if room < 0:
            return
        yield item


def both_chars(text: str) -> int:
    """Return how many characters a text takes in both forms."""
    return len(text) + len(json.dumps(text, ensure_ascii=False))


def named(bases: Sequence[str]) -> str:
    """Return bases in words."""
    if len(bases) > MAX_NAMED:
        return counted(len(bases), "base")
    return ("base " if len(bases) == 1 else "bases ") + ", ".join(bases)


def counted(count: int, noun: str) -> str:
    """Return a number of things in words."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
