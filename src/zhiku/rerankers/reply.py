"""Scores out of what a rerank endpoint answers, in any of the forms that servers have; none is taken on trust."""

from __future__ import annotations

from math import nan
from typing import Any

from zhiku.errors import BadModelReply

_LISTS = ("results", "data", "scores")
_SCORES = ("relevance_score", "score")


def scores_in(reply: object, count: int, address: str) -> list[float]:
    """Return the scores of `count` texts in their order, as the endpoint gave them; NaN for a text without one.

    Entries for texts that were not sent are left out, and of two for one text the first counts. Raises
    `BadModelReply` where there is no score at all, or it cannot be told which is whose.
    """
    entries: Any = reply
    if isinstance(reply, dict):
        entries = next((reply[name] for name in _LISTS if isinstance(reply.get(name), list)), None)
    if not isinstance(entries, list):
        raise _no_scores(address)
    if not any(isinstance(entry, dict) for entry in entries):
        return _in_order(entries, count, address)
    found: dict[int, float] = {}
    for entry in entries:
        index = entry.get("index") if isinstance(entry, dict) else None
        if type(index) is int and 0 <= index < count:
            found.setdefault(index, _number(next((entry[name] for name in _SCORES if name in entry), None)))
    scores = [found.get(i, nan) for i in range(count)]
    if all(score != score for score in scores):
        raise _no_scores(address)
    return scores


def _in_order(entries: list[Any], count: int, address: str) -> list[float]:
    """Return scores that stand alone, in the order of the texts."""
    if len(entries) != count:
        raise BadModelReply(
            "{address} answers with {found} scores for {count} texts, and does not say which is whose.",
            address=address,
            found=len(entries),
            count=count,
            hint="use another server or model for [models.rerank]",
        )
    scores = [_number(entry) for entry in entries]
    if all(score != score for score in scores):
        raise _no_scores(address)
    return scores


def _number(value: object) -> float:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number else nan  # type: ignore[arg-type]


def _no_scores(address: str) -> BadModelReply:
    return BadModelReply(
        "{address} answers with something that holds no scores.",
        address=address,
        hint="check that the address is that of a rerank endpoint, and the model one that reranks",
    )
