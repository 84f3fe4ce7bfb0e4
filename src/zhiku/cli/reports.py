"""What a run of `zhiku index` did, in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from zhiku.cli.columns import clean_line, pad, width
from zhiku.cli.reasons import listed, retold, rule
from zhiku.cli.screen import Screen

if TYPE_CHECKING:
    from zhiku.ingest.pipeline import Report
    from zhiku.service.indexing import RootReport

MAX_WARNINGS = 10


def summary(reports: Sequence[RootReport], screen: Screen) -> Iterator[str]:
    """Yield the lines that say what a run did over all its roots."""
    parts = [each.report for each in reports]
    yield from aligned(_counts(parts, screen))
    failed = [entry for part in parts for entry in part.failed]
    if failed:
        yield screen.tr("Could not be read: {count}", count=len(failed))
        yield from listed(failed, screen, with_root=len(reports) > 1)
    textless = [entry for part in parts for entry in part.textless]
    if textless:
        yield screen.tr("Without text: {count}", count=len(textless))
        yield from listed(textless, screen, with_root=len(reports) > 1)
    yield from _warnings([warning for part in parts for warning in part.warnings], screen)
    if missing := sum(part.missing for part in parts):
        yield screen.tr("Gone from disk: {count}; they stay in the index until they are pruned.", count=missing)


def _counts(parts: Sequence[Report], screen: Screen) -> Iterator[tuple[str, str]]:
    added, changed = (sum(getattr(part, name) for part in parts) for name in ("added", "changed"))
    if added or changed:
        detail = screen.tr("{added} new, {changed} changed", added=added, changed=changed)
        yield screen.tr("read"), f"{added + changed} ({detail})"
    else:
        yield screen.tr("read"), "0"
    if moved := sum(part.moved for part in parts):
        yield screen.tr("moved"), str(moved)
    yield screen.tr("unchanged"), str(sum(part.unchanged for part in parts))
    skipped: Counter[str] = sum((part.skipped for part in parts), Counter())
    for i, (code, count) in enumerate(skipped.most_common()):
        yield "" if i else screen.tr("skipped"), f"{count} {rule(screen, code)}"
    encodings: Counter[str] = sum((part.encodings for part in parts), Counter())
    if encodings:
        found = ", ".join(f"{name}: {count}" for name, count in encodings.most_common())
        yield screen.tr("encodings"), found
    yield screen.tr("chunks"), str(sum(part.chunks for part in parts))
    yield screen.tr("time"), f"{sum(part.elapsed_s for part in parts):.1f} s"


def _warnings(warnings: Sequence[tuple[str, str]], screen: Screen) -> Iterator[str]:
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
