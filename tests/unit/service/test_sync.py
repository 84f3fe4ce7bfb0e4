from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from fakes import FakeEmbedder, install, stop_at
from shelf import Shelf
from zhiku.config import load_base_settings
from zhiku.errors import Busy, ConfigError, IndexStateError, ModelUnavailable, NotFound, UsageError
from zhiku.paths import writer_lock
from zhiku.service.library import Library
from zhiku.service.sync_report import SyncReport


def sync(shelf: Shelf, *roots: Path, names: Sequence[str] = (), **options: Any) -> SyncReport:
    return shelf.library.sync(roots or [shelf.docs], names, embed=False, **options)


def counts(report: SyncReport, what: str = "added") -> dict[str, int]:
    return {base.name: base.count(what) for base in report.bases}


def configure(shelf: Shelf, *roots: str | Path) -> Library:
    home = shelf.library.home
    home.mkdir(exist_ok=True)
    (home / "config.toml").write_text(f"[library]\nroots = {[str(root) for root in roots]}\n")
    return Library(home)


def test_each_folder_becomes_a_base_that_holds_all_of_it(shelf: Shelf) -> None:
    shelf.write("notes/texts/a.md", "valve\n")
    shelf.write("notes/b.md", "seal\n")
    shelf.write("论文/p.md", "pump\n")
    shelf.write("_drafts/d.md", "draft\n")
    report = sync(shelf)
    assert counts(report) == {"notes": 2, "论文": 1}
    assert shelf.library.names() == ["notes", "论文"]
    assert shelf.found("valve") == ["texts/a.md"]
    assert report.is_complete


def test_a_second_run_changes_nothing(shelf: Shelf) -> None:
    shelf.write("notes/a.md", "valve\n")
    shelf.write("notes/intro.md", "About valves.\n")
    sync(shelf)
    settings = shelf.library.open("notes").folder / "base.toml"
    before = settings.stat().st_mtime_ns
    report = sync(shelf)
    assert (counts(report), counts(report, "unchanged")) == ({"notes": 0}, {"notes": 1})
    assert not report.bases[0].takes_intro
    assert settings.stat().st_mtime_ns == before


def test_changes_moves_and_what_is_missing_are_counted(shelf: Shelf) -> None:
    for name in ("a", "b", "c"):
        shelf.write(f"notes/{name}.md", f"{name} valve\n")
    sync(shelf)
    shelf.write("notes/a.md", "seal\n")
    (shelf.docs / "notes/b.md").rename(shelf.docs / "notes/d.md")
    (shelf.docs / "notes/c.md").unlink()
    (base,) = sync(shelf).bases
    assert {what: base.count(what) for what in ("added", "changed", "moved", "missing")} == {
        "added": 0,
        "changed": 1,
        "moved": 1,
        "missing": 1,
    }


def test_two_folders_of_one_name_are_roots_of_one_base(shelf: Shelf) -> None:
    shelf.write("one/Notes/a.md", "valve\n")
    shelf.write("two/notes/b.md", "seal\n")
    shelf.write("two/mine/c.md", "pump\n")
    (shelf.docs / "two/_domains.md").write_text("mine = NOTES\n")
    report = sync(shelf, shelf.docs / "one", shelf.docs / "two", shelf.docs / "one")
    assert counts(report) == {"Notes": 3}
    roots = load_base_settings(shelf.library.open("notes").folder).roots
    assert [Path(root).name for root in roots] == ["Notes", "mine", "notes"]


def test_a_folder_goes_into_the_base_that_is_there_in_any_case_and_normal_form(shelf: Shelf) -> None:
    shelf.write("else/x.md", "pump\n")
    shelf.index(shelf.docs / "else", name="Café")
    shelf.write("kb/CAFE\u0301/a.md", "valve\n")
    assert counts(sync(shelf, shelf.docs / "kb")) == {"Café": 1}
    assert shelf.library.names() == ["Café"]


def test_intro_md_becomes_the_intro_and_stays_out_of_the_base(shelf: Shelf) -> None:
    shelf.write("notes/intro.md", "---\ntags: [x]\n---\nAbout valves.\n")
    shelf.write("notes/sub/intro.md", "valve\n")
    report = sync(shelf)
    settings = load_base_settings(shelf.library.open("notes").folder)
    assert (settings.intro, settings.exclude) == ("About valves.", ("/intro.md",))
    assert counts(report) == {"notes": 1}
    shelf.library.index([], "notes", embed=False)
    assert [document.source.path for document in shelf.library.open("notes").documents()] == ["sub/intro.md"]


def test_an_intro_is_taken_anew_when_it_changes_and_the_users_own_stays_without_one(shelf: Shelf) -> None:
    shelf.write("notes/intro.md", "one\n")
    shelf.write("mine/a.md", "valve\n")
    own = shelf.library.open_or_create("mine").folder
    (own / "base.toml").write_text('intro = "my own"\nexclude = ["x/"]\n')
    sync(shelf)
    shelf.write("notes/intro.md", "two\n")
    assert [base.takes_intro for base in sync(shelf).bases] == [False, True]
    assert load_base_settings(shelf.library.open("notes").folder).intro == "two"
    assert (load_base_settings(own).intro, load_base_settings(own).exclude) == ("my own", ("x/",))
    (shelf.docs / "notes/intro.md").write_text(" ")
    sync(shelf)
    assert load_base_settings(shelf.library.open("notes").folder).intro == "two"


def test_an_intro_that_cannot_be_read_is_a_problem_and_the_rest_is_indexed(shelf: Shelf) -> None:
    shelf.write("notes/intro.md", b"\0\1\2" * 99)
    shelf.write("notes/a.md", "valve\n")
    report = sync(shelf)
    assert counts(report) == {"notes": 1}
    assert [problem.code for problem in report.bases[0].problems] == ["damaged"]
    assert not report.is_complete


def test_only_the_bases_named_are_synced(shelf: Shelf) -> None:
    for name in ("notes", "papers", "work"):
        shelf.write(f"{name}/a.md", "valve\n")
    assert counts(sync(shelf, names=["NOTES", "work"])) == {"notes": 1, "work": 1}
    assert shelf.library.names() == ["notes", "work"]
    with pytest.raises(NotFound) as caught:
        sync(shelf, names=["paper"])
    assert caught.value.hint == "did you mean 'papers'?"
    assert shelf.library.names() == ["notes", "work"]


def test_without_a_root_those_of_the_settings_are_synced(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    shelf.write("notes/a.md", "valve\n")
    monkeypatch.setenv("HOME", str(shelf.docs.parent))
    monkeypatch.setenv("USERPROFILE", str(shelf.docs.parent))
    report = configure(shelf, "~/docs").sync(embed=False)
    assert counts(report) == {"notes": 1}


def test_where_no_root_is_named_at_all_the_user_learns_how(shelf: Shelf) -> None:
    with pytest.raises(UsageError, match="no library root is named") as caught:
        shelf.library.sync()
    assert "zhiku sync FOLDER" in caught.value.hint
    assert str(shelf.library.home / "config.toml") in caught.value.hint


@pytest.mark.parametrize("root", ["kb", "", "~nobody-of-that-name/kb"])
def test_a_root_of_the_settings_must_be_absolute(shelf: Shelf, root: str) -> None:
    with pytest.raises(ConfigError, match="is not absolute"):
        configure(shelf, root).sync()


def test_a_root_of_the_settings_that_is_gone_fails_alone(shelf: Shelf) -> None:
    shelf.write("notes/a.md", "valve\n")
    report = configure(shelf, shelf.docs.parent / "gone", shelf.docs).sync(embed=False)
    assert counts(report) == {"notes": 1}
    (problem,) = report.problems
    assert (problem.exit_code, "gone; what is indexed of it stays" in problem.message) == (3, True)
    assert not report.is_complete


def test_a_base_of_a_root_that_is_gone_is_not_called_unknown(shelf: Shelf) -> None:
    shelf.write("notes/a.md", "valve\n")
    report = configure(shelf, shelf.docs.parent / "gone", shelf.docs).sync(names=["papers"], embed=False)
    assert (report.bases, len(report.problems)) == ((), 1)


def test_a_root_that_is_named_must_be_a_folder_that_exists(shelf: Shelf) -> None:
    file = shelf.write("a.md", "valve\n")
    with pytest.raises(NotFound, match="does not exist"):
        sync(shelf, shelf.docs, shelf.docs / "nowhere")
    with pytest.raises(UsageError, match="is no folder"):
        sync(shelf, file)
    with pytest.raises(UsageError, match="a path is empty"):
        shelf.library.sync([""])
    assert shelf.library.names() == []


def test_a_base_that_another_run_writes_keeps_no_other_from_being_synced(shelf: Shelf) -> None:
    for name in ("a", "b", "c"):
        shelf.write(f"{name}/x.md", "valve\n")
    shelf.write("a/intro.md", "About a.\n")
    with writer_lock(shelf.library.open_or_create("b").folder), writer_lock(shelf.library.open_or_create("a").folder):
        report = sync(shelf)
    assert [type(base.error) for base in report.bases] == [Busy, Busy, type(None)]
    assert counts(report) == {"a": 0, "b": 0, "c": 1}
    assert isinstance(report.failure, Busy)


def test_a_base_that_is_damaged_or_set_wrongly_keeps_no_other_from_being_synced(shelf: Shelf) -> None:
    for name in ("a", "b", "c"):
        shelf.write(f"{name}/x.md", "valve\n")
    sync(shelf)
    (shelf.library.open("a").folder / "index.sqlite3").write_bytes(b"no database " * 1000)
    (shelf.library.open("b").folder / "base.toml").write_text("rots = []\n")
    shelf.write("c/y.md", "seal\n")
    report = sync(shelf)
    assert isinstance(report.bases[0].error, IndexStateError)
    assert isinstance(report.bases[1].error, ConfigError)
    assert [base.name for base in report.bases] == ["a", "b", "c"]
    assert report.failure is report.bases[0].error
    assert counts(report)["c"] == 1


def test_a_folder_above_a_root_of_its_base_is_told_and_the_rest_goes_on(shelf: Shelf) -> None:
    shelf.write("a/sub/x.md", "valve\n")
    shelf.write("b/x.md", "valve\n")
    shelf.index(shelf.docs / "a" / "sub", name="a")
    report = sync(shelf)
    assert isinstance(report.failure, UsageError)
    assert counts(report) == {"a": 0, "b": 1}


def test_a_folder_that_is_gone_is_told_and_loses_nothing(shelf: Shelf) -> None:
    shelf.write("notes/a.md", "valve\n")
    shelf.write("papers/b.md", "seal\n")
    sync(shelf)
    shutil.rmtree(shelf.docs / "notes")
    report = sync(shelf)
    (gone,) = report.gone
    assert (gone.base, gone.path, gone.documents) == ("notes", str(shelf.docs.resolve() / "notes"), 1)
    assert counts(report) == {"papers": 0}
    assert shelf.found("valve") == ["a.md"]
    assert not report.is_complete
    assert sync(shelf, names=["papers"]).gone == ()
    assert sync(shelf, names=["Notes"]).gone == (gone,)


def test_a_library_root_that_is_empty_loses_nothing(shelf: Shelf) -> None:
    shelf.write("notes/a.md", "valve\n")
    sync(shelf)
    shelf.docs.rename(shelf.docs.with_name("unmounted"))
    shelf.docs.mkdir()
    report = sync(shelf)
    assert ([gone.base for gone in report.gone], report.bases) == (["notes"], ())
    assert shelf.found("valve") == ["a.md"]


def test_roots_of_bases_that_lie_elsewhere_are_nobodys_business(shelf: Shelf) -> None:
    file = shelf.write("else/a.md", "valve\n")
    shelf.index(shelf.docs / "else", name="else")
    shelf.write("kb/notes/b.md", "seal\n")
    shutil.rmtree(file.parent)
    report = sync(shelf, shelf.docs / "kb")
    assert (report.gone, counts(report)) == ((), {"notes": 1})


def test_ctrl_c_ends_the_run_and_what_is_done_stays(shelf: Shelf) -> None:
    for name in ("a", "b", "c"):
        shelf.write(f"{name}/x.md", f"{name} valve\n")

    def stop(done: int, total: int, path: str) -> None:
        if path.startswith("b/"):
            raise KeyboardInterrupt

    report = sync(shelf, progress=stop)
    assert report.interrupted
    assert not report.is_complete
    assert counts(report) == {"a": 1, "b": 0}
    assert counts(sync(shelf)) == {"a": 0, "b": 1, "c": 1}


def test_vectors_are_made_too_and_a_model_that_fails_costs_no_words(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedder = FakeEmbedder()
    install(monkeypatch, embedder)
    monkeypatch.setenv("ZHIKU_EMBEDDER", embedder.name)
    shelf.library = Library(shelf.library.home)
    shelf.write("a/x.md", "valve\n")
    shelf.write("b/x.md", "seal\n")
    report = shelf.library.sync([shelf.docs])
    assert ([base.embedded for base in report.bases], report.is_complete) == ([1, 1], True)

    install(monkeypatch, FakeEmbedder(before=stop_at(1, ModelUnavailable("asleep"))))
    shelf.library = Library(shelf.library.home)
    shelf.write("a/y.md", "pump\n")
    shelf.write("b/y.md", "pump\n")
    report = shelf.library.sync([shelf.docs])
    assert isinstance(report.failure, ModelUnavailable)
    assert (counts(report), [base.embedded for base in report.bases]) == ({"a": 1, "b": 1}, [0, 1])
    assert shelf.found("pump") == ["y.md", "y.md"]


def test_the_words_of_all_bases_are_searched_before_the_first_vector_is_made(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[list[str]] = []
    embedder = FakeEmbedder(before=lambda text: found.append(shelf.found("valve")))
    install(monkeypatch, embedder)
    monkeypatch.setenv("ZHIKU_EMBEDDER", embedder.name)
    for name in ("a", "b", "c"):
        shelf.write(f"{name}/x.md", f"{name} valve\n")
    report = Library(shelf.library.home).sync([shelf.docs])
    assert len(found[0]) == 3
    assert [base.embedded for base in report.bases] == [1, 1, 1]


def test_ctrl_c_while_embedding_ends_the_run_and_the_words_stay(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    embedder = FakeEmbedder(before=lambda text: stop(text))
    stop = stop_at(6, KeyboardInterrupt())
    install(monkeypatch, embedder)
    monkeypatch.setenv("ZHIKU_EMBEDDER", embedder.name)
    for name in ("a", "b", "c"):
        shelf.write(f"{name}/x.md", f"{name} valve\n")
    report = Library(shelf.library.home).sync([shelf.docs])
    assert (report.interrupted, counts(report)) == (True, {"a": 1, "b": 1, "c": 1})
    assert len(shelf.found("valve")) == 3
    assert sum(base.embedded for base in Library(shelf.library.home).sync([shelf.docs]).bases) in (1, 2)


def test_progress_says_which_base_a_path_belongs_to(shelf: Shelf) -> None:
    shelf.write("notes/a.md", "valve\n")
    seen: list[tuple[int, int, str]] = []
    sync(shelf, progress=lambda *step: seen.append(step))
    assert (0, 1, "notes/a.md") in seen


def test_nothing_is_written_among_the_documents(shelf: Shelf) -> None:
    shelf.write("notes/a.md", "valve\n")
    shelf.write("notes/intro.md", "About valves.\n")
    before = {path: path.stat().st_mtime_ns for path in shelf.docs.rglob("*")}
    sync(shelf)
    assert {path: path.stat().st_mtime_ns for path in shelf.docs.rglob("*")} == before


def test_the_json_holds_what_was_done(shelf: Shelf) -> None:
    shelf.write("notes/a.md", "valve\n")
    shelf.write("notes/bad.pdf", b"%PDF-1.4 no")
    shelf.write("my notes/a.md", "valve\n")
    found = sync(shelf).to_dict()
    (root,), (base,) = found["roots"], found["bases"]
    assert (root["path"], [each["code"] for each in root["problems"]]) == (str(shelf.docs.resolve()), ["source"])
    assert (base["name"], base["new"], [each["path"] for each in base["failed"]]) == ("notes", 1, ["bad.pdf"])
    assert (found["gone"], found["interrupted"]) == ([], False)
