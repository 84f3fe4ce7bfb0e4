"""Scans and pictures, from the file to the hit: only if asked, each page once, and marked as what OCR read."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from conftest import Cli
from pdfs import PdfWriter
from scans import SIMPLIFIED, TRADITIONAL, as_file, as_pdf, draw_page, draw_table, join_pdfs, needs_font, needs_ocr
from shelf import Shelf
from zhiku.config import BASE_FILE
from zhiku.errors import NeedsOcr
from zhiku.service.ledger import PageCounts, read_ledger

pytestmark = [needs_ocr, needs_font]

COVER = "Yearly report of the municipal boiler house, printed for its members"
SHORT = SIMPLIFIED[:60]


def _cover_and_scan() -> bytes:
    return join_pdfs(PdfWriter().page(COVER).data(), as_pdf(draw_page(SHORT)))


def test_pictures_and_scanned_pages_are_found_and_marked(shelf: Shelf) -> None:
    shelf.write("report.pdf", _cover_and_scan())
    shelf.write("notice.jpg", as_file(draw_page(TRADITIONAL[:60]), "JPEG"))
    report = shelf.index(ocr=True)
    assert (report.added, report.failed, report.warnings) == (2, [], [])

    (hit,) = shelf.search("未经检验的锅炉")
    assert (hit.path, hit.page, hit.page_end, hit.ocr) == ("report.pdf", 2, 2, True)
    assert (hit.ocr_confidence or 0) > 0.9
    (both,) = shelf.search("municipal boiler house")
    assert (both.page, both.page_end, both.ocr) == (1, 2, True)
    assert not shelf.base.read("report.pdf", page=1).to_dict()["ocr"]
    assert shelf.found("图书馆") == ["notice.jpg"]
    with shelf.base.reading() as session:
        pages = {file.path: file.pages for file in read_ledger(session)}
    assert pages == {"report.pdf": PageCounts(total=2, text=1, ocr=1), "notice.jpg": PageCounts(total=1, ocr=1)}


def test_pages_that_were_left_out_without_ocr_are_read_once_it_is_asked_for(shelf: Shelf) -> None:
    shelf.write("report.pdf", _cover_and_scan())
    shelf.write("scan.pdf", as_pdf(draw_page(TRADITIONAL[:40])))
    before = shelf.index()
    assert [warning for _, warning in before.warnings] == ["Pages without a usable text layer, which need OCR: 2"]
    assert [(entry.path, entry.code) for entry in before.failed] == [("scan.pdf", "needs_ocr")]
    assert shelf.found("锅炉") == []

    after = shelf.index(ocr=True)
    assert (after.reread, after.added, after.failed) == (1, 1, [])
    assert shelf.found("锅炉") == ["report.pdf"]
    again = shelf.index(ocr=True)
    assert (again.unchanged, again.read, again.reread) == (2, 0, 0)


def test_what_ocr_read_stays_where_a_run_does_without_it(shelf: Shelf) -> None:
    shelf.write("notice.png", as_file(draw_page(SHORT), "PNG"))
    shelf.index(ocr=True)
    report = shelf.index(prune=True)
    assert (report.gone, report.left_out, report.pruned) == ([], [], 0)
    assert shelf.found("锅炉") == ["notice.png"]


def test_rows_of_a_scanned_table_stay_apart(shelf: Shelf) -> None:
    rows = [("品名", "数量", "备注"), ("阀门", "3", "需要更换"), ("压力表", "25", "每年校准一次")]
    shelf.write("table.pdf", as_pdf(draw_table(*rows)))
    shelf.index(ocr=True)
    assert [text for _, _, text in shelf.grep("3")] == ["阀门 3 需要更换"]


def test_a_base_may_ask_for_it_once_for_all(shelf: Shelf) -> None:
    shelf.index()
    settings = shelf.base.folder / BASE_FILE
    settings.write_text(settings.read_text("utf-8") + "ocr = true\n", "utf-8")
    picture = shelf.write("notice.png", as_file(draw_page(SHORT), "PNG"))
    shelf.index(picture)
    assert shelf.found("锅炉") == ["notice.png"]


def test_a_rebuild_keeps_what_ocr_read_and_reads_no_page_again(shelf: Shelf) -> None:
    shelf.write("report.pdf", _cover_and_scan())
    shelf.index(ocr=True)
    (page,) = (shelf.base.folder / "ocr").rglob("*.json")
    _replace_in(page, "锅炉", "风车")  # to tell whence it comes
    shelf.base.rebuild()
    assert shelf.found("风车") == ["report.pdf"]


def test_every_page_is_read_on_request_whatever_text_it_has(shelf: Shelf) -> None:
    rubbish = shelf.write("bad.pdf", PdfWriter().page("The seal is greased every spring").data())
    shelf.write("a.md", "beside it")
    shelf.index()
    report = shelf.index(rubbish, force_ocr=True)
    assert (report.reread, report.unchanged) == (1, 0)
    (hit,) = shelf.search("greased")
    assert hit.ocr


RUBBISH = PdfWriter().page("The seal is greased every spring")


def test_that_every_page_is_wanted_is_remembered_by_a_rebuild(shelf: Shelf) -> None:
    rubbish = shelf.write("bad.pdf", RUBBISH.data())
    shelf.write("good.pdf", PdfWriter().page("The seal is painted every autumn").data())
    shelf.index()
    shelf.index(rubbish, force_ocr=True)
    (page,) = (shelf.base.folder / "ocr").rglob("*.json")
    _replace_in(page, "spring", "winter")
    (shelf.docs / "bad.pdf").rename(shelf.docs / "moved.pdf")
    shelf.base.rebuild()
    assert [(hit.path, hit.ocr) for hit in shelf.search("winter")] == [("moved.pdf", True)]
    assert [(hit.path, hit.ocr) for hit in shelf.search("autumn")] == [("good.pdf", False)]


def test_a_file_every_page_of_which_is_wanted_is_read_so_in_any_run_after_a_change(shelf: Shelf) -> None:
    rubbish = shelf.write("bad.pdf", RUBBISH.data())
    shelf.index()
    shelf.index(rubbish, force_ocr=True)
    shelf.write("bad.pdf", PdfWriter().page("The valve is opened every morning").data())
    shelf.write("scan.pdf", as_pdf(draw_page(SHORT)))
    shelf.write("other.pdf", PdfWriter().page("The valve is closed every evening").data())
    report = shelf.index()
    assert [(entry.path, entry.code) for entry in report.failed] == [("scan.pdf", "needs_ocr")]  # not asked for here
    assert {hit.path: hit.ocr for hit in shelf.search("valve")} == {"bad.pdf": True, "other.pdf": False}
    with shelf.base.reading() as session:
        forced = [each.source.path for each in session.documents() if each.metadata.get("ocr_forced")]
    assert forced == ["bad.pdf"]


def test_a_picture_that_is_named_without_ocr_says_how_to_read_it(shelf: Shelf) -> None:
    picture = shelf.write("notice.png", as_file(draw_page(SHORT), "PNG"))
    with pytest.raises(NeedsOcr, match="which only OCR reads"):
        shelf.index(picture)


def test_the_command_marks_pages_that_ocr_read(cli: Cli) -> None:
    cli.write("report.pdf", _cover_and_scan())
    assert cli("index", "docs", "--ocr").returncode == 0
    assert "page 2 (OCR)" in cli("search", "锅炉").stdout
    (hit,) = json.loads(cli("search", "锅炉", "--format", "json").stdout)["hits"]
    assert (hit["ocr"], hit["page"]) == (True, 2)
    assert "page 2 (OCR)" in cli("grep", "锅炉").stdout
    assert "page 2 (OCR)" in cli("read", "report.pdf", "--page", "2").stderr
    assert json.loads(cli("read", "report.pdf", "--page", "1", "--format", "json").stdout)["ocr"] is False


def test_a_dry_run_tells_which_files_ocr_would_read_again(shelf: Shelf) -> None:
    shelf.write("notes/report.pdf", _cover_and_scan())
    shelf.write("notes/scan.pdf", as_pdf(draw_page(SHORT)))
    shelf.write("notes/a.md", "valve")
    shelf.library.sync([shelf.docs], embed=False)
    counted = []
    for options in ({"dry_run": True}, {"dry_run": True, "ocr": True}, {"ocr": True}):
        (base,) = shelf.library.sync([shelf.docs], embed=False, **options).bases
        counted.append([base.count(what) for what in ("added", "reread", "unchanged")])
    assert counted[1:] == [[1, 1, 1], [1, 1, 1]]
    assert counted[0] == [1, 0, 2]


@pytest.mark.skipif(os.name == "nt", reason="Windows cannot send SIGINT or SIGTERM to another process")
def test_a_run_that_is_interrupted_does_not_read_its_pages_again(cli: Cli) -> None:
    count = 3
    cli.write("scan.pdf", as_pdf(*(draw_page(f"{number} {SHORT}") for number in range(count))))
    command = [sys.executable, "-m", "zhiku", "index", "docs", "--ocr"]
    run = subprocess.Popen(command, env=cli.environ(), cwd=cli.folder, stdout=subprocess.DEVNULL)
    kept = cli.home / "bases" / "default" / "ocr"
    try:
        _wait_for(lambda: len(list(kept.rglob("*.json"))) >= 1)
        run.send_signal(signal.SIGINT)
        assert run.wait(60) == 130
    finally:
        run.kill()
        run.wait()
    pages = sorted(kept.rglob("*.json"))
    assert 0 < len(pages) < count
    _replace_in(pages[0], "锅炉", "风车")  # to tell whence it comes

    second = subprocess.Popen(command, env=cli.environ(), cwd=cli.folder, stdout=subprocess.DEVNULL)
    try:
        assert second.wait(60) == 0
    finally:
        second.kill()
    assert "page 1 (OCR)" in cli("grep", "风车").stdout
    assert "page 3 (OCR)" in cli("grep", "锅炉").stdout


def _replace_in(page: Path, old: str, new: str) -> None:
    page.write_text(page.read_text("utf-8").replace(old, new), "utf-8")


def _wait_for(holds: object, limit_s: float = 60) -> None:
    end = time.monotonic() + limit_s
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)


def _without_ocr(tmp_path: Path) -> dict[str, str]:
    shim = tmp_path / "shim"
    shim.mkdir()
    (shim / "sitecustomize.py").write_text("import sys\nsys.modules['rapidocr'] = None\n")
    return {"PYTHONPATH": os.pathsep.join([str(shim), *filter(None, [os.environ.get("PYTHONPATH")])])}


def test_without_the_extra_it_is_said_what_to_install(cli: Cli, tmp_path: Path) -> None:
    bare = _without_ocr(tmp_path)
    cli.write("scan.pdf", as_pdf(draw_page(SHORT)))

    asked = cli("index", "docs", "--ocr", env=bare)
    assert asked.returncode == 6
    assert 'pip install "zhiku[ocr]"' in asked.stderr

    not_asked = cli("index", "docs", env=bare)
    assert not_asked.returncode == 3
    assert 'pip install "zhiku[ocr]"' in not_asked.stdout

    assert cli("index", "docs", "--ocr").returncode == 0  # once it is installed


def test_what_ocr_was_forced_upon_is_not_read_otherwise_where_it_is_not_installed(cli: Cli, tmp_path: Path) -> None:
    cli.write("bad.pdf", RUBBISH.data())
    assert cli("index", "docs", "--force-ocr").returncode == 0
    cli.write("bad.pdf", PdfWriter().page("The valve is opened every morning").data())
    run = cli("index", "docs", env=_without_ocr(tmp_path))
    assert run.returncode == 3
    assert "bad.pdf was read by OCR on request" in run.stdout
    assert "bad.pdf" in cli("search", "seal").stdout  # as it was
    assert cli("index", "docs").returncode == 0
    assert "page 1 (OCR)" in cli("search", "valve").stdout


def test_force_ocr_needs_a_path(cli: Cli) -> None:
    cli.write("a.md", "text")
    assert cli("index", "docs").returncode == 0
    assert cli("index", "--force-ocr").returncode == 2
