"""The command mcp: a server for AI agents."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from zhiku.cli import render
from zhiku.cli.command import Command, session_of
from zhiku.cli.session import Session
from zhiku.cli.values import Whole
from zhiku.environ import environment
from zhiku.errors import UsageError

if TYPE_CHECKING:
    from zhiku.mcp.server import ToolServer

DEFAULT_PORT = 8457
DEFAULT_TOOLS = "default"

_EXAMPLES = """\
zhiku mcp
zhiku mcp --base notes --base papers
zhiku mcp --persona librarian
zhiku mcp --http --port 9000
zhiku mcp install claude-code
zhiku mcp install codex --write --base notes"""


@click.command(
    cls=Command,
    epilog=_EXAMPLES,
    help="Serve your documents to AI agents, as tools of the Model Context Protocol, over standard input and output."
    " Clients start it themselves, and it ends with them. With --http it serves clients on this computer until Ctrl-C,"
    " and prints its address. Agents can only read, unless --allow-write says otherwise. install CLIENT prints what a"
    " client needs to be told of it.",
)
@click.argument("words", nargs=-1, metavar="[install CLIENT]")
@click.option("-b", "--base", "names", multiple=True, metavar="BASE", help="Show this base only; may be repeated.")
@click.option("--persona", metavar="NAME", default="", help="Show only what this persona sees.")
@click.option("--tools", metavar="SET[,SET]", default=DEFAULT_TOOLS, help="Which sets of tools to offer.")
@click.option("--allow-write", is_flag=True, help="Offer tools that change bases, too, below their own roots.")
@click.option("--http", is_flag=True, help="Serve over HTTP, on this computer alone.")
@click.option("--port", type=Whole(0), help="The port, 8457 unless named; 0 for any free one.")
@click.option("--token", metavar="TOKEN", help="What clients must send over HTTP (or set ZHIKU_MCP_TOKEN).")
@click.option("--write", is_flag=True, help="With install: put it into the client's file, which is kept beside it.")
@click.pass_context
def mcp(
    ctx: click.Context,
    words: tuple[str, ...],
    names: tuple[str, ...],
    persona: str,
    tools: str,
    allow_write: bool,
    http: bool,
    port: int | None,
    token: str | None,
    write: bool,
) -> None:
    if names and persona:
        raise UsageError("--base and --persona cannot both be given.", hint="the persona's profile names its bases")
    if not http and (port is not None or token is not None):
        raise UsageError("--port and --token are for --http.", hint="add --http, or leave them out")
    session = session_of(ctx)
    offer = Offer(bases=names, persona=persona, tools=tools, allow_write=allow_write)
    if words or write:
        _install(session, words, write, offer, http=http)
    elif http:
        _serve_http(session, DEFAULT_PORT if port is None else port, token, offer)
    else:
        _serve_stdio(session, offer)


@dataclass(frozen=True, kw_only=True)
class Offer:
    """What agents are offered: of which bases, for which persona, by which tools."""

    bases: tuple[str, ...]
    persona: str
    tools: str
    allow_write: bool


def _install(session: Session, words: tuple[str, ...], write: bool, offer: Offer, *, http: bool) -> None:
    from zhiku.cli.mcp_install import install

    if len(words) != 2 or words[0] != "install" or http:
        raise UsageError(
            "zhiku mcp cannot be called so.", hint="write: zhiku mcp, zhiku mcp --http, or zhiku mcp install CLIENT"
        )
    arguments = [word for name in offer.bases for word in ("--base", name)]
    arguments += ["--persona", offer.persona] if offer.persona else []
    arguments += ["--tools", offer.tools] if offer.tools != DEFAULT_TOOLS else []
    arguments += ["--allow-write"] if offer.allow_write else []
    install(session, words[1], arguments, write=write)


def _serve_stdio(session: Session, offer: Offer) -> None:
    from zhiku.mcp.wire import take_wire

    if sys.stdin is not None and sys.stdin.isatty():
        render.note(session.errors.tr("AI agents start this themselves. Tell one of it: zhiku mcp install CLIENT"))
    wire = take_wire()
    session.set_up_log()
    from zhiku.mcp.stdio import serve

    server = _server(session, offer)
    serve(server, wire)
    if not server.end_work():
        os._exit(0)  # nobody waits for it, and to take the interpreter apart around a model that runs may crash


def _serve_http(session: Session, port: int, token: str | None, offer: Offer) -> None:
    from zhiku.web.server import listen, url_of

    session.set_up_log()
    wanted = environment().get("ZHIKU_MCP_TOKEN", "") if token is None else token
    if wanted or token is not None:
        _check_token(wanted)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with suppress(KeyboardInterrupt), listen("127.0.0.1", port) as listening:
        from zhiku.mcp.http import PATH, serve

        server = _server(session, offer)
        render.out(url_of(listening) + PATH)
        render.flush()
        serve(server, listening, wanted)
        server.end_work()
    render.note(session.errors.tr("Stopped serving."))


def _check_token(token: str) -> None:
    """Raise for what cannot stand in a header, and for an empty one, perhaps of a variable that is not set."""
    if not token or not token.isascii() or not token.isprintable() or " " in token:
        raise UsageError("that is no token.", hint="a token is one word of plain letters, digits and marks")


def _server(session: Session, offer: Offer) -> ToolServer:
    from zhiku.mcp.server import ToolServer
    from zhiku.mcp.sight import Sight
    from zhiku.mcp.toolsets import tools_of

    sight = Sight(library=session.library(), bases=offer.bases, persona=offer.persona)
    sight.view()
    return ToolServer(tools_of(offer.tools.split(","), allow_write=offer.allow_write), sight)
