"""Agents that may write: jobs over the real protocol, with progress, stopped by a client or by the end of its input."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from mcp import Client

from agents import ERAS, WAIT_S, Lines, calling, golden, over_http, over_stdio, run
from endpoints import Seen, Server, Told, embedded, serving
from served import served

if TYPE_CHECKING:
    from conftest import Cli

GOLDEN = Path(__file__).with_name("mcp_golden")
OPTIONS = ("--tools", "domain", "--allow-write")
FILES = 40


class Gate:
    """An endpoint that embeds nothing before the test lets it; `asked` tells that it was asked to."""

    def __init__(self) -> None:
        self.asked = Event()
        self.is_open = Event()

    def __call__(self, _: int, seen: Seen) -> Told:
        self.asked.set()
        assert self.is_open.wait(WAIT_S)
        return embedded(seen)


@pytest.fixture
def gate() -> Iterator[tuple[Gate, Server]]:
    closed = Gate()
    with serving(closed) as server:
        yield closed, server
        closed.is_open.set()


@pytest.fixture
def station(cli: Cli) -> Cli:
    """Return the command over the base `notes`, of which one document is read and all others are new."""
    cli.write("notes/first.md", "The pump is greased.")
    assert cli("index", "docs/notes", "--base", "notes").returncode == 0
    for number in range(FILES):
        cli.write(f"notes/{number}.md", f"The valve number {number} is painted.")
    return cli


def environ(cli: Cli, server: Server) -> dict[str, str]:
    """Let the base be embedded by the endpoint."""
    settings = f'[models.embedding]\napi_url = "{server.url}"\nmodel_name = "m"\nbatch_size = 4\n'
    (cli.home / "config.toml").write_text(settings)
    return cli.environ(ZHIKU_EMBEDDER="")


def ingesting(cli: Cli, number: int, **told: Any) -> dict[str, Any]:
    """Return the request that reads the base's folder, with progress if told so."""
    request = calling(number, "kb_ingest", {"domain": "notes", "source": str(cli.docs / "notes")})
    request["params"] |= told
    return request


def ended(server: Lines, job_id: str) -> dict[str, Any]:
    """Wait for a job to end."""
    for number in range(1_000, 1_000_000):
        task: dict[str, Any] = server.call(number, "kb_task", job_id=job_id)["result"]["structuredContent"]
        if task["state"] not in ("queued", "running"):
            return task
    raise AssertionError("it never ended")


@pytest.mark.parametrize("era", ERAS)
def test_tools_that_write_are_listed_as_such(station: Cli, era: str, request: pytest.FixtureRequest) -> None:
    async def tools() -> list[dict[str, Any]]:
        async with over_stdio(station.environ(), era, *OPTIONS) as client:
            listed = await client.list_tools()
            return [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in listed.tools]

    found = run(tools)
    golden(GOLDEN / "domain_writing_tools.json", found, update=request.config.getoption("--update-golden"))
    hints = {
        tool["name"]: (tool["annotations"]["readOnlyHint"], tool["annotations"]["destructiveHint"]) for tool in found
    }
    assert hints["kb_ingest"] == hints["kb_forget"] == (False, True)
    assert {hints[name] for name in ("kb_search", "kb_domains", "kb_task")} == {(True, False)}


def test_a_job_runs_while_searches_are_answered_and_is_told_of(station: Cli, gate: tuple[Gate, Server]) -> None:
    """B60: the call returns at once, with the id of a job."""
    closed, endpoint = gate
    with Lines(environ(station, endpoint), *OPTIONS) as server:
        server.start()
        server.send(ingesting(station, 1))
        begun = server.answer_to(1)["result"]["structuredContent"]
        assert closed.asked.wait(WAIT_S)
        found = server.call(2, "kb_search", domain="notes", query="valve number 7")["result"]["structuredContent"]
        task = server.call(3, "kb_task", job_id=begun["job_id"])["result"]["structuredContent"]
        closed.is_open.set()
        done = ended(server, begun["job_id"])
        code, _, _ = server.end()

    assert begun["state"] in ("queued", "running")
    assert found["hits"][0]["path"] == "7.md"
    assert (task["state"], task["step"]) == ("running", "embedding")
    assert (done["state"], done["result"]["new"], done["result"]["embedded"]) == ("done", FILES, FILES + 1)
    assert code == 0


def test_a_client_that_asks_for_progress_is_told_and_may_stop_the_job(station: Cli, gate: tuple[Gate, Server]) -> None:
    """B60: progress, a search meanwhile, and a cancellation that keeps what is done."""
    closed, endpoint = gate
    with Lines(environ(station, endpoint), *OPTIONS) as server:
        server.start()
        server.send(ingesting(station, 1, _meta={"progressToken": "p1"}))
        told = [server.receive() for _ in range(2)]
        assert closed.asked.wait(WAIT_S)
        found = server.call(2, "kb_search", domain="notes", query="pump")["result"]["structuredContent"]
        server.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})
        server.send(calling(3, "kb_search", {"domain": "notes", "query": "valve number 7"}))
        meanwhile = server.answer_to(3)["result"]["structuredContent"]
        closed.is_open.set()
        stopped = ended(server, "1")
        code, messages, _ = server.end()

    assert {message["method"] for message in told} == {"notifications/progress"}
    assert {message["params"]["progressToken"] for message in told} == {"p1"}
    steps = [message["params"]["progress"] for message in messages if message.get("method") == "notifications/progress"]
    assert steps == sorted(set(steps))
    assert found["hits"][0]["path"] == "first.md"
    assert meanwhile["hits"][0]["path"] == "7.md"
    assert stopped["state"] == "cancelled"
    assert stopped["result"]["new"] == FILES
    assert stopped["result"]["embedded"] < FILES
    assert code == 0
    assert all("result" not in message for message in messages if message.get("id") == 1)


def test_a_closed_input_ends_the_process_though_a_job_runs(station: Cli, gate: tuple[Gate, Server]) -> None:
    """B60."""
    closed, endpoint = gate
    with Lines(environ(station, endpoint), *OPTIONS) as server:
        server.start()
        server.send(ingesting(station, 1))
        server.answer_to(1)
        assert closed.asked.wait(WAIT_S)
        code, _, said = server.end()
    assert code == 0
    assert "Traceback" not in said
    again = station("search", "-b", "notes", "valve number 7", "--format", "files")
    assert again.stdout.splitlines()[0].endswith("/7.md")


Connect = Callable[["Cli", str], Any]


@asynccontextmanager
async def _stdio(cli: Cli, era: str) -> AsyncIterator[Client]:
    async with over_stdio(cli.environ(), era, *OPTIONS) as client:
        yield client


@asynccontextmanager
async def _http(cli: Cli, era: str) -> AsyncIterator[Client]:
    with served(cli.folder, cli.environ(), *OPTIONS, command=("mcp", "--http")) as running:
        async with over_http(running.url, era) as client:
            yield client


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("connect", [_stdio, _http], ids=["stdio", "http"])
def test_progress_and_result_reach_real_clients(station: Cli, connect: Connect, era: str) -> None:
    told: list[tuple[float, str | None]] = []

    async def heard(progress: float, _total: float | None, message: str | None) -> None:
        told.append((progress, message))

    async def ingest() -> dict[str, Any]:
        async with connect(station, era) as client:
            arguments = {"domain": "notes", "source": "."}
            result = await client.call_tool("kb_ingest", arguments, progress_callback=heard)
            found = await client.call_tool("kb_search", {"domain": "notes", "query": "valve number 7"})
            forgotten = await client.call_tool("kb_forget", {"domain": "notes", "rel_path": "7.md"})
            assert not result.is_error, result
            assert not forgotten.is_error, forgotten
            assert found.structured_content["hits"][0]["path"] == "7.md"
            with anyio.fail_after(WAIT_S):
                gone = await client.call_tool("kb_search", {"domain": "notes", "query": "valve number 7", "top_k": 1})
            assert gone.structured_content["hits"][0]["path"] != "7.md"
            return dict(result.structured_content or {})

    done = run(ingest)
    assert (done["state"], done["result"]["new"]) == ("done", FILES)
    assert [progress for progress, _ in told] == sorted({progress for progress, _ in told})
    assert (station.docs / "notes" / "7.md").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="links need a right there")
def test_nothing_outside_the_configured_roots_is_read(station: Cli) -> None:
    station.write("outside/secret.md", "zebra")
    (station.docs / "notes" / "link").symlink_to(station.docs / "outside", target_is_directory=True)
    with Lines(station.environ(), *OPTIONS) as server:
        server.start()
        sources = ["/", str(station.docs), str(station.docs / "outside"), "link", "../outside", str(station.home)]
        refused = [
            server.call(number, "kb_ingest", domain="notes", source=source)["result"]
            for number, source in enumerate(sources)
        ]
        new = server.call(99, "kb_ingest", domain="fresh", source=str(station.docs / "outside"))["result"]
        domains = server.call(100, "kb_domains")["result"]["structuredContent"]["domains"]
    assert all(result["isError"] for result in [*refused, new])
    assert [each["name"] for each in domains] == ["notes"]


def test_without_being_allowed_nothing_is_changed(station: Cli) -> None:
    with Lines(station.environ(), "--tools", "domain") as server:
        server.start()
        refused = server.call(1, "kb_forget", domain="notes", rel_path="first.md")["result"]
    assert refused["isError"]
    assert "There is no tool 'kb_forget'" in refused["content"][0]["text"]
