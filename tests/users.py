"""Tests about permissions, which mean nothing to root: do them as somebody else."""

from __future__ import annotations

import _strptime  # noqa: F401 - see below
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import zhiku.service.indexing  # noqa: F401 - a normal user may not be able to read Python's own modules, so load them

NOBODY = 65534


@contextmanager
def common_folder() -> Iterator[Path]:
    """Make a folder that every user can reach (pytest's own are the user's alone)."""
    folder = Path(tempfile.mkdtemp(prefix="zhiku-test-")).resolve()
    try:
        folder.chmod(0o755)
        yield folder
    finally:
        shutil.rmtree(folder, onerror=_make_writable)


def _make_writable(function: object, path: str, _: object) -> None:
    parent = Path(path).parent
    parent.chmod(0o700)
    target = Path(path)
    if target.is_dir() and not target.is_symlink():
        target.chmod(0o700)
        shutil.rmtree(target)
    else:
        target.unlink(missing_ok=True)


@contextmanager
def as_normal_user(folder: Path) -> Iterator[None]:
    """Be a user without privileges, who owns `folder` and what is in it."""
    if sys.platform == "win32" or os.geteuid() != 0:
        yield
        return
    for path in (folder, *folder.rglob("*")):
        os.chown(path, NOBODY, NOBODY, follow_symlinks=False)
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)
