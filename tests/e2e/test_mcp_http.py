"""`zhiku mcp --http`: real clients of both revisions over a real socket, and who is not served."""

from __future__ import annotations

import json
import signal
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import httpx2
import pytest

from agents import CALLS, ERAS, INITIALIZE, Heard, golden, over_http, run, text_of, told, tools_after
from patience import PROMPT_S
from served import Served, served

if TYPE_CHECKING:
    from conftest import Cli

GOLDEN = Path(__file__).with_name("mcp_golden")
HTTP = ("mcp", "--http")
ACCEPT = {"Accept": "application/json, text/event-stream"}
needs_signals = pytest.mark.skipif(sys.platform == "win32", reason="Windows cannot send SIGINT to another process")


@pytest.fixture(scope="module")
def server(notes: Cli) -> Iterator[Served]:
    with served(notes.folder, notes.environ(), command=HTTP) as running:
        yield running


def port_of(server: Served) -> int:
    return httpx2.URL(server.url).port or 0


def ask(server: Served, **headers: str) -> httpx2.Response:
    """Send the first request of a client, with some other headers."""
    return httpx2.post(server.url, json=INITIALIZE, headers={**ACCEPT, **headers}, trust_env=False, timeout=60)


@pytest.mark.parametrize("era", ERAS)
def test_the_tools_and_results_are_those_of_the_other_door(server: Served, notes: Cli, era: str) -> None:
    async def seen() -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        async with over_http(server.url, era) as client:
            tools = (await client.list_tools()).tools
            results = [
                {"tool": name, "arguments": arguments, **told(await client.call_tool(name, arguments), notes.docs)}
                for name, arguments in CALLS
            ]
            return [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in tools], results

    tools, results = run(seen)

    golden(GOLDEN / "default_tools.json", tools, update=False)
    golden(GOLDEN / "default_results.json", results, update=False)


@pytest.mark.parametrize("era", ERAS)
def test_clients_are_told_when_the_first_base_appears(cli: Cli, era: str) -> None:
    cli.write("a.md", "The pump is greased.")

    async def names(url: str) -> list[str]:
        heard = Heard()
        async with over_http(url, era, heard=heard) as client:
            assert [tool.name for tool in (await client.list_tools()).tools] == ["kb_list"]
            return await tools_after(client, era, heard, lambda: cli("index", "docs"))

    with served(cli.folder, cli.environ(), command=HTTP) as server:
        assert len(run(lambda: names(server.url))) == 5


def test_several_clients_of_both_eras_are_served_at_once(server: Served) -> None:
    async def found(era: str) -> str:
        async with over_http(server.url, era) as client:
            return text_of(await client.call_tool("kb_search", {"query": "seal"}))

    async def all_found() -> list[str]:
        texts: list[str] = []

        async def keep(era: str) -> None:
            texts.append(await found(era))

        async with anyio.create_task_group() as group:
            for era in [*ERAS, *ERAS, *ERAS]:
                group.start_soon(keep, era)
        return texts

    texts = run(all_found)

    assert len(texts) == 6
    assert len(set(texts)) == 1
    assert "pumps.md" in texts[0]


# --- who is not served ---


@pytest.mark.parametrize(
    "host",
    [
        "evil.example:PORT",
        "127.0.0.1.evil.example:PORT",
        "localhost.evil.example",
        "evil.example@127.0.0.1:PORT",
        "",
        "0.0.0.0:PORT",
        "127.0.0.1:1",
        "127.0.0.1",
    ],
)
def test_another_host_is_refused_before_anything_is_done(server: Served, host: str) -> None:
    """B61."""
    for method in ("POST", "GET", "DELETE", "OPTIONS"):
        reply = raw(server, method, host.replace("PORT", str(port_of(server))), "X-Forwarded-Host: 127.0.0.1\r\n")
        assert reply.split(b" ", 2)[1] in (b"400", b"403", b"421"), reply
        assert b"zhiku" not in reply.lower().replace(b"zhiku-", b"")


@pytest.mark.parametrize("host", ["127.0.0.1:PORT", "localhost:PORT", "LOCALHOST:PORT", "[::1]:PORT"])
def test_every_name_of_this_computer_is_served(server: Served, host: str) -> None:
    assert ask(server, Host=host.replace("PORT", str(port_of(server)))).status_code == 200


def raw(server: Served, method: str, host: str, more: str = "") -> bytes:
    """Send a request with this very Host, and return what comes first of the answer."""
    body = json.dumps(INITIALIZE)
    head = (
        f"{method} /mcp HTTP/1.1\r\nHost: {host}\r\n{more}Accept: application/json, text/event-stream\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", port_of(server)), timeout=60) as connection:
        connection.sendall((head + body).encode())
        return connection.recv(65_536)


def test_a_page_of_others_is_refused_and_no_other_origin_is_allowed(server: Served) -> None:
    """B66."""
    own = f"http://127.0.0.1:{port_of(server)}"
    assert ask(server, Origin=own).status_code == 200
    for origin in ("http://evil.example", "null", f"http://evil.example:{port_of(server)}", f"{own}.evil.example"):
        refused = ask(server, Origin=origin)
        assert refused.status_code == 403
        assert not [name for name in refused.headers if name.startswith("access-control")]
    preflight = httpx2.options(server.url, headers={"Origin": "http://evil.example"}, trust_env=False)
    assert preflight.status_code == 403
    assert not [name for name in preflight.headers if name.startswith("access-control")]


def test_only_this_computer_can_reach_it(server: Served) -> None:
    address = address_of_this_computer()
    with pytest.raises((ConnectionRefusedError, TimeoutError)):
        socket.create_connection((address, port_of(server)), timeout=5)


def address_of_this_computer() -> str:
    """Return an address that other computers know; nothing is sent for it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            pytest.skip("this computer has no network")
        return str(probe.getsockname()[0])


@pytest.mark.parametrize("way", ["option", "variable"])
def test_with_a_token_only_who_has_it_is_served(notes: Cli, way: str) -> None:
    token = "s3cret-token"
    arguments = ["--token", token] if way == "option" else []
    environ = notes.environ(**({"ZHIKU_MCP_TOKEN": token} if way == "variable" else {}))

    async def tools(url: str, era: str) -> int:
        async with over_http(url, era, token) as client:
            return len((await client.list_tools()).tools)

    with served(notes.folder, environ, *arguments, command=HTTP) as server:
        for wrong in ({}, {"Authorization": "Bearer s3cret"}, {"Authorization": token}, {"Authorization": "Basic x"}):
            refused = ask(server, **wrong)
            assert refused.status_code == 401
            assert refused.headers["www-authenticate"] == "Bearer"
        assert ask(server, Host="evil.example").status_code == 421
        assert [run(lambda era=era: tools(server.url, era)) for era in ERAS] == [5, 5]
        assert token not in server.notes


@pytest.mark.parametrize("token", ["", "two words", "密"])
def test_what_is_no_token_is_said_to_be_none(cli: Cli, token: str) -> None:
    done = cli("mcp", "--http", "--port", "0", "--token", token)

    assert (done.returncode, done.stdout) == (2, "")
    assert "no token" in done.stderr


def test_a_body_that_is_too_large_is_refused_and_the_next_one_is_not(server: Served) -> None:
    huge = httpx2.post(server.url, content=b" " * 5_000_000, headers=ACCEPT, trust_env=False, timeout=60)

    assert huge.status_code == 413
    assert ask(server).status_code == 200


@needs_signals
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_ends_at_once_whatever_is_under_way(notes: Cli, number: int) -> None:
    with served(notes.folder, notes.environ(), command=HTTP) as server:
        assert server.url.endswith("/mcp")
        ask(server)
        assert server.end(number) < PROMPT_S
        assert "Stopped serving" in server.notes
        assert "Traceback" not in server.notes


def test_options_for_http_need_it(cli: Cli) -> None:
    for option in (["--port", "0"], ["--token", "x"]):
        done = cli("mcp", *option)
        assert (done.returncode, done.stdout) == (2, "")
        assert "--http" in done.stderr
