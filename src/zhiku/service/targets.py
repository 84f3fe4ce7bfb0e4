"""What is meant by the paths that a user names: roots, and parts of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from zhiku.errors import NotFound, UsageError
from zhiku.frozen import frozen


@frozen
class Target:
    """A root, and the part of it to bring up to date: the whole, a folder in it, or one file."""

    root: Path
    part: Path


def as_paths(paths: Sequence[str | Path]) -> list[Path]:
    """Return what was given as paths.

    Raises `UsageError` for an empty one, which would mean the current folder, and where that is gone.
    """
    if any(not str(path) for path in paths):
        raise UsageError("a path is empty.", hint="name a folder; the current one is: zhiku index .")
    found = [Path(path) for path in paths]
    if not all(path.is_absolute() for path in found):
        try:
            Path.cwd()
        except FileNotFoundError as error:
            raise UsageError("the current folder is gone.", hint="go to another, or name a path from / on") from error
    return found


def check_paths(paths: Sequence[Path], is_remembered: Callable[[Path], bool] | None = None) -> None:
    """Raise `NotFound` for the first of the paths that does not exist and is none of which something is remembered."""
    for path in paths:
        # A link to nowhere does not exist either: it is nothing that could be a root.
        if not path.exists() and not (is_remembered and is_remembered(path)):
            raise NotFound(
                "{path} does not exist.",
                path=path,
                hint="check the spelling; see what is there: ls {parent}",
                parent=path.absolute().parent,
            )


def targets_of(base: str, roots: Sequence[Path], paths: Sequence[Path]) -> list[Target]:
    """Return what indexing `paths` into a base with these roots means; without a path, all its roots.

    Raises `UsageError` for a path that holds a root, and where there is neither a path nor a root.
    """
    if not paths and not roots:
        raise UsageError(
            "base {name!r} has no root yet.", name=base, hint="name a folder: zhiku index PATH --base {name}"
        )
    targets: list[Target] = []
    # A folder comes before what it holds, which then is a part of it and need not be walked twice.
    for real in sorted((Path(os.path.realpath(path)) for path in paths), key=lambda path: len(path.parts)):
        if not any(real.is_relative_to(target.part) for target in targets):
            targets.append(_target(base, real, [*roots, *(target.root for target in targets)]))
    return targets or [Target(root=root, part=root) for root in roots]


def _target(base: str, real: Path, roots: Sequence[Path]) -> Target:
    for root in roots:
        if real == root or real.is_relative_to(root):
            return Target(root=root, part=real)
        if root.is_relative_to(real):
            raise UsageError(
                "{path} holds {root}, which base {name!r} has as a root already.",
                path=real,
                root=root,
                name=base,
                hint="index it into another base: zhiku index {path} --base OTHER",
            )
    return Target(root=real, part=real)
