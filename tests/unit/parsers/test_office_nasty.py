"""Spreadsheets and books that break other readers; not ours to pass on: ZHIKU_NASTY names their folder."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from samples import parse
from zhiku.errors import ParseFailed, PasswordNeeded, SourceError, TooLarge
from zhiku.model import ParsedDocument

FOLDER = Path(os.environ.get("ZHIKU_NASTY", "no folder"))
MAX_S = 1.0
"""Of processor time."""

pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="ZHIKU_NASTY names no folder of hostile documents")


def read(name: str) -> ParsedDocument:
    file = FOLDER / name
    if not file.exists():
        pytest.skip(f"{name} is not in ZHIKU_NASTY")
    began = time.process_time()
    try:
        return parse(name, file.read_bytes())
    finally:
        assert time.process_time() - began < MAX_S


@pytest.mark.parametrize(
    ("name", "error", "says"),
    [
        ("poc-shared-strings.xlsx", TooLarge, "too much text"),
        ("poc-xmlbomb.xlsx", ParseFailed, "document type"),
        ("zipslip_drm.epub", PasswordNeeded, "DRM"),
    ],
)
def test_a_file_that_cannot_be_read_says_why(name: str, error: type[SourceError], says: str) -> None:
    with pytest.raises(error, match=says):
        read(name)


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("sparse_corner.xlsx", {1: "first", 1_048_576: "last"}),
        ("sparse_col.xlsx", {1: "first | end", 200_000: "last"}),
    ],
)
def test_sparse_cells_are_read_with_their_rows(name: str, rows: dict[int, str]) -> None:
    document = read(name)
    lines = zip(document.line_numbers, document.text.split("\n"), strict=True)
    assert {number: text for number, text in lines if text not in ("", "S")} == rows


def test_a_macro_sheet_is_skipped_and_the_others_are_read() -> None:
    document = read("64420.xlsm")
    assert [block.title for block in document.blocks if block.level] == ["Sheet A", "Sheet B"]
    assert document.warnings == ("Sheets of charts, macros or dialogs that were left out: 1",)


def test_the_strict_variant_has_its_cells() -> None:
    text = read("SimpleStrict.xlsx").text
    assert "1 | 2 | 3 | 4 | 5 | 6\n1990-01-01" in text
    assert text.endswith("10 | 3")
