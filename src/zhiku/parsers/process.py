"""One worker as zhiku sees it: it is started, asked, and ended whenever it does not keep its limits."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from zhiku.errors import Crashed, SourceError, TimedOut
from zhiku.model import ParsedDocument, Source
from zhiku.parsers.limits import Limits, out_of_memory, peak_of
from zhiku.parsers.wire import SPENT, Request, dump_request, load_reply, read_frame, write_frame

START_S: Final = 60
"""Until a worker that was started must be ready: it takes .1 s, and much longer on a busy machine."""

RUNAWAY_SHARE: Final = 7 / 8
"""A reader that dies with more of its memory in use than this took it bit by bit, and would have taken any amount; one
piece that does not fit is refused far below. Measured of two PDFs of 800 bytes: .95 of forms that draw themselves
without end, .68 of one stream that unpacks to 2 GB."""

_OUT_OF_TIME: Final = -getattr(signal, "SIGXCPU", 0) or None
_MAX_GREETING_BYTES: Final = 100
_PACKAGES: Final = str(Path(__file__).parents[2])


class Worker:
    """A process that parses; one thread asks it, any may `kill` it."""

    def __init__(self, limits: Limits) -> None:
        """Start the process. Raises RuntimeError if it cannot be started."""
        self._limits = limits
        self._lock = threading.Lock()
        self._is_late = False
        self._peak_bytes = 0
        self._process = subprocess.Popen(  # noqa: S603 - nothing in it comes from outside
            # -P: the folder that zhiku was called in may hold modules of anyone.
            [sys.executable, "-P", "-m", "zhiku.parsers.worker", str(limits.memory_bytes), str(limits.spent_bytes)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join([_PACKAGES, *filter(None, sys.path)])},
            **_apart(),
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._requests = self._process.stdin
        self._replies = self._process.stdout
        self.files = 0
        """How many it was asked to parse."""
        self.is_spent = False
        """Whether it is to be ended and replaced."""
        self._peak_at_start = self._wait_until_ready()

    def parse(self, target: str, options: Mapping[str, Any], source: Source, data: bytes) -> ParsedDocument:
        """Return what the parser at `target`, made with `options`, makes of a file.

        Raises the SourceError or ParserBug that it raised; TimedOut, OutOfMemory or Crashed if it was over a limit
        or the process died, which then is spent.
        """
        self.files += 1
        limits = self._limits
        request = Request(
            target=target,
            options=dict(options),
            source=source,
            processor_s=limits.processor_s(len(data)),
            max_chars=limits.max_chars,
            max_reply_bytes=limits.max_reply_bytes,
        )
        try:
            with self._ended_after(limits.wall_s(len(data))):
                write_frame(self._requests, dump_request(request), data)
                reply, mark = read_frame(self._replies, limits.max_reply_bytes + len(SPENT))
            self.is_spent = self._is_late or mark == SPENT
            return load_reply(reply, limits.max_chars)
        except (EOFError, OSError, ValueError) as error:
            self.end()
            raise self._cause(source.path) from error
        except (KeyboardInterrupt, MemoryError):
            self.end()  # in the middle of an answer
            raise

    def kill(self) -> None:
        """End the process at once; the thread that waits for its answer learns of it."""
        with self._lock:
            if self._process.returncode is None:
                _kill(self._process.pid)

    def end(self) -> None:
        """End the process and wait until it is gone."""
        self.is_spent = True
        with self._lock:
            if self._process.returncode is None:
                _kill(self._process.pid)
                self._peak_bytes = _wait(self._process)
        for pipe in (self._requests, self._replies):
            with suppress(OSError):  # what was not sent yet is of no use any more
                pipe.close()

    def _wait_until_ready(self) -> int:
        try:
            with self._ended_after(START_S):
                head, _ = read_frame(self._replies, _MAX_GREETING_BYTES)
            return int(head)
        except (EOFError, OSError, ValueError) as error:
            self.end()
            raise RuntimeError("the process that parses files did not start") from error
        except KeyboardInterrupt:
            self.end()
            raise

    @contextmanager
    def _ended_after(self, seconds: float) -> Iterator[None]:
        alarm = threading.Timer(seconds, self._expire)
        alarm.daemon = True
        alarm.start()
        try:
            yield
        finally:
            alarm.cancel()

    def _expire(self) -> None:
        self._is_late = True
        self.kill()

    def _cause(self, path: str) -> SourceError:
        """Return why the process is dead: what it was killed for, or what it was doing when it died."""
        if self._is_late or self._process.returncode == _OUT_OF_TIME:
            return TimedOut("{path} takes too long to read", path=path, hint="split it, or exclude it")
        limit = self._limits.memory_bytes
        if sys.platform == "linux" and self._peak_bytes > max(limit * RUNAWAY_SHARE, self._peak_at_start):
            return Crashed(
                "{path} makes its reader take memory without end",
                path=path,
                hint="save it anew with another program, split it, or exclude it",
            )
        # One that had held so much before would have been replaced: the memory went into this file.
        if self._peak_bytes > max(self._limits.spent_bytes, self._peak_at_start):
            return out_of_memory(path)
        return Crashed(
            "{path} makes its reader crash", path=path, hint="save it anew with another program, or exclude it"
        )


def _apart() -> dict[str, Any]:
    """Return the options by which Ctrl-C in a terminal reaches zhiku alone, which then ends its workers."""
    if sys.platform == "win32":
        return {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.CREATE_NO_WINDOW}
    return {"start_new_session": True}


def _kill(pid: int) -> None:
    # Popen.kill would reap a process that is dead already, and what it used could not be asked any more.
    with suppress(OSError):
        os.kill(pid, signal.SIGTERM if sys.platform == "win32" else signal.SIGKILL)


def _wait(process: subprocess.Popen[bytes]) -> int:
    """Wait for the end of a process and return the most memory that it held; 0 where it cannot be told."""
    if sys.platform == "win32":
        process.wait()
        return 0
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return peak_of(usage.ru_maxrss)
