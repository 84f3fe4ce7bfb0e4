"""Who is served: programs on this computer that mean this server, and send no more than it takes.

A browser asks for any page it shows. Its name for this server tells whether a page's owner pointed a name of their own
at this computer (DNS rebinding), its Origin whether another page asks. Nothing here allows that (CORS).
"""

from __future__ import annotations

import re

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from zhiku.web.errors import refusal

_LOOPBACK = re.compile(r"(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::(\d{1,5}))?", re.IGNORECASE)
_HTTP_PORT = 80


class Guard:
    """ASGI middleware that answers what is not to be served itself."""

    def __init__(self, app: ASGIApp, max_body_bytes: int) -> None:
        self._app = app
        self._max_body_bytes = max_body_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        port = scope["server"][1]
        if not _all_mean(headers.getlist("host"), port):
            response = refusal(421, "this server answers to localhost and 127.0.0.1 with its port, nothing else")
        elif any(not _is_own_origin(origin, port) for origin in headers.getlist("origin")):
            response = refusal(403, "this server does not answer web pages of others")
        elif int(headers.get("content-length") or 0) > self._max_body_bytes:
            response = refusal(413, self._too_large)
        else:
            await self._app(scope, self._limited(receive), send)
            return
        await response(scope, receive, send)

    @property
    def _too_large(self) -> str:
        return f"the request is larger than {self._max_body_bytes:,} bytes"

    def _limited(self, receive: Receive) -> Receive:
        """Return a `receive` that stops a body that does not say how long it is."""
        taken = 0

        async def limited() -> Message:
            nonlocal taken
            message = await receive()
            taken += len(message.get("body", b""))
            if taken > self._max_body_bytes:
                raise HTTPException(413, self._too_large)
            return message

        return limited


def _all_mean(hosts: list[str], port: int) -> bool:
    """Return whether there is a Host, and each is a name that no other computer has, with our port."""
    found = [_LOOPBACK.fullmatch(host) for host in hosts]
    return bool(found) and all(match and int(match[1] or _HTTP_PORT) == port for match in found)


def _is_own_origin(origin: str, port: int) -> bool:
    return origin.startswith("http://") and _all_mean([origin.removeprefix("http://")], port)
