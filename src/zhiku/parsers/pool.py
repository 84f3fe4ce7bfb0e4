"""Parsers that keep what foreign bytes can do away from zhiku: in workers, which are reused; small texts stay here."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from types import MappingProxyType, TracebackType
from typing import Any, Final, Self

from zhiku.errors import Crashed, OutOfMemory, TimedOut
from zhiku.model import ParsedDocument, Source
from zhiku.parsers.limits import READ_OTHERWISE, Limits, needs_worker
from zhiku.parsers.process import Worker
from zhiku.ports import Parser
from zhiku.registry import PARSERS, load

NO_OPTIONS: Final[Mapping[str, Any]] = MappingProxyType({})


class WorkerPool:
    """Worker processes, as many as there are threads that parse at once; started when first needed."""

    def __init__(self, limits: Limits | None = None) -> None:
        self._limits = limits or Limits()
        self._lock = threading.Lock()
        self._idle: list[Worker] = []
        self._all: set[Worker] = set()
        self._is_closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def parse(
        self, target: str, source: Source, data: bytes, options: Mapping[str, Any] = NO_OPTIONS
    ) -> ParsedDocument:
        """Return what the parser at `target` (`module:class`) makes of a file, read in a worker (see `Worker.parse`).

        Where a worker crashes that had read other files before, a fresh one tries once more: they may have harmed it.
        """
        worker = self._take()
        try:
            return worker.parse(target, options, source, data)
        except Crashed:
            if worker.files == 1 or self._is_closed:
                raise
        finally:
            self._give_back(worker)
        fresh = self._start()
        try:
            return fresh.parse(target, options, source, data)
        finally:
            self._give_back(fresh)

    @property
    def is_closed(self) -> bool:
        """Return whether no file is parsed any more."""
        return self._is_closed

    def close(self) -> None:
        """End all workers at once, also those in the middle of a file."""
        with self._lock:
            self._is_closed = True
            idle, busy = self._idle, self._all.difference(self._idle)
            self._idle = []
        for worker in busy:
            worker.kill()  # the thread that waits for it sees to the rest
        for worker in idle:
            worker.end()

    def _take(self) -> Worker:
        with self._lock:
            if self._idle:
                return self._idle.pop()
        return self._start()

    def _start(self) -> Worker:
        worker = Worker(self._limits)
        with self._lock:
            if not self._is_closed:
                self._all.add(worker)
                return worker
        worker.end()
        raise RuntimeError("no file is parsed any more")

    def _give_back(self, worker: Worker) -> None:
        with self._lock:
            is_of_use = not (worker.is_spent or self._is_closed)
            if is_of_use:
                self._idle.append(worker)
            else:
                self._all.discard(worker)
        if not is_of_use:
            worker.end()


class PooledParser:
    """The parser of a format: in this process where that is harmless and quick, else in a worker.

    `options` are the arguments that it is made with.
    """

    def __init__(self, format_name: str, pool: WorkerPool, options: Mapping[str, Any] = NO_OPTIONS) -> None:
        self._format_name = format_name
        self._pool = pool
        self._options = options

    def parse(self, source: Source, data: bytes) -> ParsedDocument:
        """Return the document; raise a `SourceError` that says why it cannot be read."""
        if not needs_worker(self._format_name, len(data)):
            return self._parser_here.parse(source, data)
        try:
            return self._pool.parse(PARSERS[self._format_name], source, data, self._options)
        except (Crashed, OutOfMemory, TimedOut):
            if self._format_name not in READ_OTHERWISE:
                raise
        otherwise = PooledParser(READ_OTHERWISE[self._format_name], self._pool, self._options)
        document = otherwise.parse(source, data)
        return replace(document, warnings=(*document.warnings, "Its functions could not be told; it is read in lines"))

    @cached_property
    def _parser_here(self) -> Parser:
        parser: Parser = load(PARSERS, self._format_name)(**self._options)
        return parser
