"""Say what is going to be taken out of search, before it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from zhiku.cli import render
from zhiku.cli.columns import clean_line
from zhiku.cli.screen import Screen

MAX_LISTED: Final = 20


def announce_prune(screen: Screen, name: str, paths: Sequence[str]) -> None:
    """Tell which files of a base a prune concerns; the line of progress gives way."""
    if screen.columns:
        render.draw("")
    told = "Base {name}: to be taken out of search, for their files are gone or left out now: {count}"
    render.note(screen.tr(told, name=name, count=len(paths)))
    for path in paths[:MAX_LISTED]:
        render.note(f"- {clean_line(path)}")
    if len(paths) > MAX_LISTED:
        render.note(screen.tr("… and {count} more", count=len(paths) - MAX_LISTED))
