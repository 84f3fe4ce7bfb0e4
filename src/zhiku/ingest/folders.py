"""What a folder says about the names in it: through its ignore files and the project it belongs to."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from zhiku.ingest.ignore import (
    IGNORE_FILES,
    Pattern,
    PatternList,
    find_deciding,
    load_patterns,
    parse_patterns,
)
from zhiku.ingest.rules import (
    BUILD_FOLDERS,
    PROJECT_FILES,
    TOOL_FOLDERS,
    VENV_MARKER,
    Skipped,
    failed,
    is_leftover,
    looks_hidden,
)


@dataclass(frozen=True, kw_only=True)
class Folder:
    """A folder of a root after its names were listed and its ignore files were read."""

    disk_prefix: str
    """Its path on disk, ending in a separator."""
    prefix: str
    """Its path relative to the root: empty, or ending in a slash."""
    ignores: tuple[PatternList, ...] = ()
    """The pattern lists that hold in it, nearest first."""
    project_file: str = ""
    """A name in it that makes it the top of a software project."""
    is_venv: bool = False
    unread: Mapping[str, Skipped] = field(default_factory=dict)
    """The ignore files in it that could not be read, by name."""

    def why_not(self) -> Skipped | None:
        """Return why the folder is not walked, which its own name did not tell; the root always is."""
        if self.is_venv and self.prefix:
            return Skipped(self.prefix.removesuffix("/"), "vcs_or_build", VENV_MARKER)
        return None


def open_folder(disk_path: str, prefix: str, above: tuple[PatternList, ...], names: Collection[str]) -> Folder:
    """Return the folder that holds `names`; `above` are the pattern lists of the folder it lies in."""
    disk_prefix = disk_path.rstrip(os.sep) + os.sep
    patterns: list[Pattern] = []
    unread: dict[str, Skipped] = {}
    for name in IGNORE_FILES:
        if name in names:
            try:
                patterns += load_patterns(disk_prefix + name, prefix + name)
            except OSError as error:
                unread[name] = failed(prefix + name, error)
            except ValueError as error:
                unread[name] = Skipped(prefix + name, "unreadable", str(error), failed=True)
    return Folder(
        disk_prefix=disk_prefix,
        prefix=prefix,
        ignores=(PatternList(patterns, prefix), *above) if patterns else above,
        project_file=min(PROJECT_FILES.intersection(names), default=""),
        is_venv=VENV_MARKER in names,
        unread=unread,
    )


class NameRules:
    """Judges a name by itself and by the folder it lies in."""

    def __init__(self, *, include: Sequence[str] = (), exclude: Sequence[str] = ()) -> None:
        """Take the gitignore patterns of a base's settings."""
        self._exclude = [PatternList(parse_patterns(exclude, "exclude"))] if exclude else []
        self._include = [PatternList(parse_patterns(include, "include"))] if include else []

    def judge(self, folder: Folder, path: str, name: str, is_folder: bool = False) -> Skipped | None:
        """Return why `path` (`name` in `folder`) is not wanted, or None. A link is no folder, as for git."""
        hidden = looks_hidden(name)
        if name in TOOL_FOLDERS:
            return Skipped(path, "vcs_or_build", name)
        if hidden and is_leftover(name):
            return Skipped(path, "hidden")
        if self._exclude and (pattern := find_deciding(self._exclude, path, name, is_folder)):
            return Skipped(path, "ignored", f"exclude: {pattern.text}")
        if self._include and find_deciding(self._include, path, name, is_folder):
            return None
        if hidden:
            return folder.unread.get(name) or Skipped(path, "hidden")
        if is_folder and folder.project_file and name in BUILD_FOLDERS:
            return Skipped(path, "vcs_or_build", folder.project_file)
        if folder.ignores and (pattern := find_deciding(folder.ignores, path, name, is_folder)):
            return Skipped(path, "ignored", f"{pattern.origin}: {pattern.text}")
        return None
