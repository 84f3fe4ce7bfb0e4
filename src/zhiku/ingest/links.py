"""Where a symbolic link leads, seen from a root."""

from __future__ import annotations

import errno
import os
import stat
import sys
from pathlib import Path

from zhiku.ingest.folders import NameRules
from zhiku.ingest.reach import Reach
from zhiku.ingest.rules import Skipped, failed


def is_link(entry: os.DirEntry[str]) -> bool:
    """Answer whether an entry stands for something elsewhere (on Windows junctions do so too)."""
    if sys.version_info >= (3, 12) and entry.is_junction():
        return True
    return entry.is_symlink()


class Links:
    """Resolves the links under one root."""

    def __init__(self, root_disk_path: str, names: NameRules) -> None:
        self._root = os.path.realpath(root_disk_path)
        self._reach = Reach(self._root, names)

    def resolve(self, path: str, disk_path: str) -> os.stat_result | Skipped:
        """Return the status of what the link at `path` leads to, or why it is not followed."""
        try:
            target = os.path.realpath(disk_path, strict=True)
            status = Path(target).stat()
        except OSError as error:
            return _failed_link(path, error)
        inside = self._below_root(target)
        if inside is None:
            return Skipped(path, "link_outside")
        if _is_at_or_below(os.path.realpath(Path(disk_path).parent), target):
            return Skipped(path, "link_loop", inside)
        return self._judge_target(path, inside, status)

    def _judge_target(self, path: str, inside: str, status: os.stat_result) -> os.stat_result | Skipped:
        try:
            unwanted = self._reach.why_not(inside, stat.S_ISDIR(status.st_mode))
        except OSError as error:
            return failed(path, error)
        if unwanted is None:
            return Skipped(path, "link_duplicate", inside)
        if unwanted.reason == "vcs_or_build":
            return Skipped(path, "vcs_or_build", inside)
        return status

    def _below_root(self, target: str) -> str | None:
        """Return a real path relative to the root with `/` between its parts; None for one outside."""
        if not _is_at_or_below(target, self._root):
            return None
        return target[len(self._root) :].lstrip(os.sep).replace(os.sep, "/")


def _failed_link(path: str, error: OSError) -> Skipped:
    if error.errno == errno.ELOOP:
        return Skipped(path, "link_loop")
    if error.errno in (errno.ENOENT, errno.ENOTDIR):
        return Skipped(path, "link_broken")
    return failed(path, error)


def _is_at_or_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)
