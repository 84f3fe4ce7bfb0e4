"""Long work is done one piece after the other, tells how far it is, and can be stopped."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

import pytest

from zhiku.errors import NotFound, UsageError
from zhiku.service.tasks import MAX_KEPT, Monitor, Tasks

WAIT_S = 60.0


def at_once(monitor: Monitor) -> Mapping[str, Any]:
    monitor.files(0, 1, "a.md")
    return {"new": 1}


class Held:
    """Work that tells of one file after the other, until the test lets it end."""

    def __init__(self) -> None:
        self.began = threading.Event()
        self.told = threading.Event()
        self.may_go_on = threading.Event()

    def __call__(self, monitor: Monitor) -> Mapping[str, Any]:
        self.began.set()
        for number in range(1_000_000):
            monitor.files(number, 1_000_000, f"{number}.md")
            if number == 2:
                self.told.set()
                assert self.may_go_on.wait(WAIT_S)
        raise AssertionError("it was not stopped")


def test_work_is_done_and_its_result_is_kept() -> None:
    tasks = Tasks()
    begun = tasks.submit("read", at_once)
    assert (begun.task_id, begun.title, begun.state) == ("1", "read", "queued")
    done = tasks.wait(begun.task_id, WAIT_S)
    assert (done.state, done.result, done.count) == ("done", {"new": 1}, 0)
    assert done.has_ended
    assert tasks.submit("again", at_once).task_id == "2"


def test_work_tells_how_far_it_is() -> None:
    tasks, held = Tasks(), Held()
    task_id = tasks.submit("read", held).task_id
    assert held.told.wait(WAIT_S)
    task = tasks.get(task_id)
    assert (task.state, task.step, task.done, task.total, task.at) == ("running", "reading", 2, 1_000_000, "2.md")
    assert task.count == 2
    held.may_go_on.set()
    tasks.cancel(task_id)
    assert tasks.wait(task_id, WAIT_S).state == "cancelled"


def test_files_and_chunks_count_together_and_the_count_only_grows() -> None:
    counts: list[int] = []
    tasks = Tasks()

    def work(monitor: Monitor) -> Mapping[str, Any]:
        for step in (monitor.files(0, 2, "a"), monitor.files(2, 2, ""), monitor.chunks(0, 9), monitor.chunks(9, 9)):
            assert step is None
            counts.append(tasks.get("1").count)
        return {}

    tasks.submit("read", work)
    assert tasks.wait("1", WAIT_S).count == 11
    assert counts == sorted(counts)


def test_one_piece_of_work_waits_for_the_other() -> None:
    tasks, held = Tasks(), Held()
    first, second = tasks.submit("one", held).task_id, tasks.submit("two", at_once).task_id
    assert held.told.wait(WAIT_S)
    assert [tasks.get(each).state for each in (first, second)] == ["running", "queued"]
    tasks.cancel(first)
    held.may_go_on.set()
    assert tasks.wait(second, WAIT_S).state == "done"
    assert tasks.get(first).state == "cancelled"


def test_queued_work_that_is_cancelled_is_never_begun() -> None:
    tasks, held, never = Tasks(), Held(), Held()
    first, second = tasks.submit("one", held).task_id, tasks.submit("two", never).task_id
    tasks.cancel(second)
    assert tasks.get(second).state == "cancelled"
    held.may_go_on.set()
    tasks.cancel(first)
    assert tasks.wait(first, WAIT_S).state == "cancelled"
    assert tasks.wait(tasks.submit("three", at_once).task_id, WAIT_S).state == "done"
    assert not never.began.is_set()


def test_work_that_was_stopped_keeps_what_it_tells() -> None:
    tasks = Tasks()
    task = tasks.wait(tasks.submit("read", lambda _: {"new": 3, "interrupted": True}).task_id, WAIT_S)
    assert (task.state, task.result) == ("cancelled", {"new": 3, "interrupted": True})


@pytest.mark.parametrize(
    ("error", "told"),
    [(UsageError("not so."), "not so."), (RuntimeError("oh"), "this is a bug in zhiku (RuntimeError)")],
)
def test_work_that_fails_says_why_and_stops_no_other(error: Exception, told: str) -> None:
    tasks = Tasks()

    def fail(_: Monitor) -> Mapping[str, Any]:
        raise error

    failed = tasks.submit("fail", fail).task_id
    assert tasks.wait(tasks.submit("read", at_once).task_id, WAIT_S).state == "done"
    assert tasks.get(failed).state == "failed"
    assert str(tasks.get(failed).error).startswith(told)


def test_closing_stops_what_is_under_way_and_what_waits() -> None:
    tasks, held = Tasks(), Held()
    first, second = tasks.submit("one", held).task_id, tasks.submit("two", at_once).task_id
    assert held.told.wait(WAIT_S)
    assert not tasks.close(0.0)
    held.may_go_on.set()
    assert tasks.close(WAIT_S)
    assert [tasks.get(each).state for each in (first, second)] == ["cancelled", "cancelled"]
    assert Tasks().close(0.0)


def test_an_id_that_nothing_has_is_told() -> None:
    with pytest.raises(NotFound, match="no job '7'"):
        Tasks().get("7")


def test_only_the_last_are_remembered() -> None:
    tasks = Tasks()
    for _ in range(MAX_KEPT + 20):
        last = tasks.submit("read", at_once).task_id
        tasks.wait(last, WAIT_S)
    assert tasks.get(last).state == "done"
    with pytest.raises(NotFound):
        tasks.get("1")
