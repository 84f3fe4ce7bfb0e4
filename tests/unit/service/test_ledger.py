"""The ledger joins what is stored of files with what was noted of those that are not, or have no text."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, field, replace
from typing import Any, cast

import pytest

from pdfs import PdfWriter
from samples import SAMPLES
from shelf import Shelf
from zhiku.model import Document, LedgerEntry, Source
from zhiku.ports import ReadSession
from zhiku.service.ledger import LedgerFile, PageCounts, count_states, read_ledger

SCANNED = PdfWriter().page("A page of text about the valve").page(image=True).page(image=True).page()


@dataclass
class FakeSession:
    """The part of `zhiku.ports.ReadSession` that a ledger is read from."""

    known: list[Document] = field(default_factory=list)
    noted: list[LedgerEntry] = field(default_factory=list)
    spans: list[tuple[int, int, int]] = field(default_factory=list)

    def documents(self) -> list[Document]:
        return self.known

    def ledger(self) -> list[LedgerEntry]:
        return self.noted

    def pages(self, doc_id: int) -> list[tuple[int, int, int]]:
        return self.spans


def document(path: str = "a.md", **values: Any) -> Document:
    facts: dict[str, Any] = {
        "doc_id": 1,
        "source": Source(root="/docs", path=path, size_bytes=3, mtime_ns=1, sha256="0"),
        "title": "",
        "format": "markdown",
        "encoding": "utf-8",
        "chars": 90,
        "chunk_count": 2,
        "page_count": 0,
        "indexed_at": "2026-11-30T00:00:00+00:00",
    }
    return Document(**{**facts, **values})


def paged(count: int, **metadata: Any) -> Document:
    return document("a.pdf", format="pdf", page_count=count, metadata=metadata)


def note(path: str, outcome: str, code: str = "damaged") -> LedgerEntry:
    return LedgerEntry(root="/docs", path=path, outcome=cast(Any, outcome), code=code, message="", seen_at="2026")


def files(*documents: Document, noted: tuple[LedgerEntry, ...] = (), **values: Any) -> list[LedgerFile]:
    return read_ledger(cast(ReadSession, FakeSession(list(documents), list(noted), **values)))


def only(*documents: Document, noted: tuple[LedgerEntry, ...] = (), **values: Any) -> LedgerFile:
    (file,) = files(*documents, noted=noted, **values)
    return file


def test_files_come_by_path_whether_they_are_stored_or_only_noted() -> None:
    found = files(document("a.md"), document("c.md"), noted=(note("b.pdf", "failed"), note("d.doc", "skipped")))
    assert [(file.path, file.state) for file in found] == [
        ("a.md", "ok"),
        ("b.pdf", "failed"),
        ("c.md", "ok"),
        ("d.doc", "skipped"),
    ]
    assert count_states(found) == {"ok": 2, "part": 0, "textless": 0, "failed": 1, "skipped": 1}


def test_a_file_that_fails_now_is_failed_whatever_was_read_of_it_before() -> None:
    file = only(document("a.pdf"), noted=(note("a.pdf", "failed"),))
    assert (file.state, file.is_problem, file.to_dict()["chunks"]) == ("failed", True, 2)


def test_a_file_without_text_is_not_ready_even_if_nobody_noted_it() -> None:
    assert only(document(chunk_count=0)).state == "textless"
    assert only(document(chunk_count=0), noted=(note("a.md", "textless", "empty"),)).state == "textless"


def test_a_file_some_of_whose_pages_need_ocr_is_read_in_part() -> None:
    file = only(paged(6, pages={"text": "1, 4", "scan": "2-3", "blank": "5", "damaged": "6"}))
    assert file.pages == PageCounts(total=6, text=2, blank=1, without=3)
    assert (file.state, file.is_problem) == ("part", True)


def test_blank_pages_are_no_problem() -> None:
    file = only(paged(2, pages={"text": "1", "blank": "2"}))
    assert (file.state, file.is_problem) == ("ok", False)


def test_pages_that_were_recognised_count_apart() -> None:
    file = only(paged(5, pages={"text": "1", "scan": "2-5"}, ocr_pages=[[2, 3, 97], [5, 5, 80]]))
    assert file.pages == PageCounts(total=5, text=1, ocr=3, without=1)


@pytest.mark.parametrize(
    "metadata",
    [
        {"pages": "all of them", "ocr_pages": "2"},
        {"pages": ["1"], "ocr_pages": [["1", "2"], 3, [None], []]},
        {"pages": {"scan": 7, "blank": "x", "garbled": ["1"]}, "ocr_pages": {"1": 2}},
        {"pages": {"scan": "99-9999999999999999999, -3, 0"}, "ocr_pages": [[-9, 0], [3, 10**18]]},
    ],
)
def test_metadata_that_no_parser_wrote_makes_no_pages(metadata: dict[str, Any]) -> None:
    assert only(paged(2, **metadata)).pages == PageCounts(total=2, text=2)


def test_slides_without_a_word_are_pages_without_text() -> None:
    slides = document("a.pptx", format="pptx", page_count=3, metadata={"pages": {"scan": "1-3"}})
    file = only(slides, spans=[(1, 0, 9), (2, 9, 9), (3, 9, 12)])
    assert file.pages == PageCounts(total=3, text=2, without=1)


def test_warnings_and_text_that_no_reader_sees_are_problems() -> None:
    assert only(document(warnings=("odd",))).is_problem
    hidden = paged(1, pages={"text": "1"}, hidden_spans=[[3, 9]])
    assert (only(hidden).hidden_text, only(hidden).is_problem) == (True, True)
    note_of_an_author = document(metadata={"hidden_spans": [[3, 9]]})
    assert not only(note_of_an_author).is_problem


def test_what_was_left_out_by_rule_or_on_request_is_no_problem() -> None:
    assert not only(noted=(note("a.doc", "skipped", "unsupported"),)).is_problem
    forgotten = document(chunk_count=0, state="deprecated", hidden_by=("forgotten",))
    assert not only(forgotten).is_problem
    assert only(forgotten, noted=(note("a.md", "failed"),)).is_problem


def test_counts_of_pages_add_up() -> None:
    one = PageCounts(total=6, text=2, ocr=1, blank=1, without=2)
    assert one + replace(one, total=7, text=3) == PageCounts(total=13, text=5, ocr=2, blank=2, without=4)


def test_a_base_that_holds_nothing_has_an_empty_ledger(shelf: Shelf) -> None:
    shelf.library.open_or_create("default")
    assert shelf.base.ledger() == []


def test_a_real_base_tells_of_every_file(shelf: Shelf) -> None:
    shelf.write("a.md", "valve\n")
    shelf.write("bad.pdf", b"%PDF-1.4 no")
    shelf.write("blank.txt", "\n")
    shelf.write("letter.doc", b"")
    shelf.write("part.pdf", SCANNED.data())
    shelf.write("slides.pptx", SAMPLES["pptx"]["a.pptx"])
    shelf.index()
    found = {file.path: file for file in shelf.base.ledger()}
    assert {path: file.state for path, file in found.items()} == {
        "a.md": "ok",
        "bad.pdf": "failed",
        "blank.txt": "textless",
        "letter.doc": "skipped",
        "part.pdf": "part",
        "slides.pptx": "part",
    }
    assert found["part.pdf"].pages == PageCounts(total=4, text=1, blank=1, without=2)
    assert found["slides.pptx"].pages == PageCounts(total=4, text=3, without=1)
    assert found["bad.pdf"].to_dict()["code"] == "damaged"
    status = shelf.base.status().to_dict()
    assert (status["in_part"], status["pages"]["without"]) == (2, 3)
    assert shelf.base.status(look=False).pages == PageCounts()


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="file names are not bytes on Windows and macOS")
def test_a_name_that_is_not_utf8_is_one_file_in_both(shelf: Shelf) -> None:
    name = os.fsdecode(b"caf\xe9.md")
    shelf.write(name, "valve\n")
    shelf.index()
    shelf.write(name, b"\0\1\2\3" * 90)
    shelf.index()
    (file,) = shelf.base.ledger()
    assert (file.path, file.state, file.document is not None) == ("caf\\xe9.md", "failed", True)
