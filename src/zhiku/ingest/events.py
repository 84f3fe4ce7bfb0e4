"""What the file system announces about one root; the only module that knows watchfiles."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

CALL_MS = 1
"""How long a look at what was announced takes if nothing was; at most three times that if something was."""


class FileEvents:
    """Collects the paths that change in a root from now on: in all of a folder, or of a file alone.

    Raises OSError where the system announces nothing, with `errno.ENOSPC` where that is for a limit of its own, and
    FileNotFoundError where the root is gone.
    """

    def __init__(self, root: Path) -> None:
        import watchfiles  # 40 ms, and only who watches needs it

        if not root.exists():
            raise FileNotFoundError(root)
        # A file that is replaced by another is watched no longer; the folder around it is.
        self._folder = root if root.is_dir() else root.parent
        self._added = watchfiles.Change.added
        self._deleted = watchfiles.Change.deleted
        self._changes = watchfiles.watch(
            self._folder,
            watch_filter=None,
            debounce=CALL_MS,
            step=CALL_MS,
            rust_timeout=CALL_MS,
            yield_on_timeout=True,
            force_polling=False,  # the scan finds what is not announced, with fewer looks at the disk
            recursive=self._folder == root,
            ignore_permission_denied=False,  # True leaves the rest of the tree unwatched without a word (1.3.0)
        )
        self.poll()  # begins

    def poll(self) -> set[str]:
        """Return what changed since the last call, as absolute paths.

        Raises OSError where the events have ended: the folder was deleted, or a name is not UTF-8, for two.
        """
        try:
            changes = next(self._changes)
        except (OSError, RuntimeError, StopIteration) as error:
            raise _in_words(error) from error
        if (self._deleted, str(self._folder)) in changes:
            raise FileNotFoundError(self._folder)  # what comes to stand in its place is another folder
        # A folder is called modified when something in it was, which has an event of its own.
        return {path for kind, path in changes if kind in (self._added, self._deleted) or not _is_folder(path)}

    def close(self) -> None:
        """Let the system forget about it."""
        self._changes.close()


def _is_folder(path: str) -> bool:
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except OSError:
        return False


def _in_words(error: Exception) -> OSError:
    """Return the error without what it looks like in the code of watchfiles."""
    words = str(error).partition(" about [")[0].partition(" (os error")[0]
    words = words.removeprefix("Error creating recommended watcher: ").rstrip(".")
    is_limit = "limit reached" in words or "Too many open files" in words
    return OSError(errno.ENOSPC if is_limit else errno.EIO, words)
