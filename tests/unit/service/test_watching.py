"""A watcher keeps a real library up to date with what a fake file system announces."""

from __future__ import annotations

import errno
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from fakes import FakeClock, FakeEmbedder, FakeFileSystem, install
from shelf import Shelf
from zhiku.config import BASE_FILE, CONFIG_FILE, WatchSettings
from zhiku.embedders.builtin import BATCH_SIZE
from zhiku.errors import ModelUnavailable
from zhiku.ingest.watch import LOOK_S, SETTLE_S, RootsWatch
from zhiku.paths import writer_lock
from zhiku.service.watching import PAUSE_FACTOR, Watcher, WatchEvent

SCAN_S = WatchSettings().scan_interval


class Watching:
    """A watcher over a shelf whose time passes when a test says so; `events` are what it told."""

    def __init__(self, shelf: Shelf, *names: str, embed: bool | None = False) -> None:
        self.shelf = shelf
        self.clock, self.files = FakeClock(), FakeFileSystem()
        self.events: list[WatchEvent] = []
        self.stop = threading.Event()
        watch = RootsWatch(self.files, self.clock)
        self.watcher = Watcher(shelf.library, names, embed=embed, on_event=self.events.append, watch=watch)

    @property
    def docs(self) -> Path:
        return self.shelf.docs.resolve()

    def after(self, seconds: float) -> list[WatchEvent]:
        """Return what is told after some time, when everything is done that was due then."""
        self.clock.now_s += seconds
        self.events.clear()
        while self.watcher.step(self.stop):
            pass
        return list(self.events)

    def after_change(self, *paths: Path) -> list[WatchEvent]:
        """Return what is told when changes in the documents were announced and have settled."""
        self.files.tell(self.docs, *paths)
        self.after(0)
        return self.after(SETTLE_S)


@pytest.fixture
def watching(shelf: Shelf) -> Watching:
    shelf.write("a.md", "valve\n")
    shelf.index()
    watching = Watching(shelf)
    watching.after(0)
    return watching


def errors(events: list[WatchEvent]) -> list[str]:
    return [str(event.error) for event in events if event.error]


def test_what_changed_before_is_found_at_the_start(shelf: Shelf) -> None:
    shelf.write("a.md", "valve\n")
    shelf.index()
    shelf.write("b.md", "pump\n")
    (event,) = Watching(shelf).after(0)
    assert (event.base, event.changed, shelf.found("pump")) == ("default", True, ["b.md"])


def test_a_new_file_and_an_edit_are_indexed_when_they_have_settled(watching: Watching) -> None:
    new, edited = watching.shelf.write("new/b.md", "pump\n"), watching.shelf.write("a.md", "gauge\n")
    watching.files.tell(watching.docs, new.parent, edited)
    assert watching.after(0) == []
    assert watching.shelf.found("pump") == []
    (event,) = watching.after(SETTLE_S)
    assert event.changed
    assert event.report is not None
    assert [each.target.part.name for each in event.report] == ["a.md", "new"]
    assert (watching.shelf.found("pump"), watching.shelf.found("gauge")) == (["new/b.md"], ["a.md"])
    assert watching.shelf.found("valve") == []


def test_a_moved_file_keeps_its_document(watching: Watching) -> None:
    (before,) = watching.shelf.base.documents()
    (watching.docs / "sub").mkdir()
    moved = (watching.docs / "a.md").rename(watching.docs / "sub" / "a.md")
    (event,) = watching.after_change(watching.docs / "a.md", moved)
    assert event.changed
    (after,) = watching.shelf.base.documents()
    assert (after.doc_id, after.source.path) == (before.doc_id, "sub/a.md")


def test_a_deleted_file_stays_in_the_index(watching: Watching) -> None:
    watching.shelf.write("kept.md", "pump")
    watching.after_change(watching.docs / "kept.md")
    (watching.docs / "a.md").unlink()
    (event,) = watching.after_change(watching.docs / "a.md")
    assert event.report is not None
    assert (event.report[0].report.missing, event.changed) == (1, False)
    assert watching.shelf.found("valve") == ["a.md"]


def test_a_file_that_is_gone_again_before_its_turn_is_no_error(watching: Watching) -> None:
    fleeting = watching.shelf.write("b.md", "pump\n")
    fleeting.unlink()
    assert errors(watching.after_change(fleeting)) == []


@pytest.mark.parametrize("path", [".git/index", "node_modules/x/readme.md", ".obsidian/workspace.json"])
def test_what_is_left_out_causes_no_run(watching: Watching, path: str) -> None:
    assert watching.after_change(watching.shelf.write(path, "x")) == []


def test_our_own_files_cause_no_run(shelf: Shelf) -> None:
    shelf.docs = shelf.docs.parent  # the home lies in the root
    shelf.write("docs/a.md", "valve\n")
    shelf.index()
    watching = Watching(shelf)
    watching.after(0)
    assert watching.after_change(shelf.index_file) == []


def test_a_scan_finds_what_was_not_announced(watching: Watching) -> None:
    watching.shelf.write("b.md", "pump\n")
    assert watching.after(SCAN_S - 1) == []
    (event,) = watching.after(1)
    assert (event.changed, watching.shelf.found("pump")) == (True, ["b.md"])


def test_a_root_that_vanishes_loses_nothing_and_is_followed_again_when_it_is_back(watching: Watching) -> None:
    away = watching.docs.rename(watching.docs.with_name("away"))
    assert watching.after(LOOK_S) == []
    (event,) = watching.after(SCAN_S)
    assert event.report is not None
    assert [entry.code for entry in event.report[0].report.failed] == ["root_missing"]
    assert watching.shelf.found("valve") == ["a.md"]

    away.rename(watching.docs)
    watching.shelf.write("b.md", "pump\n")
    watching.after(LOOK_S)
    (event,) = watching.after(SETTLE_S)
    assert (event.changed, watching.shelf.found("pump")) == (True, ["b.md"])
    assert watching.after_change(watching.shelf.write("c.md", "gauge\n"))[0].changed


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege on Windows")
def test_a_root_that_became_a_link_gives_the_base_no_other_root(watching: Watching) -> None:
    moved = watching.docs.rename(watching.docs.with_name("moved"))
    watching.shelf.docs.symlink_to(moved)
    watching.shelf.write("b.md", "pump\n")
    watching.files.tell(watching.shelf.docs, watching.shelf.docs / "b.md")
    watching.after(0)
    (event,) = watching.after(SETTLE_S)
    assert (event.changed, watching.shelf.found("pump")) == (True, ["b.md"])
    assert watching.shelf.base.status().roots == (str(watching.shelf.docs),)


def test_a_base_that_somebody_else_writes_is_updated_by_the_next_scan(watching: Watching) -> None:
    new = watching.shelf.write("b.md", "pump\n")
    with writer_lock(watching.shelf.base.folder):
        assert watching.after_change(new) == []
        assert watching.after(SCAN_S) == []
    assert [event.changed for event in watching.after(SCAN_S)] == [True]
    assert watching.shelf.found("pump") == ["b.md"]


def test_bases_roots_and_rules_count_from_the_next_scan_on(watching: Watching) -> None:
    shelf = watching.shelf
    other = shelf.docs.parent / "other"
    other.mkdir()
    shelf.library.index([other], "second", embed=False)
    assert watching.files.watched == [watching.docs]
    watching.after(SCAN_S)
    assert watching.files.watched == [watching.docs, other.resolve()]
    (other / "b.md").write_text("pump\n")
    watching.files.tell(other.resolve(), other.resolve() / "b.md")
    watching.after(0)
    assert [event.base for event in watching.after(SETTLE_S)] == ["second"]

    settings = shelf.base.folder / BASE_FILE
    settings.write_text(settings.read_text() + 'exclude = ["drafts/"]\n')
    shelf.library.delete("second")
    watching.after(SCAN_S)
    assert watching.files.watched == [watching.docs]
    assert watching.after_change(shelf.write("drafts/c.md", "gauge\n")) == []


def test_the_time_between_scans_is_read_anew(watching: Watching) -> None:
    config = watching.shelf.library.home / CONFIG_FILE
    config.write_text("[watch]\nscan_interval = 5\n")
    watching.after(SCAN_S)
    assert watching.after(4) == []
    assert len(watching.after(1)) == 1


def test_wrong_settings_are_told_once_and_those_before_hold(watching: Watching) -> None:
    config = watching.shelf.library.home / CONFIG_FILE
    config.write_text("[watch]\nscan_intervall = 5\n")
    first, second = watching.after(SCAN_S)
    assert (first.base, second.base) == ("", "default")
    assert "did you mean 'scan_interval'?" in str(first.error)
    assert errors(watching.after(SCAN_S)) == []
    config.unlink()
    watching.after(SCAN_S)
    config.write_text("[watch]\nscan_intervall = 5\n")
    assert len(errors(watching.after(SCAN_S))) == 1


def test_a_base_in_error_is_told_once_tried_again_and_does_not_stop_others(watching: Watching) -> None:
    shelf = watching.shelf
    shelf.index(name="other")
    healthy = shelf.index_file.read_bytes()
    shelf.index_file.write_bytes(b"no index" * 1_000)
    told = watching.after(SCAN_S)
    assert [(event.base, event.error is not None) for event in told] == [("default", True), ("other", False)]
    assert errors(watching.after(SCAN_S)) == []
    shelf.index_file.write_bytes(healthy)
    shelf.write("b.md", "pump\n")
    assert [(event.base, event.changed) for event in watching.after(SCAN_S)] == [("default", True), ("other", True)]


def test_only_the_bases_named_are_updated_and_one_that_is_gone_is_told(shelf: Shelf) -> None:
    shelf.write("a.md", "valve\n")
    for name in ("one", "two"):
        shelf.index(name=name)
    watching = Watching(shelf, "One", "one")
    assert [event.base for event in watching.after(0)] == ["one"]
    shelf.library.delete("one")
    assert ["no base named" in text for text in errors(watching.after(SCAN_S))] == [True, True]
    assert watching.after(SCAN_S) == []


def test_a_root_without_events_is_told_once_and_scanned(shelf: Shelf) -> None:
    shelf.write("a.md", "valve\n")
    shelf.index()
    watching = Watching(shelf)
    watching.files.refused[watching.docs] = OSError(errno.ENOSPC, "OS file watch limit reached")
    (told, _) = watching.after(0)
    assert told.error is not None
    assert "max_user_watches" in told.error.hint
    assert f"what changes in {watching.docs}: OS file watch limit reached." in str(told.error)
    shelf.write("b.md", "pump\n")
    assert [(event.changed, event.error) for event in watching.after(SCAN_S)] == [(True, None)]


def test_a_watch_that_is_to_stop_ends_a_run_after_the_current_file(watching: Watching) -> None:
    new = watching.shelf.write("b.md", "pump\n")
    watching.files.tell(watching.docs, new)
    watching.after(0)
    watching.stop.set()
    (event,) = watching.after(SETTLE_S)
    assert event.report is not None
    assert event.report.interrupted
    assert watching.shelf.found("pump") == []


def test_run_ends_when_it_is_to_stop_and_lets_the_roots_go(shelf: Shelf) -> None:
    shelf.write("a.md", "valve\n")
    shelf.index()
    files, stop = FakeFileSystem(), threading.Event()

    def end(event: WatchEvent) -> None:
        assert files.watched
        stop.set()

    Watcher(shelf.library, embed=False, on_event=end, watch=RootsWatch(files)).run(stop)
    assert files.watched == []


# --- embedding ---


@pytest.fixture
def embedding(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Watching]:
    """Return a function that watches a base whose chunks are embedded; `before` is called before each of them."""

    def start(before: Callable[[str | None], None] = lambda text: None, embed: bool | None = None) -> Watching:
        monkeypatch.setenv("ZHIKU_EMBEDDER", "fake")
        install(monkeypatch, FakeEmbedder(before=before))
        for n in range(40):
            shelf.write(f"{n:02}.md", f"valve {n}\n")
        shelf.library = type(shelf.library)(shelf.library.home)
        shelf.index()
        return Watching(shelf, embed=embed)

    return start


def pending(watching: Watching) -> int:
    return watching.shelf.base.status().pending_vectors


def test_what_is_read_is_embedded_unless_settings_or_the_caller_say_otherwise(
    embedding: Callable[..., Watching],
) -> None:
    watching = embedding(embed=None)
    config = watching.shelf.library.home / CONFIG_FILE
    config.write_text("[watch]\nauto_embed = false\n")
    watching.after(0)
    assert pending(watching) == 40
    config.unlink()
    (event,) = watching.after(SCAN_S)
    assert (event.changed, pending(watching)) == (True, 0)

    watching.watcher = Watching(watching.shelf, embed=False).watcher
    watching.shelf.write("new.md", "pump\n")
    watching.after(0)
    assert pending(watching) == 1


def test_embedding_makes_way_for_words_and_goes_on_after_them(embedding: Callable[..., Watching]) -> None:
    seen = 0

    def change_something(text: str | None) -> None:
        nonlocal seen
        seen += text is not None
        if seen == 1:
            watching.files.tell(watching.docs, watching.shelf.write("new.md", "pump\n"))
        elif seen == BATCH_SIZE + 1:
            watching.clock.now_s += SETTLE_S

    watching = embedding(change_something)
    events = watching.after(0)
    reports = [event.report for event in events if event.report and event.report.embedding]
    assert reports[0].embedding is not None
    assert reports[0].embedding.report.embedded == 2 * BATCH_SIZE
    assert [report.interrupted for report in reports] == [True, False, False]
    assert reports[1][0].report.added == 1
    assert (pending(watching), watching.stop.is_set()) == (0, False)


def test_embedding_makes_way_for_a_scan_that_is_due(embedding: Callable[..., Watching]) -> None:
    def take_long(text: str | None) -> None:
        if text:
            watching.clock.now_s += SCAN_S / 10

    watching = embedding(take_long)
    reports = [event.report for event in watching.after(0) if event.report]
    assert [report.interrupted for report in reports] == [True, True, False]
    assert pending(watching) == 0


def test_an_embedder_that_fails_is_told_once(embedding: Callable[..., Watching]) -> None:
    def fail(text: str | None) -> None:
        raise ModelUnavailable("no model")

    watching = embedding(fail)
    assert errors(watching.after(0)) == ["no model"]
    assert errors(watching.after(SCAN_S)) == []
    assert watching.shelf.found("valve")


def test_looks_that_take_long_and_find_nothing_are_made_more_rarely(embedding: Callable[..., Watching]) -> None:
    def fail_slowly(text: str | None) -> None:
        watching.clock.now_s += SCAN_S
        raise ModelUnavailable("no model")

    watching = embedding(fail_slowly)
    watching.after(0)
    assert watching.after(PAUSE_FACTOR * SCAN_S - 1) == []
    assert watching.after(1) != []


def test_a_watch_that_is_to_stop_ends_embedding_after_the_current_batch(embedding: Callable[..., Watching]) -> None:
    watching = embedding(lambda text: watching.stop.set() if text else None)
    (event,) = watching.after(0)
    assert event.report is not None
    assert event.report.interrupted
    assert 0 < pending(watching) < 40


def test_ctrl_c_in_a_run_ends_the_watch(embedding: Callable[..., Watching]) -> None:
    def interrupt(text: str | None) -> None:
        if text:
            raise KeyboardInterrupt

    watching = embedding(interrupt)
    watching.after(0)
    assert watching.stop.is_set()
