"""A Python that notes and refuses every attempt to reach another machine, in the file named by NETWORK_LOG."""

import os
import sys
from pathlib import Path
from typing import Any

_LOOPBACK = ("127.", "::1", "localhost")
_EVENTS = {"socket.connect", "socket.sendto", "socket.sendmsg", "socket.getaddrinfo", "socket.gethostbyname"}


def _refuse(event: str, args: tuple[Any, ...]) -> None:
    if event not in _EVENTS:
        return
    address = args[0] if event in ("socket.getaddrinfo", "socket.gethostbyname") else args[1]
    host = address[0] if isinstance(address, tuple) else address
    if isinstance(host, str) and host.startswith((*_LOOPBACK, "/")):
        return
    with Path(os.environ["NETWORK_LOG"]).open("a") as log:
        log.write(f"{event} {address!r}\n")
    raise OSError("no network here")


sys.addaudithook(_refuse)
