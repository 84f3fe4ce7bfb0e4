"""Which of the names and files under a root are wanted, apart from what ignore files say."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple

from zhiku.ingest.regular import read_head

SkipReason = Literal[
    "hidden",
    "vcs_or_build",
    "own_files",
    "ignored",
    "too_large",
    "binary",
    "unsupported",
    "not_regular",
    "link_broken",
    "link_loop",
    "link_outside",
    "link_duplicate",
    "unreadable",
]
"""Stable codes for why a file or folder is not read; only `unreadable` is a failure."""

HEAD_BYTES = 8192
"""How much of a file of unknown ending is read to judge whether it is text."""

UNSUPPORTED_ENDINGS = frozenset(
    {
        ".doc",
        ".dot",
        ".wps",
        ".ppt",
        ".pps",
        ".dps",
        ".et",
        ".odt",
        ".odp",
        ".odg",
        ".rtf",
        ".pages",
        ".numbers",
        ".key",
        ".pdf",
        ".mobi",
        ".azw",
        ".azw3",
        ".djvu",
        ".chm",
        ".caj",
        ".ofd",
        ".xps",
        ".one",
        ".vsd",
        ".vsdx",
        ".mpp",
        ".xmind",
        ".msg",
        ".pst",
        ".png",
        ".jpg",
        ".jpeg",
        ".gif",
        ".tif",
        ".tiff",
        ".bmp",
        ".webp",
        ".heic",
        ".heif",
        ".avif",
        ".ico",
        ".psd",
        ".svg",
        ".mp3",
        ".m4a",
        ".wav",
        ".flac",
        ".ogg",
        ".mp4",
        ".m4v",
        ".mov",
        ".avi",
        ".mkv",
        ".webm",
        ".zip",
        ".7z",
        ".rar",
        ".tar",
        ".gz",
        ".tgz",
        ".bz2",
        ".xz",
        ".zst",
        ".iso",
        ".dmg",
        ".jar",
        ".apk",
    }
)
"""Endings that name a document, picture, recording or archive: without a parser they are not even opened."""

TOOL_FOLDERS = frozenset(
    {
        ".git",
        ".hg",
        ".svn",
        ".bzr",
        ".jj",
        "_darcs",
        "CVS",
        "node_modules",
        "bower_components",
        "__pycache__",
        "site-packages",
        ".venv",
        ".tox",
        ".nox",
        ".eggs",
        ".mypy_cache",
        ".pytest_cache",
        ".ruff_cache",
        ".gradle",
        ".terraform",
        ".next",
        ".nuxt",
        ".parcel-cache",
        ".yarn",
    }
)
"""Folders that only version control, package managers and build tools make."""

VENV_MARKER = "pyvenv.cfg"
"""Lies in every Python virtual environment, whatever its name."""

BUILD_FOLDERS = frozenset({"build", "dist", "target", "out", "bin", "obj", "vendor", "Pods", "coverage", "env", "venv"})
"""Folders of a project's build, if a file of `PROJECT_FILES` lies beside them; else a person's own notes."""

PROJECT_FILES = frozenset(
    {
        "package.json",
        "pyproject.toml",
        "setup.py",
        "Cargo.toml",
        "pom.xml",
        "build.gradle",
        "build.gradle.kts",
        "CMakeLists.txt",
        "go.mod",
        "composer.json",
        "Gemfile",
        "Podfile",
    }
)
"""Files that lie at the top of a software project."""

_HIDDEN = re.compile(r"[._]|~\$|(?:thumbs\.db|desktop\.ini|icon\r)\Z", re.IGNORECASE)

_FIRST_OF_HIDDEN = frozenset("._~tTdDiI")
"""No hidden name begins otherwise, which spares nearly every name the expression."""


_make = tuple.__new__
"""Makes a named tuple in half the time: what the class itself does goes through a function in Python."""


class Found(NamedTuple):
    """A file that is wanted.

    A named tuple, because a frozen dataclass takes longer to make than the file takes to be found.
    """

    path: str
    """Relative to the root, with `/` between its parts; bytes that are not UTF-8 as surrogate escapes."""
    size_bytes: int
    mtime_ns: int
    ctime_ns: int
    """When its status last changed; on Windows, when it was made."""


@dataclass(frozen=True)
class Skipped:
    """A file, link or whole folder that is not read, and why."""

    path: str
    reason: SkipReason
    detail: str = ""
    """What decided: a pattern, a limit, a link's target, or the operating system's reason."""
    failed: bool = False
    """Whether it was wanted: True only where the operating system refused."""


@dataclass(frozen=True, kw_only=True)
class DiscoverRules:
    """What a base wants of the files under its roots. Endings are lower-case and begin with a dot."""

    endings: frozenset[str]
    """The endings that have a parser: such a file is found without being read."""
    text_endings: frozenset[str]
    """Those of them that are text, for their size limit."""
    looks_like_text: Callable[[bytes], bool]
    """Judges the first `HEAD_BYTES` of a file whose ending says nothing."""
    max_text_bytes: int = 20_000_000
    max_pdf_bytes: int = 200_000_000
    max_other_bytes: int = 100_000_000
    include: tuple[str, ...] = ()
    """Gitignore patterns of what is wanted although it is hidden, of a build or in an ignore file."""
    exclude: tuple[str, ...] = ()
    """Gitignore patterns of what is never wanted; they outrank `include`."""
    closed: frozenset[str] = frozenset()
    """Folders that are never entered, by their real paths."""


def looks_hidden(name: str) -> bool:
    """Answer whether a name is not meant for readers: `.x`, `_x`, or a leftover (see `is_leftover`)."""
    return name[0] in _FIRST_OF_HIDDEN and _HIDDEN.match(name) is not None


def is_leftover(name: str) -> bool:
    """Answer whether a hidden name is a file that the system or an office program left behind."""
    return name[0] not in "._"


def failed(path: str, error: OSError) -> Skipped:
    """Return the report of something that the operating system did not let us read."""
    return Skipped(path, "unreadable", error.strerror or str(error), failed=True)


class FileRules:
    """Judges a file by its kind, ending and size; only one whose ending says nothing is opened."""

    def __init__(self, rules: DiscoverRules) -> None:
        self._looks_like_text = rules.looks_like_text
        self._max_text_bytes = rules.max_text_bytes
        self._limits = {ending: _limit_of(ending, rules) for ending in rules.endings}

    def judge(self, path: str, disk_path: str, status: os.stat_result) -> Found | Skipped:
        """Return the file, or why it is not wanted; raise OSError if it had to be opened and could not be."""
        if not stat.S_ISREG(status.st_mode):
            return Skipped(path, "not_regular", _kind_of(status.st_mode))
        return self.judge_regular(path, disk_path, status)

    def judge_regular(self, path: str, disk_path: str, status: os.stat_result) -> Found | Skipped:
        """Do the same for what is known to be a regular file."""
        ending = disk_path[disk_path.rfind(".") :].lower()  # a name without a dot gives what is no ending
        limit = self._limits.get(ending)
        if limit is None:
            if ending in UNSUPPORTED_ENDINGS:
                return Skipped(path, "unsupported", ending)
            if not self._looks_like_text(read_head(disk_path, HEAD_BYTES)):
                return Skipped(path, "binary")
            limit = self._max_text_bytes
        if status.st_size > limit:
            return Skipped(path, "too_large", f"{status.st_size} > {limit}")
        return _make(Found, (path, status.st_size, status.st_mtime_ns, status.st_ctime_ns))


def _limit_of(ending: str, rules: DiscoverRules) -> int:
    if ending in rules.text_endings:
        return rules.max_text_bytes
    return rules.max_pdf_bytes if ending == ".pdf" else rules.max_other_bytes


def _kind_of(mode: int) -> str:
    kinds = ((stat.S_ISFIFO, "FIFO"), (stat.S_ISSOCK, "socket"), (stat.S_ISDIR, "folder"))
    return next((kind for is_kind, kind in kinds if is_kind(mode)), "device")
