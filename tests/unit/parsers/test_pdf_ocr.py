"""Page by page it is decided what OCR reads of a PDF, and what it saw becomes part of the document."""

from __future__ import annotations

from typing import Any

import pytest

from pdfs import PAGE_HEIGHT, PAGE_WIDTH, PdfWriter
from zhiku.errors import NeedsOcr
from zhiku.model import ParsedDocument, Source
from zhiku.parsers.pages import WANTED
from zhiku.parsers.pdf import PdfParser

SOURCE = Source(root="/r", path="a.pdf", size_bytes=0, mtime_ns=0, sha256="")
STAMP = "For personal study only"


def _parse(data: bytes, **options: Any) -> ParsedDocument:
    return PdfParser(**{"ocr": "where needed", **options}).parse(SOURCE, data)


def _wanted(data: bytes, **options: Any) -> list[int]:
    wanted: list[int] = _parse(data, **options).metadata.get(WANTED, [])
    return wanted


def _seen(*lines: str, score: float = 0.98, top: int = 100) -> dict[str, Any]:
    placed = [[line, score, 50, top + 40 * row, 350, top + 30 + 40 * row] for row, line in enumerate(lines)]
    return {"width": PAGE_WIDTH, "height": PAGE_HEIGHT, "lines": placed}


def test_a_digital_cover_does_not_hide_the_scans_behind_it() -> None:
    writer = PdfWriter().page("Annual report of the water works, printed for the members")
    for _ in range(3):
        writer.page(image=True)
    assert _wanted(writer.data()) == [2, 3, 4]


def test_a_stamp_is_no_text_layer() -> None:
    writer = PdfWriter()
    for _ in range(4):
        writer.page(STAMP, image=True, top=580)
    assert _wanted(writer.data()) == [1, 2, 3, 4]


def test_a_short_certificate_has_a_text_layer() -> None:
    document = _parse(PdfWriter().page("兹证明李雷同志结业合格").data())
    assert (WANTED in document.metadata, document.text) == (False, "兹证明李雷同志结业合格")


def test_text_without_meaning_is_read_by_ocr() -> None:
    assert _wanted(PdfWriter().page("".join(chr(0xE000 + n) for n in range(40))).data()) == [1]


def test_blank_pages_are_not_read() -> None:
    assert _wanted(PdfWriter().page().page(image=True).page().data()) == [2]


def test_every_page_means_those_with_text_too() -> None:
    data = PdfWriter().page("rubbish of a bad text layer").page().page(image=True).data()
    assert _wanted(data, ocr="every page") == [1, 3]


def test_what_was_seen_stands_on_its_page_and_is_marked() -> None:
    data = PdfWriter().page("cover of the report").page(image=True).page(image=True).data()
    document = _parse(data, recognised={"2": _seen("锅炉年检报告。"), "3": _seen("second scan", score=0.8)})
    shown = [(page.page_no, document.text[page.char_start : page.char_end]) for page in document.pages]
    assert shown == [(1, "cover of the report"), (2, "锅炉年检报告。"), (3, "second scan")]
    assert document.metadata == {"pages": {"text": "1", "ocr": "2-3"}, "ocr_pages": [[2, 2, 98], [3, 3, 80]]}
    assert document.warnings == ()


def test_lines_of_a_paragraph_are_joined_over_pages() -> None:
    full = "这一行文字一直写到页面的右边为止所以下一行仍"
    data = PdfWriter().page(image=True).page(image=True).data()
    assert _parse(data, recognised={"1": _seen(full, full), "2": _seen("然是同一个自然段。")}).text == (
        full + full + "然是同一个自然段。"
    )


def test_a_page_on_which_ocr_saw_nothing_is_blank() -> None:
    document = _parse(PdfWriter().page("cover").page(image=True).data(), recognised={"2": _seen()})
    assert document.metadata == {"pages": {"text": "1", "blank": "2"}}


def test_a_page_with_text_on_which_ocr_saw_nothing_keeps_it() -> None:
    document = _parse(PdfWriter().page("too small to see").data(), ocr="every page", recognised={"1": _seen()})
    assert (document.text, document.metadata["pages"]) == ("too small to see", {"text": "1"})


def test_a_page_that_ocr_could_not_read_is_told_and_keeps_the_text_it_has() -> None:
    data = PdfWriter().page("a text layer that is kept").page(image=True).page(image=True).data()
    document = _parse(data, ocr="every page", recognised={"1": None, "2": None, "3": _seen("scan")})
    assert document.text == "a text layer that is kept\n\nscan"
    assert document.metadata["pages"] == {"text": "1", "ocr_failed": "2", "ocr": "3"}
    assert document.warnings == ("Pages that OCR could not read: 2",)


def test_what_was_seen_takes_the_place_of_a_bad_text_layer() -> None:
    data = PdfWriter().page("rubbish of a bad text layer").data()
    document = _parse(data, ocr="every page", recognised={"1": _seen("what is printed")})
    assert (document.text, document.metadata["pages"]) == ("what is printed", {"ocr": "1"})


def test_without_ocr_the_file_says_how_to_get_it() -> None:
    with pytest.raises(NeedsOcr) as caught:
        PdfParser().parse(SOURCE, PdfWriter().page(image=True).data())
    assert "--ocr" in caught.value.hint
