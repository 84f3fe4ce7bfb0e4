"""The line to one endpoint: one request at a time, in a thread that can be left alone.

A thread that waits for a socket cannot be interrupted everywhere. So requests are made in a thread of their own, and
who waits for one can stop waiting: Ctrl-C is heard at once, and a server that sends a byte a second holds up nobody.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Mapping
from concurrent.futures import Future, wait
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import httpx2

MAX_REPLY_BYTES = 256_000_000
"""A thousand vectors of 4,096 dimensions in decimal are some 90 MB."""

POLL_S = 0.2
"""How long Ctrl-C may go unheard where the system does not interrupt a wait."""


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What came back: a status and a body."""

    status: int
    retry_after: str
    body: bytes


class NoReply(Exception):
    """Nothing usable came back."""

    def __init__(self, cause: Literal["connection", "timeout", "tls", "size"], detail: str = "") -> None:
        super().__init__(detail)
        self.cause = cause
        self.detail = detail


@dataclass(frozen=True, kw_only=True)
class _Job:
    address: str
    headers: Mapping[str, str]
    content: bytes
    timeout_s: float
    done: Future[Reply]


class Line:
    """A connection that is kept, and the thread that uses it. After `NoReply` or an interruption it is closed."""

    def __init__(self, *, is_loopback: bool) -> None:
        self._is_loopback = is_loopback
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._client: httpx2.Client | None = None
        self.is_closed = False
        threading.Thread(target=self._work, name="endpoint", daemon=True).start()

    def send(self, address: str, headers: Mapping[str, str], content: bytes, timeout_s: float) -> Reply:
        """Return what a POST brought within `timeout_s` seconds in all. Raises `NoReply`."""
        done: Future[Reply] = Future()
        self._jobs.put(_Job(address=address, headers=headers, content=content, timeout_s=timeout_s, done=done))
        ends_at = time.monotonic() + timeout_s
        try:
            while not done.done():
                if (left_s := ends_at - time.monotonic()) <= 0:
                    raise NoReply("timeout")
                wait([done], min(POLL_S, left_s))
            return done.result()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Give up what is under way; the thread ends with it, or with the process."""
        self.is_closed = True
        self._jobs.put(None)

    def _work(self) -> None:
        while job := self._jobs.get():
            try:
                job.done.set_result(self._request(job))
            except BaseException as error:
                job.done.set_exception(error)  # raised where the reply is waited for
        if self._client is not None:
            self._client.close()

    def _request(self, job: _Job) -> Reply:
        import httpx2  # only who has an endpoint pays for it

        try:
            if self._client is None:
                # Proxies of the environment are for the world outside.
                self._client = httpx2.Client(trust_env=not self._is_loopback, follow_redirects=False)
            return _exchange(self._client, job)
        except httpx2.TimeoutException as error:
            raise NoReply("timeout") from error
        except httpx2.TransportError as error:
            raise _translated(error) from error


def _exchange(client: httpx2.Client, job: _Job) -> Reply:
    options: Any = {"headers": job.headers, "content": job.content, "timeout": job.timeout_s}
    with client.stream("POST", job.address, **options) as response:
        pieces, size = [], 0
        for piece in response.iter_bytes():
            pieces.append(piece)
            size += len(piece)
            if size > MAX_REPLY_BYTES:
                raise NoReply("size")
        retry_after = response.headers.get("Retry-After", "")
        return Reply(status=response.status_code, retry_after=retry_after, body=b"".join(pieces))


def _translated(error: Exception) -> NoReply:
    import ssl

    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLError):
            return NoReply("tls", cause.reason or str(cause))
        cause = cause.__cause__ or cause.__context__
    return NoReply("connection", _reason(error))


def _reason(error: BaseException) -> str:
    """Return the system's words for what went wrong; those of a library may quote what was sent."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, OSError) and cause.strerror:
            return cause.strerror
        cause = cause.__cause__ or cause.__context__
    return type(error).__name__
