"""Bases and their documents as text: lists and status."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from zhiku.cli.columns import clean_line, cut, pad, width
from zhiku.cli.places import pages_read
from zhiku.cli.reasons import by_rule, listed
from zhiku.cli.reports import aligned
from zhiku.cli.screen import Screen, joined
from zhiku.service.meaning import NONE

if TYPE_CHECKING:
    from zhiku.model import Document
    from zhiku.service.status import Status

BASE_COLUMNS = ("base", "documents", "chunks", "not embedded", "embedder", "last change")
DOCUMENT_COLUMNS = ("base", "id", "format", "chunks", "chars", "path", "title")
OUTCOMES = {
    "failed": "Could not be read: {count}",
    "textless": "Without text: {count}",
    "unembedded": "With a part that the model cannot embed: {count}",
    "skipped": "Skipped for what they are: {count}",
}


def bases_table(statuses: Sequence[Status], screen: Screen) -> Iterator[str]:
    """Yield a line for each base and, below it, one for each of its roots."""
    head = tuple(screen.tr(word) for word in BASE_COLUMNS)
    lines = table([head, *map(_base_row, statuses)], right=(1, 2, 3))
    yield screen.style(next(lines), "dim")
    for status, line in zip(statuses, lines, strict=True):
        yield line
        for root in status.roots:
            gone = screen.tr("(gone)") if root in status.losses.missing_roots else ""
            yield f"  {screen.link(root, root)} {screen.style(gone, 'warn')}".rstrip()


def _base_row(status: Status) -> tuple[str, ...]:
    counts = (status.totals.documents, status.totals.chunks, status.pending_vectors)
    return (status.name, *map(str, counts), status.embedder_name, moment(status.changed_at))


def documents_table(rows: Sequence[tuple[str, Document]], screen: Screen) -> Iterator[str]:
    """Yield a line for each document with its base; the path and the title come last, for they are long."""
    several = len({base for base, _ in rows}) > 1
    head = [screen.tr(word) for word in DOCUMENT_COLUMNS]
    found = [
        [base, str(d.doc_id), d.format, str(d.chunk_count), str(d.chars), _place(d, screen), d.title]
        for base, d in rows
    ]
    first = 0 if several else 1
    lines = table([tuple(row[first:]) for row in [head, *found]], right=(1 - first, 3 - first, 4 - first))
    for i, line in enumerate(lines):
        line = cut(line, screen.columns) if screen.columns else line
        yield screen.style(line, "dim") if i == 0 else line


def _place(document: Document, screen: Screen) -> str:
    words = [f"({screen.tr(reason)})" for reason in document.hidden_by]
    return joined([document.source.path, *words], " ")


def status_lines(status: Status, screen: Screen) -> Iterator[str]:
    """Yield everything about a base, and what to do next."""
    yield screen.style(status.name, "bold")
    yield from screen.folded(_details(status, screen))


def _details(status: Status, screen: Screen) -> Iterator[str]:
    yield from aligned(list(_facts(status, screen)))
    several = len({entry.root for entry in status.ledger}) > 1
    for outcome, template in OUTCOMES.items():
        if entries := status.noted(outcome):
            reasons = by_rule(screen, entries) if outcome != "textless" and len(entries) > 1 else ""
            yield "  " + joined([screen.tr(template, count=len(entries)), reasons])
            yield from (f"  {line}" for line in listed(entries, screen, with_root=several))
    for advice in _advice(status, screen):
        yield "  " + screen.tr("Next: {advice}", advice=advice)


def _facts(status: Status, screen: Screen) -> Iterator[tuple[str, str]]:
    totals = status.totals
    for i, root in enumerate(status.roots or ("-",)):
        yield "" if i else screen.tr("roots"), joined([root, _root_state(root, status, screen)], " ")
    yield screen.tr("documents"), joined([f"{totals.documents:,}", _no_longer_searched(status, screen)], " ")
    if status.losses.missing:
        yield "", screen.tr("{count} searched although their files are gone", count=len(status.losses.missing))
    if status.pages.without or status.pages.ocr:
        yield screen.tr("pages"), joined([f"{status.pages.total:,}", *pages_read(status.pages, screen)])
    yield screen.tr("chunks"), f"{totals.chunks:,}"
    yield screen.tr("characters"), f"{totals.chars:,}"
    if status.glossary.paths:
        count = screen.tr("{count} terms", count=len(status.glossary))
        yield screen.tr("glossary"), joined([count, *status.glossary.paths])
    yield screen.tr("embedder"), joined([status.embedder_name, _embedded(status, screen)], " ")
    if status.lacks_code_extra:
        yield screen.tr("source code"), screen.tr("in lines; the extra zhiku[code] cuts it at functions and classes")
    yield screen.tr("index"), f"{status.index_bytes / 1e6:,.1f} MB  {status.folder}"
    yield screen.tr("last change"), moment(status.changed_at)


def _root_state(root: str, status: Status, screen: Screen) -> str:
    if root in status.losses.missing_roots:
        return screen.tr("(gone)")
    return screen.tr("(empty)") if root in status.losses.emptied_roots else ""


def _no_longer_searched(status: Status, screen: Screen) -> str:
    if not status.totals.deprecated:
        return ""
    return screen.tr(
        "({count} no longer searched: pruned {pruned}, forgotten {forgotten})",
        count=status.totals.deprecated,
        pruned=status.losses.pruned,
        forgotten=status.losses.forgotten,
    )


def _embedded(status: Status, screen: Screen) -> str:
    if status.embedder_name == NONE:
        return screen.tr("(searched by words only)")
    if status.pending_vectors:
        return screen.tr("({count:,} chunks have no vector yet)", count=status.pending_vectors)
    return ""


def _advice(status: Status, screen: Screen) -> Iterator[str]:
    if not status.roots:
        yield screen.tr("name a folder: zhiku index PATH --base {name}", name=status.name)
        return
    for root in status.losses.dropped_roots:
        yield screen.tr(
            "no root any more, and still searched: {root}; take it out of search: zhiku forget {quoted} --base {name}",
            root=root,
            quoted=shlex.quote(root),
            name=status.name,
        )
    if status.losses.missing_roots or status.losses.emptied_roots:
        yield screen.tr(
            "connect the drive of the roots that are gone or empty; if their files were removed: zhiku forget PATH"
            " --base {name}",
            name=status.name,
        )
    if status.totals.failed:
        yield screen.tr(
            "mend or exclude the files that could not be read, then: zhiku index --base {name}", name=status.name
        )
    if status.in_part or status.totals.textless:
        yield screen.tr(
            "see which files hold no text, or pages without: zhiku ledger -b {name} --problems", name=status.name
        )
    if status.glossary.shortcomings(status.name):
        yield screen.tr("see what is wrong with the glossary: zhiku terms -b {name}", name=status.name)
    if status.losses.missing:
        yield screen.tr(
            "take out of search what is gone from disk: zhiku index --base {name} --prune", name=status.name
        )
    if status.pending_vectors:
        yield screen.tr("embed what has no vector yet: zhiku index --base {name}", name=status.name)
    elif not status.losses.missing_roots and not status.totals.failed:
        yield screen.tr("bring it up to date after changes: zhiku index --base {name}", name=status.name)


def moment(stamp: str) -> str:
    """Return an ISO 8601 time as the reader's clock shows it; `-` for none."""
    return f"{datetime.fromisoformat(stamp).astimezone():%Y-%m-%d %H:%M}" if stamp else "-"


def table(rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> Iterator[str]:
    """Yield rows in columns, those in `right` aligned at their right; the last is not filled up."""
    cells = [[clean_line(cell) for cell in row] for row in rows]
    widths = [max(map(width, column)) for column in zip(*cells, strict=True)]
    for row in cells:
        parts = [
            " " * (columns - width(cell)) + cell if i in right else pad(cell, columns)
            for i, (cell, columns) in enumerate(zip(row, widths, strict=True))
        ]
        yield "  ".join(parts).rstrip()
