"""`zhiku mcp` over the standard streams: real clients of both revisions, and a stream that holds nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from agents import (
    CALLS,
    ERAS,
    WAIT_S,
    Heard,
    Lines,
    calling,
    golden,
    over_stdio,
    run,
    text_of,
    told,
    tools_after,
)
from zhiku.mcp.toolsets import SETS

if TYPE_CHECKING:
    from conftest import Cli

GOLDEN = Path(__file__).with_name("mcp_golden")


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("name", SETS)
def test_the_tools_of_a_set_are_those_of_its_golden_list(
    notes: Cli, name: str, era: str, request: pytest.FixtureRequest
) -> None:
    async def tools() -> list[dict[str, Any]]:
        async with over_stdio(notes.environ(), era, "--tools", name) as client:
            listed = await client.list_tools()
            return [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in listed.tools]

    golden(GOLDEN / f"{name}_tools.json", run(tools), update=request.config.getoption("--update-golden"))


@pytest.mark.parametrize("era", ERAS)
def test_the_default_tools_give_their_golden_results(notes: Cli, era: str, request: pytest.FixtureRequest) -> None:
    async def results() -> list[dict[str, Any]]:
        async with over_stdio(notes.environ(), era) as client:
            return [
                {"tool": name, "arguments": arguments, **told(await client.call_tool(name, arguments), notes.docs)}
                for name, arguments in CALLS
            ]

    golden(GOLDEN / "default_results.json", run(results), update=request.config.getoption("--update-golden"))


def test_every_tool_of_the_default_set_only_reads(notes: Cli) -> None:
    async def hints() -> list[bool | None]:
        async with over_stdio(notes.environ(), "2026-07-28") as client:
            return [tool.annotations and tool.annotations.read_only_hint for tool in (await client.list_tools()).tools]

    assert run(hints) == [True] * 5


@pytest.mark.parametrize("era", ERAS)
def test_the_first_base_brings_the_other_tools_and_clients_are_told(cli: Cli, era: str) -> None:
    cli.write("a.md", "The pump is greased.")

    async def names() -> list[list[str]]:
        heard = Heard()
        async with over_stdio(cli.environ(), era, heard=heard) as client:
            before = await client.list_tools()
            assert "zhiku index" in text_of(await client.call_tool("kb_list"))
            after = await tools_after(client, era, heard, lambda: cli("index", "docs"))
            assert "a.md" in text_of(await client.call_tool("kb_search", {"query": "pump"}))
            return [[tool.name for tool in before.tools], after]

    before, after = run(names)

    assert before == ["kb_list"]
    assert after == ["kb_search", "kb_read", "kb_grep", "kb_list", "kb_coverage"]


def test_bases_and_settings_changed_outside_take_effect_at_once(cli: Cli) -> None:
    for name in ("first", "second"):
        for number in range(3):
            cli.write(f"{name}/pump{number}.md", f"The pump {number} is greased.")
    cli("index", "docs/first", "--base", "first")
    with Lines(cli.environ()) as server:
        server.start()
        before = server.call(1, "kb_search", query="pump")["result"]["structuredContent"]
        cli("index", "docs/second", "--base", "second")
        cli("config", "set", "search.top_k", "2")
        second = server.call(2, "kb_search", query="pump")["result"]["structuredContent"]
        cli("delete", "first", "--yes")
        gone = server.call(3, "kb_search", query="pump", top_k=5)["result"]["structuredContent"]

    assert (before["bases"], before["total"]) == (["first"], 3)
    assert (second["bases"], second["total"]) == (["first", "second"], 2)
    assert (gone["bases"], gone["total"]) == (["second"], 3)


def test_only_the_bases_named_are_seen(cli: Cli) -> None:
    for name in ("first", "second"):
        cli.write(f"{name}/{name}.md", f"The pump of {name} is greased.")
        cli("index", f"docs/{name}", "--base", name)
    with Lines(cli.environ(), "--base", "second") as server:
        server.start()
        listed = server.call(1, "kb_list")["result"]["structuredContent"]
        found = server.call(2, "kb_search", query="pump")["result"]["structuredContent"]
        hidden = server.call(3, "kb_search", query="pump", base="first")["result"]
        read = server.call(4, "kb_read", locator="zhiku://first/first.md")["result"]

    assert [base["name"] for base in listed["bases"]] == ["second"]
    assert [hit["path"] for hit in found["hits"]] == ["second.md"]
    assert hidden["isError"]
    assert "no base named 'first'" in hidden["content"][0]["text"]
    assert read["isError"]
    assert "no base named 'first'" in read["content"][0]["text"]


# --- the stream ---

NOISY = """
import ctypes, os, subprocess, sys, warnings
from zhiku.cli.mcp import mcp
from zhiku.cli import main
import zhiku.service.view as view

search = view.View.search

def noisy(self, *args, **kwargs):
    print("printed", flush=True)
    os.write(1, b"written to 1\\n")
    subprocess.run([sys.executable, "-c", "print('printed by a child')"], check=True)
    libc = ctypes.CDLL(None if os.name == "posix" else "msvcrt")
    libc.printf(b"printed by C\\n")
    libc.fflush(None)
    warnings.warn("a warning")
    assert sys.stdin.read() == ""
    return search(self, *args, **kwargs)

view.View.search = noisy
sys.exit(main.run(["-vv", "mcp"]))
"""


def test_whatever_else_prints_the_stream_holds_nothing_but_messages(cli: Cli) -> None:
    """B55: warnings, a log of everything, a broken PDF, and code of all kinds that prints."""
    cli.write("a.md", "短文甲：石墨。")
    cli.write("broken.pdf", b"%PDF-1.7\nbroken")
    cli("index", "docs")
    with Lines(cli.environ(PYTHONWARNINGS="always"), program=[sys.executable, "-c", NOISY]) as server:
        server.start()
        server.send({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
        found = server.call(2, "kb_search", query="石墨")["result"]["structuredContent"]
        server.call(3, "kb_coverage")
        code, messages, said = server.end()

    assert [hit["path"] for hit in found["hits"]] == ["a.md"]
    assert found["health"]["failed_files"] == 1
    assert code == 0
    assert [message["id"] for message in messages] == [0, 1, 2, 3]
    for text in ("printed", "written to 1", "printed by a child", "printed by C", "a warning"):
        assert text in said


def test_it_ends_when_its_input_does(notes: Cli) -> None:
    with Lines(notes.environ()) as server:
        server.start()
        code, _, said = server.end()

    assert code == 0
    assert said == ""


def test_it_ends_when_the_client_is_gone(notes: Cli) -> None:
    with Lines(notes.environ()) as server:
        server.start()
        assert server.process.stdout
        server.process.stdout.close()
        server.send({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
        server.process.wait(WAIT_S)

    assert server.process.returncode == 0


@pytest.mark.skipif(os.name != "posix", reason="Windows cannot send SIGINT to another process")
def test_ctrl_c_ends_it_while_it_waits_for_a_line(notes: Cli) -> None:
    import signal

    with Lines(notes.environ()) as server:
        server.start()
        server.process.send_signal(signal.SIGINT)
        server.process.wait(WAIT_S)

    assert server.process.returncode == 130


@pytest.mark.skipif(os.name != "posix", reason="needs a POSIX shell")
def test_without_a_stream_to_serve_over_that_is_said(notes: Cli) -> None:
    words = ["sh", "-c", 'exec "$0" -m zhiku mcp <&-', sys.executable]
    done = subprocess.run(words, env=notes.environ(), capture_output=True, timeout=WAIT_S, check=False)

    assert (done.returncode, done.stdout) == (2, b"")
    assert b"--http" in done.stderr


def test_text_is_utf_8_whatever_the_locale_says(cli: Cli) -> None:
    cli.write("记录.md", "第一行：闸门检查 🛠。")
    cli("index", "docs")
    with Lines(cli.environ(LC_ALL="C", PYTHONIOENCODING="ascii", PYTHONUTF8="0")) as server:
        server.start()
        found = server.call(1, "kb_search", query="闸门")["result"]

    assert "记录.md" in found["content"][0]["text"]
    assert found["structuredContent"]["hits"][0]["text"] == "第一行：闸门检查 🛠。"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems have no such names")
def test_a_file_name_that_is_no_utf_8_can_be_told_and_read(cli: Cli) -> None:
    (cli.docs / os.fsdecode(b"caf\xe9.md")).write_text("The pump is greased.", "utf-8")
    cli("index", "docs")
    with Lines(cli.environ()) as server:
        server.start()
        (hit,) = server.call(1, "kb_search", query="pump")["result"]["structuredContent"]["hits"]
        read = server.call(2, "kb_read", locator=hit["locator"])["result"]

    assert hit["path"] == "caf\\xe9.md"
    assert read["structuredContent"]["text"] == "The pump is greased."


def test_the_handshake_waits_for_no_model(notes: Cli) -> None:
    """The list of tools is there before numpy or ONNX Runtime is imported, or a base is opened."""
    code = (
        "import sys; from zhiku.mcp import server; call = server.ToolServer._list\n"
        "async def told(self, *args):\n"
        "    print(sorted(sys.modules), file=sys.stderr, flush=True); return await call(self, *args)\n"
        "server.ToolServer._list = told\n"
        "from zhiku.cli import main; sys.exit(main.run(['mcp']))"
    )
    with Lines(notes.environ(ZHIKU_EMBEDDER=""), program=[sys.executable, "-c", code]) as server:
        server.start()
        server.send({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
        server.answer_to(1)
        _, _, said = server.end()

    assert "'mcp'" in said
    assert "numpy" not in said
    assert "onnxruntime" not in said


# --- requests beside each other ---

SLOW = """
import sys, threading
from zhiku.mcp import server
from zhiku.cli import main
import zhiku.service.view as view

grep = view.View.grep

def slow(self, *args, **kwargs):
    threading.Event().wait(3600)

view.View.grep = slow
sys.exit(main.run(["mcp"]))
"""


@pytest.mark.parametrize("era", ERAS)
def test_a_search_is_answered_while_another_call_runs_and_one_that_is_cancelled_is_let_go(notes: Cli, era: str) -> None:
    """B60."""
    with Lines(notes.environ(), program=[sys.executable, "-c", SLOW]) as server:
        server.start(era)
        server.send(calling(1, "kb_grep", {"keyword": "slow"}, era))
        found = server.call(2, "kb_search", query="seal")
        server.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})
        again = server.call(3, "kb_search", query="seal")
        code, messages, _ = server.end()

    assert found["result"]["structuredContent"]["hits"]
    assert again["result"]["structuredContent"]["hits"]
    assert code == 0
    assert all("result" not in message for message in messages if message["id"] == 1)


def test_many_searches_at_once_are_all_answered_rightly(notes: Cli) -> None:
    with Lines(notes.environ()) as server:
        server.start()
        words = ["seal", "密封圈", "frost", "雨量筒"] * 10
        server.send(*(calling(i, "kb_search", {"query": word}) for i, word in enumerate(words, start=1)))
        answers = {message["id"]: message for message in (server.receive() for _ in words)}
        alone = {word: server.call(100 + i, "kb_search", query=word)["result"] for i, word in enumerate(set(words))}

    assert [answers[i]["result"] for i, _ in enumerate(words, start=1)] == [alone[word] for word in words]
