"""Telling a client how far work is that it waits for, until that ends or the client gives up."""

from __future__ import annotations

import time
from typing import Any

import anyio
from mcp.server.context import ServerRequestContext
from mcp.shared.jsonrpc_dispatcher import progress_token_from_params

from zhiku.service.tasks import Task, Tasks

POLL_S = 0.25
QUIET_S = 5.0
"""The longest time between two notifications: clients give up on a call that they hear nothing of."""


def asks_for_progress(context: ServerRequestContext[Any]) -> bool:
    """Return whether the client wants to be told how far its request is."""
    return progress_token_from_params(context.params) is not None


async def follow(context: ServerRequestContext[Any], tasks: Tasks, task_id: str, quiet_s: float = QUIET_S) -> None:
    """Tell the client how far a task is until it has ended, at least every `quiet_s` seconds.

    If the client gives up, the task is stopped.
    """
    try:
        await _tell(context, tasks, task_id, quiet_s)
    except anyio.get_cancelled_exc_class():
        tasks.cancel(task_id)
        raise


async def _tell(context: ServerRequestContext[Any], tasks: Tasks, task_id: str, quiet_s: float) -> None:
    told: Task | None = None
    told_at = began = time.monotonic()
    while not (task := tasks.get(task_id)).has_ended:
        now = time.monotonic()
        if task != told or now - told_at >= quiet_s:
            # It must grow with each notification, also while one file takes long.
            waited_s = now - began
            progress = task.count + waited_s / (waited_s + 60.0)
            await context.session.report_progress(progress, message=_said(task))
            told, told_at = task, now
        await anyio.sleep(POLL_S)


def _said(task: Task) -> str:
    at = f": {task.at}" if task.at else ""
    return f"{task.step} {task.done} of {task.total}{at}" if task.step else task.state
