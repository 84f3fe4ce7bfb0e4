"""A base that is not visible does not exist: nothing that is asked is answered otherwise than without it."""

from __future__ import annotations

from typing import TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from doubles import HIDDEN, PATHS, SEEN, WORDS, Asked, Doubles
from zhiku.answer import Query
from zhiku.retrieve.lines import GrepQuery
from zhiku.service.view import View

T = TypeVar("T")
BASES = [None, *SEEN, *HIDDEN, "VAULT", "vaul", "pap", "", "../vault", "default"]


@pytest.fixture(scope="module")
def doubles(tmp_path_factory: pytest.TempPathFactory) -> Doubles:
    return Doubles(tmp_path_factory.mktemp("doubles"))


def maybe(values: st.SearchStrategy[T]) -> st.SearchStrategy[T | None]:
    return st.none() | values


words = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join)
bases = st.sampled_from(BASES)
sources = maybe(st.sampled_from([*PATHS, "*", "vault/*", "*.md", "/", "docs/*/*"]))
spans = maybe(st.tuples(st.integers(-1, 9), st.integers(-1, 9)))
locators = st.builds(
    "zhiku://{}/{}{}{}".format,
    st.sampled_from([*SEEN, *HIDDEN, "VAULT", "%76ault", "notes%2F..%2Fvault", "nobody"]),
    st.sampled_from(PATHS),
    st.sampled_from(["", "?doc=1", "?doc=2", "?doc=3", "?doc=1&of=000000000000", "?doc=2&chars=0-20"]),
    st.sampled_from(["", "#L1-3", "#page=1"]),
)


@st.composite
def calls(draw: st.DrawFn, folder: str = "") -> Asked:
    """Draw one thing that may be asked of a view."""
    base, source = draw(bases), draw(sources)
    kind = draw(st.sampled_from(["search", "grep", "read", "names", "entries", "coverage"]))
    if kind == "search":
        limits = {"top_k": draw(st.integers(1, 20)), "max_chars": draw(maybe(st.integers(1, 50)))}
        query = Query(text=draw(words), mode=draw(st.sampled_from(["lexical", "hybrid"])), source=source, **limits)
        return lambda view: view.search(query, base)
    if kind == "grep":
        lines = GrepQuery(keyword=draw(words), source=source, max_lines=draw(st.integers(1, 9)))
        return lambda view: view.grep(lines, base)
    if kind == "read":
        place = draw(locators | st.sampled_from([*PATHS, "ABSOLUTE"]))
        at = {"lines": draw(spans), "page": draw(maybe(st.integers(0, 3))), "context": draw(st.integers(0, 3))}
        return lambda view: view.read(place, base, **at)
    keyword, only_ready, topic = draw(st.sampled_from(["", "vault", "a"])), draw(st.booleans()), draw(maybe(words))
    if kind == "entries":
        return lambda view: view.entries(only_ready=only_ready, name_keyword=keyword)
    return (lambda view: view.coverage(topic)) if kind == "coverage" else View.names


@settings(max_examples=150, deadline=None)
@given(st.lists(calls(), min_size=1, max_size=6))
def test_no_sequence_of_calls_tells_that_there_is_another_base(doubles: Doubles, asked: list[Asked]) -> None:
    for ask in asked:
        told, expected = doubles.answers(ask)
        assert told == expected


def test_the_law_would_notice_a_base_that_is_not_hidden(doubles: Doubles) -> None:
    everything = [View(library) for library in doubles.libraries]
    for ask in (View.names, View.entries, lambda view: view.search(Query(text="zebra", mode="lexical"))):
        told, expected = (doubles.told(view, ask) for view in everything)
        assert told != expected
