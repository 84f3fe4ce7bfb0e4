"""The part of the command mcp that tells clients of the server."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from zhiku.cli import render
from zhiku.cli.columns import clean_line
from zhiku.cli.command import unknown
from zhiku.environ import environment

if TYPE_CHECKING:
    from zhiku.cli.session import Session
    from zhiku.mcp.clients import Launch


def install(session: Session, name: str, arguments: Sequence[str], *, write: bool) -> None:
    """Print what a client's file needs to say, or write it there; `arguments` are those of the server."""
    from zhiku.errors import UsageError
    from zhiku.mcp.clients import CLIENTS, Computer, as_text
    from zhiku.mcp.merging import write_server

    if name not in CLIENTS:
        words = ", ".join(CLIENTS)
        raise unknown("no client {name!r}.", name, list(CLIENTS), "these are known: {words}", words=words)
    client, launch = CLIENTS[name], _launch(session, arguments)
    path = client.file(Computer(home=Path.home(), system=sys.platform, environ=environment()))
    tr = session.errors.tr
    if not write:
        render.out(as_text(client, launch))
        if path is None:
            render.note(tr("Paste it in {client}: Settings, MCP Servers, Add, Import from JSON.", client=client.title))
        else:
            render.note(tr("{client} has it in {path}; --write puts it there.", client=client.title, path=path))
        return
    if path is None:
        raise UsageError(
            "{client} keeps its servers where no other program can write.",
            client=client.title,
            hint="leave out --write, and paste what is printed: Settings, MCP Servers, Add, Import from JSON",
        )
    existed = path.exists()
    backup = write_server(client, launch, path)
    render.out(clean_line(str(path)))
    if backup is not None:
        render.note(tr("The file as it was: {path}", path=backup))
    elif existed:
        render.note(tr("It stands there already."))
        return
    render.note(tr("Start {client} anew, and it finds the server.", client=client.title))


def _launch(session: Session, arguments: Sequence[str]) -> Launch:
    """Return how this very zhiku is started, by its full path: clients have other search paths than a terminal."""
    from zhiku.config import home_from
    from zhiku.mcp.clients import Launch

    script = Path(sys.executable).with_name("zhiku.exe" if sys.platform == "win32" else "zhiku")
    words = [str(script)] if script.exists() else [sys.executable, "-m", "zhiku"]
    if session.home != home_from({}):
        words += ["--home", str(session.home)]
    words += ["mcp", *arguments]
    return Launch(command=words[0], args=tuple(words[1:]))
