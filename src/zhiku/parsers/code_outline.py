"""Which class and function each line of a source file belongs to, told from where definitions begin and end."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Final

Chain = tuple[str, ...]

MAX_NAMES: Final = 6
"""Of a chain, as many as a document has levels of headings; what is nested deeper stays with what holds it."""

LONG_FUNCTION_LINES: Final = 80
"""About what three chunks hold: functions within a shorter one are a part of it."""

# Brackets alone, perhaps with a comment that says what they end.
_CLOSER: Final = re.compile(r"\W*|\s*[\])}]\W*(?://|/\*|#)\s.*")


@dataclass(frozen=True, kw_only=True)
class Definition:
    """A class or function from its first line to its last one, 0-based and inclusive; a method may name its class."""

    first: int
    last: int
    names: Chain
    is_class: bool


def owners_of(lines: Sequence[str], definitions: Iterable[Definition], leads: Set[int]) -> list[Chain]:
    """Return the chain of names for each line; none for what stands outside of definitions.

    `leads` are the lines that hold nothing but comments or annotations: right above a definition they belong to it.
    """
    owners: list[Chain] = [()] * len(lines)
    headers = set()
    for definition, chain, first in _nested(definitions, leads):
        headers.add(first)
        owners[first : definition.last + 1] = [chain] * (definition.last + 1 - first)
    _give_headers_to_first_members(lines, owners, headers)
    _give_closers_to_last_members(lines, owners)
    return owners


def _nested(definitions: Iterable[Definition], leads: Set[int]) -> Iterator[tuple[Definition, Chain, int]]:
    """Yield the definitions that are cut at, each with its chain and first line, the outer before the inner."""
    around: list[tuple[Definition, Chain]] = []
    taken = -1  # the last line that the definitions before, or the beginning of those around, stand on
    for definition in sorted(definitions, key=lambda each: (each.first, -each.last)):
        while around and around[-1][0].last < definition.first:
            taken = max(taken, around.pop()[0].last)
        first = max(definition.first, taken + 1)
        chain = (around[-1][1] if around else ()) + definition.names
        if definition.last - first < 1 or len(chain) > MAX_NAMES or not all(_may_be_cut(outer) for outer, _ in around):
            continue
        while first - 1 in leads and first - 1 > taken:
            first -= 1
        around.append((definition, chain))
        taken = definition.first
        yield definition, chain, first


def _may_be_cut(definition: Definition) -> bool:
    return definition.is_class or definition.last - definition.first >= LONG_FUNCTION_LINES


def _give_headers_to_first_members(lines: Sequence[str], owners: list[Chain], headers: Set[int]) -> None:
    """Let the line that opens a class go with the member close below it, as a heading without text does."""
    runs = [(chain, list(rows)) for chain, rows in groupby(range(len(lines)), key=owners.__getitem__)]
    for (chain, rows), (following, _) in pairwise(runs):
        filled = [row for row in rows if lines[row].strip()]
        if len(filled) == 1 and filled[0] in headers and following[: len(chain)] == chain != following:
            owners[rows[0] : rows[-1] + 1] = [following] * len(rows)


def _give_closers_to_last_members(lines: Sequence[str], owners: list[Chain]) -> None:
    """Let a line of brackets alone go with what stands above it."""
    before: Chain = ()
    for row, line in enumerate(lines):
        if line.strip():
            if owners[row] != before and before[: len(owners[row])] == owners[row] and _CLOSER.fullmatch(line):
                owners[row] = before
            before = owners[row]
