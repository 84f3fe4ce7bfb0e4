"""Read the text layer of PDFs: paragraphs, headings from the outline, and the page of everything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from zhiku.errors import NeedsOcr, ParseFailed
from zhiku.model import ParsedDocument, Source
from zhiku.parsers.pages import OcrUse, document_of, pages_read, with_wanted
from zhiku.text.ocr_pages import FORCED
from zhiku.text.pdf_printed import PrintedPage
from zhiku.text.pdf_verdict import NEED_OCR, JudgedPage, judge_pages, judge_recognised

if TYPE_CHECKING:
    from zhiku.parsers.pdfium import PdfFile

MAX_PAGES: Final = 10_000
MAX_FAILED_RUN: Final = 100
"""After so many pages in a row that cannot be loaded, the page count of the file is taken for false."""

_MAGIC_BYTES: Final = 1024  # where readers look for the header (ISO 32000-1, Annex H, note 13)


class PdfParser:
    """Read a PDF: slow to load, not thread-safe, and a hostile file may end the process, so it is for a worker."""

    def __init__(self, *, ocr: OcrUse = "no", recognised: Mapping[str, Any] | None = None) -> None:
        """With OCR, the metadata says which pages it is to read (see `zhiku.parsers.pages`); with `recognised`, what it
        saw on them, they are part of the document.
        """
        self._ocr = ocr
        self._recognised = recognised

    def parse(self, source: Source, data: bytes) -> ParsedDocument:
        """Return the document.

        Raise ParseFailed if the file is damaged or no PDF, PasswordNeeded if it is encrypted, UnsupportedFormat if its
        packing is too new, NeedsOcr if no page has usable text and OCR is off.
        """
        if b"%PDF-" not in data[:_MAGIC_BYTES]:
            raise ParseFailed("{path} is not a PDF", path=source.path, hint="give the file the ending of what it is")
        from zhiku.parsers.pdfium import PdfFile  # loads PDFium

        with closing(PdfFile(data, source.path)) as pdf:
            stated = pdf.page_count
            pages = _read_pages(pdf, source.path)
            outline = pdf.read_outline()
            title = pdf.title
        judged = self._judge(pages, source.path)
        document = document_of(judged, outline=outline, title=title, stated=stated)
        if self._ocr == "every page":
            document = replace(document, metadata={**document.metadata, FORCED: True})
        if self._ocr != "no" and self._recognised is None:
            return with_wanted(document, [each.page.page_no for each in judged if self._wants(each)])
        return document

    def _judge(self, pages: Sequence[PrintedPage], path: str) -> list[JudgedPage]:
        if self._recognised is not None:
            return judge_recognised(pages, pages_read(self._recognised, pages))
        judged = judge_pages(pages)
        if self._ocr == "no":
            _refuse_unusable(judged, path)
        return judged

    def _wants(self, judged: JudgedPage) -> bool:
        return judged.verdict in NEED_OCR or (self._ocr == "every page" and judged.verdict == "text")


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
    if any(each.verdict == "text" or each.page.notes for each in judged):
        return
    verdicts = {each.verdict for each in judged}
    hint = 'read it by OCR: zhiku index PATH --ocr (which needs: pip install "zhiku[ocr]")'
    if "scan" in verdicts:
        raise NeedsOcr("{path} has {count} pages but no text layer", path=path, count=len(judged), hint=hint)
    if "garbled" in verdicts:
        template = "{path} has no usable text: its fonts do not say which characters they show"
        raise NeedsOcr(template, path=path, hint=hint)
