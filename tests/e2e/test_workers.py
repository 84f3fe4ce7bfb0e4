"""Files that crash, hang or hoard cost one file; no process is left behind, however a run ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from patience import PROMPT_S
from samples import SAMPLES
from shelf import Shelf
from zhiku.ingest.report import Report
from zhiku.registry import PARSERS

if TYPE_CHECKING:
    from conftest import Cli

needs_posix = pytest.mark.skipif(
    sys.platform == "win32", reason="Windows cannot send SIGINT or SIGKILL to another process"
)

WITH_BAD_PARSER = """
import sys
from zhiku.cli.main import main
from zhiku.registry import PARSERS
PARSERS["pdf"] = "bad_parsers:Parser"
sys.path.append(sys.argv.pop(1))
main()
"""
"""The command, where PDFs do what stands in them; the first argument is where `bad_parsers` lies."""

TESTS = str(Path(__file__).parents[1])


@pytest.fixture
def bad(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> Shelf:
    """Return a shelf whose PDFs do what stands in them."""
    monkeypatch.setitem(PARSERS, "pdf", "bad_parsers:Parser")
    return shelf


def codes(report: Report) -> list[tuple[str, str]]:
    return [(entry.path, entry.code) for entry in report.failed]


@pytest.mark.parametrize("jobs", [1, 3])
def test_a_crash_costs_one_file_and_the_others_go_on(bad: Shelf, jobs: int) -> None:
    for n in range(6):
        bad.write(f"{n}.pdf", f"say valve {n}")
    bad.write("2.pdf", "abort")
    bad.write("4.pdf", "fail")
    bad.write("5.pdf", "refuse")
    bad.write("a.md", "valve in a note")
    report = bad.library.index([bad.docs], embed=False, jobs=jobs)[0].report
    assert codes(report) == [("2.pdf", "crashed"), ("4.pdf", "bug"), ("5.pdf", "needs_ocr")]
    assert sorted(bad.found("valve")) == ["0.pdf", "1.pdf", "3.pdf", "a.md"]
    assert [document.source.path for document in bad.base.documents()] == ["0.pdf", "1.pdf", "3.pdf", "a.md"]


def test_what_was_indexed_of_a_file_before_it_crashed_stays(bad: Shelf) -> None:
    bad.write("a.pdf", "say the old valve")
    bad.index()
    bad.write("a.pdf", "abort")
    assert codes(bad.index()) == [("a.pdf", "crashed")]
    assert bad.found("valve") == ["a.pdf"]
    assert [entry.code for entry in bad.base.status().noted("failed")] == ["crashed"]
    bad.write("a.pdf", "say the new valve")
    assert bad.index().changed == 1
    assert bad.base.status().noted("failed") == []


def test_a_file_that_was_moved_is_not_parsed_again(bad: Shelf) -> None:
    file = bad.write("a.pdf", "pid")
    bad.index()
    said = bad.base.read("a.pdf").text
    (bad.docs / "sub").mkdir()
    file.rename(bad.docs / "sub" / "a.pdf")
    report = bad.index()
    assert (report.moved, report.read) == (1, 0)
    assert bad.base.read("sub/a.pdf").text == said


def start(cli: Cli, *arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", WITH_BAD_PARSER, TESTS, *arguments],
        env=cli.environ(),
        cwd=cli.folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def sleeping_worker(cli: Cli, folder: str = "") -> int:
    file = cli.docs / folder / "asleep"
    for _ in range(2_000):
        if file.exists() and (text := file.read_text()):
            return int(text)
        time.sleep(0.01)
    raise AssertionError("no worker came to the file")


def is_gone_within(seconds: float, pid: int) -> bool:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.02)
    return False


@needs_posix
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
def test_no_worker_outlives_a_run_that_is_killed(cli: Cli, number: signal.Signals) -> None:
    cli.write("a.pdf", "sleep")
    with start(cli, "index", "docs") as run:
        worker = sleeping_worker(cli)
        run.send_signal(number)
        run.communicate(timeout=10)
        assert is_gone_within(PROMPT_S, worker)


@needs_posix
def test_ctrl_c_in_the_middle_of_a_file_ends_run_and_worker_at_once(cli: Cli) -> None:
    cli.write("0.pdf", "say valve")
    cli.write("a.pdf", "sleep")
    with start(cli, "index", "docs", "--jobs", "2") as run:
        worker = sleeping_worker(cli)
        began = time.monotonic()
        run.send_signal(signal.SIGINT)
        _, errors = run.communicate(timeout=10)
    assert run.returncode == 130, errors
    assert time.monotonic() - began < PROMPT_S
    assert is_gone_within(PROMPT_S, worker)
    assert errors.decode() == "Interrupted. What is done stays; the same command goes on from here.\n"

    cli.write("a.pdf", "say valve")
    with start(cli, "index", "docs") as run:
        run.communicate(timeout=30)
    assert run.returncode == 0
    assert cli("search", "valve", "--format", "files").stdout.count(".pdf") == 2


@needs_posix
def test_ctrl_c_in_the_middle_of_a_sync_keeps_the_bases_that_are_done(cli: Cli) -> None:
    for name in ("a", "c"):
        cli.write(f"{name}/x.pdf", "say valve")
    cli.write("b/x.pdf", "sleep")
    with start(cli, "sync", "docs") as run:
        sleeping_worker(cli, "b")
        run.send_signal(signal.SIGINT)
        output, errors = run.communicate(timeout=10)
    assert run.returncode == 130, errors
    assert output.decode() == "a  1 new\nb  interrupted\n"
    assert errors.decode() == "Interrupted. What is done stays; the same command goes on from here.\n"
    assert cli("search", "valve", "-b", "a").returncode == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_watch_that_is_ended_in_the_middle_of_a_file_leaves_no_worker(cli: Cli, number: signal.Signals) -> None:
    cli.write("0.pdf", "say valve")
    with start(cli, "index", "docs") as run:
        run.communicate(timeout=30)
    cli.write("a.pdf", "sleep")
    with start(cli, "watch") as run:
        worker = sleeping_worker(cli)
        began = time.monotonic()
        run.send_signal(number)
        _, errors = run.communicate(timeout=10)
    assert run.returncode == 0, errors
    assert time.monotonic() - began < PROMPT_S
    assert is_gone_within(PROMPT_S, worker)
    assert errors.decode() == "Watching default; Ctrl-C ends it.\nStopped watching.\n"


def test_any_number_of_jobs_gives_the_same_index(shelf: Shelf) -> None:
    sample = SAMPLES["pdf"]["a.pdf"]
    for n in range(4):
        shelf.write(f"{n}.pdf", sample + b"\n% " + str(n).encode())
        shelf.write(f"{n}.md", f"fog note {n}")
    found = []
    for jobs in (1, 2):
        name = f"jobs{jobs}"
        shelf.library.index([shelf.docs], name, embed=False, jobs=jobs)
        with shelf.library.open(name).reading() as session:
            ids = [document.doc_id for document in session.documents()]
            found.append([(piece.doc_id, piece.char_start, piece.body) for piece in session.texts(ids)])
    assert found[0] == found[1] != []
