"""What every registered parser promises (`zhiku.ports.Parser`)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from itertools import pairwise

import pytest

from samples import PLACES, SAMPLES, is_covered, parse, source_of
from zhiku.chunkers.structure import StructureChunker
from zhiku.errors import SourceError
from zhiku.parsers.pool import WorkerPool
from zhiku.registry import PARSERS, format_of

COUNTED = ("docx", "spreadsheet", "epub")
"""Formats whose places are no lines of the file, but paragraphs, rows and lines of the text."""

each_sample = pytest.mark.parametrize(("format_name", "path"), PLACES)


@pytest.fixture(scope="module")
def pool() -> Iterator[WorkerPool]:
    with WorkerPool() as pool:
        yield pool


def test_every_registered_parser_has_samples() -> None:
    assert set(SAMPLES) == set(PARSERS) - {"image"}  # which has no text but what OCR sees
    assert all(format_of(path) == format_name for format_name, path in PLACES)


@each_sample
def test_the_same_bytes_give_the_same_result(format_name: str, path: str) -> None:
    data = SAMPLES[format_name][path]
    assert parse(path, data) == parse(path, bytes(data))


@each_sample
def test_a_worker_gives_the_same_result(format_name: str, path: str, pool: WorkerPool) -> None:
    data = SAMPLES[format_name][path]
    assert pool.parse(PARSERS[format_name], source_of(path, data), data) == parse(path, data)


@pytest.mark.parametrize("path", ["a.html", "a.pdf", "a.xlsx", "a.txt"])
def test_a_worker_gives_the_same_error(path: str, pool: WorkerPool) -> None:
    data = b"%PDF-1.7\n\0\x81\xff" * 9
    with pytest.raises(SourceError) as here:
        parse(path, data)
    with pytest.raises(SourceError) as there:
        pool.parse(PARSERS[format_of(path)], source_of(path, data), data)
    assert (type(there.value), str(there.value)) == (type(here.value), str(here.value))


@each_sample
def test_blocks_are_ordered_disjoint_and_inside_the_text(format_name: str, path: str) -> None:
    document = parse(path, SAMPLES[format_name][path])
    ends = [0, *(block.char_end for block in document.blocks)]
    assert all(end <= block.char_start < block.char_end for end, block in zip(ends, document.blocks, strict=False))
    assert ends[-1] <= len(document.text)


@each_sample
def test_blocks_hold_every_character_that_is_not_blank(format_name: str, path: str) -> None:
    document = parse(path, SAMPLES[format_name][path])
    assert is_covered(document.text, [(block.char_start, block.char_end) for block in document.blocks])


@each_sample
def test_headings_have_a_level_and_a_title_and_nothing_else_has(format_name: str, path: str) -> None:
    for block in parse(path, SAMPLES[format_name][path]).blocks:
        assert (1 <= block.level <= 6) == (block.kind == "heading")
        assert block.kind == "heading" or not block.title


@each_sample
def test_places_are_lines_of_the_file_or_pages(format_name: str, path: str) -> None:
    data = SAMPLES[format_name][path]
    document = parse(path, data)
    if document.line_numbers:
        assert len(document.line_numbers) == document.text.count("\n") + 1
        descents = sum(a > b for a, b in pairwise(document.line_numbers))
        assert descents < max(1, sum(block.kind == "heading" for block in document.blocks)), "anew at headings alone"
    pages = [page.page_no for page in document.pages]
    assert pages == list(range(1, len(pages) + 1))
    if not pages and format_name not in COUNTED and path != "one-line.ipynb":
        last = max(document.line_numbers, default=document.text.count("\n") + 1)
        assert last <= data.replace(b"\r\n", b"\n").count(b"\n") + 1


@each_sample
def test_every_chunk_has_a_place(format_name: str, path: str) -> None:
    document = parse(path, SAMPLES[format_name][path])
    for chunk in StructureChunker().chunk(document):
        assert 1 <= chunk.line_start <= chunk.line_end
        assert (chunk.page is not None) == bool(document.pages)
        assert chunk.page is None or chunk.page_end is None or chunk.page <= chunk.page_end


@each_sample
def test_text_can_be_stored_anywhere(format_name: str, path: str) -> None:
    text = parse(path, SAMPLES[format_name][path]).text
    assert "\0" not in text
    assert text.encode("utf-8").decode("utf-8") == text


@pytest.mark.parametrize(
    "path",
    [
        *("a.md", "a.html", "a.pdf", "a.docx", "a.pptx", "a.xlsx", "a.xls", "a.xlsb", "a.ods", "a.epub"),
        *("a.ipynb", "a.eml", "a.mbox", "a.py", "a.cpp", "a.txt"),
    ],
)
@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\0" * 64,
        bytes(range(256)) * 4,
        b"%PDF-1.7\n",
        b"%PDF-1.4\n%%EOF",
        b"\xff\xfe\x00",
        b"PK\x03\x04" + b"\0" * 60,
        b"PK\x05\x06" + b"\0" * 18,
        b"<" * 5000,
        b"[" * 5000,
    ],
)
def test_bytes_that_are_no_document_are_a_source_error_or_a_document(path: str, data: bytes) -> None:
    with suppress(SourceError):
        assert parse(path, data).text is not None
