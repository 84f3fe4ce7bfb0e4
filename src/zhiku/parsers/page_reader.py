"""Read one page of a file by OCR, in a worker."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Final

from zhiku.model import ParsedDocument, Source
from zhiku.parsers.ocr import load_engine, read_page

if TYPE_CHECKING:
    from zhiku.parsers.ocr import Image

RECOGNISED: Final = "recognised"
"""Of the metadata: what was seen, as `RecognisedPage.to_dict` gives it."""


class PageReader:
    """Reads a page (1-based) as if it were a document: one without text, for its lines are in no order yet."""

    def __init__(self, *, format_name: str, page_no: int) -> None:
        self._format_name = format_name
        self._page_no = page_no

    def parse(self, source: Source, data: bytes) -> ParsedDocument:
        """Return what OCR sees on the page, in the metadata; raise a `SourceError` where there is no image of it."""
        seen = read_page(load_engine(), self._image(source, data))
        return ParsedDocument(text="", blocks=(), metadata={RECOGNISED: seen.to_dict()})

    def _image(self, source: Source, data: bytes) -> Image:
        if self._format_name == "image":
            from zhiku.parsers.pictures import PictureFile

            return PictureFile(data, source.path).read(self._page_no)
        from zhiku.parsers.pdfium import PdfFile

        with closing(PdfFile(data, source.path)) as pdf:
            return pdf.render_page(self._page_no)
