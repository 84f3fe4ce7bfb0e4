"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from zhiku.cli.values import OneOf, Whole

F = TypeVar("F", bound=Callable[..., Any])

bases = click.option("-b", "--base", "names", multiple=True, metavar="BASE", help="Look in this base; may be repeated.")
base = click.option("-b", "--base", "name", metavar="BASE", help="The base; default, or the only one, unless named.")
wait = click.option("--wait", is_flag=True, help="Wait while another run writes the base.")
ocr = click.option("--ocr", is_flag=True, help="Recognise text in images, and on pages of PDFs that are images.")
source = click.option(
    "--source", metavar="TEXT|GLOB", help="Only files whose path holds this text, or matches this glob."
)
max_chars = click.option("--max-chars", type=Whole(), help="At most this many characters of text in all.")


def endpoint(command: F) -> F:
    """Add the options that name an endpoint for this run."""
    for option in (
        click.option("--embed-api-key", metavar="KEY", default="", help="Its key, env:NAME or file:PATH."),
        click.option("--embed-model", metavar="MODEL", default="", help="The model that it is asked for."),
        click.option("--embed-base-url", metavar="URL", default="", help="Embed through this endpoint."),
        click.option("--yes", is_flag=True, help="Agree that text is sent to an endpoint on another computer."),
    ):
        command = option(command)
    return command


def formats(*words: str) -> Callable[[F], F]:
    """Return the option that chooses how results are printed; the first word is the default."""
    return click.option("--format", "form", type=OneOf(*words), default=words[0], help="How to print the results.")
