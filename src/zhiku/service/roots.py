"""What became of a base's roots: where their files are looked for, and whether one that is gone is missed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from zhiku.paths import is_gone
from zhiku.ports import ReadSession


def folder_of(root: Path, session: ReadSession | None) -> Path | None:
    """Return the folder that paths within a root are relative to; None where the root is gone.

    A root that is one file has the folder around it. If that file is gone, it is a file that is missing, as long as
    other files show that the folder is really there.
    """
    if not is_gone(root):
        return root if root.is_dir() else root.parent
    was_file = session is not None and root.name in session.known_files(str(root.parent))
    try:
        return root.parent if was_file and any(root.parent.iterdir()) else None
    except OSError:
        return None


def is_missed(root: Path, session: ReadSession | None) -> bool:
    """Return whether a root that is gone is missed: not if nothing that was indexed of it is searched any more."""
    if session is None:
        return True
    # The files of a root that is one file are those of the folder around it.
    own = [known for known in [session.known_files(str(root.parent)).get(root.name)] if known]
    known = [*session.known_files(str(root)).values(), *own]
    if not known:  # all of it was found elsewhere; or nothing was ever found there, and its name may be wrong
        return not set(_places(root)) & set(session.roots())
    return any(each.is_searched for each in known)


def remembers(roots: Sequence[str], session: ReadSession, path: Path) -> bool:
    """Return whether anything is indexed of a path at or below one of these roots, or of what was below it."""
    return any(path == Path(root) or _is_known(Path(root), session, path) for root in roots)


def _is_known(root: Path, session: ReadSession, path: Path) -> bool:
    folder = root if root.is_dir() else root.parent
    if not path.is_relative_to(folder):
        return False
    part = path.relative_to(folder).as_posix()
    known = session.known_files(str(folder))
    return part in known or any(each.startswith(part + "/") for each in known)


@dataclass(frozen=True, kw_only=True)
class Losses:
    """What is searched although its file is not there, and what is not searched any more."""

    missing_roots: tuple[str, ...]
    """Roots that are gone, and missed."""
    emptied_roots: tuple[str, ...] = ()
    """Roots that are there and hold none of the files that are searched: drives that are not mounted look so."""
    dropped_roots: tuple[str, ...] = ()
    """Folders of which documents are searched, though no root of the settings leads there any more."""
    missing: tuple[str, ...] = ()
    """Searched documents whose files are gone from roots that hold others, as absolute paths."""
    pruned: int = 0
    forgotten: int = 0


def find_losses(roots: Sequence[str], session: ReadSession | None, *, look: bool) -> Losses:
    """Return what became of roots and, with `look`, of each file that is searched."""
    folders = {root: folder_of(Path(root), session) for root in roots}
    gone = tuple(root for root, folder in folders.items() if folder is None and is_missed(Path(root), session))
    if session is None or not look:
        return Losses(missing_roots=gone)
    emptied: list[str] = []
    missing: list[str] = []
    pruned = forgotten = 0
    for folder in dict.fromkeys(folder for folder in folders.values() if folder is not None):
        known = session.known_files(str(folder)).values()
        pruned += sum(each.pruned for each in known)
        forgotten += sum(each.forgotten for each in known)
        searched = [each.path for each in known if each.is_searched]
        lost = [path for path in searched if is_gone(folder / path)]
        if lost and len(lost) == len(searched) and str(folder) in roots:
            emptied.append(str(folder))
        else:
            missing += [str(folder / path) for path in lost]
    kept = {str(folder) for folder in folders.values()} | {place for root in gone for place in _places(Path(root))}
    dropped = tuple(place for place in session.roots() if place not in kept and _searches(session, place))
    return Losses(
        missing_roots=gone,
        dropped_roots=dropped,
        emptied_roots=tuple(emptied),
        missing=tuple(sorted(missing)),
        pruned=pruned,
        forgotten=forgotten,
    )


def _places(root: Path) -> tuple[str, str]:
    """Return where a root that is gone may have had its files: in itself, or around it if it was one file."""
    return str(root), str(root.parent)


def _searches(session: ReadSession, folder: str) -> bool:
    return any(each.is_searched for each in session.known_files(folder).values())
