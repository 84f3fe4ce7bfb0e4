"""Read the files of a root, some of them ahead: while one is stored, the next are parsed in other processes."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NoReturn

from zhiku.errors import Changing, Unreadable
from zhiku.ingest.regular import read_regular
from zhiku.ingest.rules import Found
from zhiku.model import ParsedDocument, Source
from zhiku.ports import Parser

MAX_BYTES_AHEAD = 256_000_000
"""Of the files that are held before their turn; one may be larger."""

CLOCK_STEP_NS = 2_000_000_000
"""The coarsest step in which a file system tells time: FAT's, two seconds."""

MAX_TIME_NS = (1 << 63) - 1
"""In the year 2262: what a base can hold; a file with a later time is read in every run."""

_PAUSES_S = (0.02, 0.1, 0.3)
"""What to wait after each attempt to read a file that is being written."""

_POLL_S = 0.2  # Ctrl-C does not end a longer wait on Windows


@dataclass(frozen=True, kw_only=True)
class Reading:
    """A file that was read; `parse` returns its document, or raises what its parser raised."""

    source: Source
    parse: Callable[[], ParsedDocument]


@dataclass(frozen=True, kw_only=True)
class Parsers:
    """How files of each format are parsed."""

    format_of: Callable[[str], str]
    parser_for: Callable[[str], Parser]
    needs_worker: Callable[[str, int], bool]
    """Whether a file of this format and size is parsed in another process, so that it is worth starting early."""
    jobs: int = 1
    """How many files are parsed elsewhere at once."""


class FilesAhead:
    """Reads the files of a root. What it does ahead changes when a file is parsed, never what becomes of it."""

    def __init__(self, root: Path, parsers: Parsers, coming: Iterable[Found], known_content: frozenset[str]) -> None:
        """Take the files that are going to be read, in order, and the SHA-256 of what need not be parsed for it."""
        self._root = root
        self._parsers = parsers
        self._known_content = known_content
        self._coming = self._that_need_workers(coming)
        self._begun: dict[str, tuple[int, Future[Reading]]] = {}
        self._bytes = 0
        self._threads = ThreadPoolExecutor(parsers.jobs, "zhiku-parse")

    def read(self, path: str) -> Reading:
        """Return a file, perhaps parsed already. Raises Unreadable."""
        self._begin_some()
        if path not in self._begun:
            return self._read(path)
        size_bytes, reading = self._begun.pop(path)
        while not reading.done():
            wait([reading], timeout=_POLL_S)
        self._bytes -= size_bytes
        self._begin_some()
        return reading.result()

    def close(self) -> None:
        """Begin nothing more; what is being parsed comes to nothing."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _that_need_workers(self, coming: Iterable[Found]) -> Iterator[Found]:
        for item in coming:
            if self._parsers.needs_worker(self._parsers.format_of(item.path), item.size_bytes):
                yield item

    def _begin_some(self) -> None:
        # As many as are parsed at once, and as many again that are done before their turn comes.
        while len(self._begun) < 2 * self._parsers.jobs and (not self._begun or self._bytes < MAX_BYTES_AHEAD):
            item = next(self._coming, None)
            if item is None:
                return
            self._begun[item.path] = item.size_bytes, self._threads.submit(self._read_and_parse, item.path)
            self._bytes += item.size_bytes

    def _read(self, path: str) -> Reading:
        source, data = load_file(self._root, path)
        parser = self._parsers.parser_for(self._parsers.format_of(path))
        return Reading(source=source, parse=partial(parser.parse, source, data))

    def _read_and_parse(self, path: str) -> Reading:
        reading = self._read(path)
        if reading.source.sha256 in self._known_content:
            return reading
        try:
            document = reading.parse()
        except Exception as error:  # raised again when its turn comes, where such errors are dealt with
            return Reading(source=reading.source, parse=partial(_raise, error))
        return Reading(source=reading.source, parse=lambda: document)


def load_file(root: Path, path: str) -> tuple[Source, bytes]:
    """Return a file as it is now. Raises `Unreadable`, or `Changing` where it never stood still."""
    try:
        for pause_s in _PAUSES_S:
            now_ns = time.time_ns()
            found = read_regular(str(root / path))
            if found is not None:
                data, status = found
                return _source(root, path, data, status, now_ns), data
            time.sleep(pause_s)
    except OSError as error:
        raise Unreadable("{path} cannot be read: {cause}.", path=path, cause=error.strerror) from error
    raise Changing("{path} was being written while it was read; the next run reads it.", path=path)


def _source(root: Path, path: str, data: bytes, status: os.stat_result, now_ns: int) -> Source:
    # A change so soon after the last one may leave the times as they are, so these cannot be trusted later.
    is_settled = max(status.st_mtime_ns, status.st_ctime_ns) < now_ns - CLOCK_STEP_NS
    return Source(
        root=str(root),
        path=path,
        size_bytes=len(data),
        mtime_ns=max(-MAX_TIME_NS, min(status.st_mtime_ns, MAX_TIME_NS)),
        ctime_ns=status.st_ctime_ns if is_settled else -status.st_ctime_ns,
        sha256=hashlib.sha256(data).hexdigest(),
    )


def _raise(error: Exception) -> NoReturn:
    raise error
