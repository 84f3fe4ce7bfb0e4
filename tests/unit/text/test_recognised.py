"""What OCR saw becomes a printed page."""

from __future__ import annotations

import math

import pytest

from zhiku.text.reading_order import Box
from zhiku.text.recognised import RecognisedLine, RecognisedPage, page_from_dict, print_page, upright_boxes


def _line(text: str, left: float, top: float, width: float, height: float = 30, score: float = 0.9) -> RecognisedLine:
    return RecognisedLine(text=text, score=score, box=Box(left, top, left + width, top + height))


def test_a_page_survives_json() -> None:
    page = RecognisedPage(width=1000, height=1400, lines=(_line("锅炉", 10, 20, 300),))
    assert page_from_dict(page.to_dict()) == page


def test_what_is_no_page_is_told() -> None:
    with pytest.raises(KeyError):
        page_from_dict({"width": 1})
    with pytest.raises(TypeError):
        page_from_dict({"width": 1, "height": 1, "lines": [["text", 0.5, 1.0]]})


def test_confidence_is_that_of_the_characters() -> None:
    page = RecognisedPage(width=9, height=9, lines=(_line("abc", 0, 0, 9, score=1.0), _line("d", 0, 0, 9, score=0.6)))
    assert page.confidence == pytest.approx(0.9)
    assert RecognisedPage(width=9, height=9).confidence == 0.0


def test_lines_are_printed_in_points_from_the_bottom_left() -> None:
    page = RecognisedPage(width=1000, height=2000, lines=(_line("one", 100, 200, 400, 40),))
    printed = print_page(3, page, 500, 1000)
    (line,) = printed.lines
    assert (printed.page_no, printed.width, printed.height, printed.confidence) == (3, 500, 1000, 0.9)
    assert (line.text, line.left, line.right, line.size) == ("one", 50, 250, 20)
    assert line.baseline == pytest.approx(1000 - (240 - 8) / 2)


def test_a_page_that_was_turned_has_its_sides_changed() -> None:
    printed = print_page(1, RecognisedPage(width=2000, height=1000), 500, 1000)
    assert (printed.width, printed.height) == (1000, 500)


def test_boxes_of_one_size_of_type_have_one_size_whatever_their_letters() -> None:
    lines = (
        _line("nose", 0, 0, 300, 24),
        _line("Kjg", 0, 40, 300, 32),
        _line("usual", 0, 80, 300, 30),
        _line("Big", 0, 120, 300, 60),
    )
    printed = print_page(1, RecognisedPage(width=1000, height=1000, lines=lines), 1000, 1000)
    assert [line.size for line in printed.lines] == [31, 31, 31, 60]


def test_cells_of_a_row_are_one_line_that_knows_its_last_cell() -> None:
    lines = (_line("name", 0, 0, 100), _line("12", 400, 0, 50), _line("x", 0, 50, 500))
    first = print_page(1, RecognisedPage(width=1000, height=1000, lines=lines), 1000, 1000).lines[0]
    assert (first.text, first.last_cell, first.right) == ("name 12", 400, 450)


def test_lines_that_lie_askew_are_turned_back() -> None:
    angle = math.radians(2)
    cos, sin = math.cos(angle), math.sin(angle)

    def turned(left: float, top: float, right: float, bottom: float) -> list[tuple[float, float]]:
        corners = [(left, top), (right, top), (right, bottom), (left, bottom)]
        return [(x * cos - y * sin, x * sin + y * cos) for x, y in corners]

    boxes = upright_boxes([turned(0, 100 + 40 * row, 900, 130 + 40 * row) for row in range(4)])
    assert [round(box.top) for box in boxes] == [100, 140, 180, 220]
    assert {round(box.height) for box in boxes} == {30}
