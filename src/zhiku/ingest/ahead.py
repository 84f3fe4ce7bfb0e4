"""Read the files of a root, some of them ahead: while one is stored, the next are parsed in other processes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NoReturn

from zhiku.errors import Unreadable
from zhiku.ingest.regular import read_regular
from zhiku.ingest.rules import Found
from zhiku.model import Document, ParsedDocument, Source
from zhiku.ports import Parser

MAX_BYTES_AHEAD = 256_000_000
"""Of the files that are held before their turn; one may be larger."""

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

    def __init__(self, root: Path, parsers: Parsers, known: Mapping[str, Document], wanted: Sequence[Found]) -> None:
        """Take the files of `wanted` that are not as they are `known` to be as those that are going to be read."""
        self._root = root
        self._parsers = parsers
        # A file of known content was most likely moved, or only touched: it need not be parsed.
        self._known_content = frozenset(document.source.sha256 for document in known.values())
        self._coming = self._that_need_workers(known, wanted)
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

    def _that_need_workers(self, known: Mapping[str, Document], wanted: Sequence[Found]) -> Iterator[Found]:
        for item in wanted:
            needs_worker = self._parsers.needs_worker(self._parsers.format_of(item.path), item.size_bytes)
            if needs_worker and not is_as_known(item, known.get(item.path)):
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


def is_as_known(item: Found, known: Document | None) -> bool:
    """Return whether a file has the size and time that it had when it was read."""
    return known is not None and (known.source.size_bytes, known.source.mtime_ns) == (item.size_bytes, item.mtime_ns)


def load_file(root: Path, path: str) -> tuple[Source, bytes]:
    """Return a file as it is now. Raises Unreadable."""
    try:
        data, status = read_regular(str(root / path))
    except OSError as error:
        raise Unreadable("{path} cannot be read: {cause}.", path=path, cause=error.strerror) from error
    digest = hashlib.sha256(data).hexdigest()
    return Source(root=str(root), path=path, size_bytes=len(data), mtime_ns=status.st_mtime_ns, sha256=digest), data


def _raise(error: Exception) -> NoReturn:
    raise error
