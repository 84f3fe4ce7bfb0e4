"""`zhiku index`, `list`, `status` and `delete` as another program sees them."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest

from pdfs import PdfWriter
from samples import SAMPLES

if TYPE_CHECKING:
    from conftest import Cli


def test_the_summary_says_what_was_done_with_every_file(cli: Cli) -> None:
    cli.write("a.md", "# One\n\nvalve\n")
    cli.write("gb.txt", "雨量筒每年春天校准一次，由值班员记录在册。\n".encode("gb18030"))
    cli.write("bad.pdf", b"%PDF-1.4 no")
    cli.write("_draft.md", "hidden")
    done = cli("index", "docs")
    assert done.returncode == 3
    assert "read       2 (2 new, 0 changed)" in done.stdout
    assert "skipped    1 name begins with . or _" in done.stdout
    assert "gb18030: 1" in done.stdout
    assert "Could not be read: 1\n- bad.pdf is damaged" in done.stdout
    assert done.stderr == ""


def test_a_word_document_is_found_by_its_paragraphs(cli: Cli) -> None:
    cli.write("plan.docx", SAMPLES["docx"]["a.docx"])
    cli.write("cut.docx", SAMPLES["docx"]["a.docx"][:900])
    done = cli("index", "docs")
    assert "- cut.docx is damaged: it is cut off or corrupt" in done.stdout
    (hit,) = json.loads(cli("search", "垫片", "--format", "json").stdout)["hits"]
    assert (hit["title"], hit["section"], hit["line_start"]) == ("泵站手册", ["安装"], 7)
    assert "名称 | 数量\n垫片 | 3" in cli("read", "plan.docx", "--lines", "7-8").stdout


def test_a_second_run_reads_nothing_again(cli: Cli) -> None:
    cli.write("a.md", "valve\n")
    cli("index", "docs")
    done = cli("index", "docs")
    assert done.returncode == 0
    assert "read       0\n" in done.stdout
    assert "unchanged  1\n" in done.stdout


def test_a_file_that_is_gone_is_counted_and_kept(cli: Cli) -> None:
    file = cli.write("a.md", "valve\n")
    cli.write("b.md", "pump\n")
    cli("index", "docs")
    file.unlink()
    assert "Gone from disk: 1" in cli("index", "docs").stdout
    assert "(its file is gone or out of reach)" in cli("search", "valve").stdout


def test_a_path_that_does_not_exist_makes_no_base(cli: Cli) -> None:
    done = cli("index", "nowhere", "--base", "new")
    assert done.returncode == 2
    assert "nowhere does not exist." in done.stderr
    assert not cli.home.exists()


def test_a_base_is_found_in_another_case(cli: Cli) -> None:
    cli.write("a.md", "valve\n")
    cli("index", "docs", "--base", "Notes")
    assert "Base Notes\n" in cli("index", "docs", "--base", "NOTES").stdout
    assert [base["name"] for base in json.loads(cli("list", "--format", "json").stdout)["bases"]] == ["Notes"]


def test_a_root_that_is_gone_fails_and_the_others_go_on(cli: Cli) -> None:
    cli.write("one/a.md", "valve\n")
    cli.write("two/b.md", "pump\n")
    cli("index", "docs/one", "docs/two")
    shutil.rmtree(cli.docs / "one")
    cli.write("two/c.md", "seal\n")
    done = cli("index")
    assert done.returncode == 3
    assert "read       1 (1 new, 0 changed)" in done.stdout
    assert "this root is gone; what is indexed of it stays" in done.stdout
    assert cli("search", "valve").returncode == 0
    assert "(gone)" in cli("status").stdout
    assert "Could not be read" not in cli("status").stdout


def test_a_folder_and_what_it_holds_are_one_root(cli: Cli) -> None:
    cli.write("sub/a.md", "valve\n")
    cli("index", "docs/sub", "docs")
    (base,) = json.loads(cli("list", "--format", "json").stdout)["bases"]
    assert base["roots"] == [str(cli.docs)]
    assert cli("index", ".").returncode == 2


def test_list_gives_bases_and_documents(notes: Cli) -> None:
    assert "notes          3" in notes("list").stdout
    documents = json.loads(notes("list", "--documents", "--format", "json").stdout)["documents"]
    assert [(d["base"], d["path"], d["format"]) for d in documents] == [
        ("notes", "manuals/Valve.html", "html"),
        ("notes", "notes/pumps.md", "markdown"),
        ("notes", "notes/记录.txt", "plain"),
    ]


def test_a_pdf_says_which_of_its_pages_have_no_text(cli: Cli) -> None:
    cli.write("part.pdf", PdfWriter().page("cover of the valve").page(image=True).data())
    cli.write("scan.pdf", PdfWriter().page(image=True).data())
    cli.write("blank.pdf", PdfWriter().page().data())
    done = cli("index", "docs")
    assert done.returncode == 3
    assert "part.pdf: Pages without a usable text layer, which need OCR: 2" in done.stdout
    documents = json.loads(cli("list", "--documents", "--format", "json").stdout)["documents"]
    assert {d["path"]: d["metadata"] for d in documents} == {
        "part.pdf": {"pages": {"text": "1", "scan": "2"}},
        "blank.pdf": {"pages": {"blank": "1"}},
    }
    (base,) = json.loads(cli("status", "--format", "json").stdout)["bases"]
    assert [(each["path"], each["code"]) for each in base["failed"]] == [("scan.pdf", "needs_ocr")]
    assert [(each["path"], each["code"]) for each in base["textless"]] == [("blank.pdf", "empty")]


def test_status_names_every_file_that_is_not_searched_and_why(cli: Cli) -> None:
    cli.write("bad.pdf", b"%PDF-1.4 no")
    cli.write("empty.md", "")
    cli.write("letter.odt", b"PK")
    cli("index", "docs")
    done = cli("status")
    assert "- bad.pdf is damaged" in done.stdout
    assert "- empty.md: it holds no text" in done.stdout
    assert "- letter.odt: no reader for this kind of file (.odt)" in done.stdout
    (base,) = json.loads(cli("status", "--format", "json").stdout)["bases"]
    assert [base[key][0]["path"] for key in ("failed", "skipped", "textless")] == ["bad.pdf", "letter.odt", "empty.md"]


def test_without_a_base_the_reader_learns_how_to_make_one(cli: Cli) -> None:
    done = cli("list", "--format", "json")
    assert (done.returncode, json.loads(done.stdout)) == (0, {"bases": []})
    assert "zhiku index PATH" in done.stderr


def test_delete_needs_a_yes_and_touches_no_document(cli: Cli) -> None:
    file = cli.write("a.md", "valve\n")
    cli("index", "docs")
    refused = cli("delete", "default")
    assert refused.returncode == 2
    assert "zhiku delete default --yes" in refused.stderr
    assert cli("delete", "default", "--yes").returncode == 0
    assert not (cli.home / "bases" / "default").exists()
    assert file.exists()


def test_a_damaged_base_does_not_hide_the_others(cli: Cli) -> None:
    cli.write("a.md", "valve\n")
    cli("index", "docs", "--base", "bad")
    cli("index", "docs", "--base", "good")
    (cli.home / "bases" / "bad" / "index.sqlite3").write_bytes(b"no database " * 1000)
    done = cli("list")
    assert done.returncode == 4
    assert "good" in done.stdout
    assert "is damaged" in done.stderr
    assert cli("search", "valve", "-b", "bad").returncode == 4
    assert cli("delete", "bad", "--yes").returncode == 0


def test_wrong_settings_of_one_base_hide_no_other_and_can_be_removed(cli: Cli) -> None:
    cli.write("a.md", "valve\n")
    cli("index", "docs", "--base", "bad")
    cli("index", "docs", "--base", "good")
    (cli.home / "bases" / "bad" / "base.toml").write_text('roots = "docs"\n')
    done = cli("status")
    assert done.returncode == 2
    assert "roots cannot be 'docs'" in done.stderr
    assert done.stdout.startswith("good\n")
    assert cli("delete", "bad", "--yes").returncode == 0


def test_a_name_that_is_not_utf8_does_not_end_the_run_when_its_file_cannot_be_read(cli: Cli) -> None:
    try:
        (cli.docs / "caf\udce9.pdf").write_bytes(b"%PDF-1.4 no")
    except OSError:
        pytest.skip("file names are not bytes on this system")
    cli.write("z.md", "valve\n")
    assert cli("index", "docs").returncode == 3
    assert "caf\\xe9.pdf is damaged" in cli("status").stdout
