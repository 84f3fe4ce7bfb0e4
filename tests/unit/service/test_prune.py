"""What is gone from disk, or named by the user, is taken out of search, and only that."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from shelf import Shelf
from users import as_normal_user, common_folder
from zhiku.answer import Answer
from zhiku.config import load_base_settings, save_base_settings
from zhiku.errors import NotFound
from zhiku.service.roots import Losses


@pytest.fixture
def filled(shelf: Shelf) -> Shelf:
    shelf.write("a.md", "水泵 甲")
    shelf.write("b.md", "水泵 乙")
    shelf.write("sub/c.md", "水泵 丙")
    shelf.write("sub/d.md", "水泵 丁")
    shelf.index()
    return shelf


def scores(answer: Answer) -> list[tuple[str, float]]:
    return [(hit.path, hit.score) for hit in answer]


def test_a_file_that_is_gone_is_searched_until_a_prune(filled: Shelf) -> None:
    (filled.docs / "a.md").unlink()
    report = filled.index()
    assert (report.gone, report.pruned) == (["a.md"], 0)
    assert [hit.file_state for hit in filled.search("甲")] == ["missing"]
    assert filled.base.status().losses.missing == (str(filled.docs / "a.md"),)

    report = filled.index(prune=True)
    assert (report.gone, report.pruned) == (["a.md"], 1)
    assert filled.found("甲") == []
    status = filled.base.status()
    assert (status.losses.missing, status.losses.pruned, status.totals.documents, status.totals.deprecated) == (
        (),
        1,
        3,
        1,
    )
    assert filled.index(prune=True).pruned == 0


def test_a_file_without_text_that_is_gone_is_missing_like_any_other(filled: Shelf) -> None:
    file = filled.write("empty.md", "")
    assert [entry.path for entry in filled.index().textless] == ["empty.md"]
    report = filled.index()
    assert ([entry.path for entry in report.textless], report.unchanged) == (["empty.md"], 5)
    file.unlink()
    report = filled.index(prune=True)
    assert (report.gone, report.textless, report.pruned) == (["empty.md"], [], 1)
    file.touch()
    report = filled.index()
    assert (report.returned, [entry.path for entry in report.textless]) == (1, ["empty.md"])


def test_a_prune_says_what_it_will_do_before_it_does(filled: Shelf) -> None:
    (filled.docs / "a.md").unlink()
    told: list[tuple[list[str], list[str]]] = []

    def announce(paths: Sequence[str]) -> None:
        told.append((list(paths), filled.found("甲")))

    filled.index(prune=True, announce=announce)
    assert told == [([str(filled.docs / "a.md")], ["a.md"])]


def test_only_what_is_gone_under_the_given_paths_is_pruned(filled: Shelf) -> None:
    (filled.docs / "a.md").unlink()
    (filled.docs / "sub/c.md").unlink()
    assert filled.index(filled.docs / "sub", prune=True).pruned == 1
    assert sorted(filled.found("水泵")) == ["a.md", "b.md", "sub/d.md"]


def test_a_folder_that_is_gone_can_be_named_for_a_prune(filled: Shelf) -> None:
    for name in ("c.md", "d.md"):
        (filled.docs / "sub" / name).unlink()
    (filled.docs / "sub").rmdir()
    assert filled.index(filled.docs / "sub", prune=True).pruned == 2
    assert sorted(filled.found("水泵")) == ["a.md", "b.md"]
    with pytest.raises(NotFound):
        filled.index(filled.docs / "sup", prune=True)


def test_after_a_prune_the_others_rank_as_if_it_had_never_been(filled: Shelf, tmp_path: Path) -> None:
    (filled.docs / "a.md").unlink()
    filled.index(prune=True)
    fresh = Shelf(tmp_path / "fresh")
    for path, text in (("b.md", "水泵 乙"), ("sub/c.md", "水泵 丙"), ("sub/d.md", "水泵 丁")):
        fresh.write(path, text)
    fresh.index()
    assert scores(filled.search("水泵 乙")) == scores(fresh.search("水泵 乙"))


@pytest.mark.parametrize("elsewhere", ["a.md", "sub/新.md"])
def test_what_was_pruned_is_searched_again_when_it_comes_back(filled: Shelf, elsewhere: str) -> None:
    (before,) = [each for each in filled.base.documents() if each.source.path == "a.md"]
    filled.docs.joinpath("a.md").rename(filled.docs.parent / "away")
    filled.index(prune=True)
    filled.docs.parent.joinpath("away").rename(filled.docs / elsewhere)
    report = filled.index()
    assert (report.returned, report.read, report.gone) == (1, 0, [])
    assert filled.found("甲") == [elsewhere]
    (after,) = [each for each in filled.base.documents() if each.source.path == elsewhere]
    assert (after.doc_id, after.state) == (before.doc_id, "active")


@pytest.mark.parametrize("how", ["emptied", "gone"])
def test_a_root_that_is_empty_or_gone_is_no_deletion(filled: Shelf, how: str) -> None:
    away = filled.docs.parent / "away"
    filled.docs.rename(away)
    if how == "emptied":
        filled.docs.mkdir()
        report = filled.index(prune=True)
    else:
        report = filled.library.index([], "default", embed=False, prune=True)[-1].report
    assert [entry.code for entry in report.failed] == ["root_empty" if how == "emptied" else "root_missing"]
    assert (report.pruned, report.missing) == (0, 0)
    assert len(filled.found("水泵")) == 4
    losses = filled.base.status().losses
    assert (losses.emptied_roots or losses.missing_roots, losses.missing) == ((str(filled.docs),), ())
    if how == "emptied":
        filled.docs.rmdir()
    away.rename(filled.docs)
    assert filled.index(prune=True).unchanged == 4


@pytest.mark.skipif(os.name == "nt", reason="Windows has no POSIX permissions")
def test_a_folder_that_may_not_be_read_is_no_deletion() -> None:
    with common_folder() as folder:
        filled = Shelf(folder)
        for path in ("a.md", "sub/b.md"):
            filled.write(path, "水泵")
        with as_normal_user(folder):
            filled.index()
            (filled.docs / "sub").chmod(0)
            try:
                assert filled.index(prune=True).pruned == 0
                assert filled.base.status().losses.missing == ()
            finally:
                (filled.docs / "sub").chmod(0o700)
            assert len(filled.found("水泵")) == 2


def test_a_root_that_is_gone_is_not_missed_once_the_user_forgot_it(filled: Shelf) -> None:
    filled.docs.rename(filled.docs.parent / "away")
    filled.base.forget(str(filled.docs))
    report = filled.library.index([], "default", embed=False, prune=True)[-1].report
    assert (report.failed, filled.base.status().losses.missing_roots) == ([], ())


def test_a_root_that_was_moved_is_not_missed_where_it_is_now(filled: Shelf) -> None:
    new = filled.docs.parent / "elsewhere"
    filled.docs.rename(new)
    assert filled.index(new).moved == 4
    reports = [each.report for each in filled.library.index([], "default", embed=False)]
    assert [report.failed for report in reports] == [[], []]
    assert filled.base.status().losses == Losses(missing_roots=())


def test_a_single_file_that_was_renamed_is_not_missed_as_a_root(shelf: Shelf) -> None:
    file = shelf.write("one.md", "水泵")
    shelf.index(file)
    shelf.index(file.rename(shelf.docs / "two.md"))
    reports = [each.report for each in shelf.library.index([], "default", embed=False)]
    assert [report.failed for report in reports] == [[], []]


def test_a_path_is_remembered_by_any_of_several_roots(filled: Shelf) -> None:
    single = filled.docs.parent / "single.md"
    single.write_text("阀门", encoding="utf-8")
    other = Shelf(filled.docs.parent / "second")
    other.library = filled.library
    other.index(single)
    (filled.docs / "sub/c.md").unlink()
    assert filled.index(filled.docs / "sub/c.md", prune=True).pruned == 1


def test_documents_of_a_root_that_the_settings_dropped_are_told(filled: Shelf) -> None:
    other = filled.docs.parent / "other"
    other.mkdir()
    (other / "x.md").write_text("水泵", encoding="utf-8")
    filled.index(other)
    settings = load_base_settings(filled.base.folder)
    save_base_settings(filled.base.folder, replace(settings, roots=settings.roots[:1]))
    assert filled.base.status().losses.dropped_roots == (str(other),)
    filled.base.forget(str(other))
    assert filled.base.status().losses.dropped_roots == ()


def test_a_file_that_became_a_folder_is_gone(filled: Shelf) -> None:
    (filled.docs / "a.md").unlink()
    (filled.docs / "a.md").mkdir()
    report = filled.index(prune=True)
    assert (report.gone, report.pruned) == (["a.md"], 1)


def test_a_time_that_no_base_can_hold_is_no_fault(filled: Shelf) -> None:
    for name in ("a.md", "broken.pdf"):
        file = filled.write(name, "水泵 甲 %PDF")
        os.utime(file, (9_300_000_000, 9_300_000_000))
    assert [entry.path for entry in filled.index().failed] == ["broken.pdf"]
    assert filled.index().unchanged == 4
    assert filled.found("甲") == ["a.md"]


def test_zhikus_own_files_are_no_documents(shelf: Shelf) -> None:
    shelf.write("a.md", "水泵")
    root = shelf.docs.parent
    shelf.index(root)
    report = shelf.index(root)
    assert (report.unchanged, report.skipped) == (1, {"own_files": 1})
    assert [each.source.path for each in shelf.base.documents()] == ["docs/a.md"]


def test_a_root_that_is_one_file_can_be_pruned_while_its_folder_shows_others(shelf: Shelf) -> None:
    file = shelf.write("only.md", "水泵")
    shelf.write("other.md", "阀门")
    shelf.index(file)
    file.unlink()
    assert shelf.library.index([], "default", embed=False)[-1].report.gone == ["only.md"]
    assert shelf.library.index([], "default", embed=False, prune=True)[-1].report.pruned == 1
    assert shelf.found("水泵") == []


def test_what_a_rule_leaves_out_now_is_told_and_pruned_only_on_request(filled: Shelf) -> None:
    (filled.docs / ".gitignore").write_text("b.md\n")
    report = filled.index()
    assert (report.left_out, report.gone, report.pruned) == (["b.md"], [], 0)
    assert filled.found("乙") == ["b.md"]
    assert filled.index(prune=True).pruned == 1
    assert filled.found("乙") == []
    (filled.docs / ".gitignore").unlink()
    assert filled.index().returned == 1
    assert filled.found("乙") == ["b.md"]


def test_a_preview_counts_as_the_run_does_and_writes_nothing(filled: Shelf) -> None:
    filled.write("new.md", "新")
    filled.write("b.md", "水泵 乙 改")
    (filled.docs / "a.md").unlink()
    (filled.docs / "sub/c.md").rename(filled.docs / "sub/移.md")
    before = filled.index_file.read_bytes()
    previewed = filled.base.preview()[0].report
    assert filled.index_file.read_bytes() == before
    done = filled.index()
    for report in (previewed, done):
        assert (report.added, report.changed, report.moved, report.unchanged, report.gone) == (1, 1, 1, 1, ["a.md"])


def test_a_preview_of_a_base_that_is_not_there_makes_none(shelf: Shelf) -> None:
    shelf.write("a.md", "水泵")
    assert shelf.library.preview([shelf.docs], "notes")[0].report.added == 1
    assert shelf.library.names() == []


def test_a_change_under_an_old_time_and_size_is_seen(filled: Shelf) -> None:
    file = filled.docs / "a.md"
    status = file.stat()
    file.write_text("水泵 戊", encoding="utf-8")
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert filled.search("甲").hits[0].file_state == "changed"
    assert filled.index().changed == 1
    assert filled.found("戊") == ["a.md"]


def test_a_check_reads_every_file_and_parses_none_that_is_as_it_was(filled: Shelf) -> None:
    report = filled.index(check=True)
    assert (report.unchanged, report.read) == (4, 0)


def test_a_file_renamed_by_case_alone_is_moved(shelf: Shelf) -> None:
    file = shelf.write("Note.md", "水泵")
    shelf.write("b.md", "阀门")
    shelf.index()
    (before,) = [each for each in shelf.base.documents() if each.source.path == "Note.md"]
    file.rename(shelf.docs / "note.md")
    report = shelf.index()
    assert (report.moved, report.added) == (1, 0)
    (after,) = [each for each in shelf.base.documents() if each.source.path == "note.md"]
    assert after.doc_id == before.doc_id


def test_of_two_copies_that_move_each_keeps_its_name_and_id(shelf: Shelf) -> None:
    for name in ("a.md", "b.md"):
        shelf.write(name, "水泵")
    shelf.write("c.md", "阀门")
    shelf.index()
    before = {each.source.path: each.doc_id for each in shelf.base.documents()}
    (shelf.docs / "new").mkdir()
    for name in ("a.md", "b.md"):
        (shelf.docs / name).rename(shelf.docs / "new" / name)
    assert shelf.index().moved == 2
    after = {each.source.path: each.doc_id for each in shelf.base.documents()}
    assert (after["new/a.md"], after["new/b.md"]) == (before["a.md"], before["b.md"])
