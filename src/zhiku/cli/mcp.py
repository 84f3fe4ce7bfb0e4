"""The command mcp: a server for AI agents."""

from __future__ import annotations

import click

from zhiku.cli.command import Command, session_of
from zhiku.errors import UsageError

_EXAMPLES = """\
zhiku mcp
zhiku mcp --base notes --base papers
zhiku mcp --persona librarian"""


@click.command(
    cls=Command,
    epilog=_EXAMPLES,
    help="Serve your documents to AI agents, as tools of the Model Context Protocol, over standard input and output."
    " Clients start it themselves, and it ends with them. It only reads.",
)
@click.option("-b", "--base", "names", multiple=True, metavar="BASE", help="Show this base only; may be repeated.")
@click.option("--persona", metavar="NAME", default="", help="Show only what this persona sees.")
@click.option("--tools", metavar="SET[,SET]", default="default", help="Which sets of tools to offer.")
@click.pass_context
def mcp(ctx: click.Context, names: tuple[str, ...], persona: str, tools: str) -> None:
    from zhiku.mcp.wire import take_wire

    if names and persona:
        raise UsageError("--base and --persona cannot both be given.", hint="the persona's profile names its bases")
    session = session_of(ctx)
    wire = take_wire()
    session.set_up_log()

    from zhiku.mcp.server import ToolServer
    from zhiku.mcp.sight import Sight
    from zhiku.mcp.stdio import serve
    from zhiku.mcp.toolsets import tools_of

    sight = Sight(library=session.library(), bases=names, persona=persona)
    sight.view()
    serve(ToolServer(tools_of(tools.split(",")), sight), wire)
