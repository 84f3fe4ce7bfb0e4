"""A document remembers which of its pages OCR read, and how sure it was."""

from __future__ import annotations

from typing import Any

import pytest

from zhiku.model import Document, Source
from zhiku.text.ocr_pages import is_read_by_ocr, merge_pages, needs_ocr, ocr_confidence


def _document(metadata: dict[str, Any], format_name: str = "pdf") -> Document:
    source = Source(root="/r", path="a.pdf", size_bytes=0, mtime_ns=0, sha256="")
    return Document(
        doc_id=1, source=source, title="", format=format_name, encoding="", chars=0, chunk_count=0, page_count=9,
        indexed_at="", metadata=metadata,
    )  # fmt: skip


def test_pages_in_a_row_that_are_equally_sure_are_one_entry() -> None:
    assert merge_pages([(1, 0.981), (2, 0.979), (4, 0.98), (5, 0.7)]) == [[1, 2, 98], [4, 4, 98], [5, 5, 70]]


@pytest.mark.parametrize(
    ("first", "last", "expected"),
    [(1, 1, 0.98), (2, 4, 0.7), (3, 3, None), (6, 9, None), (None, None, None), (4, None, 0.7)],
)
def test_the_least_certain_page_counts(first: int | None, last: int | None, expected: float | None) -> None:
    assert ocr_confidence(_document({"ocr_pages": [[1, 2, 98], [4, 5, 70]]}), first, last) == expected


def test_what_an_author_wrote_under_the_same_key_is_not_believed() -> None:
    document = _document({"ocr_pages": [[1, 2, 98]], "pages": {"scan": "1"}}, "markdown")
    assert ocr_confidence(document, 1, 1) is None
    assert not needs_ocr(document)
    assert not is_read_by_ocr(document)


@pytest.mark.parametrize(
    ("pages", "expected"),
    [
        ({"text": "1", "scan": "2"}, True),
        ({"garbled": "1"}, True),
        ({"text": "1"}, False),
        ({"ocr_failed": "1"}, False),
    ],
)
def test_pages_that_ocr_never_tried_need_it(pages: dict[str, str], expected: bool) -> None:
    assert needs_ocr(_document({"pages": pages})) is expected


def test_a_page_on_which_it_failed_counts_as_tried() -> None:
    assert is_read_by_ocr(_document({"pages": {"ocr_failed": "1"}}))
    assert not is_read_by_ocr(_document({"pages": {"scan": "1"}}))
