"""Requests to endpoints: one after the other, spaced, and tried again where that may help."""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from zhiku.errors import ModelError
from zhiku.remote.line import Line, NoReply
from zhiku.remote.record import NOT_COUNTED, Call, Load, tokens_in
from zhiku.remote.replies import Again, answer_in, no_reply, no_turn

if TYPE_CHECKING:
    from zhiku.remote.endpoint import Endpoint
    from zhiku.remote.record import Record

log = logging.getLogger(__name__)

LONGEST_WAIT_S = 120.0
"""What a server may ask to be left alone for; where it asks for longer, the run ends and says so."""


@dataclass(frozen=True, kw_only=True)
class Patience:
    """How long to insist: tries in all, of which so many may end with the same 500, and seconds in all."""

    tries: int
    tries_at_500: int = 2
    """A server that fails over what it was sent does so each time; its caller can find out over which text."""
    budget_s: float = float("inf")


INDEXING = Patience(tries=5)
SEARCHING = Patience(tries=2, budget_s=20.0)
"""Somebody waits for it; a model that must be loaded first takes some seconds."""


@dataclass(kw_only=True)
class _Queue:
    """Those who wait for an endpoint, one behind the other."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    line: Line | None = None
    free_at: float = float("-inf")


class Client:
    """Posts JSON to endpoints. One client serves all of a process; requests to one server wait for each other."""

    def __init__(
        self,
        record: Record | None = None,
        *,
        pause: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Take who is told of every try; `pause` waits for some seconds, `clock` tells them."""
        self._tell = record
        self._pause = pause
        self._clock = clock
        self._queues: dict[str, _Queue] = {}
        self._lock = threading.Lock()

    def post(
        self, endpoint: Endpoint, path: str, body: object, load: Load = NOT_COUNTED, patience: Patience = INDEXING
    ) -> object:
        """Return what an endpoint answers to `body` at `path` (`embeddings`), as JSON.

        Raises `ModelUnavailable` where trying again later may help, `BadModelReply` where it would not; `status_of`
        tells the status that the endpoint answered with, 400, 413 and 422 among them, which a smaller request may
        avoid. Raises `ConfigError` where the endpoint's URL is none.
        """
        address = endpoint.address(path)
        content = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
        ends_at = self._clock() + patience.budget_s
        failed_at_500 = 0
        for number in range(1, patience.tries + 1):
            try:
                return self._try(endpoint, address, content, load, ends_at)
            except Again as failure:
                failed_at_500 += failure.cause == "500"
                pause_s = failure.pause_s(number)
                is_last = number == patience.tries or failed_at_500 >= patience.tries_at_500
                if is_last or pause_s > LONGEST_WAIT_S or self._clock() + pause_s >= ends_at:
                    raise failure.error from failure
                log.info("%s: %s; trying again in %.1f s", address, failure.cause, pause_s)
                self._pause(pause_s)
        raise AssertionError("a last try returns or raises")

    def close(self) -> None:
        """Close what is open; the client can still be used afterwards."""
        with self._lock:
            queues, self._queues = list(self._queues.values()), {}
        for each in queues:
            if each.line is not None:
                each.line.close()

    def _try(self, endpoint: Endpoint, address: str, content: bytes, load: Load, ends_at: float) -> object:
        with self._turn(endpoint, address, ends_at) as line:
            began = self._clock()
            timeout_s = min(endpoint.timeout_s, ends_at - began)
            tokens: int | None = 0
            cause = "interrupted"
            try:
                answer = answer_in(line.send(address, _headers(endpoint), content, timeout_s), endpoint, address)
                tokens, cause = tokens_in(answer), ""
                return answer
            except NoReply as error:
                cause = error.cause
                raise no_reply(error, endpoint.kind, address, timeout_s) from error
            except Again as error:
                cause = error.cause
                raise
            except ModelError as error:
                cause = str(error.params.get("status", "reply"))
                raise
            finally:
                if self._tell is not None:
                    self._tell(
                        Call(
                            kind=endpoint.kind,
                            address=address,
                            model=endpoint.model,
                            texts=load.texts,
                            tokens=load.estimate() if tokens is None else tokens,
                            is_estimate=tokens is None,
                            error=cause,
                            elapsed_s=self._clock() - began,
                        )
                    )

    @contextmanager
    def _turn(self, endpoint: Endpoint, address: str, ends_at: float) -> Iterator[Line]:
        """Wait for this endpoint to be free, and for the time between two requests; not beyond `ends_at`."""
        with self._lock:
            place = self._queues.setdefault(address, _Queue())
        with _held(place.lock, ends_at - self._clock()) as is_held:
            if not is_held or max(place.free_at, self._clock()) >= ends_at:
                raise no_turn(address)
            if (wait_s := place.free_at - self._clock()) > 0:
                self._pause(wait_s)
            if place.line is None or place.line.is_closed:
                place.line = Line(is_loopback=endpoint.is_loopback)
            try:
                yield place.line
            finally:
                place.free_at = self._clock() + endpoint.interval_s


@contextmanager
def _held(lock: threading.Lock, seconds: float) -> Iterator[bool]:
    """Hold a lock, if that can be had within some seconds; what is yielded says so."""
    is_held = lock.acquire(timeout=min(max(seconds, 0.0), threading.TIMEOUT_MAX))
    try:
        yield is_held
    finally:
        if is_held:
            lock.release()


def _headers(endpoint: Endpoint) -> dict[str, str]:
    headers = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "zhiku"}
    if endpoint.key:
        headers["Authorization"] = f"Bearer {endpoint.key}"
    return headers
