"""Lines of progress for a reader at a terminal."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from types import TracebackType

from zhiku.cli import render
from zhiku.cli.columns import clean_line, cut
from zhiku.cli.screen import Screen

REDRAW_S = 0.1
BAR_COLUMNS = 20
RATE_S = 30.0
"""The rate is that of so many seconds: a mean over the whole run would believe for long in texts that were reused."""
LONG_S = 30.0
"""Who has to wait longer is told that the base can be searched meanwhile."""


class ProgressLine:
    """Shows files done and the one at hand; draws nothing where stderr is no terminal."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._drawn_at = 0.0

    def __enter__(self) -> ProgressLine:
        if self._screen.columns:
            render.draw(self._screen.tr("Looking for files …"))
        return self

    def __call__(self, done: int, total: int, path: str) -> None:
        """Show that `done` of `total` files are done and `path` comes next."""
        now = time.monotonic()
        if now - self._drawn_at >= REDRAW_S:
            self._drawn_at = now
            _draw(self._screen, f"{_bar(done, total)} {done}/{total}  {clean_line(path)}")

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._screen.columns:
            render.draw("")


class EmbeddingLine:
    """Shows chunks embedded, how many a second, and the time left; draws nothing where stderr is no terminal.

    Whoever draws on this line before wipes it at the end.
    """

    def __init__(self, screen: Screen, clock: Callable[[], float] = time.monotonic) -> None:
        self._screen = screen
        self._clock = clock
        self._steps: deque[tuple[float, int]] = deque()
        self._is_told = False

    def __call__(self, done: int, total: int) -> None:
        """Show that `done` of `total` chunks have their vectors."""
        if not self._screen.columns or not total:
            return
        rate = self._rate(done)
        left_s = (total - done) / rate if rate else 0.0
        if left_s >= LONG_S and not self._is_told:
            self._is_told = True
            render.draw("")
            render.note(self._screen.tr("What was read can be searched by words already; Ctrl-C keeps what is done."))
        _draw(self._screen, f"{_bar(done, total)} {self._counts(done, total, rate, left_s)}")

    def _rate(self, done: int) -> float:
        """Return the chunks per second of the last while; 0 as long as nobody knows."""
        now = self._clock()
        if self._steps and done < self._steps[-1][1]:  # another base begins
            self._steps.clear()
        self._steps.append((now, done))
        while len(self._steps) > 2 and now - self._steps[1][0] >= RATE_S:
            self._steps.popleft()
        began, before = self._steps[0]
        return (done - before) / (now - began) if now > began else 0.0

    def _counts(self, done: int, total: int, rate: float, left_s: float) -> str:
        if not rate:
            return self._screen.tr("embedding {done}/{total}", done=done, total=total)
        return self._screen.tr(
            "embedding {done}/{total}  {time} left  {rate:.0f}/s",
            done=done,
            total=total,
            rate=rate,
            time=duration(left_s, self._screen),
        )


def duration(seconds: float, screen: Screen) -> str:
    """Return a time to wait, no more exact than anyone would believe."""
    if seconds < 60:
        return screen.tr("{count} s", count=round(seconds))
    if seconds < 3600:
        return screen.tr("{count} min", count=round(seconds / 60))
    return screen.tr("{count:.1f} h", count=seconds / 3600)


def _bar(done: int, total: int) -> str:
    full = BAR_COLUMNS * done // max(1, total)
    return f"[{'#' * full}{'-' * (BAR_COLUMNS - full)}]"


def _draw(screen: Screen, line: str) -> None:
    if screen.columns:
        render.draw(cut(line, screen.columns - 1))
