"""Passages: what of a chunk is shown, with its exact place."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from zhiku.frozen import frozen
from zhiku.model import ANY_ENDING, StoredChunk, Unit
from zhiku.ports import ReadSession
from zhiku.text.analyze import Analyzer
from zhiku.text.measure import best_cut

Marks = tuple[tuple[int, int], ...]


@frozen
class Passage:
    """A span of a document's text as it is shown. `marks` are spans of `text` that the query's words matched."""

    text: str
    char_start: int
    char_end: int
    line_start: int
    line_end: int
    marks: Marks = ()


class Matches(NamedTuple):
    """What of a text a query's tokens stand for: its spans, merged, and the tokens found."""

    marks: Marks
    tokens: frozenset[str]


def find_matches(analyzer: Analyzer, text: str, tokens: frozenset[str]) -> Matches:
    """Return where `text` holds any of `tokens`; a single character among them stands for all that begin with it."""
    characters = tuple(token for token in tokens if len(token) == 1 and unicodedata.category(token) == "Lo")
    spans: list[tuple[int, int]] = []
    found = set()
    for token, start, end in analyzer.spans(text, None if characters else tokens):
        if token in tokens:
            found.add(token)
            _add_span(spans, start, end)
        elif characters and token.startswith(characters):
            _add_span(spans, start, start + 1)
    return Matches(tuple(spans), frozenset(found))


def find_phrases(analyzer: Analyzer, text: str, phrases: Iterable[Unit], marks: Marks) -> Marks:
    """Return where `text` holds any of these runs of tokens, together with what is marked already."""
    by_head: dict[str, list[Unit]] = {}
    for phrase in phrases:
        by_head.setdefault(phrase[0][0], []).append(phrase)
    placed = list(analyzer.spans(text))
    found = [
        span
        for i, (token, _, _) in enumerate(placed)
        for phrase in by_head.get(token[0], ())
        if (span := _span_of(phrase, placed[i : i + len(phrase)]))
    ]
    spans: list[tuple[int, int]] = []
    for start, end in sorted([*found, *marks]):
        _add_span(spans, start, end)
    return tuple(spans)


def _span_of(phrase: Unit, placed: Sequence[tuple[str, int, int]]) -> tuple[int, int] | None:
    """Return the span of the tokens that a phrase begins, if they are those of the phrase."""
    is_open = phrase[-1] == ANY_ENDING
    wanted = phrase[:-1] if is_open else phrase
    placed = placed[: len(wanted)]
    tokens = tuple(token for token, _, _ in placed)
    if tokens == wanted:
        return placed[0][1], placed[-1][2]
    if is_open and tokens[:-1] == wanted[:-1] and tokens[-1].startswith(wanted[-1]):
        return placed[0][1], placed[-1][1] + 1  # of a pair of characters, the first
    return None


def _add_span(spans: list[tuple[int, int]], start: int, end: int) -> None:
    if spans and start <= spans[-1][1]:
        spans[-1] = (spans[-1][0], max(spans[-1][1], end))
    else:
        spans.append((start, end))


def build_passage(
    session: ReadSession, stored: StoredChunk, marks: Marks, *, focus: bool, max_chars: int | None
) -> Passage:
    """Return the passage of a chunk.

    With `focus` it begins with the paragraph of the first mark, and what stands before that is left out. `max_chars`
    cuts it behind a sentence, a word or at least a whole character, keeping the first mark in sight.
    """
    text = stored.chunk.text
    start = _paragraph_start(text, marks[0][0]) if focus and marks else 0
    end = len(text)
    if max_chars is not None and end - start > max_chars:
        start, end = window(text, start, marks, max_chars)
    lead = len(text[start:end]) - len(text[start:end].lstrip())
    start += lead
    end = start + len(text[start:end].rstrip())
    return _place(session, stored, start, end, marks)


def _paragraph_start(text: str, at: int) -> int:
    before = text.rfind("\n\n", 0, at)
    return before + 2 if before >= 0 else 0


def window(text: str, start: int, marks: Marks, max_chars: int) -> tuple[int, int]:
    """Return the span of `text` from `start` on that is shown within `max_chars`, with the first mark in sight."""
    first = next((mark for mark, _ in marks if mark >= start), start)
    if first - start > max_chars // 2:
        start = best_cut(text, max(start, first - max_chars // 2) - 1, max(start, first - max_chars // 4))
    end = min(len(text), start + max_chars)
    if end < len(text):
        end = best_cut(text, start + max_chars // 2, end)
    return start, end


def _place(
    session: ReadSession, stored: StoredChunk, start: int, end: int, marks: Iterable[tuple[int, int]]
) -> Passage:
    chunk = stored.chunk
    char_start, char_end = chunk.char_start + start, chunk.char_start + end
    lines = chunk.line_start, chunk.line_end
    if (start, end) != (0, len(chunk.text)):
        lines = _lines(session, stored.document.doc_id, char_start, char_end)
    inside = tuple((max(a, start) - start, min(b, end) - start) for a, b in marks if a < end and b > start)
    return Passage(
        text=chunk.text[start:end],
        char_start=char_start,
        char_end=char_end,
        line_start=lines[0],
        line_end=lines[1],
        marks=inside,
    )


def _lines(session: ReadSession, doc_id: int, char_start: int, char_end: int) -> tuple[int, int]:
    pieces = session.text(doc_id, char_start, char_end)
    first, last = pieces[0], pieces[-1]
    return first.file_line(char_start - first.char_start), last.file_line(
        max(char_start, char_end - 1) - last.char_start
    )
