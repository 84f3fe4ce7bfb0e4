"""What every registered chunker promises (`zhiku.ports.Chunker`)."""

from __future__ import annotations

from itertools import pairwise

import pytest

from samples import PLACES, SAMPLES, is_covered, parse
from zhiku.model import Chunk, ParsedDocument
from zhiku.ports import Chunker
from zhiku.registry import CHUNKERS, load

each_case = pytest.mark.parametrize(
    ("name", "format_name", "path"), [(name, *place) for name in CHUNKERS for place in PLACES]
)


def cut(name: str, format_name: str, path: str) -> tuple[ParsedDocument, list[Chunk]]:
    document = parse(path, SAMPLES[format_name][path])
    chunker: Chunker = load(CHUNKERS, name)()
    return document, list(chunker.chunk(document))


@pytest.mark.parametrize("name", CHUNKERS)
def test_a_chunker_has_a_version(name: str) -> None:
    assert load(CHUNKERS, name)().version.startswith(name)


@each_case
def test_spans_are_ordered_and_are_the_text(name: str, format_name: str, path: str) -> None:
    document, chunks = cut(name, format_name, path)
    assert all(document.text[chunk.char_start : chunk.char_end] == chunk.text for chunk in chunks)
    assert all(
        before.char_start < after.char_start and before.char_end < after.char_end for before, after in pairwise(chunks)
    )


@each_case
def test_every_character_that_is_not_blank_is_in_some_chunk(name: str, format_name: str, path: str) -> None:
    document, chunks = cut(name, format_name, path)
    assert is_covered(document.text, [(chunk.char_start, chunk.char_end) for chunk in chunks])


@each_case
def test_no_chunk_is_blank_or_has_blanks_around_it(name: str, format_name: str, path: str) -> None:
    assert all(chunk.text == chunk.text.strip() != "" for chunk in cut(name, format_name, path)[1])


@each_case
def test_the_same_document_gives_the_same_chunks(name: str, format_name: str, path: str) -> None:
    assert cut(name, format_name, path) == cut(name, format_name, path)
