"""The standard streams as the wire of a protocol: nothing but the protocol is on them, whatever else runs here."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import BinaryIO

from zhiku.errors import UsageError

MAX_LINE_BYTES = 4 << 20
"""Of one message; over HTTP as many are taken."""


class Wire:
    """What the client wrote, and what it reads, line by line."""

    def __init__(self, received: BinaryIO, sent: BinaryIO) -> None:
        self._received = received
        self._sent = sent

    def lines(self) -> Iterator[bytes]:
        """Yield lines until the client closes its end. Of one that is too long only the beginning is given."""
        while line := self._received.readline(MAX_LINE_BYTES + 1):
            rest = line
            while len(rest) > MAX_LINE_BYTES and not rest.endswith(b"\n"):
                rest = self._received.readline(MAX_LINE_BYTES + 1)
            yield line

    def write(self, line: bytes) -> None:
        """Send a line whole. Raises `OSError` where the client is gone."""
        self._sent.write(line + b"\n")
        self._sent.flush()


def take_wire() -> Wire:
    """Keep the standard streams for the protocol, and point their numbers elsewhere.

    What anything else prints, a library in C or a child process too, goes to stderr; what it reads is empty. To be
    called before anything is imported that might print. Raises `UsageError` where there are no such streams.
    """
    try:
        received, sent = os.dup(0), os.dup(1)
    except OSError as error:
        raise UsageError(
            "there is no standard input or output to serve over.", hint="serve over HTTP: zhiku mcp --http"
        ) from error
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    sys.stdout.flush()
    os.dup2(2, 1)
    # Not closed: a thread may still be waiting for a line when the process ends.
    return Wire(os.fdopen(received, "rb", closefd=False), os.fdopen(sent, "wb", closefd=False))
