"""Which parts of several roots changed, told when they have settled; roots may vanish and return meanwhile."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from zhiku.ingest.events import FileEvents

SETTLE_S = 2.0
"""A root is settled when nothing in it changed for so long: programs save in several steps, folders are copied."""
MAX_HELD_S = 10 * SETTLE_S
"""What changes all the time is told after so long nevertheless."""
LOOK_S = 1.0
"""How often it is looked whether a root is there, and still the same folder."""


class Events(Protocol):
    """The paths that change in a root."""

    def poll(self) -> set[str]:
        """Return what changed since the last call. Raises OSError where that is not known."""
        ...

    def close(self) -> None:
        """End it."""
        ...


OpenEvents = Callable[[Path], Events]
"""Raises FileNotFoundError where the root is gone, and OSError where nothing is announced of it."""


@dataclass(kw_only=True)
class _Held:
    first_s: float
    last_s: float
    paths: set[str] = field(default_factory=set)

    def is_settled(self, now_s: float) -> bool:
        return now_s - self.last_s >= SETTLE_S or now_s - self.first_s >= MAX_HELD_S


class RootsWatch:
    """Watches roots for changes. `clock` gives seconds."""

    def __init__(self, open_events: OpenEvents = FileEvents, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self._open_events = open_events
        self._roots: dict[Path, _WatchedRoot] = {}
        self._held: dict[Path, _Held] = {}

    def follow(self, roots: Iterable[Path]) -> None:
        """Watch these roots, which are real paths, and no others. One whose events could not be had is tried again."""
        wanted = dict.fromkeys(roots)
        for root in [root for root in self._roots if root not in wanted]:
            self._roots.pop(root).close()
            self._held.pop(root, None)
        for root in wanted:
            if root in self._roots:
                self._roots[root].retry()
            else:
                self._roots[root] = _WatchedRoot(root, self._open_events)

    def failures(self) -> Mapping[Path, OSError]:
        """Return the roots that exist but announce nothing, and why."""
        return {root: watched.failure for root, watched in self._roots.items() if watched.failure is not None}

    def has_settled(self) -> bool:
        """Return whether there are changes to take."""
        self._collect()
        return any(held.is_settled(self.clock()) for held in self._held.values())

    def take(self) -> dict[Path, set[str]]:
        """Return what changed and has settled, by root; the root's own path stands for all of it."""
        self._collect()
        now_s = self.clock()
        settled = [root for root, held in self._held.items() if held.is_settled(now_s)]
        return {root: self._held.pop(root).paths for root in settled}

    def close(self) -> None:
        """Watch nothing any more."""
        self.follow(())

    def _collect(self) -> None:
        now_s = self.clock()
        for root, watched in self._roots.items():
            if paths := watched.changes(now_s):
                held = self._held.setdefault(root, _Held(first_s=now_s, last_s=now_s))
                held.last_s = now_s
                held.paths |= paths


class _WatchedRoot:
    """One root: its events while it is there, and whether it is."""

    def __init__(self, root: Path, open_events: OpenEvents) -> None:
        self.failure: OSError | None = None
        self._root = root
        self._open_events = open_events
        self._events: Events | None = None
        self._identity: tuple[int, int] | None = None
        self._look_at_s = 0.0
        self._look()

    def retry(self) -> None:
        """Try once more to get events that could not be had."""
        if self.failure is not None:
            self._open()

    def changes(self, now_s: float) -> set[str]:
        """Return what changed; the root itself if it came back or is another one now."""
        changed: set[str] = set()
        if now_s >= self._look_at_s:
            self._look_at_s = now_s + LOOK_S
            if self._look():
                changed.add(os.fspath(self._root))
        if self._events is not None:
            try:
                changed |= self._events.poll()
            except OSError:
                self.close()  # whatever is there at the next look is listened to
        return changed

    def close(self) -> None:
        """Forget the root, so that it counts as another when it is seen again."""
        if self._events is not None:
            self._events.close()
        self._events = self._identity = self.failure = None

    def _look(self) -> bool:
        """Return whether the root is there and was not, or was another; listen to what is there."""
        identity = _identity(self._root)
        if identity == self._identity:
            return False
        self.close()
        self._identity = identity
        if identity is not None:
            self._open()
        return self._identity is not None

    def _open(self) -> None:
        self.failure = None
        try:
            self._events = self._open_events(self._root)
        except FileNotFoundError:
            self._identity = None
        except OSError as error:
            self.failure = error


def _identity(root: Path) -> tuple[int, int] | None:
    """Return what tells a folder from another one of its name (of a root that is a file: the folder around it)."""
    try:
        status = root.stat()
        if not stat.S_ISDIR(status.st_mode):
            status = root.parent.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino
