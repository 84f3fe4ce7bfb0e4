"""A hit says whether its file is still what the index says."""

from __future__ import annotations

import os

import pytest

from shelf import Shelf


@pytest.fixture
def filled(shelf: Shelf) -> Shelf:
    shelf.write("a.md", "水泵")
    shelf.index()
    return shelf


def state(shelf: Shelf) -> str:
    return shelf.search("水泵").hits[0].file_state


def test_a_file_as_it_was_is_unchanged(filled: Shelf) -> None:
    assert state(filled) == "unchanged"


def test_a_new_time_alone_is_no_change(filled: Shelf) -> None:
    os.utime(filled.docs / "a.md", (1, 1))
    assert state(filled) == "unchanged"


@pytest.mark.parametrize("content", ["阀门", "水泵和阀门", ""])
def test_other_content_is_a_change(filled: Shelf, content: str) -> None:
    filled.write("a.md", content)
    assert state(filled) == "changed"


def test_a_file_that_is_gone_is_missing(filled: Shelf) -> None:
    (filled.docs / "a.md").unlink()
    assert state(filled) == "missing"


def test_a_folder_in_its_place_is_no_file(filled: Shelf) -> None:
    (filled.docs / "a.md").unlink()
    (filled.docs / "a.md").mkdir()
    assert state(filled) in ("missing", "changed")


def test_a_file_with_a_known_twin_elsewhere_has_moved(filled: Shelf) -> None:
    filled.write("b.md", "水泵")
    filled.index()
    (filled.docs / "a.md").unlink()
    assert {hit.path: hit.file_state for hit in filled.search("水泵")} == {"a.md": "moved", "b.md": "unchanged"}
