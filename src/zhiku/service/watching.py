"""Keeping bases up to date while their files change."""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from zhiku.config import load_base_settings
from zhiku.errors import Busy, ConfigError, NotFound, Unreadable, ZhikuError
from zhiku.ingest.folders import NameRules
from zhiku.ingest.reach import parts_to_update
from zhiku.ingest.watch import RootsWatch
from zhiku.service.indexing import IndexReport
from zhiku.service.library import Library

POLL_S = 0.2
"""How long changes, and a wish to stop, may go unnoticed."""
PAUSE_FACTOR = 9
"""Of ten seconds, one at most goes into looks that find nothing: a slow drive, or many files that cannot be read."""

_MORE_WATCHES = "let more be watched: sudo sysctl fs.inotify.max_user_watches=524288 fs.inotify.max_user_instances=512"


@dataclass(frozen=True, kw_only=True)
class WatchEvent:
    """What a watcher did, or could not do: either a report or an error."""

    base: str
    """Empty where it is about no base in particular."""
    report: IndexReport | None = None
    error: ZhikuError | None = None
    """Told once, until it is another one or was mended meanwhile; what failed is tried again at each scan."""

    @property
    def changed(self) -> bool:
        """Return whether the run changed the index."""
        if self.report is None:
            return False
        embedding = self.report.embedding
        embedded = embedding is not None and embedding.report.embedded + embedding.report.reused > 0
        return embedded or any(each.report.read or each.report.moved for each in self.report)


def _ignore(event: WatchEvent) -> None:
    pass


class Watcher:
    """Updates bases when their files change, and looks through all of their roots every `scan_interval` as well.

    All bases, unless some are named; settings are read anew at each scan, so that new bases, roots and rules count
    from then on. `embed` overrides `auto_embed`; `may_send` is that of `Base.index`. Nothing is pruned. The
    library serves one thread: give the watcher one of its own. `watch` tells what changed, and what time it is.
    """

    def __init__(
        self,
        library: Library,
        names: Sequence[str] = (),
        *,
        embed: bool | None = None,
        may_send: bool = False,
        on_event: Callable[[WatchEvent], None] = _ignore,
        watch: RootsWatch | None = None,
    ) -> None:
        self._library = library
        self._names = names
        self._embed = embed
        self._may_send = may_send
        self._on_event = on_event
        self._watch = watch or RootsWatch()
        self._clock = self._watch.clock
        self._scan_at_s = self._clock()
        self._bases_of: dict[Path, list[str]] = {}
        self._rules: dict[str, NameRules] = {}
        self._due: list[str] = []
        self._in_vain_s = 0.0
        self._told: dict[str, str] = {}

    def run(self, stop: threading.Event) -> None:
        """Watch until `stop` is set, or Ctrl-C ends a run; both end it after the current file, or batch of chunks."""
        more = True
        try:
            while not stop.wait(0 if more else POLL_S):
                more = self.step(stop)
        finally:
            self._watch.close()

    def step(self, stop: threading.Event) -> bool:
        """Update what changed and has settled, then look through one base if any is due; return whether more are."""
        if self._clock() >= self._scan_at_s:
            self._begin_scan()
        for root, paths in self._watch.take().items():
            for name in self._bases_of[root]:
                parts = parts_to_update(root, self._not_ours(paths), self._rules[name])
                if parts and os.path.realpath(root) != os.fspath(root):
                    self._make_due(name)  # the parts of a root that became a link would be roots of their own
                elif parts:
                    self._update(name, parts, stop)
        if self._due:
            self._update(self._due.pop(0), (), stop)
            if not self._due:
                self._plan_scan()
        return bool(self._due)

    def _begin_scan(self) -> None:
        self._read_settings()
        self._watch.follow(self._bases_of)
        self._tell_what_is_not_announced()
        self._due = list(self._rules)
        self._in_vain_s = 0.0
        self._plan_scan()

    def _plan_scan(self) -> None:
        pause_s = max(self._library.settings.watch.scan_interval, PAUSE_FACTOR * self._in_vain_s)
        self._scan_at_s = self._clock() + pause_s

    def _read_settings(self) -> None:
        try:
            self._library.reload()
            self._told.pop("", None)
        except ConfigError as error:
            self._tell("", "", error)
        self._bases_of, self._rules = {}, {}
        for name in self._names or self._library.names():
            try:
                base = self._library.open(name)
                settings = load_base_settings(base.folder)
            except ZhikuError as error:
                self._tell(name, name, error)
                continue
            if settings.roots and base.name not in self._rules:
                self._rules[base.name] = NameRules(include=settings.include, exclude=settings.exclude)
                for root in settings.roots:
                    self._bases_of.setdefault(Path(root), []).append(base.name)

    def _tell_what_is_not_announced(self) -> None:
        failures = self._watch.failures()
        for root, cause in failures.items():
            problem = Unreadable(
                "the system does not tell what changes in {root}: {cause}. It is looked through every {seconds} s.",
                root=root,
                cause=cause.strerror or cause,
                seconds=self._library.settings.watch.scan_interval,
                hint=_MORE_WATCHES if cause.errno == errno.ENOSPC else "",
            )
            self._tell(str(root), self._bases_of[root][0], problem)
        for root in self._bases_of.keys() - failures.keys():
            self._told.pop(str(root), None)

    def _not_ours(self, paths: set[str]) -> list[str]:
        """Leave out zhiku's own files, which each run changes: were they in a root, there would be no end of runs."""
        home = self._library.home.resolve()
        return [path for path in paths if not Path(path).is_relative_to(home)]

    def _update(self, name: str, parts: Sequence[Path], stop: threading.Event) -> None:
        brakes = _Brakes(self._watch, stop, self._library.settings.watch.scan_interval)
        embed = self._library.settings.watch.auto_embed if self._embed is None else self._embed
        try:
            base = self._library.open(name)
            try:
                report = base.index(
                    parts,
                    embed=embed,
                    may_send=self._may_send,
                    jobs=1,
                    progress=brakes.between_files,
                    embed_progress=brakes.between_batches,
                )
            finally:
                base.close()
        except Busy:
            return  # the next scan finds what is not done by whoever writes it now
        except NotFound as error:
            if parts:  # one of them is gone again
                self._make_due(name)
            else:
                self._tell(name, name, error)
        except ZhikuError as error:
            self._tell(name, name, error)
        else:
            self._told.pop(name, None)
            self._go_on_after(name, report, brakes, stop)

    def _go_on_after(self, name: str, report: IndexReport, brakes: _Brakes, stop: threading.Event) -> None:
        event = WatchEvent(base=name, report=report)
        if not event.changed:
            self._in_vain_s += self._clock() - brakes.began_s
        if brakes.made_way:
            self._make_due(name)
        elif report.interrupted:
            stop.set()
        self._on_event(event)
        failure = report.embedding.failure if report.embedding else None
        if failure is None:
            self._told.pop(f"embedding {name}", None)
        else:
            self._tell(f"embedding {name}", name, failure)

    def _make_due(self, name: str) -> None:
        if name not in self._due:
            self._due.append(name)

    def _tell(self, key: str, name: str, error: ZhikuError) -> None:
        if self._told.get(key) != str(error):
            self._told[key] = str(error)
            self._on_event(WatchEvent(base=name, error=error))


class _Brakes:
    """Ends a run early the way Ctrl-C does, which keeps what is done."""

    def __init__(self, watch: RootsWatch, stop: threading.Event, embed_s: float) -> None:
        self._watch = watch
        self._stop = stop
        self._embed_s = embed_s
        self.began_s = watch.clock()
        self.made_way = False
        """Whether embedding ended for something that is more urgent."""

    def between_files(self, *_: object) -> None:
        """End the run if the watcher is to stop."""
        if self._stop.is_set():
            raise KeyboardInterrupt

    def between_batches(self, done: int, total: int) -> None:
        """End it, too, if words wait to be stored, or a scan: embedding a large folder takes hours."""
        if self._stop.is_set():
            raise KeyboardInterrupt
        if done < total and (self._watch.has_settled() or self._watch.clock() - self.began_s >= self._embed_s):
            self.made_way = True
            raise KeyboardInterrupt
