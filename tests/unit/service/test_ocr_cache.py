"""What OCR saw is kept as long as its file may be read again."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from shelf import Shelf
from zhiku.registry import has_ocr
from zhiku.service.ocr_cache import FOLDER, MAX_AGE_S, OcrCache

pytestmark = pytest.mark.skipif(not has_ocr(), reason='OCR is not installed: pip install "zhiku[ocr]"')

STORED, UNKNOWN = "a" * 64, "b" * 64
PAGE = {"width": 1, "height": 1, "lines": [["锅炉", 0.9, 0, 0, 1, 1]]}


def test_a_page_is_found_again(tmp_path: Path) -> None:
    OcrCache(tmp_path).save(STORED, 3, PAGE)
    assert OcrCache(tmp_path).load(STORED, 3) == PAGE
    assert OcrCache(tmp_path).load(STORED, 4) is None
    assert OcrCache(tmp_path).load(UNKNOWN, 3) is None


@pytest.mark.skipif(os.name == "nt", reason="Windows has no POSIX permissions")
def test_nobody_else_can_read_it(tmp_path: Path) -> None:
    OcrCache(tmp_path).save(STORED, 3, PAGE)
    modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.rglob("*")}
    assert modes == {FOLDER: 0o700, STORED: 0o700, "3.json": 0o600}


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"engine": "rapidocr 1", "page": {}}'])
def test_what_is_cut_off_or_of_another_engine_is_not_used(tmp_path: Path, content: str) -> None:
    cache = OcrCache(tmp_path)
    cache.save(STORED, 1, PAGE)
    (tmp_path / FOLDER / STORED / "1.json").write_text(content)
    assert cache.load(STORED, 1) is None


def test_only_old_pages_of_files_that_the_base_does_not_know_are_removed(shelf: Shelf) -> None:
    shelf.write("a.md", "text")
    shelf.index()
    (document,) = shelf.base.documents()
    stored = document.source.sha256
    cache, old = OcrCache(shelf.base.folder), "c" * 64
    kept = shelf.base.folder / FOLDER
    for sha256 in (stored, UNKNOWN, old):
        cache.save(sha256, 1, PAGE)
    stamp = (kept / UNKNOWN).stat().st_mtime - MAX_AGE_S - 60
    for sha256 in (stored, old):
        os.utime(kept / sha256, (stamp, stamp))

    with shelf.base.reading() as session:
        cache.drop_old(session)
    assert sorted(path.name for path in kept.iterdir()) == sorted([stored, UNKNOWN])
