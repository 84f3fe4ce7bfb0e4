"""Commands as zhiku's reader meets them: loaded when called, explained in English or Chinese."""

# ruff: noqa: ARG002 - click decides what the methods are given

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from zhiku.cli.columns import width, wrap
from zhiku.cli.screen import DEFAULT_COLUMNS
from zhiku.errors import UsageError
from zhiku.i18n import translate

if TYPE_CHECKING:
    from zhiku.cli.session import Session

MAX_HELP_COLUMNS = 100


class HelpWriter(click.HelpFormatter):
    """Lays out help in columns as a terminal counts them; click counts characters, and Chinese ones are wide."""

    def write_heading(self, heading: str) -> None:
        self.write(f"{' ' * self.current_indent}{heading}\n")

    def write_text(self, text: str) -> None:
        indent = " " * self.current_indent
        for paragraph in text.split("\n"):
            # What is indented already is an example: it stays as it is.
            columns = None if paragraph.startswith(" ") else self.width - self.current_indent
            for start, end in wrap(paragraph, columns):
                self.write(f"{indent}{paragraph[start:end]}".rstrip() + "\n")

    def write_dl(self, rows: Any, col_max: int = 30, col_spacing: int = 2) -> None:
        rows = list(rows)
        first = min(max((width(term) for term, _ in rows), default=0), col_max) + col_spacing
        indent = " " * self.current_indent
        for term, text in rows:
            columns = max(self.width - self.current_indent - first, 10)
            lines = [text[start:end] for start, end in wrap(text, columns)]
            if width(term) > first - col_spacing:
                self.write(f"{indent}{term}\n")
                term = ""
            for line in lines:
                self.write(f"{indent}{term}{' ' * (first - width(term))}{line}".rstrip() + "\n")
                term = ""


class Command(click.Command):
    """A command whose help is translated when it is shown."""

    def get_help(self, ctx: click.Context) -> str:
        columns = min(session_of(ctx).screen.columns or DEFAULT_COLUMNS, MAX_HELP_COLUMNS)
        formatter = HelpWriter(width=columns)
        self.format_help(ctx, formatter)
        return formatter.getvalue().rstrip("\n")

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        pieces = " ".join(self.collect_usage_pieces(ctx))
        formatter.write_usage(ctx.command_path, pieces, prefix=_tr(ctx, "Usage: "))

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text(_tr(ctx, self.help or ""))

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        records = [param.get_help_record(ctx) for param in self.get_params(ctx) if isinstance(param, click.Option)]
        with formatter.section(_tr(ctx, "Options:")):
            formatter.write_dl([(spec, _tr(ctx, text)) for spec, text in filter(None, records)])

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        if self.epilog:
            with formatter.section(_tr(ctx, "Examples:")):
                formatter.write_text(self.epilog)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.allow_extra_args = True
        try:
            rest = super().parse_args(ctx, args)
        except click.UsageError as error:
            error.ctx = error.ctx or ctx  # some of click's own do not say where they arose
            raise
        if rest and not isinstance(self, click.Group) and not ctx.resilient_parsing:
            raise UsageError(
                "{command} takes no {extra!r}.",
                command=ctx.command_path,
                extra=rest[0],
                hint="see how it is called: {command} --help",
            )
        return rest


class LazyGroup(Command, click.Group):
    """A group whose commands are imported when they are called; their help for the list stands in a table."""

    def __init__(self, *args: Any, table: Mapping[str, tuple[str, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._table = table

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self._table)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self._table:
            return None
        module, _, attribute = self._table[cmd_name][0].partition(":")
        found = getattr(import_module(module), attribute)
        assert isinstance(found, click.Command)
        return found

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        Command.format_options(self, ctx, formatter)
        self.format_commands(ctx, formatter)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section(_tr(ctx, "Commands:")):
            formatter.write_dl([(name, _tr(ctx, text)) for name, (_, text) in self._table.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in self._table:
            raise unknown("no command {name!r}.", args[0], self.list_commands(ctx), "see all commands: zhiku --help")
        return super().resolve_command(ctx, args)


def session_of(ctx: click.Context) -> Session:
    """Return what `main` knows of this run."""
    session: Session = ctx.obj
    return session


def unknown(template: str, name: str, known: Sequence[str], otherwise: str, **params: object) -> UsageError:
    """Return the error for a name that does not exist, with the nearest that does; `otherwise` is the hint if none."""
    import difflib  # only a mistake pays for it

    close = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    if close:
        return UsageError(template, name=name, close=close[0], hint="did you mean {close}?")
    return UsageError(template, name=name, hint=otherwise, **params)


def _tr(ctx: click.Context, template: str) -> str:
    return translate(template, session_of(ctx).screen.language) if template else ""
