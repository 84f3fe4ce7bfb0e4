"""Files that could not be read before: which of them are not tried again while they are as they were.

A file that ends its reader, or takes all time or memory, would cost every run the same again.
"""

from __future__ import annotations

from collections.abc import Iterable

from zhiku.ingest.rules import Found
from zhiku.model import LedgerEntry

MAX_TRIES = 3
"""How often an unchanged file is tried whose failure may also be that of a busy machine."""

# What a file's bytes and its reader alone decide.
_FINAL = frozenset({"damaged", "password", "needs_ocr", "too_large", "unsupported", "source", "bug"})
_OF_THE_MACHINE = frozenset({"crashed", "timeout", "memory"})


class Refusals:
    """What the ledger remembers of the files of a root that could not be read."""

    def __init__(self, entries: Iterable[LedgerEntry], reader: str) -> None:
        """Take the ledger of a root, and what reads files now."""
        self._entries = {entry.path: entry for entry in entries if entry.look and entry.reader == reader}

    def recall(self, item: Found) -> LedgerEntry | None:
        """Return why a file could not be read, if reading it again would end as before."""
        entry = self._entries.get(item.path)
        if entry is None or entry.look != item:
            return None
        is_final = entry.code in _FINAL or (entry.code in _OF_THE_MACHINE and entry.tries >= MAX_TRIES)
        return entry if is_final else None
