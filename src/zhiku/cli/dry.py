"""What `zhiku index --dry-run` says: what a run would do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from zhiku.cli import render
from zhiku.cli.announcing import announce_prune
from zhiku.cli.progress import ProgressLine
from zhiku.cli.reports import foreseen
from zhiku.errors import UsageError

if TYPE_CHECKING:
    from zhiku.cli.session import Session
    from zhiku.service.indexing import IndexReport
    from zhiku.service.library import Library


def preview(
    session: Session, library: Library, name: str, paths: Sequence[str], *, embed: bool, **work: Any
) -> IndexReport:
    """Say what a run with these options would do, and return it."""
    if work["force_ocr"]:
        raise UsageError("--dry-run cannot tell what --force-ocr would read.", hint="leave one of them out")
    wanted = {option: work[option] for option in ("check", "ocr", "jobs")}
    with ProgressLine(session.errors) as progress:
        done = library.preview(paths, name, embed=embed, progress=progress, **wanted)
    if work["prune"] and done.doomed:
        announce_prune(session.errors, name, done.doomed)
    render.out(session.screen.tr("Base {name}", name=library.find(name) or name))
    render.out_lines(session.screen.folded(foreseen(done, session.screen)))
    return done
