"""Judge page by page whether a PDF has usable text, needs OCR, or is blank; shares and counts are measured."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from zhiku.text.pdf_characters import junk_share
from zhiku.text.pdf_printed import PrintedLine, PrintedPage
from zhiku.text.pdf_running import MIN_REPEATS, drop_running_lines, running_key

PageVerdict = Literal["text", "scan", "garbled", "blank", "damaged", "ocr", "ocr_failed"]
"""`scan` and `garbled` pages need OCR: their text is in an image or drawing, or its characters have no meaning. Once
OCR was tried they are `ocr`, `blank` where it saw no text, or `ocr_failed` where it failed."""

NEED_OCR: Final = frozenset({"scan", "garbled"})

MAX_JUNK_SHARE: Final = 0.25
"""A page with more characters of no meaning than this has no usable text."""

SCAN_SHARE: Final = 0.7
FEW_CHARS: Final = 60
"""A page with less text than this, under an image of SCAN_SHARE of its area, is a stamped scan."""

MIN_IMAGE_SHARE: Final = 0.25
MIN_IMAGES: Final = 3
MIN_PATHS: Final = 400
"""A page without text under smaller and fewer images, and with fewer drawn lines, is blank rather than a scan."""

MIN_EMPTIED_SHARE: Final = 1 / 3
"""Of the pages with text: of books far fewer hold only what runs through, of labels and stamped pages all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedPage:
    """A page with its usable lines only; of one that is an image, its caption."""

    page: PrintedPage
    verdict: PageVerdict


def judge_pages(pages: Sequence[PrintedPage]) -> list[JudgedPage]:
    """Return the pages without running lines and unusable text, each with its verdict."""
    return list(_iter_judged(pages, _with_all_they_hold(pages, drop_running_lines(pages))))


def _with_all_they_hold(pages: Sequence[PrintedPage], bodies: Sequence[PrintedPage]) -> list[PrintedPage]:
    """Return the bodies, whole where too many hold nothing but running lines: there these are the text."""
    written = [page for page in pages if page.lines]
    emptied = {page.page_no for page, body in zip(pages, bodies, strict=True) if page.lines and not body.lines}
    is_scanned = any(page.page_no in emptied and _is_drawn(page) for page in pages)
    if is_scanned or len(emptied) < len(written) * MIN_EMPTIED_SHARE:
        return list(bodies)
    return [page if page.page_no in emptied else body for page, body in zip(pages, bodies, strict=True)]


def judge_recognised(pages: Sequence[PrintedPage], read: Mapping[int, PrintedPage | None]) -> list[JudgedPage]:
    """Return the same of pages some of which OCR has read, by page number: None where it failed.

    A page on which it failed, or saw nothing, keeps the text that it has.
    """
    judged = judge_pages([_with_lines_of(page, read.get(page.page_no)) for page in pages])
    return [
        replace(each, verdict=_verdict_after_ocr(each, read[each.page.page_no])) if each.page.page_no in read else each
        for each in judged
    ]


def _with_lines_of(page: PrintedPage, read: PrintedPage | None) -> PrintedPage:
    return replace(read, notes=page.notes) if read and read.lines else page


def _verdict_after_ocr(judged: JudgedPage, read: PrintedPage | None) -> PageVerdict:
    if read is None or not read.lines:
        nothing: PageVerdict = "ocr_failed" if read is None else "blank"
        return nothing if judged.verdict in NEED_OCR else judged.verdict
    return "ocr" if judged.page.lines else "blank"


def _iter_judged(pages: Sequence[PrintedPage], bodies: Sequence[PrintedPage]) -> Iterator[JudgedPage]:
    verdicts = [_judge(page, body) for page, body in zip(pages, bodies, strict=True)]
    captions = _find_captions(body for body, verdict in zip(bodies, verdicts, strict=True) if verdict == "scan")
    for body, verdict in zip(bodies, verdicts, strict=True):
        usable = body.lines if verdict == "text" else captions.get(body.page_no, ())
        yield JudgedPage(page=replace(body, lines=usable), verdict=verdict)


def _find_captions(scans: Iterable[PrintedPage]) -> dict[int, tuple[PrintedLine, ...]]:
    """Return what stands on pages that are images, by page, without what stands on many of them: stamps."""
    found = {page.page_no: page.lines for page in scans}
    counts = Counter(key for lines in found.values() for key in {running_key(line) for line in lines})
    return {
        page_no: tuple(line for line in lines if counts[running_key(line)] < MIN_REPEATS)
        for page_no, lines in found.items()
    }


def _judge(page: PrintedPage, body: PrintedPage) -> PageVerdict:
    if page.is_damaged:
        return "damaged"
    text = "".join(line.text for line in body.lines)
    if page.has_lost_text or junk_share(text) > MAX_JUNK_SHARE:
        return "garbled"
    if page.image_share > SCAN_SHARE and len(text) < FEW_CHARS:
        return "scan"
    if text:
        return "text"
    if _is_drawn(page):
        return "scan"
    return "text" if page.notes else "blank"


def _is_drawn(page: PrintedPage) -> bool:
    return page.image_share > MIN_IMAGE_SHARE or page.images >= MIN_IMAGES or page.paths > MIN_PATHS
