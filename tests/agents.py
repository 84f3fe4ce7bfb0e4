"""AI agents for tests: clients of a real `zhiku mcp`, through the SDK and by bare lines."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal, TypeVar

import anyio
import anyio.to_thread
import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.session import IncomingMessage
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, ToolListChangedNotification

T = TypeVar("T")

ERAS: dict[str, Literal["legacy"] | str] = {"2025-11-25": "legacy", "2026-07-28": "2026-07-28"}
"""The revisions of the protocol, and how the SDK's client is told to speak them."""
WAIT_S = 60.0
MAX_TALK_S = 300.0

INITIALIZE: dict[str, Any] = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "0"}},
}
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}


CALLS: list[tuple[str, dict[str, Any]]] = [
    ("kb_list", {}),
    ("kb_list", {"name_keyword": "work"}),
    ("kb_search", {"query": "密封圈"}),
    ("kb_search", {"query": "seal grease", "base": "notes", "top_k": 1}),
    ("kb_search", {"query": "zebra"}),
    ("kb_search", {"query": "seal", "base": "note"}),
    ("kb_search", {"query": "seal", "top_k": 0, "limit": 3}),
    ("kb_search", {"query": "seal", "mode": "semantic"}),
    ("kb_grep", {"keyword": "gate-sync"}),
    ("kb_grep", {"keyword": "第", "max_lines": 1}),
    ("kb_grep", {"keyword": "zebra"}),
    ("kb_read", {"path": "pumps.md"}),
    ("kb_read", {"path": "pumps.md", "lines": "7-9"}),
    ("kb_read", {"path": "pumps.md", "lines": "seven"}),
    ("kb_read", {"path": "pump.md"}),
    ("kb_read", {}),
    ("kb_coverage", {}),
    ("kb_coverage", {"topic": "水泵"}),
    ("kb_write", {}),
]
"""Of the default tools, over the base `notes`."""


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "zhiku", "mcp", *arguments]


def run(work: Callable[[], Awaitable[T]]) -> T:
    """Run some work of a client, within bounds."""

    async def bounded() -> T:
        with anyio.fail_after(WAIT_S):
            return await work()

    return anyio.run(bounded)


@asynccontextmanager
async def over_stdio(
    environ: Mapping[str, str],
    era: str,
    *arguments: str,
    heard: Callable[[IncomingMessage], Awaitable[None]] | None = None,
) -> AsyncIterator[Client]:
    """Start a server and speak with it in one revision of the protocol; `heard` is given what it says by itself."""
    words = command(*arguments)
    server = StdioServerParameters(command=words[0], args=words[1:], env=dict(environ))
    async with Client(stdio_client(server), mode=ERAS[era], message_handler=heard) as client:
        yield client


class Heard:
    """What a server says by itself: that its tools are others now."""

    def __init__(self) -> None:
        self.changed = anyio.Event()

    async def __call__(self, message: IncomingMessage) -> None:
        if isinstance(message, ToolListChangedNotification):
            self.changed.set()


async def tools_after(client: Client, era: str, heard: Heard, act: Callable[[], object]) -> list[str]:
    """Return the names of the tools after something was done that changes them, and the client was told so."""
    async with anyio.create_task_group() as group:
        if era == "2026-07-28":
            listening = anyio.Event()

            async def listen() -> None:
                async with client.listen(tools_list_changed=True) as changes:
                    listening.set()
                    async for _ in changes:
                        heard.changed.set()

            group.start_soon(listen)
            await listening.wait()
        await anyio.to_thread.run_sync(act)
        await heard.changed.wait()
        group.cancel_scope.cancel()
    return [tool.name for tool in (await client.list_tools()).tools]


@asynccontextmanager
async def over_http(
    url: str, era: str, token: str = "", heard: Callable[[IncomingMessage], Awaitable[None]] | None = None
) -> AsyncIterator[Client]:
    """Speak with a server that is running, likewise."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with (
        httpx2.AsyncClient(trust_env=False, timeout=60, headers=headers) as http,
        Client(streamable_http_client(url, http_client=http), mode=ERAS[era], message_handler=heard) as client,
    ):
        yield client


def text_of(result: CallToolResult) -> str:
    (block,) = result.content
    assert block.type == "text"
    return block.text


class Lines:
    """A running server that is spoken with line by line; all that it prints is kept."""

    def __init__(self, environ: Mapping[str, str], *arguments: str, program: list[str] | None = None) -> None:
        self.received: list[bytes] = []
        self.era = "2025-11-25"
        self.process = subprocess.Popen(
            program or command(*arguments),
            env=dict(environ),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self._watchdog = threading.Timer(MAX_TALK_S, self.process.kill)

    def __enter__(self) -> Lines:
        # A server that falls silent must not keep the tests waiting.
        self._watchdog.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._watchdog.cancel()
        self.process.kill()
        self.process.communicate()

    def send(self, *messages: object) -> None:
        """Send messages, or lines as they are."""
        assert self.process.stdin
        for message in messages:
            line = message if isinstance(message, bytes) else json.dumps(message).encode()
            self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def receive(self) -> dict[str, Any]:
        """Wait for a line, which must be a message."""
        assert self.process.stdout
        line = self.process.stdout.readline()
        assert line, self.process.stderr and self.process.stderr.read().decode()
        self.received.append(line)
        return message_in(line)

    def answer_to(self, number: object) -> dict[str, Any]:
        """Wait for the answer to a request."""
        while (message := self.receive()).get("id") != number:
            pass
        return message

    def start(self, era: str = "2025-11-25") -> None:
        """Begin in a revision of the protocol; since 2026-07-28 there is no handshake."""
        self.era = era
        if era != "2025-11-25":
            return
        self.send(INITIALIZE)
        self.answer_to(0)
        self.send(INITIALIZED)

    def call(self, number: int, name: str, **arguments: object) -> dict[str, Any]:
        self.send(calling(number, name, arguments, self.era))
        return self.answer_to(number)

    def end(self) -> tuple[int, list[dict[str, Any]], str]:
        """Close the server's input; return how it ended, all that it sent, and what it said beside that."""
        out, err = self.process.communicate(timeout=WAIT_S)
        lines = [*self.received, *out.splitlines(keepends=True)]
        return self.process.returncode, [message_in(line) for line in lines], err.decode("utf-8", "replace")


def asking(number: object, method: str, era: str = "2025-11-25", **params: object) -> dict[str, Any]:
    """Return a request; since 2026-07-28 each says which revision it is in and who asks."""
    if era != "2025-11-25":
        about = {"protocolVersion": era, "clientInfo": INITIALIZE["params"]["clientInfo"], "clientCapabilities": {}}
        params["_meta"] = {f"io.modelcontextprotocol/{name}": value for name, value in about.items()}
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def calling(number: object, name: str, arguments: object, era: str = "2025-11-25") -> dict[str, Any]:
    """Return the request that calls a tool."""
    return asking(number, "tools/call", era, name=name, arguments=arguments)


def message_in(line: bytes) -> dict[str, Any]:
    """Return the message that a line is; fail for a line that is none."""
    value = json.loads(line.decode("utf-8"))
    assert line.endswith(b"\n")
    assert isinstance(value, dict)
    assert value["jsonrpc"] == "2.0"
    assert value.keys() & {"result", "error", "method"}
    return value


def golden(path: Path, found: object, *, update: bool) -> None:
    """Compare with what a file holds, or write it anew."""
    text = json.dumps(found, ensure_ascii=False, indent=1, sort_keys=True) + "\n"
    if update:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    assert path.read_text("utf-8") == text, f"{path.name} differs; pytest --update-golden writes it anew"


def told(result: CallToolResult, docs: Path) -> dict[str, Any]:
    """Return a result without what differs from one run to the next."""
    whole = {"text": text_of(result), "data": result.structured_content, "is_error": result.is_error}
    text = json.dumps(whole, ensure_ascii=False).replace(json.dumps(str(docs))[1:-1], "DOCS")
    value: dict[str, Any] = json.loads(text)
    if file := (value["data"] or {}).get("file"):
        value["data"]["file"] = file.replace("\\", "/")
    for base in (value["data"] or {}).get("bases", ()):
        if isinstance(base, dict):
            date = base.get("changed_at", "-")[:10]
            value["text"] = value["text"].replace(date, "DATE")
            base["changed_at"] = "DATE"
    return value
