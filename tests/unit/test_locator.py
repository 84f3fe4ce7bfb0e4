"""Locators print and parse."""

from __future__ import annotations

import pytest

from zhiku.errors import QueryError
from zhiku.locator import Locator, parse_locator


@pytest.mark.parametrize(
    ("locator", "text"),
    [
        (
            Locator(base="notes", path="a/b.md", doc_id=12, char_start=840, char_end=1712, line_start=40, line_end=58),
            "zhiku://notes/a/b.md?doc=12&chars=840-1712#L40-58",
        ),
        (Locator(base="papers", path="w.pdf", page=4, page_end=5), "zhiku://papers/w.pdf#page=4-5"),
        (Locator(base="n", path="a.md", line_start=3, line_end=3), "zhiku://n/a.md#L3"),
        (Locator(base="n", path="a.md"), "zhiku://n/a.md"),
        (Locator(base="n", path="a b#c?d.md"), "zhiku://n/a%20b%23c%3Fd.md"),
        (Locator(base="n", path="\udcff.md"), "zhiku://n/%FF.md"),
    ],
)
def test_a_locator_is_an_address(locator: Locator, text: str) -> None:
    assert str(locator) == text


def test_a_locator_for_people_may_be_typed_unquoted() -> None:
    assert parse_locator("zhiku://笔记/手册/泵.md#L3-5") == Locator(
        base="笔记", path="手册/泵.md", line_start=3, line_end=5
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a.md",
        "http://n/a.md",
        "zhiku://",
        "zhiku://n",
        "zhiku://n/",
        "zhiku://n/a#Lx",
        "zhiku://n/a#page=1-",
        "zhiku://n/a?doc=x",
        "zhiku://[n/a",
    ],
)
def test_what_is_no_locator_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(QueryError) as caught:
        parse_locator(text)
    assert "zhiku://BASE/PATH#L10-40" in caught.value.hint
