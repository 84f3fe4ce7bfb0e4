"""The command watch: bases that follow their files."""

from __future__ import annotations

import logging
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import click

from zhiku.cli import options, render
from zhiku.cli.columns import clean_line
from zhiku.cli.command import Command, session_of
from zhiku.cli.reasons import MAX_LISTED, listed
from zhiku.cli.screen import Screen
from zhiku.cli.session import Session

if TYPE_CHECKING:
    from zhiku.model import LedgerEntry
    from zhiku.service.indexing import IndexReport
    from zhiku.service.watching import WatchEvent

NICENESS = 10
"""Half way to the lowest priority, as of nice(1) without a number."""

_EXAMPLES = """\
zhiku watch
zhiku watch -b notes -b work --no-embed"""


@click.command(
    cls=Command,
    epilog=_EXAMPLES,
    help="Keep bases up to date until Ctrl-C: what changes in their folders is read as soon as it has settled, and all"
    " of it is looked through every minute. Prints a line for each run that changed something. Nothing is removed from"
    " an index.",
)
@click.option("-b", "--base", "names", multiple=True, metavar="BASE", help="Watch this base; may be repeated.")
@click.option("--no-embed", is_flag=True, help="Words only, whatever the settings say.")
@options.endpoint
@click.pass_context
def watch(ctx: click.Context, /, names: tuple[str, ...], no_embed: bool, **endpoint: Any) -> int:
    session = session_of(ctx)
    session.set_up_log()
    for handler in logging.getLogger("zhiku").handlers:
        handler.addFilter(_Once())
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with suppress(KeyboardInterrupt):  # how a watch ends
        _watch(session, names, endpoint, embed=False if no_embed else None)
    render.note(session.errors.tr("Stopped watching."))
    return 0


def _watch(session: Session, names: tuple[str, ...], endpoint: dict[str, Any], *, embed: bool | None) -> None:
    from zhiku.cli.admin import chosen_bases
    from zhiku.cli.endpoint import taken
    from zhiku.service.watching import Watcher

    bases = chosen_bases(session, names)
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    yes, told = taken(endpoint, for_new=True)
    watcher = Watcher(session.library(told), names, embed=embed, may_send=yes, on_event=_Teller(session))
    render.note(
        session.errors.tr("Watching {bases}; Ctrl-C ends it.", bases=", ".join(base.name for base in bases) or "–")
    )
    watcher.run(threading.Event())


class _Once(logging.Filter):
    """Lets a message through once: each look at a file would bring it again."""

    def __init__(self) -> None:
        super().__init__()
        self._seen: set[str] = set()

    def filter(self, record: logging.LogRecord) -> bool:
        message = record.getMessage()
        is_new = message not in self._seen
        self._seen.add(message)
        return is_new


class _Teller:
    """Prints what a watcher did, and once each thing that it could not do."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._failed: dict[str, set[_Failure]] = {}
        self._gone: dict[str, set[str]] = {}

    def __call__(self, event: WatchEvent) -> None:
        if event.error is not None:
            render.error(event.error, self._session.language)
        if event.report is None:
            return
        if event.changed:
            counts = ", ".join(_counts(event.report, self._session.screen))
            render.out(f"{time.strftime('%Y-%m-%d %H:%M:%S')}  {event.base}  {counts}")
            render.flush()
        if gone := self._newly_gone(event.base, event.report):
            render.note(
                self._session.errors.tr("Gone from disk: {count}; what is indexed of them stays.", count=len(gone))
            )
            for path in gone[:MAX_LISTED]:
                render.note(f"- {clean_line(path)}")
        if failed := self._newly_failed(event.base, event.report):
            render.note(self._session.errors.tr("Could not be read: {count}", count=len(failed)))
            for line in listed(failed, self._session.errors, with_root=True):
                render.note(line)

    def _newly_failed(self, base: str, report: IndexReport) -> list[LedgerEntry]:
        told = self._failed.setdefault(base, set())
        failed = [entry for each in report for entry in each.report.failed]
        fresh = [entry for entry in failed if _failure(entry) not in told]
        whole = {str(each.target.root) for each in report if each.target.part == each.target.root}
        self._failed[base] = {failure for failure in told if failure[0] not in whole} | set(map(_failure, failed))
        return fresh

    def _newly_gone(self, base: str, report: IndexReport) -> list[str]:
        told = self._gone.get(base, set())
        gone = {f"{each.target.root}{os.sep}{path}" for each in report for path in each.report.gone}
        looked_at = tuple(str(each.target.part) for each in report)
        self._gone[base] = {path for path in told if not path.startswith(looked_at)} | gone
        return sorted(gone - told)


_Failure = tuple[str, str, str, str]


def _failure(entry: LedgerEntry) -> _Failure:
    """Return what makes a failure another one: not how often it was tried."""
    return entry.root, entry.path, entry.code, entry.message


def _counts(report: IndexReport, screen: Screen) -> Iterator[str]:
    added, changed, moved = (
        sum(getattr(each.report, name) for each in report) for name in ("added", "changed", "moved")
    )
    if added:
        yield screen.tr("{count} new", count=added)
    if changed:
        yield screen.tr("{count} changed", count=changed)
    if moved:
        yield screen.tr("{count} moved", count=moved)
    if embedded := report.embedding.report.embedded + report.embedding.report.reused if report.embedding else 0:
        yield screen.tr("{count} embedded", count=embedded)
