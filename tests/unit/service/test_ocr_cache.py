"""What OCR saw is kept until its document is stored."""

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


def test_pages_of_stored_and_of_old_files_are_removed_and_others_kept(shelf: Shelf) -> None:
    shelf.write("a.md", "text")
    shelf.index()
    (document,) = shelf.base.documents()
    folder = shelf.base.folder
    cache, old = OcrCache(folder), "c" * 64
    for sha256 in (document.source.sha256, UNKNOWN, old):
        cache.save(sha256, 1, PAGE)
    stamp = (folder / FOLDER / UNKNOWN).stat().st_mtime - MAX_AGE_S - 60
    os.utime(folder / FOLDER / old, (stamp, stamp))

    with shelf.base.reading() as session:
        cache.drop_stored(session)
    assert [path.name for path in (folder / FOLDER).iterdir()] == [UNKNOWN]


def test_the_folder_goes_with_the_last_page(shelf: Shelf) -> None:
    shelf.write("a.md", "text")
    shelf.index()
    (document,) = shelf.base.documents()
    cache = OcrCache(shelf.base.folder)
    cache.save(document.source.sha256, 1, PAGE)
    with shelf.base.reading() as session:
        cache.drop_stored(session)
    assert not (shelf.base.folder / FOLDER).exists()
