"""`Library.sync` with `prune` and `dry_run`."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from shelf import Shelf
from zhiku.config import load_base_settings
from zhiku.paths import writer_lock
from zhiku.service.sync_report import SyncReport


def sync(shelf: Shelf, *, names: Sequence[str] = (), **options: Any) -> SyncReport:
    return shelf.library.sync([shelf.docs], names, embed=False, **options)


def bytes_of(folder: Path) -> dict[str, bytes]:
    """Return every file; SQLite's own notes on who reads an index (-shm, and a log without entries) say nothing."""
    found = {str(path): path.read_bytes() if path.is_file() else b"" for path in folder.rglob("*")}
    return {path: data for path, data in found.items() if not path.endswith("-shm") and (data or path[-4:] != "-wal")}


def told(report: SyncReport) -> list[dict[str, Any]]:
    """Return what is said of each base, without what only reading and embedding find out."""
    return [{key: value for key, value in base.to_dict().items() if key != "chunks"} for base in report.bases]


def test_a_dry_run_writes_nothing_where_there_is_nothing(shelf: Shelf) -> None:
    shelf.write("notes/a.md", "valve\n")
    shelf.write("notes/intro.md", "About valves.\n")
    shelf.write("papers/b.md", "seal\n")
    report = sync(shelf, dry_run=True)
    assert report.dry_run
    assert not shelf.library.home.exists()
    assert told(report) == told(sync(shelf))


def test_a_dry_run_says_what_a_run_does_and_leaves_the_home_byte_for_byte(shelf: Shelf) -> None:
    for name in ("a", "b", "c"):
        shelf.write(f"notes/{name}.md", f"{name} valve\n")
    shelf.write("notes/intro.md", "About valves.\n")
    sync(shelf)
    shelf.write("notes/a.md", "seal\n")
    (shelf.docs / "notes/b.md").rename(shelf.docs / "notes/d.md")
    (shelf.docs / "notes/c.md").unlink()
    shelf.write("notes/intro.md", "About seals.\n")
    shelf.write("notes/new.md", "pump\n")
    shelf.write("papers/b.md", "seal\n")
    before = bytes_of(shelf.library.home)
    dry = sync(shelf, dry_run=True)
    assert bytes_of(shelf.library.home) == before
    assert [base.takes_intro for base in dry.bases] == [True, False]
    assert told(dry) == told(sync(shelf))


def test_a_prune_says_what_it_takes_out_before_it_does(shelf: Shelf) -> None:
    shelf.write("notes/a.md", "valve\n")
    shelf.write("notes/b.md", "seal\n")
    shelf.write("papers/c.md", "valve\n")
    sync(shelf)
    (shelf.docs / "notes/a.md").unlink()
    assert sync(shelf).bases[0].count("pruned") == 0
    announced = []

    def announce(name: str, paths: Sequence[str]) -> None:
        announced.append((name, list(paths), shelf.found("valve")))

    report = sync(shelf, prune=True, announce=announce)
    ((name, paths, found),) = announced
    assert (name, paths) == ("notes", [str(shelf.docs.resolve() / "notes" / "a.md")])
    assert sorted(found) == ["a.md", "c.md"]
    assert [base.count("pruned") for base in report.bases] == [1, 0]
    assert shelf.found("valve") == ["c.md"]


def test_a_dry_run_of_a_prune_announces_it_and_prunes_nothing(shelf: Shelf) -> None:
    file = shelf.write("notes/a.md", "valve\n")
    shelf.write("notes/b.md", "seal\n")
    sync(shelf)
    file.unlink()
    announced: list[tuple[str, list[str]]] = []
    report = sync(shelf, prune=True, dry_run=True, announce=lambda name, paths: announced.append((name, list(paths))))
    assert announced == [("notes", [str(file.resolve())])]
    assert report.bases[0].count("pruned") == 0
    assert shelf.found("valve") == ["a.md"]


def test_a_folder_that_is_gone_or_empty_is_not_pruned(shelf: Shelf) -> None:
    for name in ("gone", "empty", "there"):
        shelf.write(f"{name}/a.md", "valve\n")
    sync(shelf)
    shutil.rmtree(shelf.docs / "gone")
    (shelf.docs / "empty" / "a.md").unlink()
    report = sync(shelf, prune=True)
    assert {base.name: base.count("pruned") for base in report.bases} == {"empty": 0, "there": 0}
    assert [gone.base for gone in report.gone] == ["gone"]
    assert not report.is_complete
    assert len(shelf.found("valve")) == 3


def test_an_intro_that_was_a_document_before_is_left_out_and_pruned_on_request_only(shelf: Shelf) -> None:
    shelf.write("notes/intro.md", "valve\n")
    shelf.write("notes/a.md", "seal\n")
    shelf.index(shelf.docs / "notes", name="notes")
    (base,) = sync(shelf).bases
    assert (base.count("left_out"), base.count("missing"), shelf.found("valve")) == (1, 0, ["intro.md"])
    (base,) = sync(shelf, prune=True).bases
    assert (base.count("pruned"), shelf.found("valve")) == (1, [])


def test_what_comes_back_after_a_prune_is_counted(shelf: Shelf) -> None:
    file = shelf.write("notes/a.md", "valve\n")
    shelf.write("notes/b.md", "seal\n")
    sync(shelf)
    file.unlink()
    sync(shelf, prune=True)
    shelf.write("notes/a.md", "valve\n")
    (base,) = sync(shelf).bases
    assert (base.count("returned"), shelf.found("valve")) == (1, ["a.md"])


def test_a_base_that_cannot_be_read_keeps_no_other_from_a_dry_run(shelf: Shelf) -> None:
    shelf.write("a/x.md", "valve\n")
    shelf.write("b/x.md", "valve\n")
    bad = shelf.library.open_or_create("a").folder / "base.toml"
    bad.write_text("rots = []\n")
    report = sync(shelf, dry_run=True)
    assert [base.error is None for base in report.bases] == [False, True]
    assert load_base_settings(shelf.library.home / "bases" / "b").roots == ()


def test_a_base_that_another_run_writes_is_waited_for_where_told(shelf: Shelf) -> None:
    shelf.write("a/x.md", "valve\n")
    shelf.write("a/intro.md", "About a.\n")
    held = writer_lock(shelf.library.open_or_create("a").folder)
    held.__enter__()
    release = threading.Timer(0.3, held.__exit__, (None, None, None))
    release.start()
    report = sync(shelf, wait_s=30.0)
    release.join(timeout=30)
    assert (report.is_complete, report.bases[0].takes_intro) == (True, True)
