"""Read the text layer of PDFs: paragraphs, headings from the outline, and the page of everything."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from zhiku.errors import NeedsOcr, ParseFailed
from zhiku.model import ParsedDocument, Source
from zhiku.parsers.titles import names_something
from zhiku.text.pdf_characters import junk_share
from zhiku.text.pdf_layout import PrintedPage, build_document, drop_running_lines

if TYPE_CHECKING:
    from zhiku.parsers.pdfium import PdfFile

MAX_PAGES: Final = 10_000
MAX_FAILED_RUN: Final = 100
"""After so many pages in a row that cannot be loaded, the page count of the file is taken for false."""

MAX_JUNK_SHARE: Final = 0.25
"""A page with more characters of no meaning than this has no usable text (measured on 20 files)."""

SCAN_SHARE: Final = 0.7
FEW_CHARS: Final = 60
"""A page with less text than this, under an image of SCAN_SHARE of its area, is a stamped scan (measured)."""

MIN_IMAGE_SHARE: Final = 0.25
"""A page without text under a smaller image is blank rather than a scan (measured)."""

_MAGIC_BYTES: Final = 1024  # where readers look for the header (ISO 32000-1, Annex H, note 13)


class PdfParser:
    """Read a PDF: slow to load, not thread-safe, and a hostile file may end the process, so it is for a worker."""

    def parse(self, source: Source, data: bytes) -> ParsedDocument:
        """Return the document.

        Raise ParseFailed if the file is damaged or no PDF, PasswordNeeded if it is encrypted, NeedsOcr if no
        page has usable text.
        """
        if b"%PDF-" not in data[:_MAGIC_BYTES]:
            raise ParseFailed("{path} is not a PDF", path=source.path, hint="give the file the ending of what it is")
        from zhiku.parsers.pdfium import PdfFile  # loads PDFium

        with closing(PdfFile(data, source.path)) as pdf:
            stated = pdf.page_count
            pages, failed = _read_pages(pdf, source.path)
            outline = pdf.read_outline()
            title = pdf.title
        bodies, without_text = _keep_usable(pages)
        if not any(page.lines for page in bodies):
            raise NeedsOcr(
                "{path} has {count} pages but no text layer",
                path=source.path,
                count=len(pages),
                hint="make it searchable with an OCR program and index the result",
            )
        text, blocks, spans = build_document(bodies, outline)
        return ParsedDocument(
            text=text,
            blocks=tuple(blocks),
            title=title if names_something(title) and not junk_share(title) else "",
            pages=tuple(spans),
            warnings=tuple(_iter_warnings(stated, len(pages), failed, without_text)),
        )


def _read_pages(pdf: PdfFile, path: str) -> tuple[list[PrintedPage], list[int]]:
    """Return the pages, empty where they cannot be read, and the numbers of those."""
    pages: list[PrintedPage] = []
    failed: list[int] = []
    last_good = 0
    for page_no in range(1, min(pdf.page_count, MAX_PAGES) + 1):
        page = pdf.read_page(page_no)
        if page:
            last_good = page_no
        else:
            failed.append(page_no)
        pages.append(page or PrintedPage(page_no=page_no, width=0, height=0))
        if page_no - last_good >= MAX_FAILED_RUN:
            pages = pages[:last_good]
            break
    if not last_good:
        raise ParseFailed(
            "{path} is damaged: none of its pages can be read",
            path=path,
            hint="open it in a PDF viewer to check it",
        )
    return pages, [page_no for page_no in failed if page_no <= len(pages)]


def _keep_usable(pages: Sequence[PrintedPage]) -> tuple[list[PrintedPage], list[int]]:
    """Return the pages without running lines and unusable text, and the numbers of those that want OCR."""
    bodies = drop_running_lines(pages)
    usable = [page if _is_usable(page) else replace(page, lines=()) for page in bodies]
    if not any(page.lines for page in usable) and not any(page.image_share for page in pages):
        # The same stamp on each page, and nothing else in the file.
        usable = [page if _is_usable(page) else replace(page, lines=()) for page in pages]
    wanting = [
        body.page_no
        for body, page in zip(usable, bodies, strict=True)
        if not body.lines and (page.lines or page.image_share > MIN_IMAGE_SHARE)
    ]
    return usable, wanting


def _is_usable(page: PrintedPage) -> bool:
    text = "".join(line.text for line in page.lines)
    is_stamped_scan = page.image_share > SCAN_SHARE and len(text) < FEW_CHARS
    return bool(text) and not is_stamped_scan and junk_share(text) <= MAX_JUNK_SHARE


def _iter_warnings(stated: int, read: int, failed: Sequence[int], without_text: Sequence[int]) -> Iterator[str]:
    if read < stated:
        yield f"The file states {stated} pages; only the first {read} were read"
    if failed:
        yield f"Pages that are damaged: {_join_numbers(failed)}"
    if without_text:
        yield f"Pages without a text layer, which need OCR: {_join_numbers(without_text)}"


def _join_numbers(numbers: Sequence[int]) -> str:
    """Return ascending numbers with their runs as ranges: 1, 3-5."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)
