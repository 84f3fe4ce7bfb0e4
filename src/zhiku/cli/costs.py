"""The command usage: what requests to endpoints cost."""

# ruff: noqa: ARG002 - click decides what the methods are given

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

import click

from zhiku.cli import options, render
from zhiku.cli.bases import table
from zhiku.cli.command import Command, session_of
from zhiku.cli.progress import duration
from zhiku.errors import UsageError

if TYPE_CHECKING:
    from zhiku.cli.screen import Screen
    from zhiku.remote import Usage

USAGE_COLUMNS = ("kind", "model", "calls", "errors", "texts", "tokens", "time", "address")

_EXAMPLES = """\
zhiku usage
zhiku usage --since 7d
zhiku usage --since 2026-11-01 --format json"""


class Day(click.ParamType[date]):
    """A day as 2026-11-30, or as so many days up to today, with today: 7d."""

    name = "day"

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        return "DATE|Nd"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> date:
        text = str(value).strip()
        days = text[:-1]
        try:
            if text.endswith("d") and days.isdecimal() and int(days) > 0:
                return date.today() - timedelta(days=int(days) - 1)
            return date.fromisoformat(text)
        except (ValueError, OverflowError) as error:
            raise UsageError(
                "{option} cannot be {value!r}.",
                option="--since",
                value=value,
                hint="write a day as 2026-11-30, or so many days as 7d",
            ) from error


@click.command(
    cls=Command,
    epilog=_EXAMPLES,
    help="Show what requests to endpoints cost, by kind, model and address: calls (with those that failed), texts and"
    " tokens that were answered, and the time waited. Tokens are as the endpoint counted them; ~ marks those that are"
    " estimated, for it did not say.",
)
@click.option("--since", type=Day(), help="From this day on: 2026-11-01; or so many days, with today: 7d.")
@options.formats("text", "json")
@click.pass_context
def usage(ctx: click.Context, since: date | None, form: str) -> None:
    from zhiku.service.endpoints import usage_of

    session = session_of(ctx)
    found = usage_of(session.home, since)
    if form == "json":
        render.out_json({"since": since and since.isoformat(), "usage": [each.to_dict() for each in found]})
    elif found:
        render.out_lines(_lines(found, session.screen))
    else:
        render.note(session.errors.tr("No request to an endpoint is on record."))


def _lines(found: Sequence[Usage], screen: Screen) -> Iterator[str]:
    head = tuple(screen.tr(word) for word in USAGE_COLUMNS)
    lines = table([head, *(_row(each, screen) for each in found)], right=range(2, 7))
    yield screen.style(next(lines), "dim")
    yield from lines


def _row(usage: Usage, screen: Screen) -> tuple[str, ...]:
    counts = (usage.calls, usage.errors, usage.texts)
    tokens = f"{'~' if usage.tokens_estimated else ''}{usage.tokens:,}"
    time = duration(usage.seconds, screen)
    return (usage.kind, usage.model, *(f"{count:,}" for count in counts), tokens, time, usage.address)
