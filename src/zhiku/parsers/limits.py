"""What reading one file may cost."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Final

from zhiku.errors import OutOfMemory

IN_PROCESS: Final = frozenset({"markdown", "html", "notebook", "mail", "plain"})
"""Formats read by Python code alone, in time that grows with the file: small files of these need no other process."""

READ_OTHERWISE: Final = {"code": "plain"}
"""Formats that can be read in another way where their own parser does not survive a file, or takes too much."""

IN_PROCESS_BYTES: Final = 1_000_000
"""A larger file of any format is read in a worker. The worst Markdown that was tried takes 8 s for this much."""

SPENT_FILES: Final = 200
"""A worker is replaced after so many files."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """The limits of one file in a worker."""

    memory_bytes: int = 1536 * 2**20
    """Of addresses; where the system keeps to such a limit, which macOS and Windows do not."""
    spent_bytes: int = 512 * 2**20
    """A worker that held so much memory is replaced; of 1,281 PDFs none came to 80 MB."""
    base_s: int = 30
    s_per_mb: int = 20
    """Of processor time: 1,281 PDFs took 1 s at most; a page takes .004 to .03 s, and 1 MB may hold 1,000 of them."""
    max_s: int = 600
    wall_factor: int = 3
    """By how much a clock on the wall may run ahead: other programs use the processor too."""
    max_chars: int = 20_000_000
    """Of text: about thirty long novels."""
    max_reply_bytes: int = 256 * 2**20
    """Of everything that comes back: that text in UTF-8, and two million blocks."""

    def processor_s(self, size_bytes: int) -> int:
        """Return how many seconds of processor time a file of this size may take."""
        return min(self.base_s + self.s_per_mb * size_bytes // 1_000_000, self.max_s)

    def wall_s(self, size_bytes: int) -> int:
        """Return how many seconds may pass meanwhile."""
        return self.wall_factor * self.processor_s(size_bytes)


OCR_LIMITS: Final = Limits(memory_bytes=4 * 2**30, spent_bytes=2 * 2**30, base_s=180)
"""Of one page that OCR reads. Pages of up to 16 megapixels took 3 to 11 s of processor time, up to four times that
where they were turned, and 1.3 GB, 2.0 GB of addresses (measured 2026-11-30)."""


def needs_worker(format_name: str, size_bytes: int) -> bool:
    """Return whether a file is read in a process of its own: any whose format is not known to be harmless."""
    return format_name not in IN_PROCESS or size_bytes > IN_PROCESS_BYTES


def out_of_memory(path: str) -> OutOfMemory:
    """Return the error for a file that needs too much memory."""
    return OutOfMemory("{path} needs more memory than one file may use", path=path, hint="split it, or exclude it")


def peak_of(max_rss: int) -> int:
    """Return bytes for what the system calls `ru_maxrss`: bytes on macOS, KiB elsewhere."""
    return max_rss if sys.platform == "darwin" else max_rss * 1024
