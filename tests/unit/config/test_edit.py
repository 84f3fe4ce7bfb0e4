"""Settings are shown and changed by name; comments stay, and keys are not shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from zhiku.config import CONFIG_FILE, load_settings
from zhiku.config.edit import all_settings, change, setting
from zhiku.errors import ConfigError

FILE = """\
# mine
[search]
top_k = 7  # enough

[models.embedding.big]
api_key = "secret"
model_name = "b"
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / CONFIG_FILE).write_text(FILE, "utf-8")
    return tmp_path


def text(home: Path) -> str:
    return (home / CONFIG_FILE).read_text("utf-8")


def test_a_setting_is_what_holds(home: Path) -> None:
    assert (setting(home, "search.top_k"), setting(home, "watch.auto_scan")) == (7, True)
    assert (setting(home, "models.embedding.big.model_name"), setting(home, "models.embedding.model_name")) == ("b", "")


def test_keys_are_not_shown_but_where_they_are_is(home: Path) -> None:
    assert "secret" not in str(list(all_settings(load_settings(home))))
    change(home, "models.embedding.big.api_key", "env:MY_KEY")
    assert setting(home, "models.embedding.big.api_key") == "env:MY_KEY"
    assert setting(home, "models.chat.api_key") == ""


def test_a_change_keeps_comments_and_all_else(home: Path) -> None:
    change(home, "search.top_k", "9")
    assert text(home) == FILE.replace("7", "9")


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("models.embedding.api_url", "http://h/v1", "http://h/v1"),
        ("models.embedding.dimensions", "8", 8),
        ("models.embedding.timeout", "5", 5.0),
        ("models.embedding.big.query_instruction", "", ""),
        ("models.embedding.new.model_name", "8", "8"),
        ("watch.auto_embed", "false", False),
        ("library.roots", "/a", ("/a",)),
        ("library.roots", '["/a", "/b"]', ("/a", "/b")),
    ],
)
def test_a_value_is_read_as_its_setting_wants_it(home: Path, name: str, value: str, expected: object) -> None:
    change(home, name, value)
    assert setting(home, name) == expected
    assert text(home).startswith("# mine\n")


def test_without_a_file_one_is_made_that_only_its_owner_reads(tmp_path: Path) -> None:
    change(tmp_path / "home", "models.embedding.api_key", "secret")
    file = tmp_path / "home" / CONFIG_FILE
    assert load_settings(tmp_path / "home").models.embedding.api_key == "secret"
    assert file.stat().st_mode & 0o077 == 0 or file.drive


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("search.topk", "9", "no setting 'search.topk'"),
        ("search", "9", "no setting 'search'"),
        ("models.embedding.big.url", "9", "no setting"),
        ("models.embedding.none.model_name", "9", "cannot be named 'none'"),
        ("search.top_k", "many", "top_k cannot be 'many'"),
        ("search.top_k", "0", "top_k cannot be 0"),
        ("watch.auto_embed", "1", "auto_embed cannot be 1"),
    ],
)
def test_what_would_be_wrong_is_not_written(home: Path, name: str, value: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        change(home, name, value)
    assert text(home) == FILE


def test_a_name_that_is_nearly_right_is_helped(home: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        setting(home, "search.topk")
    assert caught.value.hint == "did you mean 'search.top_k'?"


def test_a_broken_file_is_not_touched(home: Path) -> None:
    (home / CONFIG_FILE).write_text("[search\n")
    with pytest.raises(ConfigError, match="not valid TOML"):
        change(home, "search.top_k", "9")
    assert text(home) == "[search\n"
