"""The process that parses files of one zhiku, one after the other, within limits (`python -m zhiku.parsers.worker`).

It may be killed by what it reads, or by zhiku; it holds nothing that is worth keeping. It ends when its standard
input does, that is, with the process that started it, however that one ended.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
import traceback
from contextlib import suppress
from queue import SimpleQueue
from typing import BinaryIO

from zhiku.errors import SourceError, TooLarge
from zhiku.parsers.limits import SPENT_FILES, out_of_memory, peak_of
from zhiku.parsers.wire import (
    SPENT,
    Request,
    dump_bug,
    dump_document,
    dump_error,
    load_request,
    read_frame,
    write_frame,
)
from zhiku.ports import Parser
from zhiku.registry import resolve

if sys.platform == "win32":  # which has no limits of this kind
    resource = None
else:
    import resource

MAX_OPEN_FILES = 64
MAX_REQUEST_BYTES = 2**40  # zhiku itself sends it, and has its own limits on files


def main() -> None:
    """Answer requests until there are no more."""
    requests, replies = _take_pipes()
    memory_bytes, spent_bytes = map(int, sys.argv[1:])
    _limit_process(memory_bytes)
    write_frame(replies, str(_lifetime_peak_bytes()).encode())
    waiting: SimpleQueue[tuple[bytes, bytes]] = SimpleQueue()
    threading.Thread(target=_receive, args=(requests, waiting), daemon=True).start()
    files = 0
    while True:
        head, data = waiting.get()
        files += 1
        reply = _answer(load_request(head), data)
        del data
        is_spent = files >= SPENT_FILES or _peak_bytes() > spent_bytes
        write_frame(replies, reply, SPENT if is_spent else b"")


def _take_pipes() -> tuple[BinaryIO, BinaryIO]:
    """Return the pipes to zhiku, and let what libraries print, or read, go nowhere."""
    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nowhere, standard)
    logging.disable()
    return requests, replies


def _receive(requests: BinaryIO, waiting: SimpleQueue[tuple[bytes, bytes]]) -> None:
    # A thread of its own sees the end at once, also in the middle of a file.
    try:
        while True:
            waiting.put(read_frame(requests, MAX_REQUEST_BYTES))
    except (EOFError, OSError, MemoryError):
        os._exit(0)


def _answer(request: Request, data: bytes) -> bytes:
    _limit_processor(request.processor_s)
    path = request.source.path
    try:
        parser: Parser = resolve(request.target)(**request.options)
        document = parser.parse(request.source, data)
        if len(document.text) <= request.max_chars:
            reply = dump_document(document)
            if len(reply) <= request.max_reply_bytes:
                return reply
        return dump_error(
            TooLarge("{path} holds more text than zhiku reads of one file", path=path, hint="split it, or exclude it")
        )
    except SourceError as error:
        return dump_error(error)
    except MemoryError:
        return dump_error(out_of_memory(path))
    except Exception as error:  # the boundary of one file's work, as in the process that asked
        return dump_bug(f"{type(error).__name__}: {error}", traceback.format_exc())


def _limit_process(memory_bytes: int) -> None:
    if resource:
        _set_limit(resource.RLIMIT_CORE, 0)  # a core file would hold the user's document
        _set_limit(resource.RLIMIT_NOFILE, MAX_OPEN_FILES)
        if hasattr(resource, "RLIMIT_AS"):
            _set_limit(resource.RLIMIT_AS, memory_bytes)


def _limit_processor(seconds: int) -> None:
    if resource:
        used = resource.getrusage(resource.RUSAGE_SELF)
        _set_limit(resource.RLIMIT_CPU, int(used.ru_utime + used.ru_stime) + 1 + seconds)


def _set_limit(kind: int, value: int) -> None:
    _, hard = resource.getrlimit(kind)
    if hard != resource.RLIM_INFINITY:
        value = min(value, hard)
    with suppress(ValueError, OSError):  # macOS refuses some; what zhiku limits from outside holds all the same
        resource.setrlimit(kind, (value, hard))


def _peak_bytes() -> int:
    """Return the most memory that this process held; 0 where it cannot be told."""
    try:
        with open("/proc/self/status", "rb") as status:  # noqa: PTH123 - a path object for it costs more than it shows
            (peak,) = (line.split()[1] for line in status if line.startswith(b"VmHWM:"))
    except (OSError, ValueError):
        return _lifetime_peak_bytes()
    return int(peak) * 1024


def _lifetime_peak_bytes() -> int:
    """Return the same as it will be told when the process is dead: on Linux it includes the time before `exec`."""
    return peak_of(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) if resource else 0


if __name__ == "__main__":
    main()
