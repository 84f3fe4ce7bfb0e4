"""Nothing that a client sends makes the server crash, fall silent, or send what is no message."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import httpx2
import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agents import ERAS, Lines, asking, calling
from served import Served, served
from zhiku.mcp.toolsets import DEFAULT_SET, tools_of

if TYPE_CHECKING:
    from conftest import Cli

TOOLS = {tool.name: tool for tool in tools_of([DEFAULT_SET])}
EXAMPLES = 40

often = settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.too_slow])

NASTY = ["水泵", "seal", "notes", "pumps.md", "*.md", "[", "10-", "9999999999999999999-1", "\x00", "a" * 5_000]
ADDRESSES = ["zhiku://notes/notes/pumps.md#L1-3", "zhiku://", "zhiku://notes/../../etc/passwd?doc=1&chars=9-1"]
TEXTS = st.text(max_size=30) | st.sampled_from(NASTY) | st.sampled_from(ADDRESSES)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)


def values_of(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Return values that fit a schema of an argument, or hardly do."""
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    lowest, highest = schema.get("minimum"), schema.get("maximum")
    if schema["type"] == "integer":
        return st.integers(lowest, highest) | st.sampled_from([lowest, highest])
    if schema["type"] == "number":
        return st.floats(lowest, highest)
    return st.booleans() if schema["type"] == "boolean" else TEXTS


@st.composite
def calls(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    """Draw a call of a tool: mostly one that its schema allows."""
    name = draw(st.sampled_from(sorted(TOOLS)))
    schema = TOOLS[name].input_schema
    optional = {key: values_of(value) for key, value in schema["properties"].items()}
    needed = {key: optional.pop(key) for key in schema.get("required", ())}
    arguments = draw(st.fixed_dictionaries(needed, optional=optional))
    if draw(st.integers(0, 4)) == 0:
        arguments |= draw(st.dictionaries(st.sampled_from([*schema["properties"], "limit", ""]), JSON, max_size=2))
    return name, arguments


IDS = st.one_of(st.integers(), st.text(max_size=5), st.none(), st.floats(allow_nan=False), st.booleans(), JSON)
METHODS = st.text(max_size=8) | st.sampled_from(
    "initialize ping tools/list tools/call server/discover subscriptions/listen resources/list resources/read"
    " prompts/get logging/setLevel completion/complete notifications/initialized notifications/cancelled"
    " notifications/progress".split()
)
MESSAGES = st.one_of(
    st.fixed_dictionaries(
        {"jsonrpc": st.sampled_from(["2.0", "1.0", 2])},
        optional={"id": IDS, "method": METHODS | JSON, "params": JSON, "result": JSON, "error": JSON},
    ),
    st.lists(JSON, max_size=3),
    JSON,
)


class Talk:
    """A running server in one revision of the protocol. After whatever was sent it must still answer."""

    def __init__(self, server: Lines, era: str) -> None:
        self.server = server
        self.era = era
        self.count = 0
        server.start(era)
        self.still_answers()

    def still_answers(self) -> list[dict[str, Any]]:
        """Return what came until the answer to a question of our own; each line must be a message."""
        self.count += 1
        number = f"check {self.count}"
        self.server.send(asking(number, "tools/list", era=self.era))
        came = []
        while (message := self.server.receive()).get("id") != number:
            came.append(message)
        assert len(message["result"]["tools"]) == len(TOOLS)
        return came


@pytest.fixture(scope="module", params=ERAS)
def talk(notes: Cli, request: pytest.FixtureRequest) -> Iterator[Talk]:
    with Lines(notes.environ()) as server:
        talk = Talk(server, request.param)
        yield talk
        code, _, said = server.end()
        assert code == 0
        assert "Traceback" not in said


@often
@given(calls())
def test_every_call_is_answered_and_fits_the_schema_of_its_tool(talk: Talk, call: tuple[str, dict[str, Any]]) -> None:
    name, arguments = call
    talk.count += 1
    number = f"call {talk.count}"
    talk.server.send(calling(number, name, arguments, talk.era))

    result = talk.server.answer_to(number)["result"]

    (block,) = result["content"]
    assert block["text"]
    if result.get("isError"):
        assert "bug" not in block["text"], (arguments, block["text"])
    else:
        jsonschema.validate(result["structuredContent"], TOOLS[name].output_schema)


@often
@given(st.lists(MESSAGES, min_size=1, max_size=3))
def test_every_message_leaves_it_alive(talk: Talk, messages: list[Any]) -> None:
    talk.server.send(*(json.dumps(message).encode() for message in messages))

    talk.still_answers()


@often
@given(st.lists(st.binary(max_size=60).map(lambda line: line.replace(b"\n", b" ")), min_size=1, max_size=3))
def test_every_line_leaves_it_alive(talk: Talk, lines: list[bytes]) -> None:
    talk.server.send(*lines)

    came = talk.still_answers()

    assert len([message for message in came if "error" in message]) >= sum(1 for line in lines if line.strip())


@pytest.fixture(scope="module")
def server(notes: Cli) -> Iterator[Served]:
    with served(notes.folder, notes.environ(), command=("mcp", "--http")) as running:
        yield running
        assert "Traceback" not in running.notes


HEADERS = st.fixed_dictionaries(
    {},
    optional={
        "content-type": st.sampled_from(["application/json", "text/plain", ""]),
        "accept": st.sampled_from(["application/json, text/event-stream", "*/*", "text/html"]),
        "mcp-protocol-version": st.sampled_from([*ERAS, "1999-01-01", ""]),
        "mcp-session-id": st.sampled_from(["", "unknown", "a" * 300]),
        "mcp-method": st.sampled_from(["tools/list", "tools/call"]),
        "last-event-id": st.sampled_from(["1", "x"]),
    },
)


@often
@given(
    st.sampled_from(["POST", "GET", "DELETE", "PUT", "OPTIONS"]),
    st.sampled_from(["/mcp", "/", "/mcp/", "/mcp/../etc"]),
    HEADERS,
    st.binary(max_size=60) | MESSAGES.map(lambda message: json.dumps(message).encode()),
)
def test_every_request_is_answered(
    server: Served, method: str, path: str, headers: dict[str, str], body: bytes
) -> None:
    with httpx2.Client(trust_env=False, timeout=60) as client:
        url = server.url.removesuffix("/mcp") + path
        with client.stream(method, url, headers=headers, content=body) as reply:  # some never end
            assert reply.status_code < 600
            assert reply.status_code != 500, (method, path, headers, body)
