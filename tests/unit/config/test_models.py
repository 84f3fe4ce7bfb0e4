"""Settings of endpoints, and the keys they name."""

from __future__ import annotations

from pathlib import Path

import pytest

from zhiku.config import CONFIG_FILE, ENDPOINT, ModelSettings, load_settings
from zhiku.config.keys import read_key
from zhiku.errors import ConfigError


def models(folder: Path, text: str) -> ModelSettings:
    (folder / CONFIG_FILE).write_text(text, "utf-8")
    return load_settings(folder).models


def test_without_a_section_there_is_no_endpoint(tmp_path: Path) -> None:
    settings = load_settings(tmp_path).models
    assert (settings.embedding.api_url, settings.named, settings.embedding.batch_size) == ("", {}, 64)


def test_an_endpoint_is_read_with_its_numbers(tmp_path: Path) -> None:
    found = models(
        tmp_path,
        '[models.embedding]\napi_url = "http://h"\nmodel_name = "m"\ndimensions = 256\nqueue_interval_seconds = 2\n'
        'timeout = 1.5\nquery_instruction = ""\n',
    ).embedding
    assert (found.api_url, found.model_name, found.dimensions) == ("http://h", "m", 256)
    assert (found.queue_interval_seconds, found.timeout, found.query_instruction) == (2.0, 1.5, "")


def test_more_endpoints_have_names(tmp_path: Path) -> None:
    found = models(
        tmp_path, '[models.embedding]\nmodel_name = "a"\n[models.embedding.big]\nmodel_name = "b"\ndimensions = 0\n'
    )
    names = {name: each.model_name for name in (ENDPOINT, "big") if (each := found.embedding_of(name))}
    assert names == {ENDPOINT: "a", "big": "b"}
    assert found.embedding_of("small") is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[models.embeding]\n", "unknown setting 'embeding'"),
        ("[models.embedding]\nurl = 'x'\n", "unknown setting 'url'"),
        ("[models.embedding.big]\napi = 'x'\n", "unknown setting 'api'"),
        ("[models.embedding.builtin]\n", "cannot be named 'builtin'"),
        ("[models.embedding.'a b']\n", "cannot be named 'a b'"),
        ("[models.embedding]\nbatch_size = 0\n", "batch_size cannot be 0"),
        ("[models.embedding]\ndimensions = -1\n", "dimensions cannot be -1"),
        ("[models.embedding]\ntimeout = 0.0\n", "timeout cannot be 0.0"),
        ("[models.embedding]\ntimeout = inf\n", "timeout cannot be inf"),
        ("[models]\nembedding = 1\n", "embedding must be a table"),
        ("models = 1\n", "models must be a table"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        models(tmp_path, text)


def test_a_key_of_the_wrong_kind_is_not_shown(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="api_key cannot be") as caught:
        models(tmp_path, "[models.chat]\napi_key = 123456\n")
    assert "123456" not in str(caught.value)


def test_settings_do_not_show_keys(tmp_path: Path) -> None:
    text = "".join(f'[models.{name}]\napi_key = "secret"\n' for name in ("embedding", "embedding.x", "rerank", "chat"))
    assert "secret" not in repr(models(tmp_path, text))


def test_a_key_stands_in_the_settings_the_environment_or_a_file(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("from a file\n".replace(" ", "-"))
    environ = {"MY_KEY": " from-there "}
    assert read_key("literal", environ) == "literal"
    assert read_key("env:MY_KEY", environ) == "from-there"
    assert read_key(f"file:{tmp_path / 'key'}", environ) == "from-a-file"


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("env:NOWHERE", "NOWHERE.* is not set"),
        ("file:/no/such/file", "cannot be read"),
        ("two\nlines", "is no key"),
        ("密钥", "is no key"),
    ],
)
def test_a_key_that_is_not_there_is_an_error_that_says_where(value: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        read_key(value, {})
