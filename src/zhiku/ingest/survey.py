"""Look for the files of a root before any of them is read, and tell a root that is empty from one that was emptied."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from zhiku.ingest.changes import Changes
from zhiku.ingest.discover import discover, parts_within
from zhiku.ingest.rules import DiscoverRules, Found, Skipped
from zhiku.model import LedgerEntry

# Skipped for what it is and not for where it stands: worth a line in the ledger for each file.
_LISTED_SKIPS = frozenset(
    {"too_large", "unsupported", "not_regular", "link_broken", "link_loop", "link_outside", "unreadable"}
)
# Wanted by the user, yet not in the index.
_FAILED_SKIPS = frozenset({"too_large", "unreadable"})


@dataclass(kw_only=True)
class Survey:
    """What lies under a root, or a part of it."""

    part: str
    """The part looked at, relative to the root; empty for all of it."""
    wanted: list[Found] = field(default_factory=list)
    """The files that are not settled."""
    skipped: list[Skipped] = field(default_factory=list)
    is_emptied: bool = False
    """Whether nothing is there at all although files of it are remembered: a drive that is not mounted looks so."""

    def notes(self, root: Path) -> Iterator[LedgerEntry]:
        """Yield what the ledger says of what is not read: every failure, and what is skipped for what it is."""
        if self.is_emptied:
            yield LedgerEntry(root=str(root), path="", outcome="failed", code="root_empty", message=str(root))
        for item in self.skipped:
            is_failure = item.failed or item.reason in _FAILED_SKIPS
            if is_failure or item.reason in _LISTED_SKIPS:
                yield LedgerEntry(
                    root=str(root),
                    path=item.path,
                    outcome="failed" if is_failure else "skipped",
                    code=item.reason,
                    message=item.detail,
                )


def survey_root(root: Path, within: Path | None, rules: DiscoverRules, changes: Changes) -> Survey:
    """Walk a root, or the part of it at or below `within`, and compare what is there with what is remembered.

    What could not be looked at is not gone.
    """
    survey = Survey(part="/".join(parts_within(root, within or root)))
    if survey.part and not os.path.lexists(root / survey.part):
        return survey
    for item in changes.differing(discover(root, within, rules=rules)):
        if isinstance(item, Skipped):
            survey.skipped.append(item)
        else:
            survey.wanted.append(item)
    for item in survey.skipped:
        if item.failed or item.reason in _FAILED_SKIPS:
            changes.excuse(changes.at_or_below(item.path))
        elif item.reason == "unsupported":
            changes.excuse([item.path])  # a picture, say, that a run with OCR has read: this one cannot judge it
    if not (survey.part or changes.settled or survey.wanted) and changes.gone("").missing:
        survey.is_emptied = True
        changes.excuse(changes.known)
    return survey
