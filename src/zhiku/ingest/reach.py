"""Where a walk of a root would come to, told without walking it."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from pathlib import Path

from zhiku.ingest.folders import Folder, NameRules, open_folder
from zhiku.ingest.ignore import IGNORE_FILES, PatternList
from zhiku.ingest.rules import Skipped

MAX_PARTS = 4
"""Each part of a root costs a look at all that is known of the root; a folder around them costs one."""


class Reach:
    """Judges paths under one root; remembers the folders that it opened, so that it is good for a short while only."""

    def __init__(self, root_disk_path: str, names: NameRules) -> None:
        self._root = root_disk_path
        self._names = names
        self._folders: dict[str, Folder] = {}

    def why_not(self, inside: str, is_folder: bool) -> Skipped | None:
        """Return what keeps a walk without links from `inside` (relative to the root, with `/`); None if it gets there.

        Raises OSError where a folder above it cannot be opened.
        """
        if not inside:
            return None
        folder = self._open(self._root, "", ())
        *above, last = inside.split("/")
        for name in above:
            skipped = self._names.judge(folder, folder.prefix + name, name, is_folder=True)
            if skipped is None:
                folder = self._open_child(folder, name)
                skipped = folder.why_not()
            if skipped is not None:
                return skipped
        skipped = self._names.judge(folder, inside, last, is_folder)
        if skipped is None and is_folder:
            return self._open_child(folder, last).why_not()
        return skipped

    def _open_child(self, folder: Folder, name: str) -> Folder:
        return self._open(folder.disk_prefix + name, f"{folder.prefix}{name}/", folder.ignores)

    def _open(self, disk_path: str, prefix: str, above: tuple[PatternList, ...]) -> Folder:
        if prefix not in self._folders:
            with os.scandir(disk_path) as listing:
                names = {entry.name for entry in listing}
            self._folders[prefix] = open_folder(disk_path, prefix, above, names)
        return self._folders[prefix]


def parts_to_update(root: Path, changed: Iterable[str], names: NameRules) -> list[Path]:
    """Return the parts of a root that bring an index up to date with what changed; none where a walk sees none of it.

    A part exists, is not reached through a link, and holds no other. For what is gone it is the nearest folder that is
    left, for an ignore file the folder that it rules. `root` is a real path.
    """
    reach = Reach(os.fspath(root), names)
    places = (_seen_place(root, Path(path), reach) for path in changed)
    parts = {part for place in places if place is not None and (part := _existing(root, place)) is not None}
    outermost = sorted(part for part in parts if parts.isdisjoint(part.parents))
    return outermost if len(outermost) <= MAX_PARTS else [Path(os.path.commonpath(outermost))]


def _seen_place(root: Path, place: Path, reach: Reach) -> Path | None:
    if place != root and place.name in IGNORE_FILES:
        place = place.parent
    if not place.is_relative_to(root):
        return None
    inside = "" if place == root else place.relative_to(root).as_posix()
    try:
        skipped = reach.why_not(inside, _is_folder_or_gone(place))
    except OSError:
        return place  # a folder above it is gone, too, or shut
    return None if skipped else place


def _is_folder_or_gone(place: Path) -> bool:
    """For folders more rules hold, and to overlook a file that is gone costs nothing: the index keeps it."""
    try:
        return stat.S_ISDIR(place.lstat().st_mode)
    except OSError:
        return True


def _existing(root: Path, place: Path) -> Path | None:
    while place != root and not (os.path.lexists(place) and os.path.realpath(place) == os.fspath(place)):
        place = place.parent
    return place if os.path.lexists(place) else None
