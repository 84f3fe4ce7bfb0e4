"""What a person meets who searches spreadsheets, slides and books."""

from __future__ import annotations

from pptx_files import SAMPLE as SLIDES
from shelf import Shelf


def test_a_hit_in_slides_says_its_page(shelf: Shelf) -> None:
    shelf.write("talk.pptx", SLIDES)
    shelf.index()
    (hit,) = shelf.search("泄压")
    assert (hit.section, hit.page, hit.line_start) == (("安装",), 2, None)
