"""AI agents for tests: clients of a real `zhiku mcp`, through the SDK and by bare lines."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal, TypeVar

import anyio
from mcp import Client, StdioServerParameters
from mcp.client.session import IncomingMessage
from mcp.client.stdio import stdio_client
from mcp_types import CallToolResult

T = TypeVar("T")

ERAS: dict[str, Literal["legacy"] | str] = {"2025-11-25": "legacy", "2026-07-28": "2026-07-28"}
"""The revisions of the protocol, and how the SDK's client is told to speak them."""
WAIT_S = 60.0

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "0"}},
}
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}


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


def text_of(result: CallToolResult) -> str:
    (block,) = result.content
    assert block.type == "text"
    return block.text


class Lines:
    """A running server that is spoken with line by line; all that it prints is kept."""

    def __init__(self, environ: Mapping[str, str], *arguments: str, program: list[str] | None = None) -> None:
        self.received: list[bytes] = []
        self.process = subprocess.Popen(
            program or command(*arguments),
            env=dict(environ),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def __enter__(self) -> Lines:
        return self

    def __exit__(self, *_: object) -> None:
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

    def start(self) -> None:
        """Shake hands."""
        self.send(INITIALIZE)
        self.answer_to(0)
        self.send(INITIALIZED)

    def call(self, number: int, name: str, **arguments: object) -> dict[str, Any]:
        self.send(calling(number, name, **arguments))
        return self.answer_to(number)

    def end(self) -> tuple[int, list[dict[str, Any]], str]:
        """Close the server's input; return how it ended, all that it sent, and what it said beside that."""
        out, err = self.process.communicate(timeout=WAIT_S)
        lines = [*self.received, *out.splitlines(keepends=True)]
        return self.process.returncode, [message_in(line) for line in lines], err.decode("utf-8", "replace")


def calling(number: int, name: str, **arguments: object) -> dict[str, Any]:
    """Return the request that calls a tool."""
    params = {"name": name, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


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
