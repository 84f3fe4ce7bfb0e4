"""Which spans of a document's text a reader of its file does not see, as the document's metadata keeps them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from zhiku.model import Document

KEY: Final = "hidden_spans"
"""Of the metadata; its value is a list of [char_start, char_end], ordered."""

MAX_SPANS: Final = 1_000
"""What is behind so many counts as hidden up to the last: metadata comes with every hit."""

_GAP: Final = len("\n\n")


def merge_spans(spans: Iterable[tuple[int, int]]) -> list[list[int]]:
    """Return ordered spans of blocks as metadata keeps them: those that follow each other are one."""
    merged: list[list[int]] = []
    for start, end in spans:
        if merged and (start <= merged[-1][1] + _GAP or len(merged) == MAX_SPANS):
            merged[-1][1] = end
        else:
            merged.append([start, end])
    return merged


def holds_hidden_text(document: Document, char_start: int, char_end: int) -> bool:
    """Return whether a span of a document's text holds any that a reader of the file does not see."""
    # The metadata of other formats is what their author wrote, under any key.
    spans = document.metadata.get(KEY, ()) if document.format == "pdf" else ()
    return any(start < char_end and char_start < end for start, end in spans)
