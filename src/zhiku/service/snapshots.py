"""Copies of a base's index, kept before it is changed as a whole, and on request."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from zhiku.config import SnapshotSettings
from zhiku.errors import NotFound
from zhiku.paths import make_private_dir
from zhiku.ports import Store

FOLDER = "snapshots"
LATEST = "latest"

_NAME = re.compile(r"(\d{8}T\d{12}Z)-([a-z]+)")
_STAMP = "%Y%m%dT%H%M%S%fZ"
_ENDING = ".sqlite3"
_UNFINISHED = ".part"


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """A copy of an index as it was at one time."""

    name: str
    path: Path
    made_at: str
    """ISO 8601, UTC."""
    reason: str
    """`request`, or what it was made before: `migration`, `rebuild`, `repair`, `restore`."""
    size_bytes: int

    def to_dict(self) -> dict[str, Any]:
        """Return everything, for JSON."""
        return {
            "name": self.name,
            "path": str(self.path),
            "made_at": self.made_at,
            "reason": self.reason,
            "size_bytes": self.size_bytes,
        }


@dataclass(frozen=True, kw_only=True)
class Restoration:
    """What a restoring did."""

    restored: Snapshot
    saved: Snapshot | None
    """The copy of the index that was there before; None where there was none that could be copied."""


def list_snapshots(folder: Path) -> list[Snapshot]:
    """Return the snapshots of the base in `folder`, the newest first."""
    found = [_read(path) for path in (folder / FOLDER).glob(f"*{_ENDING}")]
    return sorted((each for each in found if each), key=lambda each: each.name, reverse=True)


def find_snapshot(folder: Path, name: str) -> Snapshot:
    """Return the snapshot of a name, or the newest for `latest`. Raises `NotFound`."""
    known = list_snapshots(folder)
    for snapshot in known:
        if name in (LATEST, snapshot.name):
            return snapshot
    raise NotFound(
        "base {base!r} has no snapshot named {name!r}.",
        base=folder.name,
        name=name,
        hint="see which there are: zhiku snapshot --list --base {base}",
    )


def remove_unfinished(folder: Path) -> None:
    """Remove what killed runs left of copies. The caller holds the base's lock."""
    for path in (folder / FOLDER).glob(f"*{_UNFINISHED}*"):
        with suppress(PermissionError):
            path.unlink()


def take_snapshot(
    folder: Path, store: Store, reason: str, settings: SnapshotSettings, spared: Snapshot | None = None
) -> Snapshot:
    """Copy the index, and remove the oldest copies beyond what is to be kept, but for the one that is `spared`.

    The caller holds the base's lock.
    """
    kept = make_private_dir(folder / FOLDER)
    path = kept / f"{datetime.now(UTC).strftime(_STAMP)}-{reason}{_ENDING}"
    unfinished = path.with_suffix(_UNFINISHED)
    try:
        store.copy_to(unfinished)
        unfinished.replace(path)
    except BaseException:
        remove_unfinished(folder)
        raise
    _remove_beyond([each for each in list_snapshots(folder) if each != spared], settings)
    snapshot = _read(path)
    assert snapshot is not None
    return snapshot


def _remove_beyond(newest_first: Sequence[Snapshot], settings: SnapshotSettings) -> None:
    """Remove all but the last ones within the limits; the newest always stays, however large."""
    total = 0
    for i, snapshot in enumerate(newest_first):
        total += snapshot.size_bytes
        if i and (i >= settings.keep or total > settings.max_bytes):
            snapshot.path.unlink(missing_ok=True)


def _read(path: Path) -> Snapshot | None:
    match = _NAME.fullmatch(path.stem)
    if match is None or not path.is_file():
        return None
    made_at = datetime.strptime(match[1], _STAMP).replace(tzinfo=UTC)
    return Snapshot(
        name=path.stem,
        path=path,
        made_at=made_at.isoformat(timespec="seconds"),
        reason=match[2],
        size_bytes=path.stat().st_size,
    )
