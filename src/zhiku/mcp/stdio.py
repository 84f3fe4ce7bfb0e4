"""Serving one client over the standard streams, a message a line."""

from __future__ import annotations

import asyncio
import json
import threading
from contextlib import suppress

import anyio
import anyio.to_thread
import mcp_types as types
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.os.win32.utilities import rebind_std_handle_to_fd
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from zhiku.mcp.server import ToolServer
from zhiku.mcp.wire import MAX_LINE_BYTES, Wire

Incoming = MemoryObjectSendStream[SessionMessage | Exception]


def serve(server: ToolServer, wire: Wire) -> None:
    """Serve until the client closes its end, or is gone."""
    for number in (0, 1):
        # Windows hands on to child processes what it has beside the numbers.
        with suppress(OSError):
            rebind_std_handle_to_fd(number)
    anyio.run(_serve, server, wire)


async def _serve(server: ToolServer, wire: Wire) -> None:
    deliver, incoming = anyio.create_memory_object_stream[SessionMessage | Exception]()
    outgoing, to_send = anyio.create_memory_object_stream[SessionMessage]()
    loop = asyncio.get_running_loop()
    # A daemon: reading cannot be interrupted, and must not keep the process from ending.
    threading.Thread(target=_read, args=(wire, deliver, outgoing, loop), name="wire", daemon=True).start()
    async with anyio.create_task_group() as group:

        async def send() -> None:
            await _write(wire, to_send)
            group.cancel_scope.cancel()

        group.start_soon(send)
        await server.protocol.run(incoming, outgoing, server.protocol.create_initialization_options())


def _read(
    wire: Wire, deliver: Incoming, outgoing: MemoryObjectSendStream[SessionMessage], loop: asyncio.AbstractEventLoop
) -> None:
    """Hand on what the client wrote, message by message, and answer what is none."""

    async def hand_on(line: bytes) -> None:
        try:
            message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
        except ValidationError:
            await outgoing.send(SessionMessage(_refusal(line)))
        else:
            await deliver.send(SessionMessage(message))

    with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError, RuntimeError):  # the server ended first
        for line in wire.lines():
            if line.strip():
                asyncio.run_coroutine_threadsafe(hand_on(line), loop).result()
        asyncio.run_coroutine_threadsafe(deliver.aclose(), loop).result()


def _refusal(line: bytes) -> types.JSONRPCError:
    """Return the answer to a line that is no message: to its id, where it has one that can be made out."""
    code, text, number = types.PARSE_ERROR, "This is no JSON.", None
    if len(line) > MAX_LINE_BYTES:
        code, text = types.INVALID_REQUEST, f"A message has at most {MAX_LINE_BYTES:,} bytes."
    else:
        with suppress(ValueError, RecursionError):
            value = json.loads(line)
            code, text = types.INVALID_REQUEST, "This is no message of JSON-RPC 2.0, or holds what is no Unicode."
            if isinstance(value, dict) and "method" in value and type(value.get("id")) in (str, int):
                number = value["id"]
    return types.JSONRPCError(jsonrpc="2.0", id=number, error=types.ErrorData(code=code, message=text))


async def _write(wire: Wire, to_send: MemoryObjectReceiveStream[SessionMessage]) -> None:
    async with to_send:
        async for session_message in to_send:
            line = session_message.message.model_dump_json(by_alias=True, exclude_unset=True)
            try:
                await anyio.to_thread.run_sync(wire.write, line.encode("utf-8"))
            except OSError:
                return  # the client is gone
