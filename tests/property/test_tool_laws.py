"""Tools tell nothing of a base that their client may not see: twin servers, one with that base, say the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_view_laws import BASES, PATHS, WORDS, Doubles, locators, maybe, words

from zhiku.errors import ZhikuError
from zhiku.mcp.sight import Sight
from zhiku.mcp.tool import BadCall, Tool
from zhiku.mcp.toolsets import DEFAULT_SET, tools_of

Call = tuple[Tool, dict[str, Any]]
TEXTS = st.sampled_from([*WORDS, *PATHS, *filter(None, BASES), "*"]) | words | locators


def values_of(name: str, schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if schema["type"] == "integer":
        return st.integers(schema.get("minimum", 0), min(schema.get("maximum", 20), schema.get("minimum", 0) + 20))
    if schema["type"] == "number":
        return st.floats(0, 1)
    return st.booleans() if schema["type"] == "boolean" else st.sampled_from(BASES) if name == "base" else TEXTS


@st.composite
def calls(draw: st.DrawFn) -> Call:
    tool = draw(st.sampled_from(tools_of([DEFAULT_SET])))
    needed = tool.input_schema.get("required", ())
    values = {name: values_of(name, schema) for name, schema in tool.input_schema["properties"].items()}
    return tool, {name: draw(value if name in needed else maybe(value)) for name, value in values.items()}


def told(sight: Sight, call: Call, doubles: Doubles) -> str:
    """Return what a client is told, without where the library is."""
    tool, arguments = call
    try:
        reply = tool.run(sight, **tool.arguments(arguments))
        said = f"{reply.text}\n{json.dumps(tool.json_of(reply.data), ensure_ascii=False)}"
    except (ZhikuError, BadCall) as error:
        said = str(error)
    return said.replace(str(doubles.folder / "without"), str(doubles.folder / "with"))


@pytest.fixture(scope="module")
def doubles(tmp_path_factory: pytest.TempPathFactory) -> Doubles:
    return Doubles(tmp_path_factory.mktemp("tools"))


@pytest.fixture(scope="module", params=["persona", "bases"])
def sights(doubles: Doubles, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[Sight]:
    seen = {"persona": "mei"} if request.param == "persona" else {"bases": ("notes", "papers")}
    for library in doubles.libraries:
        profile = Path(library.home) / "personas" / "mei" / "profile.md"
        profile.parent.mkdir(parents=True, exist_ok=True)
        profile.write_text("## visible_domains\n- notes\n- papers\n", "utf-8")
    return [Sight(library=library, **seen) for library in doubles.libraries]


@settings(max_examples=100, deadline=None)
@given(st.lists(calls(), min_size=1, max_size=4))
def test_no_sequence_of_calls_tells_of_a_base_that_is_not_visible(
    doubles: Doubles, sights: list[Sight], asked: list[Call]
) -> None:
    for call in asked:
        with_it, without_it = (told(sight, call, doubles) for sight in sights)

        assert with_it == without_it


def test_the_law_would_notice_a_base_that_is_not_hidden(doubles: Doubles) -> None:
    everything = [Sight(library=library) for library in doubles.libraries]
    for name in ("kb_list", "kb_coverage"):
        tool = next(tool for tool in tools_of([DEFAULT_SET]) if tool.name == name)
        assert len({told(sight, (tool, {}), doubles) for sight in everything}) == 2
