"""One application on one port of this computer, until somebody ends it."""

from __future__ import annotations

import ipaddress
import socket
import sys
from typing import TYPE_CHECKING

from zhiku.errors import UsageError

if TYPE_CHECKING:
    from starlette.types import ASGIApp

HIGHEST_PORT = 65_535
if sys.platform == "win32":
    _REUSE = socket.SO_EXCLUSIVEADDRUSE  # there the other option would let any program take the port over
else:
    _REUSE = socket.SO_REUSEADDR  # what ended a moment ago must not keep the port
_KEEP_ALIVE_S = 60
"""How long a connection may stay open between two requests of a client."""


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens at an address of this computer alone; port 0 is any that is free.

    Raises `UsageError` for an address that other computers can reach, or that cannot be had.
    """
    family, address = _resolved(host, port)
    server = socket.socket(family, socket.SOCK_STREAM)
    try:
        server.setsockopt(socket.SOL_SOCKET, _REUSE, 1)
        server.bind(address)
        server.listen()
    except OSError as error:
        server.close()
        raise UsageError(
            "nothing can be served at port {port} of {host}: {cause}.",
            port=port,
            host=host,
            cause=error.strerror,
            hint="name another port, or let one be chosen: --port 0",
        ) from error
    return server


def _resolved(host: str, port: int) -> tuple[socket.AddressFamily, tuple[str, int]]:
    if port > HIGHEST_PORT:
        raise UsageError("{port} is no port.", port=port, highest=HIGHEST_PORT, hint="name one up to {highest}")
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except (OSError, UnicodeError) as error:
        raise UsageError("{host!r} is no address.", host=host, hint="leave --host out") from error
    name, number = str(address[0]), int(address[1])
    if not ipaddress.ip_address(name).is_loopback:
        raise UsageError(
            "{host!r} can be reached from other computers; this is for programs on this computer alone.",
            host=host,
            hint="leave --host out, or name 127.0.0.1 or ::1",
        )
    return family, (name, number)


def url_of(server: socket.socket) -> str:
    """Return the address of a socket that listens, as a URL without a path."""
    host, port = server.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def serve(app: ASGIApp, server: socket.socket) -> None:
    """Serve until SIGINT or SIGTERM, which then act as they did before; what is under way is given up."""
    import uvicorn  # who names a wrong port need not wait for it

    config = uvicorn.Config(
        app,
        loop="asyncio",
        http="h11",
        ws="none",
        lifespan="auto",
        proxy_headers=False,
        server_header=False,
        access_log=False,
        log_config=None,
        log_level="critical",  # the application logs what goes wrong
        timeout_keep_alive=_KEEP_ALIVE_S,
        timeout_graceful_shutdown=0,
    )
    uvicorn.Server(config).run(sockets=[server])
