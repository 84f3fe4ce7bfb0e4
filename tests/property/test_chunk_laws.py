"""Chunks cover any text, in order, within the limit."""

from __future__ import annotations

from contextlib import suppress
from html import escape
from itertools import pairwise

import pytest
import strategies
from hypothesis import given, settings
from hypothesis import strategies as st

from samples import is_covered, parse
from zhiku.chunkers.lines import LinesChunker
from zhiku.chunkers.structure import StructureChunker
from zhiku.errors import SourceError
from zhiku.model import Block, Chunk, Page, ParsedDocument
from zhiku.text.measure import estimate_tokens

bounded = settings(max_examples=60, deadline=None)
any_text = st.one_of(
    strategies.texts,
    strategies.anything,
    st.lists(st.one_of(strategies.lines, strategies.long_lines), min_size=1, max_size=3).map("\n\n".join),
    st.lists(st.one_of(strategies.lines, st.just("\n" * 90), st.just("\u3000" * 70)), max_size=12).map("\n\n".join),
)
sizes = st.sampled_from([30, 120, 400])


def check(document: ParsedDocument, max_tokens: int) -> None:
    assert is_covered(document.text, [(block.char_start, block.char_end) for block in document.blocks])
    for chunker in (StructureChunker(max_tokens=max_tokens), LinesChunker(chunk_lines=4, max_tokens=max_tokens)):
        check_chunks(document, list(chunker.chunk(document)), max_tokens)


def check_chunks(document: ParsedDocument, chunks: list[Chunk], max_tokens: int) -> None:
    assert is_covered(document.text, [(chunk.char_start, chunk.char_end) for chunk in chunks])
    last_line = max(document.line_numbers, default=document.text.count("\n") + 1)
    for chunk in chunks:
        assert document.text[chunk.char_start : chunk.char_end] == chunk.text == chunk.text.strip() != ""
        assert estimate_tokens(chunk.text) <= max_tokens
        assert 1 <= chunk.line_start <= chunk.line_end <= last_line
    for before, after in pairwise(chunks):
        assert before.char_start < after.char_start
        assert before.char_end < after.char_end


@pytest.mark.parametrize("path", ["a.txt", "a.csv", "a.rst", "a.md", "a.html"])
@bounded
@given(text=any_text, max_tokens=sizes)
def test_chunks_of_any_text(path: str, text: str, max_tokens: int) -> None:
    with suppress(SourceError):
        check(parse(path, text.encode()), max_tokens)


headings = st.builds(lambda level, title: "#" * level + " " + title, st.integers(1, 6), strategies.han_runs)
fences = st.builds(lambda body: f"```py\n{body}\n```", strategies.texts)
tables = st.builds(
    lambda cells: "| a | b |\n| --- | --- |\n" + "\n".join(f"| {c} | x |" for c in cells),
    st.lists(strategies.han_runs, max_size=30),
)
items = st.lists(strategies.lines.map(lambda line: "- " + line), min_size=1, max_size=50).map("\n".join)
notes = st.lists(
    st.one_of(headings, headings, fences, tables, items, strategies.lines, strategies.long_lines), max_size=12
)


@bounded
@given(notes.map("\n\n".join), sizes)
def test_chunks_of_any_note(text: str, max_tokens: int) -> None:
    check(parse("a.md", text.encode()), max_tokens)


@bounded
@given(st.lists(st.tuples(st.sampled_from("h1 h2 h3 p li pre td div".split()), strategies.lines), max_size=30), sizes)
def test_chunks_of_any_page(elements: list[tuple[str, str]], max_tokens: int) -> None:
    body = "\n".join(f"<{tag}>{escape(text)}</{tag}>" for tag, text in elements)
    with suppress(SourceError):
        check(parse("a.html", f"<html><body>{body}</body></html>".encode()), max_tokens)


@bounded
@given(st.lists(strategies.texts, min_size=1, max_size=6), sizes)
def test_chunks_of_pages_know_them(texts: list[str], max_tokens: int) -> None:
    text = ""
    pages, blocks = [], []
    for number, part in enumerate(texts, 1):
        start = len(text)
        text += part
        pages.append(Page(page_no=number, char_start=start, char_end=len(text)))
        if part.strip():
            blocks.append(Block(kind="paragraph", char_start=start, char_end=len(text)))
        text += "\n"
    document = ParsedDocument(text=text, blocks=tuple(blocks), pages=tuple(pages))
    check(document, max_tokens)
    for chunk in StructureChunker(max_tokens=max_tokens).chunk(document):
        assert chunk.page is not None
        assert chunk.page_end is not None
        assert pages[chunk.page - 1].char_start <= chunk.char_start < pages[chunk.page - 1].char_end
        assert pages[chunk.page_end - 1].char_start < chunk.char_end <= pages[chunk.page_end - 1].char_end
