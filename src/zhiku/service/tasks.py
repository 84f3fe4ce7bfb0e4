"""Long work beside everything else: one piece after the other, what it is at, and how it is stopped."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from zhiku.errors import NotFound, ZhikuError

log = logging.getLogger(__name__)

State = Literal["queued", "running", "done", "failed", "cancelled"]
ENDED: tuple[State, ...] = ("done", "failed", "cancelled")
MAX_KEPT = 100
"""So many pieces of work are remembered; of more, those that ended first are forgotten."""


@dataclass(frozen=True, kw_only=True)
class Task:
    """A piece of work as it is now. `result` is what it returned, also where it was stopped and kept what was done."""

    task_id: str
    title: str
    state: State = "queued"
    step: str = ""
    """What is done now: `reading` files, `embedding` chunks."""
    done: int = 0
    total: int = 0
    at: str = ""
    """The file that is read."""
    count: int = 0
    """Files and chunks done so far; it only grows."""
    result: Mapping[str, Any] | None = None
    error: ZhikuError | None = None

    @property
    def has_ended(self) -> bool:
        """Return whether nothing more happens."""
        return self.state in ENDED


class Monitor:
    """What work tells of itself. Once it is to stop, the next thing it tells raises `KeyboardInterrupt`, as Ctrl-C."""

    def __init__(self, change: Callable[..., None]) -> None:
        self._change = change
        self._is_stopped = threading.Event()

    def files(self, done: int, total: int, path: str) -> None:
        """Tell how many files are read, and which is next."""
        self._tell(step="reading", done=done, total=total, at=path)

    def chunks(self, done: int, total: int) -> None:
        """Tell how many chunks are embedded."""
        self._tell(step="embedding", done=done, total=total, at="")

    def stop(self) -> None:
        """Let the work end when it tells something next."""
        self._is_stopped.set()

    def _tell(self, **values: Any) -> None:
        self._change(**values)
        if self._is_stopped.is_set():
            raise KeyboardInterrupt


Work = Callable[[Monitor], Mapping[str, Any]]
"""What is to be done; returns what is told of it at the end."""


class Tasks:
    """Work that is done in a thread of its own, in the order it was given. Safe to use from several threads."""

    def __init__(self) -> None:
        self._tasks: dict[str, Task] = {}
        self._queue: list[tuple[str, Work]] = []
        self._monitors: dict[str, Monitor] = {}
        self._numbers = 0
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None

    def submit(self, title: str, work: Work) -> Task:
        """Queue a piece of work, and return it."""
        with self._changed:
            self._numbers += 1
            task = Task(task_id=str(self._numbers), title=title)
            self._tasks[task.task_id] = task
            self._monitors[task.task_id] = Monitor(lambda **values: self._progress(task.task_id, **values))
            self._queue.append((task.task_id, work))
            self._forget_old()
            if self._thread is None or not self._thread.is_alive():
                # A daemon: what is done is safe at any instant, and must not keep the process from ending.
                self._thread = threading.Thread(target=self._work, name="tasks", daemon=True)
                self._thread.start()
            self._changed.notify_all()
            return task

    def get(self, task_id: str) -> Task:
        """Return a piece of work. Raises `NotFound`."""
        with self._changed:
            if (task := self._tasks.get(task_id.strip())) is None:
                raise NotFound(
                    "there is no job {task_id!r}.", task_id=task_id, hint="a job has the id that it began with"
                )
            return task

    def cancel(self, task_id: str) -> None:
        """Stop a piece of work before its next document; what is done stays. Does nothing where it has ended."""
        with self._changed:
            if self.get(task_id).state == "queued":
                self._queue = [item for item in self._queue if item[0] != task_id]
                self._end(task_id, state="cancelled")
            elif monitor := self._monitors.get(task_id):
                monitor.stop()

    def wait(self, task_id: str, timeout_s: float) -> Task:
        """Wait for work to end, but no longer than that, and return it as it is then."""
        with self._changed:
            self._changed.wait_for(lambda: self.get(task_id).has_ended, timeout_s)
            return self.get(task_id)

    def close(self, timeout_s: float) -> bool:
        """Stop all work, and return whether it has ended after so many seconds."""
        with self._changed:
            for task_id in list(self._monitors):
                self.cancel(task_id)
            return self._changed.wait_for(lambda: not self._monitors, timeout_s)

    def _work(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._queue)
                task_id, work = self._queue.pop(0)
                self._update(task_id, state="running")
                monitor = self._monitors[task_id]
            outcome = self._outcome(work, monitor)
            with self._changed:
                self._end(task_id, **outcome)

    def _outcome(self, work: Work, monitor: Monitor) -> dict[str, Any]:
        try:
            result = work(monitor)
        except KeyboardInterrupt:
            return {"state": "cancelled"}
        except ZhikuError as error:
            log.info("a job failed: %s", error)
            return {"state": "failed", "error": error}
        except Exception as error:
            # The top of a task: nobody else could tell, and the traceback belongs into the log.
            log.exception("a job failed")
            return {"state": "failed", "error": _bug(error)}
        return {"state": "cancelled" if result.get("interrupted") else "done", "result": result}

    def _progress(self, task_id: str, **values: Any) -> None:
        with self._changed:
            before = self._tasks[task_id]
            gained = values["done"] - (before.done if before.step == values["step"] else 0)
            self._update(task_id, count=before.count + max(0, gained), **values)

    def _update(self, task_id: str, **values: Any) -> None:
        self._tasks[task_id] = replace(self._tasks[task_id], **values)
        self._changed.notify_all()

    def _end(self, task_id: str, **values: Any) -> None:
        self._monitors.pop(task_id, None)
        self._update(task_id, **values)

    def _forget_old(self) -> None:
        ended = [task_id for task_id, task in self._tasks.items() if task.has_ended]
        for task_id in ended[: max(0, len(self._tasks) - MAX_KEPT)]:
            del self._tasks[task_id]


def _bug(error: Exception) -> ZhikuError:
    return ZhikuError("this is a bug in zhiku ({kind}); its log tells more.", kind=type(error).__name__)
