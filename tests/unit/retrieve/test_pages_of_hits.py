"""A hit says on which pages its passage stands, though its chunk may go on over more."""

from __future__ import annotations

import pytest

from pdfs import PdfWriter
from shelf import Shelf


@pytest.fixture
def shelf_with_short_pages(shelf: Shelf) -> Shelf:
    shelf.write("a.pdf", PdfWriter().page("Read the gauge at nine.").page().page("Oil the pump in spring.").data())
    shelf.index()
    return shelf


@pytest.mark.parametrize(("word", "page"), [("gauge", 1), ("pump", 3)])
def test_a_short_passage_names_its_own_page(shelf_with_short_pages: Shelf, word: str, page: int) -> None:
    (hit,) = shelf_with_short_pages.search(word, max_chars_per_hit=24)
    assert (hit.page, hit.page_end) == (page, page)
    assert word in shelf_with_short_pages.library.read(hit.locator).text


def test_a_whole_chunk_names_all_of_its_pages(shelf_with_short_pages: Shelf) -> None:
    (hit,) = shelf_with_short_pages.search("oil gauge spring")
    assert (hit.page, hit.page_end) == (1, 3)
