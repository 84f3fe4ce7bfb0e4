"""Putting the server into a client's file, where everything else stays as it is."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

from zhiku.errors import ConfigError
from zhiku.mcp.clients import SERVER, Client, Launch, as_text

BACKUP_ENDING = ".zhiku-backup"


def write_server(client: Client, launch: Launch, path: Path) -> Path | None:
    """Put the server into a client's file. Return where the file as it was is kept; None where nothing was replaced.

    Nothing is written where it stands there already. Raises `ConfigError` where the file cannot be read or written, or
    cannot be merged without touching what else it says.
    """
    try:
        path = path.resolve()  # a link to a file in somebody's collection of settings stays one
        before = path.read_text("utf-8-sig") if path.exists() else None
        after = merged(client, launch, before, path)
        if after == before:
            return None
        path.parent.mkdir(parents=True, exist_ok=True)
        backup = _keep(path) if before is not None else None
        _replace(path, after)
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(
            "{path} cannot be changed: {cause}.",
            path=path,
            cause=getattr(error, "strerror", None) or "UTF-8",
            hint="leave out --write, and put what is printed there by hand",
        ) from error
    return backup


def merged(client: Client, launch: Launch, before: str | None, path: Path) -> str:
    """Return the text of a client's file with the server in it; the very same where it is there already."""
    if before is None or not before.strip():
        return as_text(client, launch)
    known = _parsed(client, before, path)
    wanted = client.entry(launch)
    servers = known.get(client.section)
    if isinstance(servers, dict) and servers.get(SERVER) == wanted:
        return before
    if servers is not None and not isinstance(servers, dict):
        raise _by_hand(path, f"{client.section} is no table")
    expected = {**known, client.section: {**(servers or {}), SERVER: wanted}}
    after = {"json": _into_json, "toml": _into_toml, "yaml": _into_yaml}[client.format](client, launch, before, known)
    if _parsed(client, after, path) != expected:
        raise _by_hand(path, "it is written in a way that only a person can add to")
    return after


def _parsed(client: Client, text: str, path: Path) -> dict[str, Any]:
    import tomllib

    import yaml

    try:
        if client.format == "json":
            value = json.loads(text)
        else:
            value = tomllib.loads(text) if client.format == "toml" else yaml.safe_load(text) or {}
    except (ValueError, yaml.YAMLError) as error:
        raise _by_hand(path, " ".join(str(error).split())) from error
    if not isinstance(value, dict):
        raise _by_hand(path, "it is no table")
    return value


def _by_hand(path: Path, cause: str) -> ConfigError:
    return ConfigError(
        "{path} cannot be added to: {cause}.",
        path=path,
        cause=cause,
        hint="leave out --write, and put what is printed there by hand",
    )


def _into_json(client: Client, launch: Launch, before: str, known: dict[str, Any]) -> str:
    servers = {**(known.get(client.section) or {}), SERVER: client.entry(launch)}
    indent = re.search(r"^([ \t]+)\S", before, re.MULTILINE)
    text = json.dumps({**known, client.section: servers}, ensure_ascii=False, indent=indent[1] if indent else 2)
    return text + "\n" * before.endswith("\n")


def _into_toml(client: Client, launch: Launch, before: str, known: dict[str, Any]) -> str:
    import tomlkit

    document = tomlkit.parse(before)
    if client.section not in known:
        document[client.section] = tomlkit.table(is_super_table=True)
    section: Any = document[client.section]
    section[SERVER] = client.entry(launch)
    return tomlkit.dumps(document)


def _into_yaml(client: Client, launch: Launch, before: str, known: dict[str, Any]) -> str:
    """Put the server in front of the others, by lines, so that comments stay."""
    import yaml

    lines = before.splitlines()
    head = f"{client.section}:"
    at = next((i for i, line in enumerate(lines) if line.startswith(head)), None)
    if at is None or not known.get(client.section):
        kept = [line for i, line in enumerate(lines) if i != at]
        return "\n".join([*kept, as_text(client, launch)])
    indent = next((line[: len(line) - len(line.lstrip())] for line in lines[at + 1 :] if line.strip(" #")), "")
    entry = yaml.safe_dump({SERVER: client.entry(launch)}, allow_unicode=True, sort_keys=False).splitlines()
    rest = _without(lines[at + 1 :], f"{indent}{SERVER}:", indent)
    return "\n".join([*lines[: at + 1], *(indent + line for line in entry), *rest, ""])


def _without(lines: list[str], head: str, indent: str) -> list[str]:
    """Return lines without the one that begins so and those that belong to it, which are further in."""
    start = next((i for i, line in enumerate(lines) if line.startswith(head)), None)
    if start is None:
        return lines
    end = next((i for i in range(start + 1, len(lines)) if not lines[i].startswith(f"{indent} ")), len(lines))
    return [*lines[:start], *lines[end:]]


def _keep(path: Path) -> Path:
    """Copy a file beside itself, under a name that no earlier copy has."""
    number = 1
    backup = path.with_name(path.name + BACKUP_ENDING)
    while backup.exists():
        number += 1
        backup = path.with_name(f"{path.name}{BACKUP_ENDING}-{number}")
    shutil.copy2(path, backup)
    return backup


def _replace(path: Path, text: str) -> None:
    fresh = path.with_name(path.name + ".zhiku-new")
    try:
        fresh.write_text(text, "utf-8", newline="\n")
        if path.exists():
            shutil.copymode(path, fresh)
        fresh.replace(path)
    except OSError:
        fresh.unlink(missing_ok=True)
        raise
