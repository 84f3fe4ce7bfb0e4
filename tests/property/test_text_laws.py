"""Laws of folding, analysis and locators."""

from __future__ import annotations

import os
from typing import Any

import strategies
from hypothesis import given, settings
from hypothesis import strategies as st

from zhiku.locator import Locator, parse_locator
from zhiku.text.analyze import MAX_TOKEN_CHARS, Analyzer
from zhiku.text.fold import fold, fold_with_map
from zhiku.text.measure import best_cut, estimate_tokens, fit

bounded = settings(max_examples=100, deadline=None)
any_text = st.one_of(strategies.texts, strategies.anything)


@bounded
@given(any_text)
def test_the_map_of_folding_is_whole_and_in_order(text: str) -> None:
    folded, offsets = fold_with_map(text)

    assert folded == fold(text)
    assert len(offsets) == len(folded) + 1
    assert offsets == sorted(offsets)
    assert offsets[-1] == len(text)
    assert not text or offsets[0] == 0


@bounded
@given(any_text)
def test_folding_is_done_once(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@bounded
@given(any_text)
def test_tokens_runs_and_spans_agree(text: str) -> None:
    analyzer = Analyzer()
    tokens = analyzer.tokens(text)

    assert tokens == [token for token, _, _ in analyzer.spans(text)]
    assert tokens == [token for run in analyzer.runs(text) for token in run.tokens]
    assert all(0 < len(token) <= 3 * MAX_TOKEN_CHARS and not set(token) & set(" \n\t") for token in tokens)


@bounded
@given(any_text)
def test_spans_lie_in_the_text_and_fold_to_what_they_stand_for(text: str) -> None:
    for token, start, end in Analyzer().spans(text):
        assert 0 <= start < end <= len(text)
        # A Latin word stands for its parts and its stem too; a pair of characters stands for itself.
        if len(token) == 2 and "\u4e00" <= token[0] <= "\u9fff":
            assert token in fold(text[start:end])


@bounded
@given(st.lists(strategies.texts, min_size=2, max_size=4))
def test_lines_are_analyzed_alone(parts: list[str]) -> None:
    analyzer = Analyzer()
    assert analyzer.tokens("\n".join(parts)) == [token for part in parts for token in analyzer.tokens(part)]


@bounded
@given(any_text, st.integers(min_value=2, max_value=60))
def test_what_fits_is_within_the_limit_and_at_least_one_character(text: str, max_tokens: int) -> None:
    if text:
        end = fit(text, 0, len(text), max_tokens)
        assert 1 <= end <= len(text)
        assert end == 1 or estimate_tokens(text[:end]) <= max_tokens


@bounded
@given(any_text, any_text)
def test_a_text_costs_at_most_what_its_parts_cost(one: str, other: str) -> None:
    assert estimate_tokens(one + other) <= estimate_tokens(one) + estimate_tokens(other)


@bounded
@given(any_text, st.data())
def test_a_cut_lies_where_it_may(text: str, data: st.DataObject) -> None:
    if text:
        lowest = data.draw(st.integers(0, len(text) - 1))
        highest = data.draw(st.integers(lowest + 1, len(text)))
        assert lowest < best_cut(text, lowest, highest) <= highest


def _path(parts: list[bytes]) -> str:
    return os.fsdecode(b"/".join(parts))


names = st.binary(min_size=1, max_size=12).filter(lambda name: not set(name) & {0, 0x2F})
numbers = st.integers(min_value=0, max_value=10**9)


@st.composite
def locators(draw: st.DrawFn) -> Locator:
    values: dict[str, Any] = {
        "base": draw(st.text(alphabet="abcXYZ019_-知库é", min_size=1, max_size=12)),
        "path": _path(draw(st.lists(names, min_size=1, max_size=3))),
    }
    if draw(st.booleans()):
        values["doc_id"] = draw(numbers)
    if draw(st.booleans()):
        values["char_start"], values["char_end"] = draw(numbers), draw(numbers)
    place = draw(st.sampled_from(["none", "line", "page"]))
    if place == "line":
        values["line_start"], values["line_end"] = draw(numbers), draw(numbers)
    if place == "page":
        values["page"], values["page_end"] = draw(numbers), draw(numbers)
    return Locator(**values)


@bounded
@given(locators())
def test_a_locator_is_read_as_it_was_printed(locator: Locator) -> None:
    printed = str(locator)
    assert parse_locator(printed) == locator
    assert printed.isascii()
    assert not set(printed) & set(" \n\"'<>")
