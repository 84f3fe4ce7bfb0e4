"""The `zhiku` command: its commands, what it does with errors, and its exit codes."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

import click

from zhiku.cli import render
from zhiku.cli.command import LazyGroup, session_of
from zhiku.cli.session import Session
from zhiku.cli.usage import explained
from zhiku.cli.values import OneOf
from zhiku.errors import ZhikuError

BUG = 70
INTERRUPTED = 130
READER_GONE = 141
"""What a shell reports for a program that SIGPIPE ended."""
OUTPUT_LOST = 74
"""EX_IOERR of sysexits.h, as 70 is its EX_SOFTWARE."""

# The help of the list stands here, so that `zhiku --help` imports none of the commands.
COMMANDS = {
    "index": ("zhiku.cli.content:index", "Read folders or files into a base, or bring it up to date."),
    "sync": ("zhiku.cli.sync:sync", "Bring all bases of a library folder up to date."),
    "watch": ("zhiku.cli.watch:watch", "Keep bases up to date while their files change."),
    "search": ("zhiku.cli.content:search", "Find the passages that answer a question or hold some words."),
    "grep": ("zhiku.cli.content:grep", "Find every line that holds a keyword, character for character."),
    "read": ("zhiku.cli.content:read", "Show a document, or some lines or a page of it."),
    "list": ("zhiku.cli.admin:list_", "List bases, or the documents in them."),
    "status": ("zhiku.cli.admin:status", "Show what a base holds and what could not be read."),
    "mcp": ("zhiku.cli.mcp:mcp", "Serve your documents to AI agents."),
    "ledger": ("zhiku.cli.ledger:ledger", "Show for each file what was read of it and what was not."),
    "terms": ("zhiku.cli.terms:terms", "Show the terms of a base and check them."),
    "eval": ("zhiku.cli.evaluate:evaluate", "Measure how well questions find their answers."),
    "rebuild": ("zhiku.cli.upkeep:rebuild", "Read all files anew, while the old index answers."),
    "forget": ("zhiku.cli.upkeep:forget", "Take documents out of search; your files are not touched."),
    "unforget": ("zhiku.cli.upkeep:unforget", "Undo forget."),
    "snapshot": ("zhiku.cli.upkeep:snapshot", "Copy the index of a base, or list the copies."),
    "restore": ("zhiku.cli.upkeep:restore", "Put a copy in the place of the index."),
    "doctor": ("zhiku.cli.doctor:doctor", "Check that bases find what they hold."),
    "personas": ("zhiku.cli.personas:personas", "List personas, and the bases that each may see."),
    "config": ("zhiku.cli.settings:config", "Show your settings, or change one."),
    "usage": ("zhiku.cli.costs:usage", "Show what requests to your endpoints cost."),
    "serve-models": ("zhiku.cli.serve_models:serve_models", "Let other programs use the built-in model."),
    "delete": ("zhiku.cli.admin:delete", "Remove a base; your files are not touched."),
}

_HELP = """\
Search your own documents offline, in Chinese and English, and see where every passage stands.

Exit codes: 0 done or found; 1 nothing matched; 2 asked wrongly; 3 done, but some files could not be read; \
4 the index cannot answer; 5 a model did not answer; 6 an optional part is missing; 7 another run is writing; \
70 a bug; 130 interrupted."""

_EXAMPLES = """\
zhiku index ~/notes
zhiku search "how often is the rain gauge calibrated"
zhiku search 雨量筒 校准 -k 3
zhiku read field.md --lines 10-40"""


GC_THRESHOLD = 50_000
"""Importing makes many objects and no garbage: at 700, Python's own, looking for it costs a search 4 % of its time."""


def main() -> NoReturn:
    """Run the command line of this process and exit."""
    gc.set_threshold(GC_THRESHOLD)
    code = run(sys.argv[1:])
    if "multiprocessing" not in sys.modules:
        # Taking the interpreter apart is a tenth of a search's time (2026-11-30), and nothing is left to be saved: what
        # was printed is flushed, and what was written is on the disk.
        os._exit(code)
    sys.exit(code)


def run(args: Sequence[str]) -> int:
    """Run one command line and return its exit code. Everything that goes wrong ends here, in a sentence."""
    render.prepare_streams()
    session = Session()
    try:
        code = _guarded(list(args), session)
        render.flush()
    except BrokenPipeError:
        render.silence()
        return READER_GONE
    except render.OutputLost as error:
        render.note(session.errors.tr("The results could not be written: {cause}.", cause=error))
        return OUTPUT_LOST
    return code


def _guarded(args: list[str], session: Session) -> int:
    try:
        return _invoke(args, session)
    except (BrokenPipeError, render.OutputLost):
        raise
    except KeyboardInterrupt:
        render.note(session.errors.tr("Interrupted."))
        return INTERRUPTED
    except Exception as error:
        # The top of an interface: nobody else could tell the reader, and the traceback belongs into a file.
        return _report_bug(error, session)


def _invoke(args: list[str], session: Session) -> int:
    try:
        with zhiku.make_context("zhiku", args, obj=session) as ctx:
            code = ctx.command.invoke(ctx)
            return code if isinstance(code, int) else 0
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.ClickException as error:
        problem: ZhikuError = explained(error)
    except ZhikuError as error:
        problem = error
    render.error(problem, session.language)
    return problem.exit_code


def _report_bug(error: Exception, session: Session) -> int:
    from zhiku.cli.bugs import record  # nothing else needs tracebacks

    path = record(error, session.home)
    kind = type(error).__name__
    if path is None:
        render.note(session.errors.tr("This is a bug in zhiku ({kind}: {cause}).", kind=kind, cause=error))
    else:
        render.note(
            session.errors.tr("This is a bug in zhiku ({kind}); what happened stands in {path}.", kind=kind, path=path)
        )
    return BUG


def _show_version(ctx: click.Context, _param: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        from zhiku import __version__

        render.out(f"zhiku {__version__}")
        ctx.exit()


@click.group(
    cls=LazyGroup,
    table=COMMANDS,
    invoke_without_command=True,
    subcommand_metavar="COMMAND [ARGS]...",
    help=_HELP,
    epilog=_EXAMPLES,
)
@click.option("--home", metavar="DIR", help="Keep zhiku's files in this folder instead of ~/.zhiku or ZHIKU_HOME.")
@click.option("-v", "--verbose", count=True, help="Say more about what is done; twice: everything.")
@click.option("--log-format", type=OneOf("text", "json"), help="Write log lines for people or for programs.")
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_show_version, help="Show the version."
)
@click.pass_context
def zhiku(ctx: click.Context, home: str | None, verbose: int, log_format: str | None) -> None:
    session = session_of(ctx)
    session.home_option = home
    session.verbosity = verbose
    session.logs_json = log_format == "json"
    if verbose or log_format:
        session.set_up_log()
    if ctx.invoked_subcommand is None:
        render.out(ctx.get_help())
