"""One run brings the index up to date, and says what it did."""

from __future__ import annotations

from pathlib import Path

import pytest

from shelf import Shelf
from zhiku.config import CONFIG_FILE
from zhiku.errors import NotFound, UsageError
from zhiku.service.library import Library


def test_new_files_are_added(shelf: Shelf) -> None:
    shelf.write("a.md", "# 一\n\n正文")
    shelf.write("sub/b.txt", "text")
    report = shelf.index()

    assert (report.added, report.read, report.chunks) == (2, 2, 2)
    assert [document.source.path for document in shelf.base.documents()] == ["a.md", "sub/b.txt"]


def test_a_second_run_reads_nothing(shelf: Shelf) -> None:
    shelf.write("a.md", "正文")
    shelf.index()
    before = shelf.base.documents()
    report = shelf.index()

    assert (report.read, report.unchanged) == (0, 1)
    assert shelf.base.documents() == before


def test_a_second_run_does_not_grow_or_change_the_index(shelf: Shelf) -> None:
    shelf.write("a.md", "正文")
    shelf.write("empty.md", "")
    shelf.index()
    before = shelf.index_file.read_bytes()
    shelf.index()

    assert shelf.index_file.read_bytes() == before


def test_an_edited_file_keeps_its_doc_id_and_loses_its_old_words(shelf: Shelf) -> None:
    shelf.write("a.md", "水泵")
    shelf.index()
    (before,) = shelf.base.documents()
    shelf.write("a.md", "阀门")
    report = shelf.index()
    (after,) = shelf.base.documents()

    assert (report.changed, report.added, after.doc_id) == (1, 0, before.doc_id)
    assert (shelf.found("阀门"), shelf.found("水泵")) == (["a.md"], [])


def test_a_touched_file_is_unchanged(shelf: Shelf) -> None:
    shelf.write("a.md", "水泵")
    shelf.index()
    shelf.write("a.md", "水泵")
    report = shelf.index()

    assert (report.unchanged, report.read) == (1, 0)
    assert shelf.search("水泵").hits[0].file_state == "unchanged"


def test_a_moved_file_keeps_its_doc_id(shelf: Shelf) -> None:
    file = shelf.write("old/a.md", "水泵")
    shelf.index()
    (before,) = shelf.base.documents()
    (shelf.docs / "new").mkdir()
    file.rename(shelf.docs / "new/a.md")
    report = shelf.index()
    (after,) = shelf.base.documents()

    assert (report.moved, report.added, report.missing) == (1, 0, 0)
    assert (after.doc_id, after.source.path) == (before.doc_id, "new/a.md")


def test_a_renamed_file_is_found_by_its_new_name_and_no_longer_by_the_old_one(shelf: Shelf) -> None:
    file = shelf.write("水泵.md", "正文")
    shelf.index()
    (before,) = shelf.base.documents()
    file.rename(shelf.docs / "阀门.md")
    report = shelf.index()

    assert (report.moved, report.added) == (1, 0)
    assert (shelf.found("阀门"), shelf.found("水泵")) == (["阀门.md"], [])
    assert shelf.base.documents()[0].doc_id == before.doc_id


def test_a_file_renamed_to_another_format_is_read_as_that_format(shelf: Shelf) -> None:
    file = shelf.write("a.txt", "# 标题\n\n正文")
    shelf.index()
    file.rename(shelf.docs / "a.md")
    shelf.index()

    assert shelf.base.documents()[0].format == "markdown"
    assert shelf.search("正文").hits[0].section == ("标题",)


def test_an_empty_file_that_moved_stays_listed_as_textless(shelf: Shelf) -> None:
    file = shelf.write("a.md", "\n")
    shelf.index()
    file.rename(shelf.docs / "b.md")
    report = shelf.index()

    assert (report.moved, [entry.path for entry in report.textless]) == (1, ["b.md"])


def test_a_copy_is_a_document_of_its_own(shelf: Shelf) -> None:
    shelf.write("a.md", "水泵")
    shelf.index()
    shelf.write("b.md", "水泵")
    report = shelf.index()

    assert (report.added, report.moved) == (1, 0)
    assert sorted(shelf.found("水泵")) == ["a.md", "b.md"]


def test_a_file_gone_from_disk_is_reported_and_stays(shelf: Shelf) -> None:
    shelf.write("a.md", "水泵").unlink()
    file = shelf.write("b.md", "水泵")
    shelf.write("c.md", "阀门")
    shelf.index()
    file.unlink()
    report = shelf.index()

    assert report.missing == 1
    assert [hit.file_state for hit in shelf.search("水泵")] == ["missing"]


def test_a_file_that_comes_back_is_the_document_it_was(shelf: Shelf) -> None:
    file = shelf.write("a.md", "水泵")
    shelf.index()
    (before,) = shelf.base.documents()
    file.unlink()
    shelf.index()
    shelf.write("a.md", "水泵")
    report = shelf.index()

    assert (report.added, report.missing) == (0, 0)
    assert [document.doc_id for document in shelf.base.documents()] == [before.doc_id]


def test_a_damaged_file_is_reported_and_the_others_go_on(shelf: Shelf) -> None:
    shelf.write("a.pdf", b"%PDF-1.7 nothing else")
    shelf.write("b.md", "水泵")
    report = shelf.index()

    assert [(entry.path, entry.code) for entry in report.failed] == [("a.pdf", "damaged")]
    assert (report.added, shelf.found("水泵")) == (1, ["b.md"])
    assert [entry.path for entry in shelf.base.status().noted("failed")] == ["a.pdf"]


def test_a_file_that_became_damaged_keeps_what_was_indexed_of_it(shelf: Shelf) -> None:
    shelf.write("a.txt", "水泵")
    shelf.index()
    shelf.write("a.txt", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\xff")
    report = shelf.index()

    assert (len(report.failed), report.missing) == (1, 0)
    assert shelf.found("水泵") == ["a.txt"]


def test_what_failed_is_forgotten_when_it_succeeds(shelf: Shelf) -> None:
    shelf.write("a.txt", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\xff")
    shelf.index()
    shelf.write("a.txt", "水泵")
    shelf.index()

    assert shelf.base.status().ledger == ()


def test_what_failed_and_did_not_change_is_tried_again(shelf: Shelf) -> None:
    shelf.write("a.pdf", b"%PDF-1.7 nothing else")
    shelf.index()
    assert len(shelf.index().failed) == 1


def test_an_empty_file_is_a_document_without_text(shelf: Shelf) -> None:
    shelf.write("a.md", "")
    report = shelf.index()

    assert [(entry.path, entry.outcome) for entry in report.textless] == [("a.md", "textless")]
    assert (report.added, shelf.base.status().totals.textless) == (1, 1)
    assert [entry.path for entry in shelf.index().textless] == ["a.md"]


def test_a_file_over_the_cap_is_a_failure_that_says_so(shelf: Shelf) -> None:
    shelf.library.home.mkdir()
    (shelf.library.home / CONFIG_FILE).write_text("[index]\nmax_text_bytes = 100\n")
    shelf.library = Library(shelf.library.home)
    shelf.write("big.md", "x" * 101)
    shelf.write("small.md", "水泵")
    report = shelf.index()

    assert [(entry.path, entry.code, entry.message) for entry in report.failed] == [
        ("big.md", "too_large", "101 > 100")
    ]
    assert report.added == 1


def test_skipped_files_are_counted_by_reason(shelf: Shelf) -> None:
    shelf.write(".hidden.md", "x")
    shelf.write("photo.png", b"\x89PNG")
    shelf.write("node_modules/a.md", "x")
    shelf.write("blob", bytes(range(256)))
    report = shelf.index()

    assert report.skipped == {"hidden": 1, "unsupported": 1, "vcs_or_build": 1, "binary": 1}
    assert [(entry.path, entry.code) for entry in shelf.base.status().noted("skipped")] == [
        ("photo.png", "unsupported")
    ]


def test_encodings_and_warnings_are_reported(shelf: Shelf) -> None:
    shelf.write("gbk.txt", "违约金按日计算。甲方应当支付。".encode("gbk"))
    shelf.write("nul.txt", "前面的文字\0后面的文字")
    report = shelf.index()

    assert report.encodings == {"gb18030": 1}
    assert report.warnings == [("nul.txt", "1 NUL characters")]


def test_a_part_of_a_root_can_be_updated_alone(shelf: Shelf) -> None:
    shelf.write("a/x.md", "一")
    shelf.write("b/y.md", "二")
    shelf.index()
    shelf.write("a/x.md", "三")
    shelf.write("b/y.md", "四")
    report = shelf.index(shelf.docs / "a")

    assert (report.changed, report.missing) == (1, 0)
    assert (shelf.found("三"), shelf.found("四")) == (["a/x.md"], [])


def test_one_file_can_be_a_root(shelf: Shelf) -> None:
    file = shelf.write("a.md", "水泵")
    shelf.write("b.md", "水泵")
    shelf.index(file)

    assert shelf.found("水泵") == ["a.md"]
    assert shelf.library.index(())[0].report.unchanged == 1


def test_a_path_above_a_root_is_refused(shelf: Shelf) -> None:
    shelf.write("a/x.md", "一")
    shelf.index(shelf.docs / "a")
    with pytest.raises(UsageError, match="as a root already"):
        shelf.index(shelf.docs)


def test_a_path_and_a_part_of_it_are_walked_once(shelf: Shelf) -> None:
    shelf.write("a/x.md", "一")
    reports = shelf.library.index([shelf.docs / "a", shelf.docs])
    assert [each.report.added for each in reports] == [1]


def test_no_path_means_all_roots(shelf: Shelf) -> None:
    for name in ("a", "b"):
        shelf.index(shelf.write(f"{name}/x.md", name).parent)
    assert [each.target.root.name for each in shelf.library.index(())] == ["a", "b"]


def test_a_root_that_is_gone_is_a_failure_and_loses_nothing(shelf: Shelf, tmp_path: Path) -> None:
    shelf.write("a.md", "水泵")
    shelf.index()
    shelf.docs.rename(tmp_path / "elsewhere")
    (each,) = shelf.library.index(())

    assert [entry.code for entry in each.report.failed] == ["root_missing"]
    assert shelf.found("水泵") == ["a.md"]


def test_a_path_that_does_not_exist_makes_no_base(shelf: Shelf) -> None:
    with pytest.raises(NotFound, match="nowhere does not exist"):
        shelf.index(shelf.docs / "nowhere")
    assert shelf.library.names() == []


def test_progress_counts_up_to_all_files(shelf: Shelf) -> None:
    for name in ("a", "b", "c"):
        shelf.write(f"{name}.md", name)
    calls: list[tuple[int, int, str]] = []
    shelf.library.index([shelf.docs], progress=lambda *call: calls.append(call))

    assert calls == [(0, 3, "a.md"), (1, 3, "b.md"), (2, 3, "c.md"), (3, 3, "")]


def test_the_files_are_not_touched(shelf: Shelf) -> None:
    file = shelf.write("a.md", "水泵")
    before = (file.read_bytes(), file.stat().st_mtime_ns, sorted(shelf.docs.iterdir()))
    shelf.index()
    assert (file.read_bytes(), file.stat().st_mtime_ns, sorted(shelf.docs.iterdir())) == before
