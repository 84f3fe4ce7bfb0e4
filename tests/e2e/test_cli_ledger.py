"""`zhiku ledger`, and what `status` sums up of it, in both languages."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from pdfs import PdfWriter

if TYPE_CHECKING:
    from conftest import Cli

PART = PdfWriter().page("A page of text about the valve", "and the pump").page(image=True).page(image=True)
WHEN = re.compile(r"  \d{4}-\d\d-\d\d \d\d:\d\d")


@pytest.fixture(scope="module")
def mixed(new_cli: Callable[[], Cli]) -> Cli:
    """Return the command over a base with a file in each state."""
    cli = new_cli()
    cli.write("a.md", "# Valve\n\nclosed\n")
    cli.write("gb.txt", "雨量筒每年春天校准一次，由值班员记录在册。\n".encode("gb18030"))
    cli.write("part.pdf", PART.data())
    cli.write("blank.txt", "\n")
    cli.write("bad.pdf", b"%PDF-1.4 no")
    cli.write("scan.pdf", PdfWriter().page(image=True).data())
    cli.write("old.doc", b"")
    cli.write("_draft.md", "hidden")
    assert cli("index", "docs").returncode == 3
    return cli


def lines(text: str) -> list[str]:
    return [WHEN.sub("  WHEN", line) for line in text.splitlines()]


def test_every_file_is_told_with_what_was_read_of_it_and_what_was_not(mixed: Cli) -> None:
    done = mixed("ledger")
    assert (done.returncode, done.stderr) == (0, "")
    assert lines(done.stdout) == [
        "default  files: 7  ready 2  in part 1  without text 1  failed 2  skipped 1",
        "ready         a.md  characters 14  chunks 1  utf-8  WHEN",
        "failed        bad.pdf  WHEN",
        "              bad.pdf is damaged: it is cut off or corrupt; open it in a PDF viewer to check it",
        "without text  blank.txt  characters 1  chunks 0  utf-8  WHEN",
        "              blank.txt: it holds no text",
        "ready         gb.txt  characters 22  chunks 1  gb18030  WHEN",
        "skipped       old.doc  WHEN",
        "              old.doc: no reader for this kind of file (.doc)",
        "in part       part.pdf  pages 3  with text 1  without text 2  characters 44  chunks 1  WHEN",
        "              Pages without a usable text layer, which need OCR: 2-3",
        "failed        scan.pdf  WHEN",
        "              scan.pdf has 1 pages but no text layer; read it by OCR: zhiku index PATH --ocr (which needs:"
        ' pip install "zhiku[ocr]")',
    ]


def test_the_same_in_chinese(mixed: Cli) -> None:
    done = mixed("ledger", "--problems", env={"ZHIKU_LANG": "zh"})
    assert lines(done.stdout) == [
        "default  文件 7  就绪 2  部分 1  无文字 1  失败 2  已跳过 1",
        "失败    bad.pdf  WHEN",
        "        bad.pdf 已损坏：文件不完整或已损坏；用 PDF 阅读器打开检查一下",
        "无文字  blank.txt  字符数 1  片段 0  utf-8  WHEN",
        "        blank.txt：没有文字",
        "部分    part.pdf  页数 3  有文字 1  无文字 2  字符数 44  片段 1  WHEN",
        "        没有可用文字层、需要 OCR 的页：2-3",
        "失败    scan.pdf  WHEN",
        "        scan.pdf 有 1 页，但没有文字层；用 OCR 读取：zhiku index 路径 --ocr（需要先"
        ' pip install "zhiku[ocr]"）',
    ]


def test_json_has_every_field_and_counts_all_files(mixed: Cli) -> None:
    (base,) = json.loads(mixed("ledger", "--problems", "--format", "json").stdout)["bases"]
    assert base["counts"] == {"ok": 2, "part": 1, "textless": 1, "failed": 2, "skipped": 1}
    found = {file["path"]: file for file in base["files"]}
    assert list(found) == ["bad.pdf", "blank.txt", "part.pdf", "scan.pdf"]
    assert found["part.pdf"]["pages"] == {"total": 3, "text": 1, "ocr": 0, "blank": 0, "without": 2}
    assert found["scan.pdf"]["code"] == "needs_ocr"
    assert found["scan.pdf"]["doc_id"] is None
    assert found["blank.txt"]["code"] == "empty"


def test_status_sums_it_up(mixed: Cli) -> None:
    said = mixed("status").stdout
    assert re.search(r"pages +3  with text 1  without text 2\n", said)
    assert "Could not be read: 2  damaged, or not what its ending says 1  pictures of text, which need OCR 1\n" in said
    assert "Next: see which files hold no text, or pages without: zhiku ledger -b default --problems" in said
    chinese = mixed("status", env={"ZHIKU_LANG": "zh"}).stdout
    assert "已损坏，或与扩展名不符 1" in chinese
    assert "zhiku ledger -b default --problems" in chinese


def test_a_file_that_fails_now_says_that_what_it_was_is_searched_still(cli: Cli) -> None:
    cli.write("a.pdf", PART.data())
    cli("index", "docs")
    cli.write("a.pdf", b"%PDF-1.4 no")
    cli("index", "docs")
    said = cli("ledger", "--problems").stdout
    assert "What was indexed of it before is searched still." in said
    assert "failed  a.pdf  pages 3" in said
    assert cli("search", "valve").returncode == 0


def test_where_nothing_is_wrong_that_is_said(notes: Cli) -> None:
    assert notes("ledger", "--problems").stdout == "notes  files: 3  ready 3\nNothing is wrong with any of them.\n"


def test_files_of_several_roots_come_with_their_roots(cli: Cli) -> None:
    cli.write("one/a.md", "valve\n")
    cli.write("two/a.md", "pump\n")
    cli("index", "docs/one", "docs/two")
    said = cli("ledger").stdout
    assert str(cli.docs / "one" / "a.md") in said
    assert str(cli.docs / "two" / "a.md") in said
