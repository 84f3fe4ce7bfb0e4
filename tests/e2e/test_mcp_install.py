"""`zhiku mcp install` by the real command, and that what it tells a client starts the server."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from agents import Lines
from zhiku.mcp.clients import CLIENTS

if TYPE_CHECKING:
    from conftest import Cli


@pytest.fixture
def at_home(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Return the command of a user whose programs keep their settings in the test's folder."""
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(cli.folder))
    monkeypatch.setenv("APPDATA", str(cli.folder / "appdata"))
    for name in ("XDG_CONFIG_HOME", "CODEX_HOME", "CLAUDE_CONFIG_DIR"):
        monkeypatch.delenv(name, raising=False)
    return cli


@pytest.mark.parametrize("name", CLIENTS)
def test_what_a_client_needs_to_be_told_is_printed_and_nothing_is_written(at_home: Cli, name: str) -> None:
    before = sorted(at_home.folder.rglob("*"))

    done = at_home("mcp", "install", name)

    assert done.returncode == 0, done.stderr
    assert "zhiku" in done.stdout
    assert CLIENTS[name].title in done.stderr
    assert sorted(at_home.folder.rglob("*")) == before


def test_what_was_written_starts_the_server_over_this_home_with_these_options(at_home: Cli) -> None:
    at_home.write("a.md", "The pump is greased.")
    at_home("index", "docs", "--base", "notes")
    at_home("index", "docs", "--base", "other")

    done = at_home("mcp", "install", "codex", "--write", "--base", "notes")

    path = Path(done.stdout.strip())
    assert path == at_home.folder / ".codex" / "config.toml"
    entry = tomllib.loads(path.read_text("utf-8"))["mcp_servers"]["zhiku"]
    environ = {key: value for key, value in at_home.environ().items() if key != "ZHIKU_HOME"}
    with Lines(environ, program=[entry["command"], *entry["args"]]) as server:
        server.start()
        listed = server.call(1, "kb_list")["result"]["structuredContent"]
    assert [base["name"] for base in listed["bases"]] == ["notes"]


def test_a_file_that_is_there_is_kept_beside_it(at_home: Cli) -> None:
    path = at_home.folder / ".cursor" / "mcp.json"
    path.parent.mkdir()
    path.write_text('{"mcpServers": {"other": {"command": "x"}}}', "utf-8")

    first = at_home("mcp", "install", "cursor", "--write")
    again = at_home("mcp", "install", "cursor", "--write")

    assert list(json.loads(path.read_text("utf-8"))["mcpServers"]) == ["other", "zhiku"]
    assert str(path) + ".zhiku-backup" in first.stderr
    assert "already" in again.stderr
    assert len(list(path.parent.iterdir())) == 2


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["install", "cursr"], "did you mean cursor?"),
        (["install", "emacs"], "claude-code, claude-desktop, codex"),
        (["install"], "zhiku mcp install CLIENT"),
        (["instal", "cursor"], "zhiku mcp install CLIENT"),
        (["--write"], "zhiku mcp install CLIENT"),
        (["install", "cursor", "--http"], "zhiku mcp install CLIENT"),
        (["install", "cherry-studio", "--write"], "Import from JSON"),
    ],
)
def test_what_cannot_be_done_is_said(at_home: Cli, arguments: list[str], told: str) -> None:
    done = at_home("mcp", *arguments)

    assert (done.returncode, done.stdout) == (2, "")
    assert told in done.stderr
