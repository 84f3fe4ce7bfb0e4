"""The clients that `zhiku mcp install` knows: where each keeps its servers, and how it wants them told."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

SERVER = "zhiku"
"""The name of the server in a client's list."""
GOOSE_TIMEOUT_S = 300


@dataclass(frozen=True, kw_only=True)
class Launch:
    """How a client starts the server."""

    command: str
    args: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Computer:
    """Where programs keep their settings. `system` is as in `sys.platform`."""

    home: Path
    system: str
    environ: Mapping[str, str]

    @property
    def settings(self) -> Path:
        """Return the folder of the settings of programs with a window."""
        if self.system == "darwin":
            return self.home / "Library" / "Application Support"
        if self.system == "win32":
            return Path(self.environ.get("APPDATA") or self.home / "AppData" / "Roaming")
        return Path(self.environ.get("XDG_CONFIG_HOME") or self.home / ".config")


@dataclass(frozen=True, kw_only=True)
class Client:
    """One client. `section` is the table in its file that holds servers by name."""

    title: str
    format: Literal["json", "toml", "yaml"] = "json"
    section: str = "mcpServers"
    entry: Callable[[Launch], dict[str, Any]]
    file: Callable[[Computer], Path | None]
    """Nothing for a client that keeps its servers where no other program can write."""

    def told(self, launch: Launch) -> dict[str, Any]:
        """Return the server as the client's file has it."""
        return {self.section: {SERVER: self.entry(launch)}}


def as_text(client: Client, launch: Launch) -> str:
    """Return the server as a file of its own."""
    told = client.told(launch)
    if client.format == "json":
        return json.dumps(told, ensure_ascii=False, indent=2) + "\n"
    if client.format == "toml":
        import tomlkit

        return tomlkit.dumps(told)
    import yaml

    return yaml.safe_dump(told, allow_unicode=True, sort_keys=False)


def _plain(launch: Launch) -> dict[str, Any]:
    return {"command": launch.command, "args": list(launch.args)}


def _with_type(launch: Launch) -> dict[str, Any]:
    return {"type": "stdio", **_plain(launch)}


def _cherry(launch: Launch) -> dict[str, Any]:
    return {"name": SERVER, "isActive": True, **_with_type(launch)}


def _goose(launch: Launch) -> dict[str, Any]:
    return {
        "enabled": True,
        "type": "stdio",
        "name": SERVER,
        "description": "Search the user's own documents",
        "cmd": launch.command,
        "args": list(launch.args),
        "envs": {},
        "timeout": GOOSE_TIMEOUT_S,
    }


def _in(variable: str, folder: str, file: str) -> Callable[[Computer], Path]:
    """Return where a client is whose folder in the user's home can be named by a variable."""

    def path(computer: Computer) -> Path:
        return Path(computer.environ.get(variable) or computer.home / folder) / file

    return path


def _goose_file(computer: Computer) -> Path:
    if computer.system == "win32":
        return computer.settings / "Block" / "goose" / "config" / "config.yaml"
    return Path(computer.environ.get("XDG_CONFIG_HOME") or computer.home / ".config") / "goose" / "config.yaml"


CLIENTS: dict[str, Client] = {
    "claude-code": Client(title="Claude Code", entry=_with_type, file=_in("CLAUDE_CONFIG_DIR", "", ".claude.json")),
    "claude-desktop": Client(
        title="Claude Desktop",
        entry=_plain,
        file=lambda computer: computer.settings / "Claude/claude_desktop_config.json",
    ),
    "codex": Client(
        title="Codex",
        format="toml",
        section="mcp_servers",
        entry=_plain,
        file=_in("CODEX_HOME", ".codex", "config.toml"),
    ),
    "cursor": Client(title="Cursor", entry=_plain, file=lambda computer: computer.home / ".cursor/mcp.json"),
    "cherry-studio": Client(title="Cherry Studio", entry=_cherry, file=lambda _: None),
    "goose": Client(title="Goose", format="yaml", section="extensions", entry=_goose, file=_goose_file),
    "vscode": Client(
        title="VS Code",
        section="servers",
        entry=_with_type,
        file=lambda computer: computer.settings / "Code/User/mcp.json",
    ),
}
