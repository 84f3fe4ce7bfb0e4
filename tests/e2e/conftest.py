"""The real command in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

NOTES = {
    "notes/pumps.md": "---\ntitle: Pumps\ntags: [water]\n---\n# Pumps\n\n## Seals\n\nThe seal of the gate-sync pump is"
    " greased every spring.\n\n## 水泵\n\n水泵的密封圈每年春天上一次油。\n",
    "notes/记录.txt": "第一行：闸门检查。\n第二行：雨量筒校准完毕。\n",
    "manuals/Valve.html": "<html><head><title>Valve manual</title></head><body><h1>Valve</h1>"
    "<p>Close the valve before the frost.</p></body></html>",
}


class Cli:
    """Runs `python -m zhiku` over a home and a folder of documents in a temporary folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = folder / "home"
        self.docs = folder / "docs"
        self.docs.mkdir()

    def write(self, path: str, content: str | bytes) -> Path:
        file = self.docs / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        return file

    def environ(self, **extra: str) -> dict[str, str]:
        told = {
            "ZHIKU_HOME": str(self.home),
            "ZHIKU_LANG": "en",
            "ZHIKU_EMBEDDER": "none",  # loading a model takes longer than most of these tests
            "LC_ALL": "C",
            "PYTHONWARNINGS": "error",
        }
        return {**os.environ, **told, **extra}

    def __call__(
        self, *args: str | bytes, stdin: bytes = b"", env: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        return self._run(["-m", "zhiku", *args], stdin, env)

    def python(self, code: str, *args: str) -> subprocess.CompletedProcess[str]:
        """Run some code in the command's surroundings."""
        return self._run(["-c", code, *args], b"", None)

    def file(self, path: str, *args: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        """Run a file in the place of `-m zhiku`."""
        return self._run([path, *args], b"", env)

    def _run(
        self, args: Sequence[str | bytes], stdin: bytes, env: dict[str, str] | None
    ) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [sys.executable, *args],
            input=stdin,
            capture_output=True,
            env=self.environ(**(env or {})),
            cwd=self.folder,
            timeout=60,
            check=False,
        )
        return subprocess.CompletedProcess(args, done.returncode, _text(done.stdout), _text(done.stderr))


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    """Return the command over an empty home and an empty folder of documents."""
    return Cli(tmp_path)


@pytest.fixture(scope="session")
def new_cli(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Cli]:
    """Return a function that returns such a command, each time another."""
    return lambda: Cli(tmp_path_factory.mktemp("cli"))


@pytest.fixture(scope="session")
def notes(new_cli: Callable[[], Cli]) -> Cli:
    """Return the command over a home with one indexed base, `notes`, for tests that only ask."""
    command = new_cli()
    for path, text in NOTES.items():
        command.write(path, text)
    assert command("index", "docs", "--base", "notes").returncode == 0
    return command
