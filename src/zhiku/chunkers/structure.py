"""The default chunker: by section and paragraph, whole fences and tables where they fit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from zhiku.chunkers.places import Places
from zhiku.model import Block, Chunk, ParsedDocument
from zhiku.text.measure import best_cut, estimate_tokens, fit, overlap_start

CHUNKER_VERSION = "structure-1"
"""Part of the manifest: a change of any span needs a new version and a rebuild."""

MAX_GAP_CHARS = 60
"""Blocks further apart, with nothing but blanks between them, share no chunk: blanks count as tokens too."""


@dataclass(frozen=True, kw_only=True)
class _Unit:
    """A span that stays whole, with its size in tokens and that of the blanks before it."""

    start: int
    end: int
    tokens: int
    gap_tokens: int


@dataclass
class _Section:
    chain: tuple[str, ...] = ()
    blocks: list[Block] = field(default_factory=list)


class StructureChunker:
    """Cuts each section into chunks of about equal size.

    `max_tokens` bounds a chunk, its section chain aside (the built-in embedder takes 512 with prefix and context);
    `overlap` is the share of a chunk that repeats the end of the one before it in the same section.
    """

    version = CHUNKER_VERSION

    def __init__(self, *, max_tokens: int = 400, overlap: float = 0.12) -> None:
        self._max_tokens = max_tokens
        self._overlap_tokens = int(max_tokens * overlap)
        self._body_tokens = max_tokens - self._overlap_tokens

    def chunk(self, document: ParsedDocument) -> Iterator[Chunk]:
        """Yield the chunks of `document` in order."""
        places = Places(document)
        for section in _sections(document.blocks):
            for start, end in self._spans(document.text, section.blocks):
                chunk = places.chunk(start, end, section.chain)
                if chunk is not None:
                    yield chunk

    def _spans(self, text: str, blocks: list[Block]) -> Iterator[tuple[int, int]]:
        units = list(self._units(text, blocks))
        total = sum(unit.tokens + unit.gap_tokens for unit in units) - units[0].gap_tokens
        if total <= self._max_tokens:
            yield units[0].start, units[-1].end
            return
        aim = total / -(-total // self._body_tokens)
        start: int | None = None
        size = 0
        for i, unit in enumerate(units):
            if start is None:
                start = unit.start
            size += unit.tokens + (unit.gap_tokens if size else 0)
            last = i + 1 == len(units)
            # Cut where the next unit would lead further from an even share than stopping here, or over the limit.
            if not last:
                following = size + units[i + 1].gap_tokens + units[i + 1].tokens
                if following <= self._body_tokens and following - aim <= aim - size:
                    continue
                # A beginning that the next chunk would repeat whole, such as the heading of a long paragraph, is none.
                is_first = start == units[0].start
                if is_first and size <= self._overlap_tokens and following <= self._max_tokens:
                    continue
            yield start, unit.end
            if not last:
                start, size = self._overlap_start(text, start, unit.end, units[i + 1].start), 0

    def _units(self, text: str, blocks: list[Block]) -> Iterator[_Unit]:
        before = blocks[0].char_start
        for block in blocks:
            start = block.char_start
            while start < block.char_end:
                end = fit(text, start, block.char_end, self._body_tokens)
                if end < block.char_end:
                    end = best_cut(text, start + (end - start) // 2, end)
                gap_tokens = estimate_tokens(text[before:start])
                yield _Unit(start=start, end=end, tokens=estimate_tokens(text[start:end]), gap_tokens=gap_tokens)
                before = start = end

    def _overlap_start(self, text: str, start: int, end: int, following: int) -> int:
        """Return where the chunk behind `text[start:end]` begins: some whole sentences back, or at `following`."""
        lowest = max(start + (end - start) // 2, end - 4 * self._overlap_tokens)
        while lowest < end and estimate_tokens(text[lowest:following]) > self._overlap_tokens:
            lowest += max(1, (end - lowest) // 4)
        lowest = overlap_start(text, lowest, end)
        return lowest if lowest < end else following


def _sections(blocks: tuple[Block, ...]) -> Iterator[_Section]:
    """Group blocks under their headings, or by the names of what they belong to.

    A heading without text of its own goes with the section close below it.
    """
    chain: list[tuple[int, str]] = []
    section = _Section()
    for block in blocks:
        if section.blocks and _is_apart(section.blocks[-1], block):
            yield section
            section = _Section(chain=tuple(title for _, title in chain))
        if block.kind == "heading":
            if any(b.kind != "heading" for b in section.blocks):
                yield section
                section = _Section()
            while chain and chain[-1][0] >= block.level:
                chain.pop()
            chain.append((block.level, block.title))
            section.chain = tuple(title for _, title in chain)
        if block.section:
            section.chain = block.section
        section.blocks.append(block)
    if section.blocks:
        yield section


def _is_apart(before: Block, block: Block) -> bool:
    return block.char_start - before.char_end > MAX_GAP_CHARS or block.section != before.section
