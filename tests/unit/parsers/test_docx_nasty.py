"""Word documents that break other readers (see `hostile`)."""

from __future__ import annotations

import time

import pytest

from hostile import FOLDER, needs_hostile_files
from zhiku.errors import ParseFailed, PasswordNeeded, SourceError, TooLarge
from zhiku.model import ParsedDocument, Source
from zhiku.parsers.docx import DocxParser

MAX_S = 2.0
"""Of processor time, also for the largest: 12 MB of markup."""

pytestmark = needs_hostile_files


def parse(name: str) -> ParsedDocument:
    file = FOLDER / name
    if not file.exists():
        pytest.skip(f"{name} is not among the hostile files")
    data = file.read_bytes()
    began = time.process_time()
    try:
        return DocxParser().parse(Source(root="/r", path=name, size_bytes=0, mtime_ns=0, sha256=""), data)
    finally:
        assert time.process_time() - began < MAX_S


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("bug53475-password-is-pass.docx", PasswordNeeded),
        ("ExternalEntityInText.docx", ParseFailed),
        ("billion_laughs.docx", ParseFailed),
        ("xxe_file.docx", ParseFailed),
        ("truncated62886.docx", ParseFailed),
        ("manyparas_3M.docx", TooLarge),
        ("zipbomb.docx", TooLarge),
    ],
)
def test_a_document_that_cannot_be_read_says_why(name: str, error: type[SourceError]) -> None:
    with pytest.raises(error):
        parse(name)


@pytest.mark.parametrize(
    ("name", "texts"),
    [
        ("Strict.docx", ["Some text"]),
        ("deep_nest_tables.docx", ["deep"]),
        ("drawingml.docx", ["Text 1", "Text 2", "Fig – Torque v/s Speed characteristics"]),
        ("testWORD_text_box.docx", ["directly in the body", "inside of a text box"]),
        ("textbox.docx", ["Student falls ill", "＊ Sore throat", "Health Bureau:", "Case closed."]),
    ],
)
def test_all_text_is_there_once(name: str, texts: list[str]) -> None:
    text = parse(name).text
    assert [text.count(part) for part in texts] == [1] * len(texts)


def test_a_huge_table_is_read_whole() -> None:
    document = parse("bug65649.docx")
    assert 300_000 < len(document.text) < 320_000
    assert sum(block.kind == "table" for block in document.blocks) > 5
