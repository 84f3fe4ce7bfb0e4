"""What a run of `zhiku index` did, in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from zhiku.cli.columns import clean_line, pad, width
from zhiku.cli.reasons import listed, retold, rule
from zhiku.cli.screen import Screen, joined

if TYPE_CHECKING:
    from zhiku.ingest.report import Report
    from zhiku.ingest.weigh import Estimate
    from zhiku.service.embedding import Embedding, Sending
    from zhiku.service.indexing import IndexReport
    from zhiku.service.status import Status

MAX_WARNINGS = 10


def summary(reports: IndexReport, status: Status, screen: Screen) -> Iterator[str]:
    """Yield the lines that say what a run did over all its roots; `status` is that of the base after it."""
    parts = [each.report for each in reports]
    chunks = screen.tr("chunks"), str(sum(part.chunks for part in parts))
    yield from aligned([*_counts(parts, screen), chunks, *_embedded(reports.embedding, screen), _time(reports, screen)])
    yield from unread(parts, screen, with_root=len(reports) > 1)
    yield from _vectors(reports.embedding, status, screen)
    yield from worked_around([warning for part in parts for warning in part.warnings], screen)
    yield from lost(parts, screen)
    if not reports.is_concurrent:
        yield screen.tr("This file system cannot keep a log of writes: a search may have to wait while a run writes.")


def foreseen(preview: IndexReport, screen: Screen) -> Iterator[str]:
    """Yield the lines that say what a run would do over all its roots."""
    parts = [each.report for each in preview]
    yield screen.tr("Nothing was written; this is what would be done:")
    yield from aligned(list(_counts(parts, screen)))
    yield from unread(parts, screen, with_root=len(preview) > 1)
    yield from lost(parts, screen)
    if preview.sending and preview.estimate:
        yield sent(preview.sending, preview.estimate, screen)


def sent(sending: Sending, estimate: Estimate, screen: Screen) -> str:
    """Return what would be sent to an endpoint, and whether a run asks before."""
    told = [
        screen.tr(
            "To be sent to {address}: {texts:,} texts, about {tokens:,} tokens.",
            address=sending.address,
            texts=estimate.texts,
            tokens=estimate.tokens,
        )
    ]
    if estimate.unseen:
        told.append(screen.tr("What OCR would read in {count} files is not counted.", count=estimate.unseen))
    if sending.is_new and estimate.texts:
        told.append(screen.tr("No text of this base was sent there before: it needs a yes (--yes)."))
    return joined(told, " ")


def unread(parts: Sequence[Report], screen: Screen, *, with_root: bool) -> Iterator[str]:
    """Yield which files could not be read, and which hold no text."""
    failed = [entry for part in parts for entry in part.failed]
    if failed:
        yield screen.tr("Could not be read: {count}", count=len(failed))
        yield from listed(failed, screen, with_root=with_root)
    textless = [entry for part in parts for entry in part.textless]
    if textless:
        yield screen.tr("Without text: {count}", count=len(textless))
        yield from listed(textless, screen, with_root=with_root)


def lost(parts: Sequence[Report], screen: Screen) -> Iterator[str]:
    """Yield what is indexed of files that are not there, or not wanted, now."""
    if any(part.pruned for part in parts):
        return
    if missing := sum(part.missing for part in parts):
        yield screen.tr(
            "Gone from disk: {count}; what is indexed of them stays. Take it out of search: add --prune", count=missing
        )
    if left_out := sum(len(part.left_out) for part in parts):
        yield screen.tr(
            "Indexed, and left out by a rule now: {count}; what is indexed of them stays. Take it out of search: add"
            " --prune",
            count=left_out,
        )


def _counts(parts: Sequence[Report], screen: Screen) -> Iterator[tuple[str, str]]:
    added, changed, reread = (sum(getattr(part, name) for part in parts) for name in ("added", "changed", "reread"))
    if added or changed:
        detail = screen.tr("{added} new, {changed} changed", added=added, changed=changed)
        yield screen.tr("read"), f"{added + changed + reread} ({detail})"
    else:
        yield screen.tr("read"), str(reread)
    if moved := sum(part.moved for part in parts):
        yield screen.tr("moved"), str(moved)
    yield screen.tr("unchanged"), str(sum(part.unchanged for part in parts))
    counts = {
        screen.tr("back in search"): sum(part.returned for part in parts),
        screen.tr("pruned"): sum(part.pruned for part in parts),
        screen.tr("forgotten"): sum(part.forgotten for part in parts),
    }
    yield from ((label, str(count)) for label, count in counts.items() if count)
    skipped: Counter[str] = sum((part.skipped for part in parts), Counter())
    for i, (code, count) in enumerate(skipped.most_common()):
        yield "" if i else screen.tr("skipped"), f"{count} {rule(screen, code)}"
    encodings: Counter[str] = sum((part.encodings for part in parts), Counter())
    if encodings:
        found = ", ".join(f"{name}: {count}" for name, count in encodings.most_common())
        yield screen.tr("encodings"), found


def _embedded(embedding: Embedding | None, screen: Screen) -> Iterator[tuple[str, str]]:
    if embedding is None:
        return
    embedded, reused = embedding.report.embedded, embedding.report.reused
    detail = screen.tr("({embedded} new, {reused} of equal texts)", embedded=embedded, reused=reused) if reused else ""
    yield screen.tr("embedded"), joined([str(embedded + reused), detail], " ")


def _time(reports: IndexReport, screen: Screen) -> tuple[str, str]:
    words_s = sum(each.report.elapsed_s for each in reports)
    if reports.embedding is None or not reports.embedding.report.embedded:
        return screen.tr("time"), f"{words_s:.1f} s"
    embedding_s = reports.embedding.report.elapsed_s
    detail = screen.tr("{words:.1f} s for words, {embedding:.1f} s for embedding", words=words_s, embedding=embedding_s)
    return screen.tr("time"), f"{words_s + embedding_s:.1f} s ({detail})"


def _vectors(embedding: Embedding | None, status: Status, screen: Screen) -> Iterator[str]:
    if embedding and embedding.replaced and not embedding.failure:
        yield screen.tr("The base had vectors of another embedder; all are made anew.")
    refused = len(embedding.report.refused) if embedding else 0
    if refused:
        unembedded = status.noted("unembedded")
        yield screen.tr("With a part that the model cannot embed: {count}", count=len(unembedded))
        yield from listed(unembedded, screen, with_root=len({entry.root for entry in unembedded}) > 1)
    if status.pending_vectors > refused:
        yield screen.tr(
            "Chunks without a vector: {count}; they are found by words only. Embed them: zhiku index --base {name}",
            count=status.pending_vectors,
            name=status.name,
        )


def worked_around(warnings: Sequence[tuple[str, str]], screen: Screen) -> Iterator[str]:
    """Yield (path, what was worked around) as lines."""
    if not warnings:
        return
    yield screen.tr("Worked around: {count}", count=len(warnings))
    for path, warning in warnings[:MAX_WARNINGS]:
        yield f"- {clean_line(path)}: {clean_line(retold(screen, warning))}"
    if len(warnings) > MAX_WARNINGS:
        yield screen.tr("… and {count} more", count=len(warnings) - MAX_WARNINGS)


def aligned(rows: Iterator[tuple[str, str]] | Sequence[tuple[str, str]], indent: str = "  ") -> Iterator[str]:
    """Yield labels and values as lines, the values below each other."""
    found = list(rows)
    columns = max((width(label) for label, _ in found), default=0)
    for label, value in found:
        yield f"{indent}{pad(label, columns)}  {clean_line(value)}".rstrip()
