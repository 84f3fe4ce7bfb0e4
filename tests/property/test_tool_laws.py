"""Whatever an agent calls, with whatever arguments, it learns nothing of a base that its persona does not see."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from doubles import HIDDEN, PATHS, PERSONA, SEEN, WORDS, Doubles
from zhiku.errors import ZhikuError
from zhiku.mcp.sight import Sight
from zhiku.mcp.tool import BadCall, Tool
from zhiku.mcp.toolsets import SETS, tools_of

TOOLS = [(name, tool) for name in SETS for tool in tools_of([name])]

names = st.sampled_from([*SEEN, *HIDDEN, "VAULT", "vaul", "../vault", "default", ""])
words = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join)
sources = st.sampled_from([*PATHS, "*", "vault/*", "*.md", "docs/*/*"])
locators = st.builds(
    "zhiku://{}/{}{}{}".format,
    st.sampled_from([*SEEN, *HIDDEN, "VAULT", "%76ault"]),
    st.sampled_from(PATHS),
    st.sampled_from(["", "?doc=1", "?doc=2", "?doc=1&of=000000000000", "?doc=2&chars=0-20"]),
    st.sampled_from(["", "#L1-3"]),
)
ARGUMENTS: dict[str, st.SearchStrategy[Any]] = {
    **dict.fromkeys(("base", "knowledge_base", "domain", "name_keyword"), names),
    **dict.fromkeys(("query", "question", "keyword", "topic"), words),
    **dict.fromkeys(("source", "source_keyword"), sources),
    "persona": st.sampled_from(["", PERSONA, "MEI", "other", "../mei"]),
    "path": st.sampled_from(PATHS),
    "locator": locators | st.sampled_from(PATHS),
    "lines": st.sampled_from(["1-3", "2-", "x"]),
    "mode": st.sampled_from(["hybrid", "lexical", "semantic"]),
}
NUMBERS = st.sampled_from([0, 1, 2, 5, 120, 2_000])


@st.composite
def calls(draw: st.DrawFn) -> tuple[str, Tool, dict[str, Any]]:
    """Draw a tool of a set, and arguments for it: all that it needs, and some of the others."""
    name, tool = draw(st.sampled_from(TOOLS))
    schema = tool.input_schema
    given_too = draw(st.sets(st.sampled_from(sorted(schema["properties"])))) if schema["properties"] else set()
    arguments = {}
    for argument in sorted({*schema.get("required", ()), *given_too}):
        kind = schema["properties"][argument].get("type")
        others = st.booleans() if kind == "boolean" else NUMBERS
        arguments[argument] = draw(ARGUMENTS.get(argument, others))
    return name, tool, arguments


def answer(sight: Sight, tool: Tool, arguments: dict[str, Any]) -> str:
    """Return all that an agent is given."""
    try:
        reply = tool.run(sight, **tool.arguments(arguments))
    except (ZhikuError, BadCall) as error:
        return str(error)
    return reply.text + json.dumps(tool.json_of(reply.data), ensure_ascii=False)


@pytest.fixture(scope="module")
def doubles(tmp_path_factory: pytest.TempPathFactory) -> Doubles:
    return Doubles(tmp_path_factory.mktemp("doubles"))


@settings(max_examples=150, deadline=None)
@given(st.lists(calls(), min_size=1, max_size=6))
def test_no_sequence_of_calls_tells_that_there_is_another_base(
    doubles: Doubles, asked: list[tuple[str, Tool, dict[str, Any]]]
) -> None:
    for name, tool, arguments in asked:
        # A server that is for the persona; and the set that takes one as an argument, on a server for all of them.
        sights = [Sight(library=library, persona=PERSONA) for library in doubles.libraries]
        if name == "persona":
            arguments = {**arguments, "persona": arguments.get("persona") or PERSONA}
            sights = [Sight(library=library) for library in doubles.libraries]
        told, expected = (doubles.placeless(answer(sight, tool, arguments)) for sight in sights)
        assert told == expected


@settings(max_examples=100, deadline=None)
@given(st.lists(calls(), min_size=1, max_size=6))
def test_bases_that_a_server_does_not_show_are_not_there(
    doubles: Doubles, asked: list[tuple[str, Tool, dict[str, Any]]]
) -> None:
    for _, tool, arguments in asked:
        sights = [Sight(library=library, bases=("notes", "papers")) for library in doubles.libraries]
        told, expected = (doubles.placeless(answer(sight, tool, arguments)) for sight in sights)
        assert told == expected


def test_the_law_would_notice_a_base_that_is_not_hidden(doubles: Doubles) -> None:
    tools = {(name, tool.name): tool for name, tool in TOOLS}
    for key, arguments in {
        ("default", "kb_list"): {},
        ("knowledge", "knowledge_list"): {},
        ("domain", "kb_domains"): {},
        ("domain", "kb_search"): {"domain": "vault", "query": "zebra"},
    }.items():
        told, expected = (answer(Sight(library=library), tools[key], arguments) for library in doubles.libraries)
        assert told != expected
