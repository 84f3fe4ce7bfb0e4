"""Which pages of a document were read by OCR, and how sure it was, as the document's metadata keeps them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from zhiku.model import Document
from zhiku.registry import OCR_FORMATS

KEY: Final = "ocr_pages"
"""Of the metadata; its value is a list of [first page, last page, confidence in per cent], ordered."""

FORCED: Final = "ocr_forced"
"""Of the metadata: whether the user asked for OCR of every page, also of those with text of their own."""


def merge_pages(confidences: Iterable[tuple[int, float]]) -> list[list[int]]:
    """Return ascending pages and their confidence, 0 to 1, as metadata keeps them."""
    merged: list[list[int]] = []
    for page_no, confidence in confidences:
        percent = round(100 * confidence)
        if merged and merged[-1][1] == page_no - 1 and merged[-1][2] == percent:
            merged[-1][1] = page_no
        else:
            merged.append([page_no, page_no, percent])
    return merged


def ocr_confidence(document: Document, first: int | None, last: int | None) -> float | None:
    """Return how sure OCR was, 0 to 1, of the least certain of some pages; None if it read none of them."""
    # The metadata of other formats is what their author wrote, under any key.
    if first is None or document.format not in OCR_FORMATS:
        return None
    end = first if last is None else last
    found = [percent for start, stop, percent in document.metadata.get(KEY, ()) if start <= end and first <= stop]
    return min(found) / 100 if found else None


def is_read_by_ocr(document: Document) -> bool:
    """Return whether OCR read a page of a document, or tried to, or was asked for every page of it."""
    if document.format not in OCR_FORMATS:
        return False
    return KEY in document.metadata or "ocr_failed" in document.metadata.get("pages", {}) or is_forced(document)


def is_forced(document: Document) -> bool:
    """Return whether every page of a document is read by OCR, whenever it is read."""
    return document.format in OCR_FORMATS and document.metadata.get(FORCED) is True


def needs_ocr(document: Document) -> bool:
    """Return whether a document has pages that OCR might read and has not tried."""
    return has_pages_for_ocr(document.format, document.metadata)


def has_pages_for_ocr(format_name: str, metadata: Mapping[str, Any]) -> bool:
    """Return the same of a document that may not be stored."""
    if format_name not in OCR_FORMATS:
        return False
    pages = metadata.get("pages", {})
    return bool(pages.get("scan") or pages.get("garbled"))
