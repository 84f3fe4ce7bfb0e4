"""Spans that a reader does not see, as metadata keeps them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from samples import source_of
from zhiku.model import Document
from zhiku.text.hidden import KEY, MAX_SPANS, holds_hidden_text, merge_spans

DOCUMENT = Document(
    doc_id=1,
    source=source_of("a.pdf", b""),
    title="",
    format="pdf",
    encoding="",
    chars=100,
    chunk_count=1,
    page_count=1,
    indexed_at="",
    metadata={KEY: [[10, 20], [40, 50]]},
)


def test_blocks_that_follow_each_other_are_one_span() -> None:
    assert merge_spans([(0, 4), (6, 10), (13, 20)]) == [[0, 10], [13, 20]]


def test_more_spans_than_are_kept_are_one_up_to_the_last() -> None:
    merged = merge_spans((n * 10, n * 10 + 1) for n in range(MAX_SPANS + 5))
    assert len(merged) == MAX_SPANS
    assert merged[-2:] == [
        [(MAX_SPANS - 2) * 10, (MAX_SPANS - 2) * 10 + 1],
        [(MAX_SPANS - 1) * 10, MAX_SPANS * 10 + 41],
    ]


@pytest.mark.parametrize(("span", "held"), [((0, 10), False), ((0, 11), True), ((20, 40), False), ((49, 60), True)])
def test_a_span_holds_hidden_text_where_it_meets_any(span: tuple[int, int], held: bool) -> None:
    assert holds_hidden_text(DOCUMENT, *span) is held


def test_what_the_author_of_a_note_writes_under_that_name_is_none() -> None:
    note = replace(DOCUMENT, format="markdown", metadata={KEY: "no"})
    assert not holds_hidden_text(note, 0, 100)
