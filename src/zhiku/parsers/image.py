"""Read pictures of text: nothing but what OCR sees in them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from zhiku.errors import NeedsOcr
from zhiku.model import ParsedDocument, Source
from zhiku.parsers.pages import OcrUse, document_of, pages_read, with_wanted
from zhiku.text.pdf_printed import PrintedPage
from zhiku.text.pdf_verdict import judge_pages, judge_recognised

MAX_PAGES: Final = 10_000
LONG_SIDE: Final = 842.0
"""Pixels have no size; a page of A4 is as many points long."""


class ImageParser:
    """Read a picture, or the pages of a TIFF; arguments as those of `PdfParser`."""

    def __init__(self, *, ocr: OcrUse = "no", recognised: Mapping[str, Any] | None = None) -> None:
        self._ocr = ocr
        self._recognised = recognised

    def parse(self, source: Source, data: bytes) -> ParsedDocument:
        """Return the document.

        Raise ParseFailed if it is damaged or no picture, TooLarge if it has too many pixels, NeedsOcr without OCR.
        """
        if self._ocr == "no":
            raise NeedsOcr(
                "{path} is a picture, which only OCR reads",
                path=source.path,
                hint='read it by OCR: zhiku index PATH --ocr (which needs: pip install "zhiku[ocr]")',
            )
        from zhiku.parsers.pictures import PictureFile  # loads Pillow

        picture = PictureFile(data, source.path)
        count = min(picture.page_count, MAX_PAGES)
        pages = [_unread_page(number, *picture.size(number)) for number in range(1, count + 1)]
        if self._recognised is None:
            return with_wanted(document_of(judge_pages(pages)), [page.page_no for page in pages])
        judged = judge_recognised(pages, pages_read(self._recognised, pages))
        return document_of(judged, stated=picture.page_count)


def _unread_page(page_no: int, width: int, height: int) -> PrintedPage:
    scale = LONG_SIDE / max(width, height)
    return PrintedPage(page_no=page_no, width=width * scale, height=height * scale, image_share=1.0, images=1)
