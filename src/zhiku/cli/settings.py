"""The command about the user's settings: config."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import click

from zhiku.cli import render
from zhiku.cli.columns import clean
from zhiku.cli.command import Command, session_of
from zhiku.cli.values import OneOf
from zhiku.errors import UsageError

if TYPE_CHECKING:
    from zhiku.cli.session import Session
    from zhiku.config import Settings
    from zhiku.config.edit import Value

_EXAMPLES = """\
zhiku config show
zhiku config get search.top_k
zhiku config set models.embedding.api_url http://localhost:11434/v1
zhiku config set models.embedding.api_key env:MY_KEY
zhiku config path"""

_GIVEN = {"show": (), "path": (), "get": ("KEY",), "set": ("KEY", "VALUE")}


@click.command(
    cls=Command,
    epilog=_EXAMPLES,
    help="Show your settings (show), one of them (get KEY), or where they stand (path), or change one (set KEY VALUE)."
    " Comments in the file are kept. Keys of endpoints are never shown.",
)
@click.argument("action", type=OneOf(*_GIVEN), metavar="show|get|set|path")
@click.argument("values", nargs=-1, metavar="[KEY] [VALUE]")
@click.pass_context
def config(ctx: click.Context, action: str, values: tuple[str, ...]) -> None:
    from zhiku.config import CONFIG_FILE, load_settings
    from zhiku.config.edit import all_settings, change, setting
    from zhiku.config.files import in_toml

    if len(values) != len(_GIVEN[action]):
        raise UsageError(
            "zhiku config {action} takes {wanted}.",
            action=action,
            wanted=" ".join(_GIVEN[action]) or "-",
            hint="see how it is called: zhiku config --help",
        )
    home = session_of(ctx).home
    if action == "path":
        render.out_paths([str(home / CONFIG_FILE)])
    elif action == "get":
        value = setting(home, values[0])
        render.out(clean(value if isinstance(value, str) else in_toml(value)))
    elif action == "set":
        change(home, *values)
        _note_sending(session_of(ctx), load_settings(home))
    else:
        settings = load_settings(home)
        render.out_lines(_shown(all_settings(settings)))
        _note_sending(session_of(ctx), settings)


def _note_sending(session: Session, settings: Settings) -> None:
    """Say where every search sends text to, if it does."""
    from zhiku.service.reranking import sent_to

    if address := sent_to(settings):
        render.note(
            session.errors.tr(
                "Reranking is on: each search sends its question and the text of its hits to {address}.",
                address=address,
            )
        )


def _shown(known: Iterable[tuple[str, Value]]) -> Iterator[str]:
    """Yield settings as the file would have them."""
    from zhiku.config.files import in_toml

    last = ""
    for name, value in known:
        section, _, key = name.rpartition(".")
        if section != last:
            yield from ([""] if last else [])
            yield f"[{section}]"
            last = section
        yield clean(f"{key} = {in_toml(value)}")
