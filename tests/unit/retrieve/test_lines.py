import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shelf import Shelf
from zhiku.errors import QueryError
from zhiku.retrieve.lines import GrepQuery, shorten


def test_lines_come_with_their_places(shelf: Shelf) -> None:
    shelf.write("a.md", "---\ntitle: x\n---\n# Valve\n\nthe valve\n")
    shelf.index()
    answer = shelf.library.grep(GrepQuery(keyword="VALVE"))
    assert [(item.path, item.line, item.page, item.text) for item in answer.items] == [
        ("a.md", 4, None, "Valve"),
        ("a.md", 6, None, "the valve"),
    ]
    assert [item.marks for item in answer.items] == [((0, 5),), ((4, 9),)]
    assert not answer.truncated


@pytest.mark.parametrize("limits", [{"max_lines": 2}, {"max_chars": 11}])
def test_limits_say_that_there_is_more(shelf: Shelf, limits: dict[str, int]) -> None:
    shelf.write("a.md", "valve\n\nvalve\n\nvalve\n")
    shelf.index()
    answer = shelf.library.grep(GrepQuery(keyword="valve", **limits))
    assert (len(answer.items), answer.truncated) == (2, True)
    assert shelf.library.grep(GrepQuery(keyword="valve", max_lines=3)).truncated is False


def test_a_limit_below_one_is_a_query_error(shelf: Shelf) -> None:
    shelf.write("a.md", "valve\n")
    shelf.index()
    with pytest.raises(QueryError, match="max_lines must be at least 1"):
        shelf.library.grep(GrepQuery(keyword="valve", max_lines=0))


def test_a_long_line_is_cut_around_the_keyword() -> None:
    text = "a" * 100 + "KEY" + "b" * 100
    assert shorten(text, ((100, 103),), 11) == ("…aaaKEYbbb…", ((4, 7),))
    assert shorten("KEY" + "b" * 100, ((0, 3),), 11) == ("KEYbbbbbb…", ((0, 3),))
    assert shorten("a" * 100 + "KEY", ((100, 103),), 11) == ("…aaaaaaKEY", ((7, 10),))
    assert shorten("short", ((0, 2),), 11) == ("short", ((0, 2),))


@settings(max_examples=100, deadline=None)
@given(
    st.text("ab水e\u0301", max_size=60),
    st.text("xy泵", min_size=1, max_size=6),
    st.text("ab水", max_size=60),
    st.integers(8, 40),
)
def test_a_cut_line_is_short_enough_and_shows_the_keyword(before: str, key: str, after: str, longest: int) -> None:
    text, marks = shorten(before + key + after, ((len(before), len(before) + len(key)),), longest)
    assert len(text) <= longest
    (start, end), *rest = marks
    assert text[start:end] == key
    assert not rest
