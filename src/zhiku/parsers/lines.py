"""Put lines together into the text and the blocks of a document."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import NamedTuple

from zhiku.model import Block, BlockKind


class Line(NamedTuple):
    """A line of the text, from line `number` of the file; neighbours of one kind and group are one block."""

    kind: BlockKind
    group: int
    text: str
    number: int
    level: int = 0


def assemble(lines: Iterable[Line]) -> tuple[str, list[Block], list[int]]:
    """Return text, blocks and the file's line for each line of the text; a blank line parts two blocks."""
    parts: list[str] = []
    blocks: list[Block] = []
    numbers: list[int] = []
    size = 0
    for _, group in groupby(lines, key=lambda line: (line.kind, line.group)):
        first, *others = group
        if parts:
            parts.append("\n\n")
            size += 2
            numbers.append(first.number)
        text = "\n".join(line.text for line in (first, *others))
        indent = 0 if first.kind == "fence" else len(text) - len(text.lstrip())
        blocks.append(
            Block(
                kind=first.kind,
                char_start=size + indent,
                char_end=size + len(text),
                level=first.level,
                title=text if first.level else "",
            )
        )
        parts.append(text)
        size += len(text)
        numbers += [line.number for line in (first, *others)]
    return "".join(parts), blocks, numbers
