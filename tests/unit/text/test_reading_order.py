"""Boxes of text are put into the order in which a reader reads them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from zhiku.text.reading_order import Box, order_rows

boxes = st.lists(
    st.builds(
        lambda x, y, w, h: Box(x, y, x + w, y + h),
        st.floats(0, 1000),
        st.floats(0, 1000),
        st.floats(0, 900),
        st.floats(0, 60),
    ),
    max_size=40,
)


def _line(left: float, top: float, right: float) -> Box:
    return Box(left, top, right, top + 20)


def _column(left: float, right: float, rows: int, top: float = 100, step: float = 30) -> list[Box]:
    return [_line(left, top + row * step, right) for row in range(rows)]


def _order(boxes: list[Box]) -> list[int]:
    return [number for row in order_rows(boxes) for number in row]


@given(boxes)
def test_every_box_comes_exactly_once(boxes: list[Box]) -> None:
    assert sorted(_order(boxes)) == list(range(len(boxes)))


def test_lines_come_from_top_to_bottom() -> None:
    assert _order(list(reversed(_column(50, 900, 5)))) == [4, 3, 2, 1, 0]


def test_the_left_column_comes_before_the_right_one() -> None:
    left, right = _column(50, 450, 6), _column(500, 900, 6)
    assert _order([box for pair in zip(right, left, strict=True) for box in pair]) == [
        1,
        3,
        5,
        7,
        9,
        11,
        0,
        2,
        4,
        6,
        8,
        10,
    ]


def test_a_title_across_both_columns_parts_them() -> None:
    above, below = 100, 340
    first = [*_column(50, 450, 4, above), *_column(500, 900, 4, above)]
    title = _line(50, 280, 900)
    second = [*_column(50, 450, 4, below), *_column(500, 900, 4, below)]
    assert _order([*second, title, *first]) == [*range(9, 17), 8, *range(8)]


def test_three_columns_are_read_one_after_the_other() -> None:
    columns = [_column(left, left + 280, 5, 100 + left / 100) for left in (0, 320, 640)]
    shuffled = [column[row] for row in range(5) for column in columns]
    assert _order(shuffled) == [*range(0, 15, 3), *range(1, 15, 3), *range(2, 15, 3)]


def test_a_table_is_read_row_by_row() -> None:
    cells = [
        _line(left, 100 + row * 30, left + width)
        for row in range(6)
        for left, width in ((50, 60), (300, 40), (600, 250))
    ]
    names = [_line(50, 100 + row * 30, 60 + 20 * (row % 4)) for row in range(6)]
    cells = [cell for row in range(6) for cell in (names[row], *cells[3 * row + 1 : 3 * row + 3])]
    assert order_rows(cells) == [[3 * row, 3 * row + 1, 3 * row + 2] for row in range(6)]


def test_boxes_at_one_height_are_one_row() -> None:
    assert order_rows([_line(300, 103, 500), _line(50, 100, 250), _line(50, 130, 500)]) == [[1, 0], [2]]


def test_nothing_has_no_rows() -> None:
    assert order_rows([]) == []
