"""Sockets of this computer alone."""

from __future__ import annotations

import socket

import pytest

from zhiku.errors import UsageError
from zhiku.web.server import listen, url_of


def test_port_0_is_any_that_is_free() -> None:
    with listen("127.0.0.1", 0) as one, listen("127.0.0.1", 0) as other:
        assert url_of(one) != url_of(other)
        assert url_of(one).startswith("http://127.0.0.1:")


def test_localhost_is_this_computer() -> None:
    with listen("localhost", 0) as server, socket.create_connection(server.getsockname()[:2], timeout=10):
        pass


def test_the_other_loopback_address_can_be_named() -> None:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("this system has no IPv6")
    with listen("::1", 0) as server:
        assert url_of(server).startswith("http://[::1]:")


def test_a_port_in_use_is_said_to_be() -> None:
    with listen("127.0.0.1", 0) as server:
        port = server.getsockname()[1]
        with pytest.raises(UsageError) as raised:
            listen("127.0.0.1", port)
    assert str(port) in raised.value.message
    assert "--port 0" in raised.value.hint


def test_a_port_that_was_just_left_can_be_used_again() -> None:
    with listen("127.0.0.1", 0) as server:
        port = server.getsockname()[1]
        client = socket.create_connection(("127.0.0.1", port), timeout=10)
        server.accept()[0].close()
        client.close()
    listen("127.0.0.1", port).close()


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1"])
def test_an_address_that_others_can_reach_is_refused(host: str) -> None:
    with pytest.raises(UsageError) as raised:
        listen(host, 0)
    assert "other computers" in raised.value.message


@pytest.mark.parametrize(("host", "port"), [("127.0.0.1", 65_536), ("a" * 300, 0), ("a\0b", 0)])
def test_what_is_no_address_is_refused(host: str, port: int) -> None:
    with pytest.raises(UsageError):
        listen(host, port)
