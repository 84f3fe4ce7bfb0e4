"""A client that waits for work hears of it often enough, and stops it by giving up."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

import anyio
import pytest

from zhiku.mcp.following import follow
from zhiku.service.tasks import Monitor, Tasks

WAIT_S = 60.0


class Session:
    """What a client is told."""

    def __init__(self) -> None:
        self.told: list[tuple[float, str | None]] = []

    async def report_progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        assert total is None
        self.told.append((progress, message))


class Context:
    """As much of a request's context as is used."""

    def __init__(self) -> None:
        self.session = Session()


@pytest.fixture
def quiet() -> tuple[Tasks, threading.Event]:
    """Return work that tells nothing of itself until the event is set, and then of two files."""
    tasks, may_go_on = Tasks(), threading.Event()

    def work(monitor: Monitor) -> Mapping[str, Any]:
        assert may_go_on.wait(WAIT_S)
        monitor.files(0, 2, "a.md")
        monitor.files(1, 2, "b.md")
        return {}

    tasks.submit("read", work)
    return tasks, may_go_on


def test_a_client_hears_of_work_that_tells_nothing_of_itself(quiet: tuple[Tasks, threading.Event]) -> None:
    tasks, may_go_on = quiet
    context: Any = Context()

    async def wait() -> None:
        with anyio.fail_after(WAIT_S):
            async with anyio.create_task_group() as group:
                group.start_soon(follow, context, tasks, "1", 0.01)
                while len(context.session.told) < 5:
                    await anyio.sleep(0.01)
                may_go_on.set()

    anyio.run(wait)
    steps = [progress for progress, _ in context.session.told]
    assert steps == sorted(set(steps))
    assert context.session.told[0][1] in ("queued", "running")
    assert tasks.get("1").state == "done"


def test_who_gives_up_stops_the_work(quiet: tuple[Tasks, threading.Event]) -> None:
    tasks, may_go_on = quiet
    context: Any = Context()

    async def give_up() -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(follow, context, tasks, "1")
            while not context.session.told:
                await anyio.sleep(0.01)
            group.cancel_scope.cancel()

    anyio.run(give_up)
    may_go_on.set()
    assert tasks.wait("1", WAIT_S).state == "cancelled"
