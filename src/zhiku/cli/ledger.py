"""`zhiku ledger`: what was read of each file, what was not, and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from zhiku.cli import options, render
from zhiku.cli.command import Command, session_of

if TYPE_CHECKING:
    from zhiku.cli.screen import Screen
    from zhiku.service.ledger import LedgerFile

STATES = {
    "ok": "ready",
    "part": "in part",
    "textless": "without text",
    "failed": "failed",
    "skipped": "skipped",
}


@click.command(
    cls=Command,
    help="Show for each file what was read of it (pages, characters, chunks, encoding), what was not, and why. Files"
    " that are left out for their name or place are not listed.",
)
@click.option("--problems", is_flag=True, help="Only files with which something is wrong.")
@options.bases
@options.formats("text", "json")
@click.pass_context
def ledger(ctx: click.Context, problems: bool, names: tuple[str, ...], form: str) -> int:
    from zhiku.cli.admin import ask_each, chosen_bases

    session = session_of(ctx)
    ledgers, code = ask_each(session, chosen_bases(session, names), lambda base: (base.name, base.ledger()))
    if form == "json":
        render.out_json({"bases": [_described(name, files, problems) for name, files in ledgers]})
        return code
    for i, (name, files) in enumerate(ledgers):
        if i:
            render.out("")
        render.out_lines(ledger_lines(name, files, session.screen, problems=problems))
    return code


def _described(name: str, files: Sequence[LedgerFile], problems: bool) -> dict[str, Any]:
    from zhiku.service.ledger import count_states

    shown = [file.to_dict() for file in files if file.is_problem or not problems]
    return {"name": name, "counts": count_states(files), "files": shown}


def ledger_lines(name: str, files: Sequence[LedgerFile], screen: Screen, *, problems: bool) -> Iterator[str]:
    """Yield how many files of a base are in each state, and what is to be said of each, or of those with a problem."""
    from zhiku.cli.columns import pad, width
    from zhiku.cli.screen import joined
    from zhiku.service.ledger import count_states

    words = {state: screen.tr(word) for state, word in STATES.items()}
    counts = [f"{words[state]} {count:,}" for state, count in count_states(files).items() if count]
    yield joined([screen.style(name, "bold"), screen.tr("files: {count:,}", count=len(files)), *counts])
    shown = [file for file in files if file.is_problem or not problems]
    if files and not shown:
        yield screen.tr("Nothing is wrong with any of them.")
    columns = max((width(words[file.state]) for file in shown), default=0)
    several = len({file.root for file in files}) > 1
    for file in shown:
        place = str(Path(file.root, file.path)) if several or not file.path else file.path
        first = [pad(words[file.state], columns), place, *_facts(file, screen)]
        yield from screen.folded([joined(first), *(" " * (columns + 2) + note for note in _notes(file, screen, place))])


def _facts(file: LedgerFile, screen: Screen) -> Iterator[str]:
    from zhiku.cli.bases import moment
    from zhiku.cli.places import pages_read

    if document := file.document:
        if file.pages:
            yield f"{screen.tr('pages')} {file.pages.total:,}"
            yield from pages_read(file.pages, screen)
        yield f"{screen.tr('characters')} {document.chars:,}"
        yield f"{screen.tr('chunks')} {document.chunk_count:,}"
        yield document.encoding
        yield from (f"({screen.tr(reason)})" for reason in document.hidden_by)
    if file.entry and file.entry.tries > 1:
        yield f"{screen.tr('tries')} {file.entry.tries:,}"
    at = file.entry.seen_at if file.entry and file.state in ("failed", "skipped") else ""
    yield moment(at or (file.document.indexed_at if file.document else ""))


def _notes(file: LedgerFile, screen: Screen, place: str) -> Iterator[str]:
    from zhiku.cli.reasons import retold, sentence

    if file.entry:
        yield sentence(screen, file.entry, place)
    if file.entry and file.state == "failed" and file.document and not file.document.hidden_by:
        yield screen.tr("What was indexed of it before is searched still.")
    yield from (retold(screen, warning) for warning in file.warnings)
