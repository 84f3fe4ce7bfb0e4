"""Make a document of pages that were judged, and pass on which pages OCR is to read and what it saw on them.

A file whose pages may be images is parsed twice, and in between page by page: at first its metadata names the pages
that OCR is `WANTED` for; `PageReader` reads each of them; with all that was seen it is parsed again. So each page has
limits of its own, and a page that ends its reader costs no other one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, Literal

from zhiku.model import ParsedDocument
from zhiku.parsers.titles import names_something
from zhiku.text.hidden import KEY as HIDDEN_SPANS
from zhiku.text.hidden import merge_spans
from zhiku.text.ocr_pages import KEY as OCR_PAGES
from zhiku.text.ocr_pages import merge_pages
from zhiku.text.pdf_characters import junk_share
from zhiku.text.pdf_layout import Layout, build_document
from zhiku.text.pdf_printed import OutlineEntry, PrintedPage
from zhiku.text.pdf_verdict import JudgedPage, PageVerdict
from zhiku.text.recognised import page_from_dict, print_page

WANTED: Final = "pages_wanted"
"""Of the metadata, as long as OCR has not read them: the numbers of pages."""


OcrUse = Literal["no", "where needed", "every page"]
"""Which pages OCR reads: `every page` is also those that have text of their own."""


def with_wanted(document: ParsedDocument, numbers: Sequence[int]) -> ParsedDocument:
    """Return a document that says on which pages OCR is needed."""
    return replace(document, metadata={**document.metadata, WANTED: list(numbers)}) if numbers else document


def pages_read(recognised: Mapping[str, Any], pages: Sequence[PrintedPage]) -> dict[int, PrintedPage | None]:
    """Return what OCR saw as printed pages, by number; None where it failed. `recognised` is by number as text."""
    found: dict[int, PrintedPage | None] = {}
    for page in pages:
        if (key := str(page.page_no)) in recognised:
            seen = recognised[key]
            found[page.page_no] = (
                None if seen is None else print_page(page.page_no, page_from_dict(seen), page.width, page.height)
            )
    return found


def document_of(
    judged: Sequence[JudgedPage],
    *,
    outline: Iterable[OutlineEntry] = (),
    title: str = "",
    stated: int | None = None,
) -> ParsedDocument:
    """Return the document of some pages; `stated` is how many the file claims to have."""
    layout = build_document([each.page for each in judged], outline)
    return ParsedDocument(
        text=layout.text,
        blocks=tuple(layout.blocks),
        title=title if names_something(title) and not junk_share(title) else "",
        metadata=_metadata(judged, layout),
        pages=tuple(layout.pages),
        warnings=tuple(_iter_warnings(judged, len(judged) if stated is None else stated)),
    )


def _metadata(judged: Sequence[JudgedPage], layout: Layout) -> dict[str, Any]:
    """Return the pages by verdict, the spans of text that no reader sees, and how sure OCR was."""
    by_verdict = {verdict: _join_numbers(numbers) for verdict, numbers in _by_verdict(judged).items()}
    metadata: dict[str, Any] = {"pages": by_verdict}
    if layout.hidden:
        metadata[HIDDEN_SPANS] = merge_spans(layout.hidden)
    read = [(each.page.page_no, each.page.confidence or 0.0) for each in judged if each.verdict == "ocr"]
    if read:
        metadata[OCR_PAGES] = merge_pages(read)
    return metadata


def _by_verdict(judged: Sequence[JudgedPage]) -> dict[PageVerdict, list[int]]:
    found: dict[PageVerdict, list[int]] = {}
    for each in judged:
        found.setdefault(each.verdict, []).append(each.page.page_no)
    return found


def _iter_warnings(judged: Sequence[JudgedPage], stated: int) -> Iterator[str]:
    by_verdict = _by_verdict(judged)
    count = len(judged)
    if count < stated:
        yield f"The file states {stated} pages; only the first {count} were read"
    if numbers := _join_numbers(by_verdict.get("damaged", [])):
        yield f"Pages that are damaged: {numbers}"
    if numbers := _join_numbers(sorted(by_verdict.get("scan", []) + by_verdict.get("garbled", []))):
        yield f"Pages without a usable text layer, which need OCR: {numbers}"
    if numbers := _join_numbers(by_verdict.get("ocr_failed", [])):
        yield f"Pages that OCR could not read: {numbers}"
    if numbers := _join_numbers(_hidden_pages(judged)):
        yield f"Pages with text that a reader does not see: {numbers}"
    if not any(each.page.lines or each.page.notes for each in judged):
        yield "The pages hold no text"


def _hidden_pages(judged: Sequence[JudgedPage]) -> list[int]:
    return [each.page.page_no for each in judged if any(line.is_hidden for line in each.page.lines)]


def _join_numbers(numbers: Sequence[int]) -> str:
    """Return ascending numbers with their runs as ranges: 1, 3-5."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)
