"""What changed under several roots is told when it has settled."""

from __future__ import annotations

from pathlib import Path

import pytest

from fakes import FakeClock, FakeFileSystem
from zhiku.ingest.watch import LOOK_S, MAX_HELD_S, SETTLE_S, RootsWatch


class Watched:
    """Two roots, `a` and `b`, and what is told of them as time passes."""

    def __init__(self, folder: Path) -> None:
        self.a, self.b = folder / "a", folder / "b"
        for root in (self.a, self.b):
            root.mkdir()
        self.clock, self.files = FakeClock(), FakeFileSystem()
        self.watch = RootsWatch(self.files, self.clock)
        self.watch.follow([self.a, self.b])

    def after(self, seconds: float) -> dict[Path, set[str]]:
        self.clock.now_s += seconds
        return self.watch.take()


@pytest.fixture
def watched(tmp_path: Path) -> Watched:
    return Watched(tmp_path)


def test_a_change_is_told_when_nothing_more_has_changed_for_a_while(watched: Watched) -> None:
    first, second = watched.a / "1.md", watched.a / "2.md"
    watched.files.tell(watched.a, first)
    assert watched.after(0) == {}
    watched.files.tell(watched.a, second)
    assert watched.after(SETTLE_S - 0.1) == {}
    assert watched.after(SETTLE_S - 0.1) == {}
    assert watched.after(0.1) == {watched.a: {str(first), str(second)}}
    assert watched.after(SETTLE_S) == {}


def test_one_root_does_not_wait_for_another(watched: Watched) -> None:
    watched.files.tell(watched.a, watched.a / "1.md")
    assert watched.after(0) == {}
    watched.files.tell(watched.b, watched.b / "1.md")
    assert list(watched.after(SETTLE_S)) == [watched.a]
    assert list(watched.after(SETTLE_S)) == [watched.b]


def test_what_never_settles_is_told_after_a_time_nevertheless(watched: Watched) -> None:
    waited = 0.0
    while not watched.watch.has_settled():
        watched.files.tell(watched.a, watched.a / "log.txt")
        watched.clock.now_s += SETTLE_S / 2
        waited += SETTLE_S / 2
        assert waited < 2 * MAX_HELD_S
    assert MAX_HELD_S <= waited <= MAX_HELD_S + SETTLE_S
    assert watched.after(0) == {watched.a: {str(watched.a / "log.txt")}}


def test_nothing_is_told_of_a_root_that_is_there_from_the_start(watched: Watched) -> None:
    assert watched.after(LOOK_S) == {}
    assert watched.after(SETTLE_S) == {}


def test_a_root_that_vanished_is_told_as_a_whole_when_it_is_back_and_watched_again(watched: Watched) -> None:
    away = watched.a.rename(watched.a.with_name("away"))
    watched.after(LOOK_S)
    assert watched.files.watched == [watched.b]
    assert watched.after(10 * SETTLE_S) == {}
    away.rename(watched.a)
    watched.after(LOOK_S)
    assert watched.files.watched == [watched.a, watched.b]
    assert watched.after(SETTLE_S) == {watched.a: {str(watched.a)}}
    watched.files.tell(watched.a, watched.a / "1.md")
    watched.after(0)
    assert watched.after(SETTLE_S) == {watched.a: {str(watched.a / "1.md")}}


@pytest.mark.parametrize("why", [FileNotFoundError("deleted, and made anew"), OSError("a name that is no text")])
def test_a_root_whose_events_end_is_told_as_a_whole_and_watched_again(watched: Watched, why: OSError) -> None:
    watched.after(0)
    watched.files.fail(watched.a, why)
    watched.after(0)
    assert watched.files.watched == [watched.b]
    watched.after(LOOK_S)
    assert (watched.files.watched, watched.watch.failures()) == ([watched.a, watched.b], {})
    assert watched.after(SETTLE_S) == {watched.a: {str(watched.a)}}


def test_another_folder_in_the_place_of_a_root_is_told_as_a_whole(watched: Watched) -> None:
    other = watched.a.with_name("other")
    other.mkdir()
    watched.a.rename(watched.a.with_name("away"))
    other.rename(watched.a)
    watched.after(LOOK_S)
    assert watched.after(SETTLE_S) == {watched.a: {str(watched.a)}}


def test_a_root_that_cannot_be_watched_does_not_keep_others_from_it_and_is_tried_again(tmp_path: Path) -> None:
    files, clock = FakeFileSystem(), FakeClock()
    a, b = tmp_path / "a", tmp_path / "b"
    a.mkdir()
    b.mkdir()
    files.refused[a] = OSError("limit reached")
    watch = RootsWatch(files, clock)
    watch.follow([a, b])
    assert ({root: str(why) for root, why in watch.failures().items()}, files.watched) == ({a: "limit reached"}, [b])
    clock.now_s += LOOK_S
    assert watch.take() == {}
    files.refused.clear()
    watch.follow([a, b])
    assert (watch.failures(), files.watched) == ({}, [a, b])


def test_a_root_that_is_followed_no_more_is_let_go_with_what_was_held_of_it(watched: Watched) -> None:
    watched.files.tell(watched.a, watched.a / "1.md")
    watched.after(0)
    watched.watch.follow([watched.b])
    assert (watched.after(SETTLE_S), watched.files.watched) == ({}, [watched.b])
    watched.watch.close()
    assert watched.files.watched == []
