"""Whatever becomes of a file's bytes, a parser gives a document that holds together, or says why there is none."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from base64 import b64encode
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pdfs import PdfWriter, annotation
from samples import SAMPLES, is_covered, parse
from zhiku.chunkers.structure import StructureChunker
from zhiku.errors import SourceError
from zhiku.registry import FORMAT_ENDINGS

MARKUP = re.compile(r"<!--.*?-->|<[^<>]*>", re.DOTALL)
MAX_PARSE_S = 5.0
CHILD_TIMEOUT_S = 180
FILES_A_CHILD = 12

TOKENS = {
    "html": b"<main> </main> <table> <td> <pre> <h1> <!-- </p <p &#x0; <script> <nav> <meta\tcharset=utf-16>",
    "markdown": b"--- ``` ~~~ # | :- > - [[ ]] ![[ <!-- %% \xe3\x80\x80 \x00 \xff <div>",
    "plain": b"\x00 \xff\xfe \xef\xbb\xbf \r \x85 \xe2\x80\xa8 ==== .. \xb5\xda\xd2\xbb\xd5\xc2",
    "docx": b"PK\x01\x02 PK\x05\x06 \x00\x00\xff\xff word/document.xml word/styles.xml",
    "pptx": b"PK\x01\x02 PK\x05\x06 \x00\x00\xff\xff ppt/presentation.xml ppt/slides/slide1.xml",
    "spreadsheet": b"PK\x01\x02 \x00\x00\xff\xff xl/workbook.bin content.xml \x2f\x00 \x09\x08\x10\x00",
    "epub": b"PK\x01\x02 PK\x05\x06 \x00\x00\xff\xff META-INF/container.xml OEBPS/book.opf",
    "notebook": b'{ } [ ] : , " \\ \\n \\ud800 \\u0000 null 1e999 NaN "source": "cells": "outputs": "code" ```',
    "mail": b"From\t --outer --outer-- --inner \r =?utf-8?B? ?= =?gbk?q?=B0 = base64 message/rfc822 \xce\xd2 \xff",
    "code": b"{ } ( ) ' \" ` /* */ // # class\tA def\tf(): => << \x00 \xce\xd2\xc3\xc7 \xff end",
    "pdf": b"<< >> [ ] endobj endstream obj xref 0 -1 99999999999 1e39 /Kids /Type /Length null BT ET Tf Td 0\t0\tR",
}
"""What a mutation may put in, besides what is there."""

FORM = (
    PdfWriter(title="表", outline=[("一", 1), ("二", 2)], fields=[("姓名", "李雷")])
    .page("The first page of a form", "一")
    .page("二", "这一页有中文", entries=annotation("Text", "批注") + "/Rotate 90")
    .page(image=True)
    .data()
)
GOLDEN = {
    name: [data for path, data in named.items() if not path.startswith(("empty", "bare.ip")) and len(data) < 20_000]
    for name, named in SAMPLES.items()
} | {"pdf": [FORM]}


@st.composite
def mutated(draw: st.DrawFn, format_name: str) -> bytes:
    """Return a golden sample of a format with some stretches deleted, doubled, moved, cut off or replaced."""
    data = draw(st.sampled_from(GOLDEN[format_name]))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(data)))
        end = min(start + draw(st.integers(0, 200)), len(data))
        piece = draw(
            st.one_of(
                st.just(b""),
                st.just(data[start:end] * 2),
                st.just(data[end : end + 50] + data[start:end]),
                st.sampled_from(TOKENS[format_name].split()).map(lambda token: token.replace(b"\t", b" ")),
                st.binary(max_size=8),
            )
        )
        data = data[:start] + piece + (b"" if draw(st.integers(0, 9)) == 0 else data[end:])
    return data


def check(path: str, data: bytes) -> None:
    began = time.process_time()
    document = None
    with suppress(SourceError):
        document = parse(path, data)
    assert time.process_time() - began < MAX_PARSE_S
    if document is None:
        return
    assert is_covered(document.text, [(block.char_start, block.char_end) for block in document.blocks])
    assert all(1 <= chunk.line_start <= chunk.line_end for chunk in StructureChunker().chunk(document))
    if not document.text.strip():
        assert document.warnings or document.metadata or is_only_markup(data), "nothing was read, and nothing says why"


def is_only_markup(data: bytes) -> bool:
    text = MARKUP.sub("", data.decode("utf-8", "ignore"))
    return not any(char.isalnum() for char in text)


@settings(max_examples=60, deadline=None)
@given(mutated("html"))
@example(b"<nav>")
def test_a_web_page_of_any_bytes_is_read_or_refused(data: bytes) -> None:
    check("a.html", data)


@settings(max_examples=60, deadline=None)
@given(mutated("markdown"))
def test_a_note_of_any_bytes_is_read_or_refused(data: bytes) -> None:
    check("a.md", data)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(["a.txt", "a.rst", "a.csv", "a.tex", "a.py"]), mutated("plain"))
def test_a_text_of_any_bytes_is_read_or_refused(path: str, data: bytes) -> None:
    check(path, data)


@settings(max_examples=60, deadline=None)
@given(mutated("notebook"))
def test_a_notebook_of_any_bytes_is_read_or_refused(data: bytes) -> None:
    check("a.ipynb", data)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(["a.eml", "a.mbox"]), mutated("mail"))
def test_mail_of_any_bytes_is_read_or_refused(path: str, data: bytes) -> None:
    check(path, data)


@settings(max_examples=60, deadline=None)
@given(mutated("docx"))
def test_a_word_document_of_any_bytes_is_read_or_refused(data: bytes) -> None:
    check("a.docx", data)


@settings(max_examples=60, deadline=None)
@given(mutated("pptx"))
def test_a_presentation_of_any_bytes_is_read_or_refused(data: bytes) -> None:
    check("a.pptx", data)


@settings(max_examples=60, deadline=None)
@given(mutated("epub"))
def test_a_book_of_any_bytes_is_read_or_refused(data: bytes) -> None:
    check("a.epub", data)


CHILD = """
import base64, json, sys
sys.path[:0] = json.loads(sys.argv[1])
from test_parser_laws import check
for number, line in enumerate(sys.stdin):
    path, data = line.split(" ")
    check(path, base64.b64decode(data))
    print(number, flush=True)
"""


def check_apart(files: list[tuple[str, bytes]]) -> None:
    """Check files in a process of its own, which a native library may end."""
    here = Path(__file__).parent
    done = subprocess.run(
        [sys.executable, "-c", CHILD, json.dumps([str(here), str(here.parent)])],
        input="".join(f"{path} {b64encode(data).decode()}\n" for path, data in files),
        capture_output=True,
        encoding="utf-8",
        timeout=CHILD_TIMEOUT_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.split()) == len(files)


@settings(max_examples=3, deadline=None)
@given(st.lists(mutated("pdf"), min_size=FILES_A_CHILD, max_size=FILES_A_CHILD))
def test_a_pdf_of_any_bytes_is_read_or_refused(files: list[bytes]) -> None:
    check_apart([("a.pdf", data) for data in files])


@settings(max_examples=5, deadline=None)
@given(st.lists(mutated("spreadsheet"), min_size=FILES_A_CHILD, max_size=FILES_A_CHILD))
def test_a_spreadsheet_of_any_bytes_is_read_or_refused(files: list[bytes]) -> None:
    check_apart([("a.xlsx", data) for data in files])


SOURCES = st.sampled_from([f"a{ending}" for ending in sorted(FORMAT_ENDINGS["code"])])


@settings(max_examples=6, deadline=None)
@given(st.lists(st.tuples(SOURCES, mutated("code")), min_size=FILES_A_CHILD, max_size=FILES_A_CHILD))
def test_source_code_of_any_bytes_is_read_or_refused(files: list[tuple[str, bytes]]) -> None:
    check_apart(files)


@pytest.mark.parametrize("format_name", sorted(GOLDEN))
def test_the_samples_themselves_are_read(format_name: str) -> None:
    of_names = {"notebook": "a.ipynb", "mail": "a.mbox", "code": "a.py"}
    path = of_names.get(format_name) or next(path for path in SAMPLES[format_name] if path.startswith("a."))
    assert all(parse(path, data).text.strip() for data in GOLDEN[format_name])
