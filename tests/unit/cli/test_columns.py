import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zhiku.cli.columns import clean, clean_line, cut, fold, pad, width, wrap

TEXTS = st.text(alphabet="ab ,。（）水泵é\u0301👍\u200d\t\n", max_size=80)
LINES = st.text(alphabet="ab ,。（）水泵é\u0301", max_size=80)


@pytest.mark.parametrize(
    ("text", "columns"),
    [("abc", 3), ("水泵", 4), ("e\u0301", 1), ("，", 2), ("", 0), ("ｱ", 1), ("👍", 2), ("a\u200bb", 2)],
)
def test_width_counts_columns(text: str, columns: int) -> None:
    assert width(text) == columns


def test_a_line_is_cut_at_a_column_not_a_character() -> None:
    assert cut("水泵的密封圈", 6) == "水泵…"
    assert cut("水泵", 4) == "水泵"
    assert pad("水泵", 6) == "水泵  "


def test_controls_are_taken_out() -> None:
    assert clean("a\x1b[31m\x07b\x9bc\td\ne\u2028") == "a[31mbc\td\ne"
    assert clean_line("a\tb\nc\x1bd") == "a b cd"


def test_a_name_cannot_turn_the_direction_of_what_follows() -> None:
    assert clean_line("a\u202egnp.md\u2066") == "agnp.md"
    assert clean("a\u202eb\u202c") == "a\u202eb\u202c"


def test_lines_break_between_words_and_between_han() -> None:
    assert shown("one two three", 8) == ["one two", "three"]
    assert shown("水泵的密封圈", 5) == ["水泵", "的密", "封圈"]
    assert shown("水泵water", 6) == ["水泵", "water"]


def test_no_line_begins_with_a_closing_sign_or_ends_with_an_opening_one() -> None:
    assert shown("水泵，密封", 4) == ["水", "泵，", "密封"]
    assert shown("水泵（密封）", 6) == ["水泵", "（密", "封）"]


def test_a_line_that_is_too_long_is_folded_with_its_indent() -> None:
    assert fold("  - one two three", 13) == ["  - one two", "    three"]
    assert fold("  one", None) == ["  one"]


@settings(max_examples=100, deadline=None)
@given(TEXTS, st.integers(2, 20))
def test_wrapping_keeps_every_character_but_blanks(text: str, columns: int) -> None:
    spans = wrap(text, columns)
    assert all(a <= b for a, b in spans)
    assert spans == sorted(spans)
    kept = "".join(text[a:b] for a, b in spans)
    assert [c for c in kept if not c.isspace()] == [c for c in text if not c.isspace()]


@settings(max_examples=100, deadline=None)
@given(LINES, st.integers(4, 20))
def test_no_wrapped_line_is_wider_than_the_terminal(text: str, columns: int) -> None:
    assert all(width(text[a:b]) <= columns for a, b in wrap(text, columns))


@settings(max_examples=100, deadline=None)
@given(LINES, st.integers(2, 20))
def test_a_cut_line_fits(text: str, columns: int) -> None:
    assert width(cut(text, columns)) <= columns


def shown(text: str, columns: int) -> list[str]:
    return [text[a:b] for a, b in wrap(text, columns)]
