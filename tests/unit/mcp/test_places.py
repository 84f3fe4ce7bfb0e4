"""Places: locators that a model can read, and names that can be sent."""

from __future__ import annotations

import json

from hypothesis import example, given
from hypothesis import strategies as st

from zhiku.locator import Locator, parse_locator
from zhiku.mcp.places import place, readable, sendable

NAMES = st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=8)
PATHS = st.text(
    st.characters(exclude_categories=["Cs"]) | st.sampled_from("\udce9\udcff%?#/ &"), min_size=1, max_size=20
)


@given(NAMES, PATHS, st.integers(0, 9))
def test_a_readable_locator_means_the_same(base: str, path: str, doc_id: int) -> None:
    locator = Locator(
        base=base, path=path, doc_id=doc_id, content="5f3a91c07be2", char_start=3, char_end=9, line_start=2
    )

    shown = readable(str(locator))

    assert parse_locator(shown) == parse_locator(str(locator))
    assert sendable(shown) == shown


def test_letters_of_any_script_are_shown_as_they_are() -> None:
    locator = Locator(base="笔记", path="水泵/a b%.md", doc_id=3, line_start=4, line_end=9)

    assert readable(str(locator)) == "zhiku://笔记/水泵/a%20b%25.md?doc=3#L4-9"


@given(st.text(st.characters() | st.sampled_from("\udce9\ud800\udc00\udfff\udcff")))
@example("\ud800\udce9")
def test_whatever_a_name_is_it_can_be_sent(name: str) -> None:
    assert json.loads(json.dumps(sendable(name)).encode("utf-8")) == sendable(name)
    sendable(name).encode("utf-8")


def test_a_place_is_lines_or_pages() -> None:
    assert place((1, 1), (None, None)) == "line 1"
    assert place((1, 4), (None, None)) == "lines 1-4"
    assert place((None, None), (2, 2)) == "page 2"
    assert place((None, None), (2, 3)) == "pages 2-3"
    assert place((None, None), (None, None)) == ""


def test_bytes_and_halves_of_characters_are_written_as_escapes() -> None:
    assert sendable("caf\udce9 \ud800 水") == "caf\\xe9 \\ud800 水"
