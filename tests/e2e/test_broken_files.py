"""Every file of the folders that ZHIKU_BROKEN names comes to an end that is told: no crash, hang or loss in silence.

`benchmarks/broken.py` does the same with files out of public packages, and holds what was read against other readers.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from conftest import Cli

FOLDERS = [Path(name) for name in os.environ.get("ZHIKU_BROKEN", "").split(os.pathsep) if name]
NONE_NAMED = pytest.param(None, marks=pytest.mark.skip(reason="ZHIKU_BROKEN names no folder of broken files"))

BASE_S = 300
S_PER_FILE = 2
"""How long a run may take; 13,133 files out of 29 packages took .03 s each (2026-11-30)."""


@dataclass(frozen=True, kw_only=True)
class Run:
    """One `zhiku index` over all files of a folder, and what the ledger says afterwards."""

    names: frozenset[str]
    code: int
    errors: str
    elapsed_s: float
    left: list[int]
    ledger: list[dict[str, Any]]


@pytest.fixture(scope="module", params=[pytest.param(each, id=each.name) for each in FOLDERS] or [NONE_NAMED])
def run(request: pytest.FixtureRequest, new_cli: Callable[[], Cli]) -> Run:
    cli = new_cli()
    names = copy_flat(request.param, cli.docs)
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "zhiku", "index", "docs", "--no-embed"],
        env=cli.environ(),
        cwd=cli.folder,
        capture_output=True,
        timeout=BASE_S + S_PER_FILE * len(names),
        check=False,
    )
    elapsed_s = time.monotonic() - began
    left = processes_of(cli.home)
    (base,) = json.loads(cli("ledger", "--format", "json").stdout)["bases"]
    return Run(
        names=names,
        code=done.returncode,
        errors=done.stderr.decode("utf-8", "replace"),
        elapsed_s=elapsed_s,
        left=left,
        ledger=base["files"],
    )


def copy_flat(folder: Path, target: Path) -> frozenset[str]:
    """Copy all files into one folder, under names that no rule leaves out, and return these."""
    found = sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    copies = {f"{i:05}-{path.name[-100:]}": path for i, path in enumerate(found)}
    for name, path in copies.items():
        shutil.copyfile(path, target / name)
    return frozenset(copies)


def processes_of(home: Path) -> list[int]:
    """Return the processes that work for a home, where /proc tells."""
    found = []
    for process in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):
            if f"ZHIKU_HOME={home}".encode() in process.read_bytes().split(b"\0"):
                found.append(int(process.parent.name))
    return found


def test_the_run_ends_as_a_run_does(run: Run) -> None:
    assert run.code in (0, 3), run.errors
    assert "Traceback" not in run.errors
    assert not [file["path"] for file in run.ledger if file["code"] == "bug"]


def test_no_process_is_left_behind(run: Run) -> None:
    assert run.left == []


def test_every_file_is_in_the_ledger_once(run: Run) -> None:
    paths = [file["path"] for file in run.ledger]
    assert sorted(paths) == sorted(run.names)


def test_every_file_that_is_not_read_says_why(run: Run) -> None:
    unread = [file for file in run.ledger if file["state"] in ("failed", "skipped", "textless")]
    assert [file["path"] for file in unread if not file["code"]] == []
    assert [file["path"] for file in unread if not (file["message"] or file["state"] == "skipped")] == []


def test_every_file_that_is_read_holds_text(run: Run) -> None:
    read = [file for file in run.ledger if file["state"] in ("ok", "part")]
    assert [file["path"] for file in read if not (file["chars"] and file["chunks"])] == []
