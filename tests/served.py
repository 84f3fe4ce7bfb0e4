"""A running `zhiku serve-models`, or another command that serves."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

from zhiku.registry import EMBEDDER_PACKAGES

HAS_BUILTIN = all(find_spec(package) for package in EMBEDDER_PACKAGES["builtin"])
WAIT_S = 60.0


class Served:
    """The process; `url` is the address that it printed."""

    def __init__(self, folder: Path, env: Mapping[str, str], *arguments: str, command: Sequence[str]) -> None:
        self._err = folder / "served.err"
        with self._err.open("wb") as err:
            words = [sys.executable, "-m", "zhiku", "-v", *command, "--port", "0", *arguments]
            self.process = subprocess.Popen(
                words, env=env, cwd=folder, stdout=subprocess.PIPE, stderr=err, text=True, encoding="utf-8"
            )
        assert self.process.stdout is not None
        self.url = self.process.stdout.readline().strip()

    @property
    def notes(self) -> str:
        """What was said on stderr so far."""
        return self._err.read_text("utf-8")

    def end(self, number: int = signal.SIGINT) -> float:
        """Return how many seconds the server took to end, cleanly."""
        began = time.monotonic()
        self.process.send_signal(number)
        assert self.process.wait(WAIT_S) == 0, self.notes
        return time.monotonic() - began


@contextmanager
def served(
    folder: Path, env: Mapping[str, str], *arguments: str, command: Sequence[str] = ("serve-models",)
) -> Iterator[Served]:
    """Run the server until the block ends."""
    server = Served(folder, env, *arguments, command=command)
    try:
        assert server.url.startswith("http://"), server.notes
        yield server
    finally:
        server.process.kill()
        server.process.wait(WAIT_S)
        assert server.process.stdout is not None
        server.process.stdout.close()
