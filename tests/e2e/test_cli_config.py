"""The command `zhiku config`, in a process of its own."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conftest import Cli


def test_settings_are_shown_changed_and_found(cli: Cli) -> None:
    done = cli("config", "set", "models.embedding.api_key", "sk-secret")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert cli("config", "set", "search.top_k", "3").returncode == 0

    assert cli("config", "get", "search.top_k").stdout == "3\n"
    assert cli("config", "get", "models.embedding.api_key").stdout == "********\n"
    shown = cli("config", "show").stdout
    assert tomllib.loads(shown)["search"]["top_k"] == 3
    assert "sk-secret" not in shown
    assert cli("config", "path").stdout.strip() == str(cli.home / "config.toml")


def test_wrong_uses_are_usage_errors(cli: Cli) -> None:
    for args in (["get"], ["set", "search.top_k"], ["show", "x"], ["change"], ["get", "search.topk"]):
        done = cli("config", *args)
        assert (done.returncode, "Traceback" in done.stderr, "Hint: " in done.stderr) == (2, False, True)
