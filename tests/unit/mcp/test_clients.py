"""Telling clients of the server: what each is told, where, and that nothing else in its file changes."""

from __future__ import annotations

import json
import stat
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from zhiku.errors import ConfigError
from zhiku.mcp.clients import CLIENTS, Client, Computer, Launch, as_text
from zhiku.mcp.merging import merged, write_server

LAUNCH = Launch(command="/opt/知库/bin/zhiku", args=("--home", "C:\\z k", "mcp"))
ELSEWHERE = Path("settings")
PARSERS = {"json": json.loads, "toml": tomllib.loads, "yaml": yaml.safe_load}


def parsed(client: Client, text: str) -> dict[str, object]:
    value: dict[str, object] = PARSERS[client.format](text)
    return value


@pytest.mark.parametrize("name", CLIENTS)
def test_every_client_is_told_the_command_and_its_arguments(name: str) -> None:
    client = CLIENTS[name]
    entry = parsed(client, as_text(client, LAUNCH))[client.section]["zhiku"]  # type: ignore[index]

    assert entry.get("command", entry.get("cmd")) == LAUNCH.command
    assert entry["args"] == list(LAUNCH.args)


def test_every_client_has_its_file_on_every_system() -> None:
    home = Path("/home/mei")

    def files(system: str, **environ: str) -> dict[str, str | None]:
        computer = Computer(home=home, system=system, environ=environ)
        found = {name: client.file(computer) for name, client in CLIENTS.items()}
        return {name: file and file.as_posix() for name, file in found.items()}

    linux = files("linux")
    assert linux == {
        "claude-code": "/home/mei/.claude.json",
        "claude-desktop": "/home/mei/.config/Claude/claude_desktop_config.json",
        "codex": "/home/mei/.codex/config.toml",
        "cursor": "/home/mei/.cursor/mcp.json",
        "cherry-studio": None,
        "goose": "/home/mei/.config/goose/config.yaml",
        "vscode": "/home/mei/.config/Code/User/mcp.json",
    }
    changed = {name for name, file in files("darwin").items() if file != linux[name]}
    assert changed == {"claude-desktop", "vscode"}
    assert files("darwin")["vscode"] == "/home/mei/Library/Application Support/Code/User/mcp.json"
    assert files("win32", APPDATA="/a")["goose"] == "/a/Block/goose/config/config.yaml"
    assert files("linux", CODEX_HOME="/c", CLAUDE_CONFIG_DIR="/d")["codex"] == "/c/config.toml"
    assert files("linux", CLAUDE_CONFIG_DIR="/d")["claude-code"] == "/d/.claude.json"


BEFORE = {
    "json": '{\n    "theme": "dark",\n    "SECTION": {\n        "other": {"command": "x"}\n    },\n    "n": 1\n}\n',
    "toml": '# mine\nmodel = "m"  # the best\n\n[SECTION.other]\ncommand = "x"  # keep\nargs = []\n\n[tui]\nx = 1\n',
    "yaml": "# mine\nmodel: m  # the best\nSECTION:\n  # these\n  other:\n    cmd: x  # keep\ntui: {x: 1}\n",
}


@pytest.mark.parametrize("name", CLIENTS)
def test_a_file_keeps_what_else_it_says_and_its_comments(name: str) -> None:
    client = CLIENTS[name]
    before = BEFORE[client.format].replace("SECTION", client.section)

    after = merged(client, LAUNCH, before, ELSEWHERE)

    known = parsed(client, after)
    assert known[client.section]["zhiku"] == client.entry(LAUNCH)  # type: ignore[index]
    del known[client.section]["zhiku"]  # type: ignore[attr-defined]
    assert known == parsed(client, before)
    for comment in ("# mine", "# the best", "# keep", "# these"):
        assert (comment in after) == (comment in before)
    if client.format == "json":
        assert '\n    "theme"' in after


@pytest.mark.parametrize("name", CLIENTS)
def test_an_older_entry_is_replaced_and_the_same_one_is_left(name: str) -> None:
    client = CLIENTS[name]
    older = merged(
        client,
        Launch(command="old", args=("a", "b")),
        BEFORE[client.format].replace("SECTION", client.section),
        ELSEWHERE,
    )

    newer = merged(client, LAUNCH, older, ELSEWHERE)

    assert parsed(client, newer)[client.section]["zhiku"] == client.entry(LAUNCH)  # type: ignore[index]
    assert "other" in parsed(client, newer)[client.section]  # type: ignore[operator]
    assert merged(client, LAUNCH, newer, ELSEWHERE) == newer


@pytest.mark.parametrize(
    "before",
    [
        "",
        "model: m\n",
        "extensions:\nmodel: m\n",
        "extensions: {}\nmodel: m\n",
        "extensions:\n    a: {x: 1}\n",
        "# nothing\n",
    ],
)
def test_a_yaml_file_of_any_shape_takes_it(before: str) -> None:
    after = yaml.safe_load(merged(CLIENTS["goose"], LAUNCH, before, ELSEWHERE))

    assert after["extensions"].pop("zhiku")["cmd"] == LAUNCH.command
    assert {key: value for key, value in after.items() if value} == {
        key: value for key, value in (yaml.safe_load(before) or {}).items() if value
    }


@pytest.mark.parametrize(
    ("name", "before"),
    [
        ("vscode", '{\n // mine\n "servers": {}\n}'),
        ("cursor", "[]"),
        ("cursor", '{"mcpServers": []}'),
        ("codex", "model = "),
        ("goose", "extensions: {a: {x: 1}}\n"),
        ("goose", "extensions: [\n"),
        ("goose", "&x extensions:\n  a: 1\n"),
    ],
)
def test_a_file_that_only_a_person_can_add_to_is_left(name: str, before: str, tmp_path: Path) -> None:
    path = tmp_path / "settings"
    path.write_text(before, "utf-8")

    with pytest.raises(ConfigError, match="by hand"):
        write_server(CLIENTS[name], LAUNCH, path)

    assert path.read_text("utf-8") == before
    assert list(tmp_path.iterdir()) == [path]


@given(
    st.dictionaries(
        st.text(max_size=6),
        st.recursive(st.none() | st.integers() | st.text(max_size=6), st.lists, max_leaves=4),
        max_size=4,
    )
)
def test_whatever_a_json_file_says_stays(known: dict[str, object]) -> None:
    known.pop("mcpServers", None)
    before = json.dumps(known)

    after = json.loads(merged(CLIENTS["cursor"], LAUNCH, before, ELSEWHERE))

    assert after.pop("mcpServers") == {"zhiku": CLIENTS["cursor"].entry(LAUNCH)}
    assert after == known


def test_the_file_as_it_was_is_kept_and_so_are_its_mode_and_links(tmp_path: Path) -> None:
    real = tmp_path / "dotfiles" / "mcp.json"
    real.parent.mkdir()
    real.write_text('{"mcpServers": {}}', "utf-8")
    path = tmp_path / "mcp.json"
    if sys.platform == "win32":
        path = real
    else:
        real.chmod(0o640)
        path.symlink_to(real)

    first = write_server(CLIENTS["cursor"], LAUNCH, path)
    second = write_server(CLIENTS["cursor"], Launch(command="other", args=()), path)

    assert first is not None
    assert second is not None
    assert first.read_text("utf-8") == '{"mcpServers": {}}'
    assert second.name == "mcp.json.zhiku-backup-2"
    assert json.loads(real.read_text("utf-8"))["mcpServers"]["zhiku"]["command"] == "other"
    assert write_server(CLIENTS["cursor"], Launch(command="other", args=()), path) is None
    if sys.platform != "win32":
        assert path.is_symlink()
        assert stat.S_IMODE(real.stat().st_mode) == 0o640


def test_a_client_without_a_file_gets_one(tmp_path: Path) -> None:
    path = tmp_path / "new" / "mcp.json"

    assert write_server(CLIENTS["cursor"], LAUNCH, path) is None

    assert json.loads(path.read_text("utf-8")) == CLIENTS["cursor"].told(LAUNCH)
    assert list(path.parent.iterdir()) == [path]
