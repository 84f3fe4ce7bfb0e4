"""The sets of tools for agents written against other servers, by real clients of both revisions over both doors."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from mcp import Client
from mcp_types import CallToolResult

from agents import ERAS, Lines, golden, over_http, over_stdio, run, text_of
from served import served

if TYPE_CHECKING:
    from conftest import Cli

GOLDEN = Path(__file__).with_name("mcp_golden")
HTTP = ("mcp", "--http")
PROFILES = {"mei": ["works"], "lu": ["notes", "works", "gone"], "blind": []}
SEMANTIC = {"knowledge_base": "notes", "query": "seal grease"}
CALLS: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "kb": [
        ("kb_search", {"query": "密封圈"}),
        ("kb_search", {"query": "zebra", "top_k": 1}),
        ("kb_search", {"query": "seal", "base": "works"}),
    ],
    "knowledge": [
        ("knowledge_list", {}),
        ("knowledge_list", {"include_intro": False, "include_has_intro": True, "name_keyword": "work"}),
        ("knowledge_text_search", {"knowledge_base": "notes", "keyword": "gate-sync"}),
        ("knowledge_text_search", {"knowledge_base": "notes", "keyword": "第", "max_lines": 1, "include_line": False}),
        ("knowledge_text_search", {"knowledge_base": "note", "keyword": "x"}),
        ("knowledge_semantic_search", SEMANTIC),
        ("knowledge_semantic_search", {**SEMANTIC, "include_rerank_score": False, "max_chars_per_item": 20}),
        ("knowledge_semantic_search", {**SEMANTIC, "enable_rerank": True, "top_k": 3, "rerank_top_k": 3}),
    ],
    "domain": [
        ("kb_domains", {}),
        ("kb_search", {"domain": "works", "query": "frost"}),
        ("kb_search", {"domain": "works", "query": "zebra"}),
        ("kb_search", {"domain": "work", "query": "frost"}),
        ("kb_ingest", {"domain": "works", "source": "/"}),
    ],
    "persona": [
        ("kb_ask", {"question": "frost", "persona": "mei"}),
        ("kb_ask", {"question": "密封圈", "persona": "mei"}),
        ("kb_ask", {"question": "密封圈", "persona": "lu", "top_k": 1}),
        ("kb_ask", {"question": "frost", "persona": "blind"}),
        ("kb_ask", {"question": "frost", "persona": "../mei"}),
        ("kb_ask", {"question": "frost"}),
        ("kb_coverage", {"persona": "lu"}),
        ("kb_coverage", {"persona": "blind"}),
    ],
}


@pytest.fixture(scope="module")
def station(new_cli: Callable[[], Cli]) -> Cli:
    """Return the command over two bases, `notes` and `works`, one of them with terms, and three personas."""
    command = new_cli()
    command.write("notes/pumps.md", "# Pumps\n\nThe seal of the gate-sync pump is greased.\n\n水泵的密封圈每年上油。\n")
    command.write("notes/记录.txt", "第一行：闸门检查。\n第二行：雨量筒校准完毕。\n")
    command.write("works/valve.md", "# Valve\n\nClose the valve before the frost.\n")
    for name in ("notes", "works"):
        assert command("index", f"docs/{name}", "--base", name).returncode == 0
    assert command("index", "docs/notes").returncode == 0
    (command.home / "bases" / "works" / "glossary.md").write_text("frost = 霜冻\n", "utf-8")
    for name, bases in PROFILES.items():
        profile = command.home / "personas" / name / "profile.md"
        profile.parent.mkdir(parents=True)
        profile.write_text("## visible_domains\n\n" + "".join(f"- {base}\n" for base in bases))
    return command


def told(result: CallToolResult, cli: Cli) -> dict[str, Any]:
    """Return a result without what differs from one run to the next."""
    whole = {"text": text_of(result), "data": result.structured_content, "is_error": result.is_error}
    text = json.dumps(whole, ensure_ascii=False).replace(json.dumps(str(cli.folder))[1:-1], "FOLDER")
    value: dict[str, Any] = json.loads(re.sub(r"\d{4}-\d\d-\d\dT[\d:]+\+00:00", "TIME", text))
    return value


async def results(client: Client, name: str, cli: Cli) -> list[dict[str, Any]]:
    return [
        {"tool": tool, "arguments": arguments, **told(await client.call_tool(tool, arguments), cli)}
        for tool, arguments in CALLS[name]
    ]


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("name", CALLS)
def test_the_tools_of_a_set_give_their_golden_results(
    station: Cli, name: str, era: str, request: pytest.FixtureRequest
) -> None:
    async def found() -> list[dict[str, Any]]:
        async with over_stdio(station.environ(), era, "--tools", name) as client:
            return await results(client, name, station)

    golden(GOLDEN / f"{name}_results.json", run(found), update=request.config.getoption("--update-golden"))


@pytest.mark.parametrize("name", CALLS)
def test_the_results_over_http_are_the_same(station: Cli, name: str) -> None:
    async def found(url: str, era: str) -> list[dict[str, Any]]:
        async with over_http(url, era) as client:
            return await results(client, name, station)

    with served(station.folder, station.environ(), "--tools", name, command=HTTP) as server:
        for era in ERAS:
            golden(GOLDEN / f"{name}_results.json", run(lambda era=era: found(server.url, era)), update=False)


def test_several_sets_are_offered_together_unless_they_share_a_name(station: Cli) -> None:
    with Lines(station.environ(), "--tools", "knowledge,persona") as server:
        server.start()
        server.send({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
        listed = server.answer_to(1)["result"]["tools"]
    assert [tool["name"] for tool in listed] == [
        "knowledge_list",
        "knowledge_text_search",
        "knowledge_semantic_search",
        "kb_ask",
        "kb_coverage",
    ]
    refused = station("mcp", "--tools", "default,kb")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "have a tool kb_search each" in refused.stderr
    unknown = station("mcp", "--tools", "kbs")
    assert (unknown.returncode, unknown.stdout) == (2, "")
    assert "default, kb, knowledge, domain, persona" in unknown.stderr


def test_a_profile_that_is_edited_counts_at_once(station: Cli) -> None:
    profile = station.home / "personas" / "new" / "profile.md"
    profile.parent.mkdir()
    profile.write_text("# New\n")
    with Lines(station.environ(), "--tools", "persona") as server:
        server.start()
        before = server.call(1, "kb_ask", question="frost", persona="new")["result"]["structuredContent"]
        profile.write_text("## visible_domains\n- works\n")
        after = server.call(2, "kb_ask", question="frost", persona="new")["result"]["structuredContent"]
    assert (before["coverage"], after["coverage"]) == (False, True)
    assert "no section ## visible_domains" in before["hint"]
