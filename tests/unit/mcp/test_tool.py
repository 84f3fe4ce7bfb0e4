"""Tools: what clients are told of their arguments and results, and what becomes of arguments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

import jsonschema
import pytest
from pydantic import Field

from zhiku.mcp.sight import Sight
from zhiku.mcp.tool import BadCall, Reply, Tool
from zhiku.mcp.toolsets import SETS, tools_of


@dataclass(frozen=True, kw_only=True)
class Part:
    title: str
    place: int | None = None


@dataclass(frozen=True, kw_only=True)
class Whole:
    parts: tuple[Part, ...]
    note: str = ""


def look(
    sight: Sight,
    *,
    word: Annotated[str, Field(min_length=1, description="What to look for.")],
    count: Annotated[int, Field(ge=1, le=9)] = 3,
    kind: Literal["one", "other"] | None = None,
) -> Reply:
    return Reply(text=word * count, data=Whole(parts=()))


TOOL = Tool(run=look, title="Look", description="Looks.", result=Whole)


def test_arguments_are_told_without_titles_and_without_null() -> None:
    assert TOOL.input_schema == {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "word": {"type": "string", "minLength": 1, "description": "What to look for."},
            "count": {"type": "integer", "minimum": 1, "maximum": 9, "default": 3},
            "kind": {"type": "string", "enum": ["one", "other"]},
        },
        "required": ["word"],
    }


def test_data_is_told_by_its_schema_and_leaves_out_what_is_as_by_default() -> None:
    data = TOOL.json_of(Whole(parts=(Part(title="a"), Part(title="b", place=3))))

    assert data == {"parts": [{"title": "a"}, {"title": "b", "place": 3}]}
    assert TOOL.output_schema["$defs"]["Part"]["properties"] == {
        "title": {"type": "string"},
        "place": {"type": "integer"},
    }
    jsonschema.validate(data, TOOL.output_schema)


def test_null_stands_for_an_argument_left_out_and_a_number_may_be_written_as_text() -> None:
    assert TOOL.arguments({"word": "a", "count": None, "kind": None}) == {"word": "a"}
    assert TOOL.arguments({"word": "a", "count": "4"}) == {"word": "a", "count": 4}


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({}, "word is missing"),
        ({"word": ""}, "word: string should have at least 1 character"),
        ({"word": "a", "count": 10}, "count: input should be less than or equal to 9"),
        ({"word": "a", "kind": "third"}, "kind: input should be 'one' or 'other'"),
        ({"word": "a", "limit": 3}, "it has no argument limit"),
        ({"word": ["a"]}, "word: input should be a valid string"),
    ],
)
def test_wrong_arguments_are_told_in_words(given: dict[str, object], told: str) -> None:
    with pytest.raises(BadCall) as caught:
        TOOL.arguments(given)

    assert str(caught.value) == f"look cannot be called so: {told}. Its arguments are word, count, kind."


@pytest.mark.parametrize("name", SETS)
def test_every_tool_of_a_set_declares_its_data_and_describes_its_arguments(name: str) -> None:
    for tool in tools_of([name]):
        assert tool.output_schema["type"] == "object"
        assert tool.output_schema["properties"]
        assert all(value.get("description") for value in tool.input_schema["properties"].values()), tool.name
        assert len(tool.description) < 700
