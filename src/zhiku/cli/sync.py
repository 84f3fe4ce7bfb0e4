"""The command sync, and what it did in words."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from zhiku.cli import options, render
from zhiku.cli.bases import table
from zhiku.cli.command import Command, session_of
from zhiku.cli.content import INTERRUPTED, SOME_FAILED
from zhiku.cli.reasons import rule, told
from zhiku.cli.reports import lost, sent, unread, worked_around
from zhiku.cli.values import Whole
from zhiku.service.domains import DOMAINS_FILE

if TYPE_CHECKING:
    from zhiku.cli.screen import Screen
    from zhiku.service.library_root import LibraryRoot
    from zhiku.service.sync_report import GoneRoot, SyncedBase, SyncReport

COUNTS = {
    "added": "{count} new",
    "changed": "{count} changed",
    "reread": "{count} read again",
    "moved": "{count} moved",
    "returned": "{count} back",
    "pruned": "{count} pruned",
}

_EXAMPLES = """\
zhiku sync ~/library
zhiku sync --base notes
zhiku sync ~/library ~/notes --no-embed
zhiku sync --prune --dry-run"""


@click.command(
    cls=Command,
    epilog=_EXAMPLES,
    help="Bring all bases of a library folder up to date: each folder in it is a base, and its name is the base's."
    " Without a ROOT, the library roots of the settings. Folders whose names begin with _ or . are left out; the file"
    " _domains.md gives folders other names (FOLDER = NAME). Your files are never written to.",
)
@click.argument("roots", nargs=-1, metavar="[ROOT]...")
@click.option("-b", "--base", "names", multiple=True, metavar="BASE", help="Only this base; may be repeated.")
@click.option("--dry-run", is_flag=True, help="Say what would be done and sent, and do nothing of it.")
@click.option("--prune", is_flag=True, help="Take documents out of search whose files are gone or left out now.")
@options.ocr
@click.option("--no-embed", is_flag=True, help="Words only; a later run without this option embeds what is missing.")
@click.option("--threads", type=Whole(), default=1, help="How many cores embedding may use; 1, unless named.")
@click.option("--jobs", type=Whole(), help="How many PDFs are read at once; half the cores, unless named.")
@options.wait
@options.endpoint
@options.formats("text", "json")
@click.pass_context
def sync(ctx: click.Context, /, roots: tuple[str, ...], names: tuple[str, ...], form: str, **work: Any) -> int:
    from zhiku.cli.announcing import announce_prune
    from zhiku.cli.endpoint import agreed_for, taken
    from zhiku.cli.progress import EmbeddingLine, ProgressLine

    session = session_of(ctx)
    session.set_up_log()
    yes, endpoint = taken(work, for_new=True)
    with ProgressLine(session.errors) as progress:
        done = session.library(endpoint).sync(
            roots,
            names,
            agree=partial(agreed_for, session, yes=yes),
            embed=not work.pop("no_embed"),
            wait_s=math.inf if work.pop("wait") else 0.0,
            **work,
            announce=partial(announce_prune, session.errors),
            progress=progress,
            embed_progress=EmbeddingLine(session.errors),
        )
    if form == "json":
        render.out_json(done.to_dict())
    else:
        render.out_lines(session.screen.folded(_summary(done, session.screen)))
    if done.interrupted:
        render.note(session.errors.tr("Interrupted. What is done stays; the same command goes on from here."))
        return INTERRUPTED
    if done.failure:
        return done.failure.exit_code
    return 0 if done.is_complete else SOME_FAILED


def _summary(done: SyncReport, screen: Screen) -> Iterator[str]:
    if done.dry_run:
        yield screen.tr("Nothing was written; this is what would be done:")
    if done.bases:
        yield from table([(base.name, _counts(base, screen)) for base in done.bases])
    yield from _problems(done, screen)
    parts = [part for base in done.bases for part in base.parts]
    yield from unread(parts, screen, with_root=True)
    found = [(base.name, warning) for base in done.bases for part in base.parts for warning in part.warnings]
    yield from worked_around([(f"{name}/{path}", text) for name, (path, text) in found], screen)
    yield from lost(parts, screen)
    for base in done.bases:
        if base.report and base.report.sending and base.report.estimate:
            reason = sent(base.report.sending, base.report.estimate, screen)
            yield screen.tr("{path}: {reason}", path=base.name, reason=reason)
    for gone in done.gone:
        yield _gone(gone, screen)
    for base in done.bases:
        for path in base.glossaries:
            yield screen.tr("{name}: its glossary is {path}.", name=base.name, path=path)
    for root in done.roots:
        yield from _notes(root, screen)


def _counts(base: SyncedBase, screen: Screen) -> str:
    """Return in a few words what was done for a base; what is nought is left out."""
    if base.report is None:
        return screen.tr("not brought up to date")
    said = [screen.tr(text, count=count) for what, text in COUNTS.items() if (count := base.count(what))]
    if not base.count("pruned") and (missing := base.count("missing")):
        said.append(screen.tr("{count} gone", count=missing))
    if base.failed:
        said.append(screen.tr("{count} failed", count=len(base.failed)))
    if base.embedded:
        said.append(screen.tr("{count} chunks embedded", count=base.embedded))
    if base.takes_intro:
        said.append(screen.tr("intro from intro.md"))
    if base.interrupted:
        said.append(screen.tr("interrupted"))
    unchanged = base.count("unchanged")
    if not said:
        return screen.tr("nothing changed (files: {count})", count=unchanged) if unchanged else screen.tr("no files")
    if unchanged:
        said.append(screen.tr("{count} unchanged", count=unchanged))
    return screen.tr(", ").join(said)


def _problems(done: SyncReport, screen: Screen) -> Iterator[str]:
    """Yield what could not be synced and why, each reason once with all the bases it concerns."""
    found: dict[str, list[str]] = {told(screen, problem): [] for problem in done.problems}
    for base in done.bases:
        for problem in (*base.problems, *([base.failure] if base.failure else [])):
            found.setdefault(told(screen, problem), []).append(base.name)
    if found:
        yield screen.tr("Could not be synced: {count}", count=len(found))
    for sentence, names in found.items():
        about = screen.tr(", ").join(names)
        yield "- " + (screen.tr("{path}: {reason}", path=about, reason=sentence) if about else sentence)


def _gone(gone: GoneRoot, screen: Screen) -> str:
    return screen.tr(
        "{name}: {path} is gone; its documents ({count}) are still found. Connect its drive, or take them out of"
        " search: zhiku forget {quoted} --base {name}",
        name=gone.base,
        path=gone.path,
        count=gone.documents,
        quoted=shlex.quote(gone.path),
    )


def _notes(root: LibraryRoot, screen: Screen) -> Iterator[str]:
    for skipped in root.skipped:
        path, reason = str(root.path / skipped.path), rule(screen, skipped.reason)
        if skipped.detail:
            reason = screen.tr("{reason} ({detail})", reason=reason, detail=skipped.detail)
        yield screen.tr("{path}: {reason}", path=path, reason=reason)
    for line in root.unused:
        path = str(root.path / DOMAINS_FILE)
        yield screen.tr(
            "{path}, line {line}: there is no folder {folder!r}.", path=path, line=line.line, folder=line.folder
        )
    if root.loose_files:
        yield screen.tr(
            "{path}: files that lie in no folder, and so in no base: {count}", path=root.path, count=root.loose_files
        )
    if root.is_readable and not root.folders:
        yield screen.tr("{path} holds no folder that could be a base.", path=root.path)
