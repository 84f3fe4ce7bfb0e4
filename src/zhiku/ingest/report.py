"""What a run over one root did, or would do."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from zhiku.model import LedgerEntry


@dataclass(kw_only=True)
class Report:
    """What one run did. Counts are files, but for `chunks` and `chars`."""

    added: int = 0
    changed: int = 0
    reread: int = 0
    """Read anew by a rebuild, or for OCR, their bytes being as they were."""
    moved: int = 0
    unchanged: int = 0
    returned: int = 0
    """Of those unchanged, changed or moved: deprecated by a prune before, and searched again."""
    gone: list[str] = field(default_factory=list)
    """In the index, gone from the disk; nothing is removed for it."""
    left_out: list[str] = field(default_factory=list)
    """In the index and on the disk, and left out by a rule now; nothing is removed for it."""
    pruned: int = 0
    """Of those two, deprecated by this run."""
    forgotten: int = 0
    """Left alone, since the user had them forgotten."""
    skipped: Counter[str] = field(default_factory=Counter)
    """By rule, by the reason's code; a skipped folder counts once."""
    failed: list[LedgerEntry] = field(default_factory=list)
    textless: list[LedgerEntry] = field(default_factory=list)
    warnings: list[tuple[str, str]] = field(default_factory=list)
    """(path, what was worked around)."""
    encodings: Counter[str] = field(default_factory=Counter)
    """Of the files read, where it is not UTF-8."""
    chunks: int = 0
    chars: int = 0
    elapsed_s: float = 0.0
    interrupted: bool = False

    @property
    def read(self) -> int:
        """Return how many files were parsed and stored."""
        return self.added + self.changed + self.reread

    @property
    def missing(self) -> int:
        """Return how many files are in the index and gone from the disk."""
        return len(self.gone)

    @property
    def changes(self) -> int:
        """Return how many documents are not as they were before."""
        return self.added + self.changed + self.moved + self.returned + self.pruned
