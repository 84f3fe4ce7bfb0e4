"""Read the text layer of PDFs: paragraphs, headings from the outline, and the page of everything."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any, Final

from zhiku.errors import NeedsOcr, ParseFailed
from zhiku.model import ParsedDocument, Source
from zhiku.parsers.titles import names_something
from zhiku.text.hidden import KEY as HIDDEN_SPANS
from zhiku.text.hidden import merge_spans
from zhiku.text.pdf_characters import junk_share
from zhiku.text.pdf_layout import Layout, build_document
from zhiku.text.pdf_printed import PrintedPage
from zhiku.text.pdf_verdict import JudgedPage, PageVerdict, judge_pages

if TYPE_CHECKING:
    from zhiku.parsers.pdfium import PdfFile

MAX_PAGES: Final = 10_000
MAX_FAILED_RUN: Final = 100
"""After so many pages in a row that cannot be loaded, the page count of the file is taken for false."""

_MAGIC_BYTES: Final = 1024  # where readers look for the header (ISO 32000-1, Annex H, note 13)


class PdfParser:
    """Read a PDF: slow to load, not thread-safe, and a hostile file may end the process, so it is for a worker."""

    def parse(self, source: Source, data: bytes) -> ParsedDocument:
        """Return the document.

        Raise ParseFailed if the file is damaged or no PDF, PasswordNeeded if it is encrypted, UnsupportedFormat if its
        packing is too new, NeedsOcr if no page has usable text.
        """
        if b"%PDF-" not in data[:_MAGIC_BYTES]:
            raise ParseFailed("{path} is not a PDF", path=source.path, hint="give the file the ending of what it is")
        from zhiku.parsers.pdfium import PdfFile  # loads PDFium

        with closing(PdfFile(data, source.path)) as pdf:
            stated = pdf.page_count
            pages = _read_pages(pdf, source.path)
            outline = pdf.read_outline()
            title = pdf.title
        judged = judge_pages(pages)
        _refuse_unusable(judged, source.path)
        layout = build_document([each.page for each in judged], outline)
        return ParsedDocument(
            text=layout.text,
            blocks=tuple(layout.blocks),
            title=title if names_something(title) and not junk_share(title) else "",
            metadata=_metadata(judged, layout),
            pages=tuple(layout.pages),
            warnings=tuple(_iter_warnings(stated, judged)),
        )


def _read_pages(pdf: PdfFile, path: str) -> list[PrintedPage]:
    """Return the pages, empty where they cannot be read."""
    pages: list[PrintedPage] = []
    last_good = 0
    for page_no in range(1, min(pdf.page_count, MAX_PAGES) + 1):
        page = pdf.read_page(page_no)
        if page:
            last_good = page_no
        pages.append(page or PrintedPage(page_no=page_no, width=0, height=0, is_damaged=True))
        if page_no - last_good >= MAX_FAILED_RUN:
            pages = pages[:last_good]
            break
    if not last_good:
        raise ParseFailed(
            "{path} is damaged: none of its pages can be read",
            path=path,
            hint="open it in a PDF viewer to check it",
        )
    return pages


def _refuse_unusable(judged: Sequence[JudgedPage], path: str) -> None:
    """Raise NeedsOcr if no page has text and some show any; a document of blank pages is only empty."""
    if any(each.page.lines or each.page.notes for each in judged):
        return
    verdicts = {each.verdict for each in judged}
    hint = "make it searchable with an OCR program and index the result"
    if "scan" in verdicts:
        raise NeedsOcr("{path} has {count} pages but no text layer", path=path, count=len(judged), hint=hint)
    if "garbled" in verdicts:
        template = "{path} has no usable text: its fonts do not say which characters they show"
        raise NeedsOcr(template, path=path, hint=hint)


def _metadata(judged: Sequence[JudgedPage], layout: Layout) -> dict[str, Any]:
    """Return the pages by verdict, and the spans of text that no reader sees."""
    by_verdict = {verdict: _join_numbers(numbers) for verdict, numbers in _by_verdict(judged).items()}
    metadata: dict[str, Any] = {"pages": by_verdict}
    if layout.hidden:
        metadata[HIDDEN_SPANS] = merge_spans(layout.hidden)
    return metadata


def _by_verdict(judged: Sequence[JudgedPage]) -> dict[PageVerdict, list[int]]:
    found: dict[PageVerdict, list[int]] = {}
    for each in judged:
        found.setdefault(each.verdict, []).append(each.page.page_no)
    return found


def _hidden_pages(judged: Sequence[JudgedPage]) -> list[int]:
    return [each.page.page_no for each in judged if any(line.is_hidden for line in each.page.lines)]


def _iter_warnings(stated: int, judged: Sequence[JudgedPage]) -> Iterator[str]:
    by_verdict = _by_verdict(judged)
    count = len(judged)
    if count < stated:
        yield f"The file states {stated} pages; only the first {count} were read"
    if numbers := _join_numbers(by_verdict.get("damaged", [])):
        yield f"Pages that are damaged: {numbers}"
    if numbers := _join_numbers(sorted(by_verdict.get("scan", []) + by_verdict.get("garbled", []))):
        yield f"Pages without a usable text layer, which need OCR: {numbers}"
    if numbers := _join_numbers(_hidden_pages(judged)):
        yield f"Pages with text that a reader does not see: {numbers}"
    if not any(each.page.lines or each.page.notes for each in judged):
        yield "The pages hold no text"


def _join_numbers(numbers: Sequence[int]) -> str:
    """Return ascending numbers with their runs as ranges: 1, 3-5."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)
