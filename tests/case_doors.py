"""How the steps of a case reach zhiku: through the library, or as a command under some settings."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from zhiku.answer import Query
from zhiku.service.library import Library

CASES = Path(__file__).parent / "cases"
TOOLS = CASES / "tools"
PROCESS_TIMEOUT_S = 60

Hits = list[dict[str, Any]]


class Door:
    """The library, in this process; searches are by words, since by meaning something is always nearest."""

    def __init__(self, case: Path, *, embed: bool = False, ocr: bool = False) -> None:
        self.library = Library(case / "home")
        self.ocr = ocr
        self.glossary: Path | None = None
        """What the next runs name as the base's glossary."""
        self._embed = embed

    @property
    def process_environ(self) -> dict[str, str]:
        """Return the environment of a command over this library."""
        return {**os.environ, "ZHIKU_HOME": str(self.library.home), "ZHIKU_LANG": "en"}

    def command(self, *arguments: str) -> list[str]:
        """Return the words of a command."""
        return [sys.executable, "-m", "zhiku", *arguments]

    def index(self, path: Path) -> None:
        self.library.index([path], embed=self._embed, ocr=self.ocr, glossary=self.glossary)

    def search(self, text: str, source: str | None) -> Hits:
        hits: Hits = self.library.search(Query(text=text, source=source, mode="lexical")).to_dict()["hits"]
        return hits


class ProcessDoor(Door):
    """The command, each time in a process of its own."""

    def __init__(self, case: Path, shim: str | None, *, no_network: bool) -> None:
        super().__init__(case)
        self.network_log = case / "network.log"
        shims = [str(TOOLS.parent / shim)] if shim else []
        shims += [str(TOOLS / "shim_no_network")] if no_network else []
        self.environ = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([*shims, *filter(None, [os.environ.get("PYTHONPATH")])]),
            "ZHIKU_HOME": str(self.library.home),
            "NETWORK_LOG": str(self.network_log),
        }
        self._prefix = ["unshare", "-rn"] if no_network and _can_unshare() else []

    @property
    def process_environ(self) -> dict[str, str]:
        return self.environ

    def command(self, *arguments: str) -> list[str]:
        return [*self._prefix, *super().command(*arguments)]

    def index(self, path: Path) -> None:
        glossary = ["--glossary", str(self.glossary)] if self.glossary else []
        self.run("-m", "zhiku", "index", str(path), *glossary)

    def search(self, text: str, source: str | None) -> Hits:
        filters = ["--source", source] if source else []
        command = ["search", text, "--mode", "lexical", "--format", "json", *filters]
        hits: Hits = json.loads(self.run("-m", "zhiku", *command))["hits"]
        return hits

    def run(self, *args: str) -> str:
        command = [*self._prefix, sys.executable, *args]
        done = subprocess.run(
            command, env=self.environ, capture_output=True, encoding="utf-8", timeout=PROCESS_TIMEOUT_S, check=False
        )
        assert done.returncode == 0, done.stderr
        assert "Traceback" not in done.stderr
        return done.stdout


def _can_unshare() -> bool:
    if not shutil.which("unshare"):
        return False
    return subprocess.run(["unshare", "-rn", "true"], capture_output=True, check=False).returncode == 0


def has_endpoint(case: Path) -> bool:
    """Return whether a case needs a server; those are run by tests/e2e/test_endpoint_cases.py."""
    return "endpoint" in json.loads(case.read_text("utf-8"))
