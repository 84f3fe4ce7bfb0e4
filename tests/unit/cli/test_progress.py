import re

import pytest
from screens import pipe, terminal

from zhiku.cli.progress import EmbeddingLine, duration
from zhiku.cli.screen import Screen


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Run:
    """An embedding line whose clock is set by hand."""

    def __init__(self, screen: Screen, capsys: pytest.CaptureFixture[str]) -> None:
        self._clock = Clock()
        self._line = EmbeddingLine(screen, self._clock)
        self._capsys = capsys

    def show(self, done: int, total: int, *, after_s: float) -> str:
        """Return what is drawn for a step that comes so many seconds after the one before."""
        self._clock.now += after_s
        self._line(done, total)
        return re.sub(r"\x1b\[K|\r", "", self._capsys.readouterr().err)


def test_the_rate_and_the_time_left_are_shown_once_they_are_known(capsys: pytest.CaptureFixture[str]) -> None:
    run = Run(terminal(), capsys)
    assert run.show(0, 400, after_s=0) == "[--------------------] embedding 0/400"
    assert run.show(100, 400, after_s=5) == "[#####---------------] embedding 100/400  15 s left  20/s"


def test_texts_that_were_reused_at_once_do_not_keep_the_rate_high(capsys: pytest.CaptureFixture[str]) -> None:
    run = Run(terminal(80), capsys)
    run.show(0, 2000, after_s=0)
    run.show(1000, 2000, after_s=1)
    for step in range(1, 10):
        shown = run.show(1000 + 10 * step, 2000, after_s=10)
    assert "15 min left  1/s" in shown


def test_another_base_begins_with_a_rate_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    run = Run(terminal(), capsys)
    run.show(0, 400, after_s=0)
    run.show(400, 400, after_s=1)
    assert run.show(0, 400, after_s=1) == "[--------------------] embedding 0/400"
    assert "15 s left  20/s" in run.show(100, 400, after_s=5)


def test_who_waits_long_is_told_once_that_the_base_can_be_searched(capsys: pytest.CaptureFixture[str]) -> None:
    run = Run(terminal(), capsys)
    assert "searched" not in run.show(0, 1000, after_s=0)
    shown = run.show(10, 1000, after_s=1)
    assert shown.startswith("What was read can be searched by words already; Ctrl-C keeps what is done.\n[")
    assert "searched" not in run.show(20, 1000, after_s=1)


def test_nothing_is_drawn_where_nobody_looks_or_nothing_is_to_be_done(capsys: pytest.CaptureFixture[str]) -> None:
    assert Run(pipe(), capsys).show(1, 2, after_s=1) == ""
    assert Run(terminal(), capsys).show(0, 0, after_s=1) == ""


@pytest.mark.parametrize(("seconds", "text"), [(0.4, "0 s"), (59, "59 s"), (90, "2 min"), (5400, "1.5 h")])
def test_a_time_to_wait_is_rough(seconds: float, text: str) -> None:
    assert duration(seconds, pipe()) == text
