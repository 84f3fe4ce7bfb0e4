"""Read the pages of a PDF as plain values through PDFium, one page open at a time.

PDFium is not thread-safe. Loading it takes .14 s (measured), so it is imported only once there is a PDF.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

import pypdfium2 as pdfium
import pypdfium2.raw as raw

from zhiku.errors import ParseFailed, PasswordNeeded, UnsupportedFormat
from zhiku.parsers.pdfium_lines import PageFrame, has_lost_text, iter_lines
from zhiku.parsers.pdfium_notes import Box, iter_notes, iter_shown_only
from zhiku.text.pdf_characters import clean_characters
from zhiku.text.pdf_printed import OutlineEntry, PrintedLine, PrintedPage

if TYPE_CHECKING:
    from zhiku.parsers.ocr import Image

MAX_OUTLINE_ENTRIES: Final = 10_000
FEW_CHARS: Final = 400
"""Images are looked for only on pages with less text than this: a stamp on a scan is shorter."""

MAX_OBJECTS: Final = 2_000
"""Objects of a page among which its largest image is looked for."""

RENDER_DPI: Final = 200
"""For OCR, to which 100 are enough of usual sizes of type (measured on rendered pages); small print needs more."""

MAX_SIDE: Final = 4_000
"""Of a page that is drawn, in pixels, however large it is."""

MAX_SHOWN_ONLY: Final = 100
"""Annotations of a page whose text is looked for where they are drawn."""

MAX_DEPTH: Final = 3
"""Of objects within objects."""

_BROTLI: Final = b"/BrotliDecode"
"""A filter that no published version of PDF has, and newer programs try."""

_CAUSES: Final = {
    raw.FPDF_ERR_FORMAT: "it is cut off or corrupt",
    raw.FPDF_ERR_SECURITY: "its kind of encryption is unknown",
}
_PAINTED: Final = (raw.FPDF_PAGEOBJ_IMAGE, raw.FPDF_PAGEOBJ_PATH, raw.FPDF_PAGEOBJ_SHADING)


class PdfFile:
    """An open PDF; close it after use."""

    def __init__(self, data: bytes, path: str) -> None:
        """Open the file.

        Raise PasswordNeeded if it is encrypted, UnsupportedFormat if its packing is too new, else ParseFailed.
        """
        self._path = path
        # PDFium names no cause for some damage and keeps that of the file before, such as a missing password.
        raw.FPDF_LoadDocument(b"", None)
        try:
            self._pdf = pdfium.PdfDocument(data)
        except pdfium.PdfiumError as error:
            if error.err_code == raw.FPDF_ERR_PASSWORD:
                raise PasswordNeeded(
                    "{path} is encrypted and needs a password",
                    path=path,
                    hint="save a copy without a password and index that",
                ) from error
            if _BROTLI in data:
                raise UnsupportedFormat(
                    "{path} is packed with Brotli, which PDFium does not read yet",
                    path=path,
                    hint="save it anew with another program",
                ) from error
            raise ParseFailed(
                "{path} is damaged: {cause}",
                path=path,
                cause=_CAUSES.get(error.err_code or 0, "PDFium cannot open it"),
                hint="open it in a PDF viewer to check it",
            ) from error
        # A form in XFA only has no fields that PDFium's build could read.
        if self._pdf.get_formtype() in (raw.FORMTYPE_ACRO_FORM, raw.FORMTYPE_XFA_FOREGROUND):
            self._open_forms()

    def _open_forms(self) -> None:
        with suppress(pdfium.PdfiumError):  # the values of its fields are lost, not its text
            self._pdf.init_forms()

    def close(self) -> None:
        """Free the document."""
        self._pdf.close()

    @property
    def page_count(self) -> int:
        """Return the number of pages as the file states it, which may be false."""
        return len(self._pdf)

    @property
    def title(self) -> str:
        """Return the title of the document information, or an empty string."""
        return " ".join(str(self._pdf.get_metadata_value("Title")).split())

    def read_page(self, page_no: int) -> PrintedPage | None:
        """Return a page (1-based); None where it cannot be loaded."""
        try:
            with closing(self._pdf[page_no - 1]) as page, closing(page.get_textpage()) as text_page:
                printed = _read_page(page, text_page, page_no)
                boxes = list(islice(iter_shown_only(page), MAX_SHOWN_ONLY))
                known = {line for box in boxes for line in _lines_in(text_page, box)}
        except pdfium.PdfiumError:
            return None
        if boxes:
            printed = replace(printed, notes=(*printed.notes, *self._read_shown(page_no, boxes, known)))
        return printed

    def _read_shown(self, page_no: int, boxes: Sequence[Box], known: Collection[str]) -> Iterator[str]:
        """Yield what annotations show in their boxes and does not stand there on the page below."""
        with suppress(pdfium.PdfiumError):
            with closing(self._pdf[page_no - 1]) as page:
                raw.FPDFPage_Flatten(page, raw.FLAT_NORMALDISPLAY)  # of the document in memory
            with closing(self._pdf[page_no - 1]) as page, closing(page.get_textpage()) as text_page:
                for box in boxes:
                    if note := " ".join(line for line in _lines_in(text_page, box) if line not in known):
                        yield note

    def render_page(self, page_no: int) -> Image:
        """Return what a page (1-based) looks like, for OCR. Raise ParseFailed where it cannot be drawn."""
        try:
            with closing(self._pdf[page_no - 1]) as page:
                width, height = (max(side, 1.0) for side in page.get_size())
                scale = min(RENDER_DPI / 72, MAX_SIDE / max(width, height))
                with closing(page.render(scale=scale)) as bitmap:
                    image: Image = bitmap.to_numpy().copy()
        except pdfium.PdfiumError as error:
            raise ParseFailed(
                "page {page} of {path} cannot be drawn",
                page=page_no,
                path=self._path,
                hint="open it in a PDF viewer to check it",
            ) from error
        return image

    def read_outline(self) -> list[OutlineEntry]:
        """Return the entries of the document's own table of contents that name a page."""
        entries = []
        for bookmark in islice(self._pdf.get_toc(), MAX_OUTLINE_ENTRIES):
            target = bookmark.get_dest()
            page_index = target.get_index() if target else None
            if page_index is not None:
                entries.append(OutlineEntry(bookmark.level + 1, bookmark.get_title(), page_index + 1))
        return entries


def _lines_in(text_page: Any, box: Box) -> Iterator[str]:
    for line in text_page.get_text_bounded(*box).splitlines():
        if text := clean_characters(" ".join(line.split())):
            yield text


def _read_page(page: Any, text_page: Any, page_no: int) -> PrintedPage:
    left, bottom, right, top = page.get_bbox()
    frame = PageFrame(left, bottom, right, top, page.get_rotation())
    width, height = page.get_size()
    lines = tuple(
        replace(line, is_hidden=True) if _is_off_page(line, width, height) else line
        for line in iter_lines(text_page, frame)
    )
    printed = PrintedPage(
        page_no=page_no, width=width, height=height, lines=lines, notes=tuple(dict.fromkeys(iter_notes(page)))
    )
    if text_page.count_chars():
        printed = replace(printed, has_lost_text=has_lost_text(text_page, lines))
    else:
        objects = islice(page.get_objects(max_depth=MAX_DEPTH), MAX_OBJECTS)
        printed = replace(printed, has_lost_text=any(each.type == raw.FPDF_PAGEOBJ_TEXT for each in objects))
    if sum(len(line.text) for line in lines) < FEW_CHARS or any(line.is_hidden for line in lines):
        return _with_drawings(printed, page, frame)
    return printed


def _is_off_page(line: PrintedLine, width: float, height: float) -> bool:
    is_beside = line.right <= 0 or line.left >= width
    return is_beside or line.baseline + line.size <= 0 or line.baseline - line.size >= height


@dataclass(frozen=True, slots=True, kw_only=True)
class _Painted:
    """An image or drawing within the visible part of a page, as shown."""

    is_image: bool
    left: float
    bottom: float
    right: float
    top: float

    @property
    def area(self) -> float:
        return (self.right - self.left) * (self.top - self.bottom)

    def is_behind(self, line: PrintedLine) -> bool:
        middle = line.baseline + line.size / 3
        return self.left <= line.left + 1 and line.right <= self.right + 1 and self.bottom <= middle <= self.top


def _with_drawings(printed: PrintedPage, page: Any, frame: PageFrame) -> PrintedPage:
    painted = _read_painted(page, frame, printed)
    images = [each for each in painted if each.is_image]
    area = printed.width * printed.height
    share = max((image.area for image in images), default=0.0) / area if area > 0 else 0.0
    # White is seen on a dark ground, and a scan's own text lies invisible over its image.
    lines = [
        replace(line, is_hidden=False) if line.is_hidden and any(each.is_behind(line) for each in painted) else line
        for line in printed.lines
    ]
    return replace(
        printed, lines=tuple(lines), image_share=min(share, 1.0), images=len(images), paths=len(painted) - len(images)
    )


def _read_painted(page: Any, frame: PageFrame, printed: PrintedPage) -> list[_Painted]:
    found = []
    for each in islice(page.get_objects(max_depth=MAX_DEPTH), MAX_OBJECTS):
        if each.type not in _PAINTED:
            continue
        try:
            left, bottom, right, top = each.get_bounds()
        except pdfium.PdfiumError:
            continue  # damaged; the page's text is not
        (x1, y1), (x2, y2) = frame.place(left, bottom), frame.place(right, top)
        left, right = max(min(x1, x2), 0.0), min(max(x1, x2), printed.width)
        bottom, top = max(min(y1, y2), 0.0), min(max(y1, y2), printed.height)
        is_image = each.type == raw.FPDF_PAGEOBJ_IMAGE
        if left <= right and bottom <= top:
            found.append(_Painted(is_image=is_image, left=left, bottom=bottom, right=right, top=top))
    return found
