"""Only programs on this computer are served, and only what they send within the limit is read."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send

from zhiku.web.guard import Guard

PORT = 8456
LIMIT = 100


class Inner:
    """Answers with the size of the body; counts what reached it."""

    def __init__(self) -> None:
        self.asked = 0
        self._app = Starlette(routes=[Route("/", self.answer, methods=["GET", "POST"])])

    async def answer(self, request: Request) -> Response:
        return PlainTextResponse(str(len(await request.body())))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.asked += 1
        await self._app(scope, receive, send)


@pytest.fixture
def inner() -> Inner:
    return Inner()


@pytest.fixture
def client(inner: Inner) -> TestClient:
    return TestClient(Guard(inner, LIMIT), base_url=f"http://127.0.0.1:{PORT}")


@pytest.mark.parametrize("host", [f"127.0.0.1:{PORT}", f"localhost:{PORT}", f"LOCALHOST:{PORT}", f"[::1]:{PORT}"])
def test_names_that_only_this_computer_has_are_answered(client: TestClient, host: str) -> None:
    assert client.get("/", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    [
        f"evil.example:{PORT}",
        f"127.0.0.1.evil.example:{PORT}",
        f"localhost.evil.example:{PORT}",
        f"evil.example@127.0.0.1:{PORT}",
        f"127.0.0.1:{PORT}/evil",
        f"127.0.0.1:{PORT}\n",
        f"[::1]{PORT}",
        f"0.0.0.0:{PORT}",
        "127.0.0.1:1",
        "127.0.0.1",
        "",
    ],
)
def test_any_other_name_is_not_and_nothing_is_done(client: TestClient, inner: Inner, host: str) -> None:
    done = client.get("/", headers={"Host": host, "X-Forwarded-Host": f"127.0.0.1:{PORT}"})
    assert (done.status_code, inner.asked) == (421, 0)
    assert done.json()["error"]["type"] == "invalid_request_error"


def test_port_80_need_not_be_named(inner: Inner) -> None:
    assert TestClient(Guard(inner, LIMIT), base_url="http://127.0.0.1").get("/").status_code == 200


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        (f"http://127.0.0.1:{PORT}", 200),
        (f"http://localhost:{PORT}", 200),
        ("http://evil.example", 403),
        (f"https://127.0.0.1:{PORT}", 403),
        ("http://127.0.0.1:1234", 403),
        ("null", 403),
    ],
)
def test_pages_of_others_are_not_answered(client: TestClient, inner: Inner, origin: str, status: int) -> None:
    done = client.get("/", headers={"Origin": origin})
    assert (done.status_code, inner.asked) == (status, int(status == 200))
    assert not [name for name in done.headers if name.startswith("access-control")]


def test_a_body_within_the_limit_is_read(client: TestClient) -> None:
    assert client.post("/", content=b"x" * LIMIT).text == str(LIMIT)


def test_a_body_over_the_limit_is_refused_before_it_is_read(client: TestClient, inner: Inner) -> None:
    assert client.post("/", content=b"x" * (LIMIT + 1)).status_code == 413
    assert inner.asked == 0


def test_a_body_that_does_not_say_its_size_is_stopped_at_the_limit(client: TestClient) -> None:
    def pieces() -> Iterator[bytes]:
        yield from [b"x" * 60] * 2

    assert client.post("/", content=pieces()).status_code == 413
