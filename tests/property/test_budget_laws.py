"""A budget is kept, whatever the documents are, and nothing is shown twice or elsewhere than it stands."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import strategies
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shelf import Shelf
from zhiku.locator import parse_locator
from zhiku.text.measure import estimate_chat_tokens

lines = st.one_of(strategies.lines, strategies.long_lines, strategies.han_runs.map(lambda run: f"# {run}"))
documents = st.lists(st.lists(lines, min_size=1, max_size=40).map("\n\n".join), min_size=1, max_size=4)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(documents, st.lists(st.integers(1, 2_000), min_size=1, max_size=4), st.data())
def test_a_budget_is_kept_and_nothing_is_shown_twice(
    contents: list[str], budgets: list[int], data: st.DataObject
) -> None:
    with TemporaryDirectory() as folder:
        shelf = Shelf(Path(folder))
        for number, text in enumerate(contents):
            shelf.write(f"{number}.md", text)
        shelf.index()
        words = [word for text in contents for word in text.split()] or ["a"]
        query = " ".join(data.draw(st.lists(st.sampled_from(words), min_size=1, max_size=5)))[:300]
        for max_tokens in budgets:
            answer = shelf.search(query, max_tokens=max_tokens, top_k=100)
            assert answer.budget is not None
            assert sum(estimate_chat_tokens(hit.text) for hit in answer) <= answer.budget.tokens <= max_tokens
            shown: list[tuple[int, int, int]] = []
            for hit in answer:
                place = parse_locator(hit.locator)
                assert shelf.base.read(hit.locator).text == hit.text
                assert place.char_start is not None
                assert place.char_end is not None
                assert all(
                    doc_id != hit.doc_id or place.char_end <= start or end <= place.char_start
                    for doc_id, start, end in shown
                )
                shown.append((hit.doc_id, place.char_start, place.char_end))
