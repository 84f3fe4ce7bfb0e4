"""Work in threads beside the protocol."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, TypeVar

T = TypeVar("T")

MAX_WORKERS = 8
"""Calls that are worked on at once; more wait."""


class Workers:
    """A number of threads. Work cannot be interrupted: who gives up waiting for it leaves it to end by itself.

    Until then it keeps its place, so that calls that are given up again and again do not pile up; and it does not keep
    the process from ending.
    """

    def __init__(self) -> None:
        self._places = asyncio.Semaphore(MAX_WORKERS)

    async def do(self, work: Callable[..., T], *arguments: Any) -> T:
        """Return what `work` returns, or raise what it raises."""
        loop = asyncio.get_running_loop()
        future: Future[T] = Future()
        future.set_running_or_notify_cancel()

        def do() -> None:
            try:
                future.set_result(work(*arguments))
            except BaseException as error:
                future.set_exception(error)
            with suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(self._places.release)

        await self._places.acquire()
        threading.Thread(target=do, name="tool", daemon=True).start()
        return await asyncio.wrap_future(future)
