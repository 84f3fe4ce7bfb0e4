"""What click finds wrong with a command line, in zhiku's words."""

from __future__ import annotations

from collections.abc import Sequence

import click

from zhiku.cli.command import unknown
from zhiku.errors import UsageError

SEE_HELP = "see how it is called: {command} --help"
_LOOKS_LIKE_TEXT = "see {command} --help; if it is what to look for, write -- before it"


def explained(error: click.ClickException) -> UsageError:
    """Return the error that tells the reader what click found, and what to run next."""
    ctx = getattr(error, "ctx", None)
    command = ctx.command_path if ctx is not None else "zhiku"
    if isinstance(error, click.NoSuchOption):
        return _no_such_option(error.option_name, ctx, command)
    if isinstance(error, click.MissingParameter) and error.param is not None and ctx is not None:
        return UsageError(
            "{name} is missing.", name=error.param.make_metavar(ctx).rstrip("."), command=command, hint=SEE_HELP
        )
    if isinstance(error, click.BadOptionUsage):
        option = next((p for p in _options(ctx) if error.option_name in p.opts), None)
        if option is not None and option.is_flag:
            return UsageError("{option} takes no value.", option=error.option_name, command=command, hint=SEE_HELP)
        return UsageError("{option} needs a value.", option=error.option_name, command=command, hint=SEE_HELP)
    return UsageError("{message}", message=error.format_message(), command=command, hint=SEE_HELP)


def _no_such_option(name: str, ctx: click.Context | None, command: str) -> UsageError:
    if ctx is not None and ctx.parent is not None:
        above = {opt for option in _options(ctx.parent) for opt in option.opts} - {"--help"}
        if name in above:
            return UsageError(
                "{name} stands before the command.",
                name=name,
                rest=ctx.info_name,
                hint="write: zhiku {name} … {rest} …",
            )
    known = [opt for option in _options(ctx) for opt in option.opts if opt.startswith("--")]
    error = unknown("no option {name}.", name, known, _LOOKS_LIKE_TEXT)
    error.params["command"] = command
    return error


def _options(ctx: click.Context | None) -> Sequence[click.Option]:
    params = ctx.command.get_params(ctx) if ctx is not None else []
    return [param for param in params if isinstance(param, click.Option)]
