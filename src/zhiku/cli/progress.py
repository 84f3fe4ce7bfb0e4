"""A line of progress for a reader at a terminal."""

from __future__ import annotations

import time
from types import TracebackType

from zhiku.cli import render
from zhiku.cli.columns import clean_line, cut
from zhiku.cli.screen import Screen

REDRAW_S = 0.1
BAR_COLUMNS = 20


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
        if self._screen.columns and now - self._drawn_at >= REDRAW_S:
            self._drawn_at = now
            full = BAR_COLUMNS * done // max(1, total)
            bar = "#" * full + "-" * (BAR_COLUMNS - full)
            render.draw(cut(f"[{bar}] {done}/{total}  {clean_line(path)}", self._screen.columns - 1))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._screen.columns:
            render.draw("")
