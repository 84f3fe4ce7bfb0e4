"""Commands that keep a base right over the years: rebuild, snapshot, restore, forget and unforget."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from zhiku.cli import options, render
from zhiku.cli.command import Command, session_of
from zhiku.cli.content import INTERRUPTED, SOME_FAILED
from zhiku.cli.session import Session
from zhiku.cli.values import Whole

if TYPE_CHECKING:
    from zhiku.cli.screen import Screen
    from zhiku.service.base import Base
    from zhiku.service.forgetting import Forgetting
    from zhiku.service.snapshots import Snapshot

MAX_LISTED = 20

_FORGET_EXAMPLES = """\
zhiku forget ~/notes/draft.md
zhiku forget 17 -b work
zhiku forget ~/notes/old"""


def _wait_s(wait: bool) -> float:
    return math.inf if wait else 0.0


@click.command(
    cls=Command,
    help="Read all files of a base anew into an index beside the one that answers, and put it in that one's place in"
    " one step. Documents keep their ids, equal texts their vectors, and what was forgotten stays so. Until the end,"
    " and if anything fails, the old index answers. A snapshot of it is kept.",
)
@options.base
@options.ocr
@click.option("--threads", type=Whole(), default=1, help="How many cores embedding may use; 1, unless named.")
@click.option("--jobs", type=Whole(), help="How many PDFs are read at once; half the cores, unless named.")
@options.wait
@options.endpoint
@click.pass_context
def rebuild(ctx: click.Context, /, name: str | None, wait: bool, **given: Any) -> int:
    from zhiku.cli.endpoint import agreed, taken
    from zhiku.cli.progress import EmbeddingLine, ProgressLine
    from zhiku.cli.reports import summary

    session = session_of(ctx)
    session.set_up_log()
    work = {option: given.pop(option) for option in ("ocr", "threads", "jobs")}
    yes, told = taken(given)
    (base,) = session.library(told).resolve([name] if name else [])
    may_send = agreed(session, base.name, base.sending(rebuilds=True), yes=yes)
    try:
        with ProgressLine(session.errors) as progress:
            done = base.rebuild(
                may_send=may_send,
                wait_s=_wait_s(wait),
                **work,
                progress=progress,
                embed_progress=EmbeddingLine(session.errors),
            )
    except KeyboardInterrupt:
        render.note(session.errors.tr("Interrupted. The index is as it was before."))
        return INTERRUPTED
    screen = session.screen
    render.out(screen.tr("Base {name}, built anew", name=base.name))
    render.out_lines(screen.folded(summary(done.report, base.status(look=False), screen)))
    if done.from_nothing:
        render.note(
            session.errors.tr(
                "The old index could not be read: documents have new ids, and what was forgotten is searched again."
            )
        )
    return SOME_FAILED if any(each.report.failed for each in done.report) else 0


@click.command(
    cls=Command,
    help="Copy the index of a base, or list the copies. They are also made before a rebuild, a restore and a change of"
    " the index's form; the last ten are kept.",
)
@options.base
@click.option("--list", "wants_list", is_flag=True, help="List the copies there are, and make none.")
@options.wait
@options.formats("text", "json")
@click.pass_context
def snapshot(ctx: click.Context, name: str | None, wants_list: bool, wait: bool, form: str) -> None:
    session = session_of(ctx)
    base = one_base(session, name)
    found = base.snapshots() if wants_list else [base.snapshot(wait_s=_wait_s(wait))]
    if form == "json":
        render.out_json({"base": base.name, "snapshots": [each.to_dict() for each in found]})
    elif found:
        render.out_lines(_snapshot_table(found, session.screen))
    else:
        render.note(session.errors.tr("Base {name} has no snapshot yet.", name=base.name))


def _snapshot_table(found: Sequence[Snapshot], screen: Screen) -> Iterator[str]:
    from zhiku.cli.bases import moment, table

    reasons = {
        "request": screen.tr("on request"),
        "migration": screen.tr("before a change of form"),
        "rebuild": screen.tr("before a rebuild"),
        "restore": screen.tr("before a restore"),
    }
    rows = [
        (each.name, moment(each.made_at), f"{each.size_bytes / 1e6:,.1f} MB", reasons.get(each.reason, each.reason))
        for each in found
    ]
    return table(rows, right=(2,))


@click.command(
    cls=Command,
    help="Put a snapshot in the place of a base's index, of which a copy is made first. Your files are not touched: a"
    " later index run brings the base up to date with them.",
)
@click.argument("snapshot_name", metavar="SNAPSHOT|latest")
@options.base
@options.wait
@click.pass_context
def restore(ctx: click.Context, snapshot_name: str, name: str | None, wait: bool) -> None:
    session = session_of(ctx)
    base = one_base(session, name)
    done = base.restore(snapshot_name, wait_s=_wait_s(wait))
    render.out(
        session.screen.tr("Base {name} is as in snapshot {snapshot}.", name=base.name, snapshot=done.restored.name)
    )
    if done.saved:
        render.note(
            session.errors.tr(
                "As it was before: zhiku restore {snapshot} -b {name}", snapshot=done.saved.name, name=base.name
            )
        )
    else:
        render.note(session.errors.tr("The index that was there could not be copied, and is gone."))
    render.note(session.errors.tr("Bring it up to date with your files: zhiku index --base {name}", name=base.name))


@click.command(
    cls=Command,
    epilog=_FORGET_EXAMPLES,
    help="Take documents out of search, named by path, id or locator; a folder means all that is indexed below it. Your"
    " files are not touched, later runs leave them alone, and zhiku unforget undoes it.",
)
@click.argument("names", nargs=-1, required=True, metavar="PATH|DOC_ID...")
@options.base
@options.wait
@click.pass_context
def forget(ctx: click.Context, names: tuple[str, ...], name: str | None, wait: bool) -> None:
    session = session_of(ctx)
    base = one_base(session, name or _base_of(names))
    done = base.forget(*names, wait_s=_wait_s(wait))
    screen = session.screen
    render.out(screen.tr("Forgotten in base {name}: {count}", name=base.name, count=len(done.done)))
    _list_done(done, screen, screen.tr("Forgotten before: {count}", count=len(done.already)))


@click.command(
    cls=Command,
    help="Undo zhiku forget: the documents are searched again, as they were indexed last.",
)
@click.argument("names", nargs=-1, required=True, metavar="PATH|DOC_ID...")
@options.base
@options.wait
@click.pass_context
def unforget(ctx: click.Context, names: tuple[str, ...], name: str | None, wait: bool) -> None:
    session = session_of(ctx)
    base = one_base(session, name or _base_of(names))
    done = base.unforget(*names, wait_s=_wait_s(wait))
    screen = session.screen
    render.out(screen.tr("No longer forgotten in base {name}: {count}", name=base.name, count=len(done.done)))
    _list_done(done, screen, screen.tr("Not forgotten before: {count}", count=len(done.already)))
    if pruned := sum("pruned" in document.hidden_by for document in done.done):
        render.note(
            session.errors.tr(
                "Of these, pruned because their files were gone, and still not searched: {count}; if these are back:"
                " zhiku index --base {name}",
                count=pruned,
                name=base.name,
            )
        )


def _list_done(done: Forgetting, screen: Screen, already: str) -> None:
    from zhiku.cli.columns import clean_line
    from zhiku.retrieve.freshness import file_of

    for document in done.done[:MAX_LISTED]:
        render.out(f"- {document.doc_id}  {clean_line(str(file_of(document)))}")
    if len(done.done) > MAX_LISTED:
        render.out(screen.tr("… and {count} more", count=len(done.done) - MAX_LISTED))
    if done.already:
        render.out(already)


def _base_of(names: Sequence[str]) -> str | None:
    """Return the base that a locator names, if the first name is one."""
    from zhiku.locator import SCHEME, parse_locator

    return parse_locator(names[0]).base if names[0].startswith(SCHEME) else None


def one_base(session: Session, name: str | None) -> Base:
    """Return the base named, else `default`, else the only one."""
    (base,) = session.library().resolve([name] if name else [])
    return base
