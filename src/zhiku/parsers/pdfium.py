"""Read the pages of a PDF as plain values through PDFium, one page open at a time.

PDFium is not thread-safe. Loading it takes .14 s (measured), so it is imported only once there is a PDF.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import islice
from typing import Any, Final

import pypdfium2 as pdfium
import pypdfium2.raw as raw

from zhiku.errors import ParseFailed, PasswordNeeded
from zhiku.text.pdf_characters import HYPHENS, clean_characters
from zhiku.text.pdf_layout import OutlineEntry, PrintedLine, PrintedPage

MAX_OUTLINE_ENTRIES: Final = 10_000
FEW_CHARS: Final = 400
"""Images are looked for only on pages with less text than this: a stamp on a scan is shorter."""

MAX_OBJECTS: Final = 2_000
"""Objects of a page among which its largest image is looked for."""

_CAUSES: Final = {
    raw.FPDF_ERR_FORMAT: "it is cut off or corrupt",
    raw.FPDF_ERR_SECURITY: "its kind of encryption is unknown",
}
WIDE_GAP_EM: Final = 0.6
"""A gap between two Han characters from which it is a space; justified text stays below."""

_LINE: Final = re.compile(r"[^\r\n]+")
_HAN: Final = "\u2e80-\u30ff\u3400-\u9fff\uf900-\uffef"
_HAN_GAP: Final = re.compile(f"(?<=[{_HAN}]) (?=[{_HAN}])")


class PdfFile:
    """An open PDF; close it after use."""

    def __init__(self, data: bytes, path: str) -> None:
        """Open the file. Raise PasswordNeeded if it is encrypted, ParseFailed if it is damaged."""
        try:
            self._pdf = pdfium.PdfDocument(data)
        except pdfium.PdfiumError as error:
            if error.err_code == raw.FPDF_ERR_PASSWORD:
                raise PasswordNeeded(
                    "{path} is encrypted and needs a password",
                    path=path,
                    hint="save a copy without a password and index that",
                ) from error
            raise ParseFailed(
                "{path} is damaged: {cause}",
                path=path,
                cause=_CAUSES.get(error.err_code or 0, "PDFium cannot open it"),
                hint="open it in a PDF viewer to check it",
            ) from error

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
                lines = tuple(_iter_lines(text_page))
                width, height = page.get_size()
                few = sum(len(line.text) for line in lines) < FEW_CHARS
                image_share = _largest_image(page) / (width * height) if few and width * height > 0 else 0.0
        except pdfium.PdfiumError:
            return None
        return PrintedPage(page_no=page_no, width=width, height=height, lines=lines, image_share=min(image_share, 1.0))

    def read_outline(self) -> list[OutlineEntry]:
        """Return the entries of the document's own table of contents that name a page."""
        entries = []
        for bookmark in islice(self._pdf.get_toc(), MAX_OUTLINE_ENTRIES):
            target = bookmark.get_dest()
            page_index = target.get_index() if target else None
            if page_index is not None:
                entries.append(OutlineEntry(bookmark.level + 1, bookmark.get_title(), page_index + 1))
        return entries


def _iter_lines(text_page: Any) -> Iterator[PrintedLine]:
    text = text_page.get_text_range()
    is_aligned = len(text) == text_page.count_chars()
    for match in _LINE.finditer(text):
        line = match.group()
        # The place of each character in PDFium's own list, which may hold characters that its text does not.
        places: Sequence[int] = range(match.start(), match.end())
        if not is_aligned:
            places = [raw.FPDFText_GetCharIndexFromTextIndex(text_page, place) for place in places]
        shown = clean_characters(_without_made_up_spaces(text_page, line, places))
        if shown.strip(HYPHENS):
            indent = len(line) - len(line.lstrip())
            left, _, bottom, top = _char_box(text_page, places[indent])
            right = _char_box(text_page, places[len(line.rstrip()) - 1])[1]
            yield PrintedLine(text=shown, left=left, right=right, top=top, bottom=bottom)


def _without_made_up_spaces(text_page: Any, line: str, places: Sequence[int]) -> str:
    """Return the line without the spaces that PDFium made of narrow gaps between Han characters."""
    parts: list[str] = []
    done = 0
    for match in _HAN_GAP.finditer(line):
        gap = match.start()
        if raw.FPDFText_IsGenerated(text_page, places[gap]) != 1:
            continue
        _, right, bottom, top = _char_box(text_page, places[gap - 1])
        left = _char_box(text_page, places[gap + 1])[0]
        if left - right < WIDE_GAP_EM * (top - bottom):
            parts.append(line[done:gap])
            done = gap + 1
    return "".join(parts) + line[done:]


def _char_box(text_page: Any, char_index: int) -> tuple[float, float, float, float]:
    """Return left, right, bottom and top of a character, as high as its font; zeros if it has no place."""
    box = raw.FS_RECTF()
    if not raw.FPDFText_GetLooseCharBox(text_page, char_index, box):
        return 0.0, 0.0, 0.0, 0.0
    return box.left, box.right, min(box.bottom, box.top), max(box.bottom, box.top)


def _largest_image(page: Any) -> float:
    width, height = page.get_size()
    largest = 0.0
    objects = page.get_objects(filter=(raw.FPDF_PAGEOBJ_IMAGE,), max_depth=3)
    for image in islice(objects, MAX_OBJECTS):
        try:
            left, bottom, right, top = image.get_bounds()
        except pdfium.PdfiumError:
            continue  # damaged; the page's text is not
        shown_width = min(right, width) - max(left, 0.0)
        shown_height = min(top, height) - max(bottom, 0.0)
        largest = max(largest, max(shown_width, 0.0) * max(shown_height, 0.0))
    return largest
