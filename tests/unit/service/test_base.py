"""One base: what it holds, and when it refuses to answer."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import apsw
import pytest

from shelf import Shelf
from zhiku.config import BaseSettings, load_base_settings, save_base_settings
from zhiku.errors import Busy, ManifestMismatch, NotFound, UsageError
from zhiku.paths import writer_lock

needs_posix = pytest.mark.skipif(os.name == "nt", reason="modes are POSIX")


@pytest.fixture
def filled(shelf: Shelf) -> Shelf:
    shelf.write("a.md", "# 一\n\n水泵")
    shelf.write("b.pdf", b"%PDF-1.7 nothing else")
    shelf.index()
    return shelf


def test_documents_come_by_root_and_path(filled: Shelf) -> None:
    filled.write("Z.md", "x")
    filled.write("0.md", "x")
    filled.index()
    assert [document.source.path for document in filled.base.documents()] == ["0.md", "Z.md", "a.md"]


def test_the_status_says_what_is_there_and_what_is_not(filled: Shelf) -> None:
    status = filled.base.status()

    assert (status.name, status.roots, status.losses.missing_roots) == ("default", (str(filled.docs),), ())
    assert (status.totals.documents, status.totals.chunks, status.totals.failed) == (1, 1, 1)
    assert status.index_bytes > 0
    assert status.changed_at
    assert [entry["path"] for entry in status.to_dict()["failed"]] == ["b.pdf"]


def test_the_status_names_roots_that_are_gone(filled: Shelf, tmp_path: Path) -> None:
    filled.docs.rename(tmp_path / "elsewhere")
    assert filled.base.status().losses.missing_roots == (str(filled.docs),)


def test_a_base_that_holds_nothing_has_a_status_and_nothing_else(shelf: Shelf) -> None:
    base = shelf.library.open_or_create("new")

    assert (base.status().totals.documents, base.status().changed_at) == (0, "")
    with pytest.raises(NotFound, match="holds nothing yet"):
        base.search("水泵")


def test_a_base_without_roots_must_be_given_one(shelf: Shelf) -> None:
    base = shelf.library.open_or_create("new")
    with pytest.raises(UsageError, match="has no root"):
        base.index()


def test_a_run_that_changes_nothing_leaves_the_time_of_the_last_change(filled: Shelf) -> None:
    before = filled.base.status().changed_at
    filled.index()
    assert filled.base.status().changed_at == before


def test_roots_are_remembered_as_real_paths(shelf: Shelf, tmp_path: Path) -> None:
    shelf.write("a.md", "水泵")
    (tmp_path / "alias").symlink_to(shelf.docs)
    shelf.index(tmp_path / "alias")
    shelf.index()
    assert load_base_settings(shelf.base.folder).roots == (str(shelf.docs.resolve()),)


def test_what_a_base_includes_and_excludes_is_kept(filled: Shelf) -> None:
    filled.write("c/x.md", "阀门")
    filled.write(".hidden/y.md", "阀门")
    settings = BaseSettings(roots=(str(filled.docs),), include=(".hidden/",), exclude=("c/",))
    save_base_settings(filled.base.folder, settings)
    filled.index()
    assert filled.found("阀门") == [".hidden/y.md"]


@needs_posix
def test_what_a_base_keeps_is_its_owners_alone(filled: Shelf) -> None:
    folder = filled.base.folder
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}


def test_a_second_writer_is_refused_and_told_who_writes(filled: Shelf) -> None:
    with writer_lock(filled.base.folder), pytest.raises(Busy, match=str(os.getpid())):
        filled.index()


def test_readers_go_on_while_a_base_is_written(filled: Shelf) -> None:
    filled.write("c.md", "阀门")
    found: list[list[str]] = []
    filled.library.index([filled.docs], progress=lambda *_: found.append(filled.found("水泵")))
    assert found[-1] == ["a.md"]


def test_a_session_sees_one_state_however_the_base_changes(filled: Shelf) -> None:
    with filled.base.reading() as session:
        before = session.totals()
        filled.write("c.md", "阀门")
        filled.index()
        assert session.totals() == before
    assert filled.base.status().totals.documents == before.documents + 1


@pytest.mark.parametrize("key", ["analyzer", "chunker"])
def test_an_index_built_by_something_else_is_not_mixed(filled: Shelf, key: str) -> None:
    connection = apsw.Connection(str(filled.index_file))
    connection.execute("UPDATE manifest SET value = 'of another time' WHERE key = ?", (key,))
    connection.close()

    with pytest.raises(ManifestMismatch, match="of another time"):
        filled.index()


def test_an_index_of_another_analyzer_does_not_answer(filled: Shelf) -> None:
    connection = apsw.Connection(str(filled.index_file))
    connection.execute("UPDATE manifest SET value = '0' WHERE key = 'analyzer'")
    connection.close()

    with pytest.raises(ManifestMismatch) as caught:
        filled.search("水泵")
    assert "zhiku rebuild" in caught.value.hint


def test_a_closed_base_can_be_used_again(filled: Shelf) -> None:
    base = filled.base
    base.search("水泵")
    base.close()
    assert len(base.search("水泵")) == 1
