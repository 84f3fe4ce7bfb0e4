"""All spellings of an endpoint have one address."""

from __future__ import annotations

import pytest

from zhiku.errors import ConfigError
from zhiku.remote import Endpoint, address_of


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("http://h:1", "http://h:1/v1/embeddings"),
        ("http://h:1/", "http://h:1/v1/embeddings"),
        ("http://h:1/v1", "http://h:1/v1/embeddings"),
        ("http://h:1/v1/", "http://h:1/v1/embeddings"),
        (" http://H:1//v1// ", "http://h:1/v1/embeddings"),
        ("http://h:1/v1/v1", "http://h:1/v1/embeddings"),
        ("http://h:1/v1/embeddings", "http://h:1/v1/embeddings"),
        ("http://h:1/v1/embeddings/", "http://h:1/v1/embeddings"),
        ("http://h:1/embeddings", "http://h:1/embeddings"),
        ("http://h:1/api/v3", "http://h:1/api/v3/embeddings"),
        ("https://h:443/openai/v1", "https://h/openai/v1/embeddings"),
        ("http://h:80", "http://h/v1/embeddings"),
        ("http://[::1]:8080", "http://[::1]:8080/v1/embeddings"),
    ],
)
def test_a_url_has_one_address_however_it_is_written(url: str, address: str) -> None:
    assert address_of(url, "embeddings") == address


def test_another_path_follows_the_same_rule() -> None:
    assert address_of("http://h/v1/", "rerank") == "http://h/v1/rerank"
    assert address_of("http://h/rerank", "rerank") == "http://h/rerank"


@pytest.mark.parametrize("url", ["", "h:1", "localhost:11434/v1", "ftp://h", "http://", "http://h:x", "http://[::1"])
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(ConfigError, match="is not the address of an endpoint") as caught:
        address_of(url, "embeddings")
    assert "http://localhost:11434/v1" in caught.value.hint


@pytest.mark.parametrize("url", ["http://me:secret@h/v1", "http://h/v1?key=secret", "http://h/v1#secret"])
def test_an_address_that_holds_a_secret_is_refused_without_showing_it(url: str) -> None:
    with pytest.raises(ConfigError, match="holds more than an address") as caught:
        address_of(url, "embeddings")
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "is_loopback"),
    [
        ("http://localhost:1", True),
        ("http://127.0.0.1", True),
        ("http://127.8.0.1", True),
        ("http://[::1]:1", True),
        ("http://192.168.0.2", False),
        ("https://api.example.com/v1", False),
        ("http://127.0.0.1.example.com", False),
    ],
)
def test_an_endpoint_knows_whether_texts_leave_the_computer(url: str, is_loopback: bool) -> None:
    assert Endpoint(url=url, model="m").is_loopback is is_loopback


def test_a_key_is_not_in_what_represents_an_endpoint() -> None:
    assert "secret" not in repr(Endpoint(url="http://h", model="m", key="secret"))
