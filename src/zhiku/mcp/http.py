"""Serving clients on this computer over HTTP, at /mcp of one port."""

from __future__ import annotations

import hmac
import socket

from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from zhiku.mcp.server import ToolServer
from zhiku.mcp.wire import MAX_LINE_BYTES
from zhiku.web.guard import Guard
from zhiku.web.server import serve as serve_app

PATH = "/mcp"
MAX_SESSIONS = 1_000
"""Clients with a handshake at once; who is silent for half an hour is none any more."""


def serve(server: ToolServer, listening: socket.socket, token: str = "") -> None:
    """Serve until SIGINT or SIGTERM; with a token, only clients that send it (`Authorization: Bearer`)."""
    app: ASGIApp = server.protocol.streamable_http_app(
        streamable_http_path=PATH,
        max_sessions=MAX_SESSIONS,
        # The guard asks more of a Host: our port, in any case.
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    serve_app(Guard(_Door(app, token) if token else app, MAX_LINE_BYTES), listening)


class _Door:
    """ASGI middleware that lets in who has the token."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._expected = f"bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or self._may_enter(Headers(scope=scope)):
            await self._app(scope, receive, send)
            return
        refusal = PlainTextResponse(
            "this server wants its token: Authorization: Bearer TOKEN", 401, {"WWW-Authenticate": "Bearer"}
        )
        await refusal(scope, receive, send)

    def _may_enter(self, headers: Headers) -> bool:
        scheme, _, given = headers.get("authorization", "").partition(" ")
        return hmac.compare_digest(f"{scheme.lower()} {given.strip()}".encode(), self._expected)
