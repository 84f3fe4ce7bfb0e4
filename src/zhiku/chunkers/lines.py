"""A chunker for who wants windows of lines, whatever they say: some lines each, the last of them repeated."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from zhiku.chunkers.places import Places
from zhiku.errors import ConfigError
from zhiku.model import Chunk, ParsedDocument
from zhiku.text.measure import best_cut, estimate_tokens, fit

CHUNKER_VERSION = "lines-1"
"""Part of the manifest, as are the settings: a change of any span needs a new version and a rebuild."""

_LINE = re.compile(r"[^\n]*\S[^\n]*")

_Span = tuple[int, int]


class LinesChunker:
    """Cuts a document into windows of `chunk_lines` lines that are not blank, `overlap_lines` of them repeated.

    A window of more than `max_tokens` ends earlier, and a line of more is cut. Raises `ConfigError` where nothing new
    would be in a window.
    """

    def __init__(self, *, chunk_lines: int = 10, overlap_lines: int = 2, max_tokens: int = 400) -> None:
        if overlap_lines >= chunk_lines:
            raise ConfigError(
                "overlap_lines ({overlap}) must be less than chunk_lines ({lines}).",
                overlap=overlap_lines,
                lines=chunk_lines,
                hint="change them in the base's base.toml",
            )
        self._lines = chunk_lines
        self._overlap = overlap_lines
        self._max_tokens = max_tokens

    @property
    def version(self) -> str:
        """Return what the spans depend on."""
        return f"{CHUNKER_VERSION} {self._lines}/{self._overlap}"

    def chunk(self, document: ParsedDocument) -> Iterator[Chunk]:
        """Yield the chunks of `document` in order."""
        places, sections = Places(document), _Sections(document)
        for lines in _ascending(list(self._cut(document)), places):
            for start, end in self._windows(document.text, lines):
                chunk = places.chunk(start, end, sections.at(start))
                if chunk is not None:
                    yield chunk

    def _cut(self, document: ParsedDocument) -> Iterator[_Span]:
        """Yield the lines that are not blank, as far as they belong to blocks, long ones in parts."""
        text = document.text
        for block in document.blocks:
            for line in _LINE.finditer(text, block.char_start, block.char_end):
                start = line.start()
                while start < line.end():
                    end = fit(text, start, line.end(), self._max_tokens)
                    if end < line.end():
                        end = best_cut(text, start + (end - start) // 2, end)
                    if text[start:end].strip():
                        yield start, end
                    start = end

    def _windows(self, text: str, lines: Sequence[_Span]) -> Iterator[_Span]:
        first = last = 0
        while last < len(lines):
            last = max(last, first) + 1
            while last < len(lines) and last - first < self._lines and self._holds(text, lines[first], lines[last]):
                last += 1
            yield lines[first][0], lines[last - 1][1]
            first = max(first + 1, last - self._overlap)
            # What is repeated must leave room for something new.
            while first < last < len(lines) and not self._holds(text, lines[first], lines[last]):
                first += 1

    def _holds(self, text: str, first: _Span, last: _Span) -> bool:
        return estimate_tokens(text[first[0] : last[1]]) <= self._max_tokens


def _ascending(lines: Sequence[_Span], places: Places) -> Iterator[list[_Span]]:
    """Yield groups of lines within which the file's lines ascend: those of each sheet of a spreadsheet begin anew."""
    group: list[_Span] = []
    for line in lines:
        if group and places.line(line[0]) < places.line(group[-1][0]):
            yield group
            group = []
        group.append(line)
    if group:
        yield group


class _Sections:
    """The headings above each place of a document."""

    def __init__(self, document: ParsedDocument) -> None:
        self._starts: list[int] = []
        self._chains: list[tuple[str, ...]] = []
        chain: list[tuple[int, str]] = []
        for block in document.blocks:
            if block.kind == "heading":
                while chain and chain[-1][0] >= block.level:
                    chain.pop()
                chain.append((block.level, block.title))
            self._starts.append(block.char_start)
            self._chains.append(block.section or tuple(title for _, title in chain))

    def at(self, place: int) -> tuple[str, ...]:
        """Return the titles of the headings above a place of a block, the outermost first."""
        return self._chains[bisect_right(self._starts, place) - 1]
