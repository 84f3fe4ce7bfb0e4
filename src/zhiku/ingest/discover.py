"""Walk a root and say of every file whether it is wanted, and if not, why not.

The order is stable: names by code point; what a folder itself holds comes before what its folders hold.
Nothing is read outside the root, no file is found twice through links, and nothing but a regular file is ever
opened.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path

from zhiku.errors import UsageError
from zhiku.ingest.folders import Folder, NameRules, open_folder
from zhiku.ingest.ignore import PatternList
from zhiku.ingest.links import Links, is_link
from zhiku.ingest.rules import DiscoverRules, FileRules, Found, Skipped, SkipReason, failed

__all__ = ["DiscoverRules", "Found", "SkipReason", "Skipped", "discover", "parts_within"]

_NAME = attrgetter("name")

_ON_WINDOWS = os.name == "nt"
"""What Windows keeps in a listing may lag behind the file, which has other names or is open."""

_FROM_FOLDER = os.scandir in os.supports_fd
"""Whether files can be asked for from their open folder, which saves the system a tenth of the time of a walk: it need
not find the folder again for each of them."""


def discover(root: Path, within: Path | None = None, *, rules: DiscoverRules) -> Iterator[Found | Skipped]:
    """Yield every file under `root` that is wanted, and what is not with its reason.

    A folder that is left out is one `Skipped`. Paths are relative to `root`; that of the root itself, be it a
    file or a folder, is empty. `within` limits the walk to a part of the root and changes no judgement: a
    part that is hidden or ignored stays so. A root or part that is gone is a failed `Skipped`. Raise
    UsageError if `within` is not below `root`.
    """
    parts = parts_within(root, within or root)
    try:
        status = root.stat()
        root.joinpath(*parts).lstat()
        if not stat.S_ISDIR(status.st_mode):
            return iter([FileRules(rules).judge("", os.fspath(root), status)])
    except OSError as error:
        return iter([failed("/".join(parts), error)])
    return _Walk(os.fspath(root), rules).walk(parts)


def parts_within(root: Path, within: Path) -> tuple[str, ...]:
    """Return the names that lead from `root` to `within`, which need not exist.

    Raise UsageError if they lead elsewhere.
    """
    base, part = (Path(os.path.normpath(path.absolute())) for path in (root, within))
    if not part.is_relative_to(base):  # one of them may be spelled through a link
        base, part = base.resolve(), part.parent.resolve() / part.name
    if not part.is_relative_to(base):
        raise UsageError("{path} is not below {root}.", path=within, root=root)
    return part.relative_to(base).parts


@dataclass(frozen=True, kw_only=True)
class _Visit:
    """A folder that is still to be walked."""

    disk_path: str
    prefix: str = ""
    above: tuple[PatternList, ...] = ()
    only: tuple[str, ...] = ()
    """The names that lead on to the part that is asked for; empty inside it."""
    linked: bool = False
    """Whether it was reached through a link."""


class _Walk:
    """One walk; remembers what it reached through links, which is how loops and repetitions end."""

    def __init__(self, root: str, rules: DiscoverRules) -> None:
        self._root = root
        self._files = FileRules(rules)
        self._names = NameRules(include=rules.include, exclude=rules.exclude)
        self._links = Links(root, self._names)
        self._reached: set[tuple[int, int]] = set()
        self._closed = rules.closed

    def _is_closed(self, visit: _Visit) -> bool:
        return visit.disk_path in self._closed or (visit.linked and os.path.realpath(visit.disk_path) in self._closed)

    def walk(self, only: tuple[str, ...]) -> Iterator[Found | Skipped]:
        stack = [_Visit(disk_path=self._root, only=only)]
        while stack:
            visit = stack.pop()
            if self._is_closed(visit):
                yield Skipped(visit.prefix.removesuffix("/"), "own_files")
                continue
            with ExitStack() as opened:
                try:
                    entries = opened.enter_context(_listed(visit.disk_path))
                except OSError as error:
                    yield failed(visit.prefix.removesuffix("/"), error)
                    continue
                folder = open_folder(visit.disk_path, visit.prefix, visit.above, frozenset(map(_NAME, entries)))
                if skipped := folder.why_not():
                    yield skipped
                    continue
                below: list[_Visit] = []
                for entry in _select(folder, entries, visit.only) if visit.only else entries:
                    outcome = self._judge(visit, folder, entry)
                    if isinstance(outcome, _Visit):
                        below.append(outcome)
                    else:
                        yield outcome
                stack.extend(reversed(below))

    def _judge(self, visit: _Visit, folder: Folder, entry: os.DirEntry[str]) -> Found | Skipped | _Visit:
        name = entry.name
        path = folder.prefix + name
        try:
            if not entry.is_file(follow_symlinks=False):
                return self._judge_other(visit, folder, entry)
            skipped = self._names.judge(folder, path, name)
            if skipped is not None:
                return skipped
            disk_path = folder.disk_prefix + name
            if visit.linked and not self._is_first(disk_path):
                return Skipped(path, "link_duplicate")
            return self._files.judge_regular(path, disk_path, _status(entry, disk_path))
        except OSError as error:
            return failed(path, error)

    def _judge_other(self, visit: _Visit, folder: Folder, entry: os.DirEntry[str]) -> Found | Skipped | _Visit:
        path, disk_path = folder.prefix + entry.name, folder.disk_prefix + entry.name
        linked = is_link(entry)
        is_folder = not linked and entry.is_dir(follow_symlinks=False)
        skipped = self._names.judge(folder, path, entry.name, is_folder)
        if skipped is not None:
            return skipped
        if linked:
            return self._follow(visit, folder, entry.name)
        if visit.linked and not self._is_first(disk_path):
            return Skipped(path, "link_duplicate")
        if is_folder:
            return _descend(visit, folder, entry.name, visit.linked)
        return self._files.judge(path, disk_path, _status(entry, disk_path))

    def _follow(self, visit: _Visit, folder: Folder, name: str) -> Found | Skipped | _Visit:
        path, disk_path = folder.prefix + name, folder.disk_prefix + name
        status = self._links.resolve(path, disk_path)
        if isinstance(status, Skipped):
            return status
        if not self._is_first(disk_path):
            return Skipped(path, "link_duplicate")
        if stat.S_ISDIR(status.st_mode):
            return _descend(visit, folder, name, linked=True)
        return self._files.judge(path, disk_path, status)

    def _is_first(self, disk_path: str) -> bool:
        """Answer whether nothing reached through a link was this file or folder, and remember it."""
        status = Path(disk_path).stat()
        real = status.st_dev, status.st_ino
        if real in self._reached:
            return False
        self._reached.add(real)
        return True


@contextmanager
def _listed(disk_path: str) -> Iterator[list[os.DirEntry[str]]]:
    """List a folder by name. Its entries, which may be asked about themselves inside, know no more than their names."""
    if not _FROM_FOLDER:
        with os.scandir(disk_path) as listing:
            entries = sorted(listing, key=_NAME)
        yield entries
        return
    folder = os.open(disk_path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with os.scandir(folder) as listing:
            entries = sorted(listing, key=_NAME)
        yield entries
    finally:
        os.close(folder)


def _status(entry: os.DirEntry[str], disk_path: str) -> os.stat_result:
    return os.lstat(disk_path) if _ON_WINDOWS else entry.stat(follow_symlinks=False)


def _descend(visit: _Visit, folder: Folder, name: str, linked: bool) -> _Visit:
    return _Visit(
        disk_path=folder.disk_prefix + name,
        prefix=f"{folder.prefix}{name}/",
        above=folder.ignores,
        only=visit.only[1:],
        linked=linked,
    )


def _select(folder: Folder, entries: list[os.DirEntry[str]], only: tuple[str, ...]) -> list[os.DirEntry[str]]:
    """Return the entry that leads on to the part that is asked for."""
    name = only[0]
    exact = [entry for entry in entries if entry.name == name]
    if exact or not entries:
        return exact
    # The file system may find a name in another case or normal form than the one on disk.
    status = os.lstat(folder.disk_prefix + name)
    return [entry for entry in entries if os.path.samestat(status, os.lstat(folder.disk_prefix + entry.name))]
