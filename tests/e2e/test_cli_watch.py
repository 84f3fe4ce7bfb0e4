"""`zhiku watch` and real files: what changes is found, whatever becomes of its root, and Ctrl-C ends it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from patience import PROMPT_S
from zhiku.ingest.events import FileEvents
from zhiku.ingest.watch import RootsWatch

if TYPE_CHECKING:
    from conftest import Cli

WAIT_S = 30.0
needs_posix = pytest.mark.skipif(
    sys.platform == "win32", reason="Windows cannot send SIGINT to another process, nor move a folder that is open"
)
needs_linux = pytest.mark.skipif(
    not sys.platform.startswith("linux"),
    reason="only Linux limits the memory of a process, or the number of files it watches",
)


def wait_for(condition: Callable[[], object]) -> None:
    until = time.monotonic() + WAIT_S
    while not condition():
        assert time.monotonic() < until, "in vain"
        time.sleep(0.05)


class Watch:
    """A running `zhiku watch`."""

    def __init__(self, cli: Cli, *arguments: str) -> None:
        self._out, self._err = cli.folder / "out.txt", cli.folder / "err.txt"
        with self._out.open("wb") as out, self._err.open("wb") as err:
            command = [sys.executable, "-m", "zhiku", "watch", *arguments]
            self.process = subprocess.Popen(command, env=cli.environ(), cwd=cli.folder, stdout=out, stderr=err)

    @property
    def said(self) -> list[str]:
        """What was printed so far, without dates."""
        return re.findall(r"^\S+ \S+  (.*)$", self._out.read_text("utf-8"), re.MULTILINE)

    @property
    def notes(self) -> str:
        return self._err.read_text("utf-8")

    def says(self, *lines: str) -> None:
        """Wait for these lines, and no others."""
        wait_for(lambda: len(self.said) >= len(lines) or self.process.poll() is not None)
        assert self.said == list(lines), self.notes

    def end(self, number: int = signal.SIGINT) -> float:
        """Return how many seconds the watch took to end, cleanly."""
        began = time.monotonic()
        self.process.send_signal(number)
        assert self.process.wait(WAIT_S) == 0, self.notes
        return time.monotonic() - began


@contextmanager
def watching(cli: Cli, *arguments: str) -> Iterator[Watch]:
    watch = Watch(cli, *arguments)
    try:
        yield watch
    finally:
        watch.process.kill()
        watch.process.wait()


@pytest.fixture
def indexed(cli: Cli) -> Cli:
    """Return the command over one base, in whose folder there is a file more than was indexed."""
    cli.write("a.md", "valve\n")
    assert cli("index", "docs").returncode == 0
    cli.write("b.md", "pump\n")
    return cli


FOUND_AT_START = "default  1 new"


@needs_posix
def test_files_that_change_are_found_without_waiting_for_a_scan(indexed: Cli) -> None:
    said = [FOUND_AT_START]
    with watching(indexed) as watch:
        watch.says(*said)  # all is watched by then, and the next scan is a minute away
        indexed.write("c.md", "gauge\n")
        indexed.write("a.md", "cable\n")
        said.append("default  1 new, 1 changed")
        watch.says(*said)
        assert "c.md" in indexed("search", "gauge", "--format", "files").stdout

        (indexed.docs / "sub").mkdir()
        (indexed.docs / "c.md").rename(indexed.docs / "sub" / "c.md")
        said.append("default  1 moved")
        watch.says(*said)
        assert "sub/c.md" in indexed("search", "gauge", "--format", "files").stdout

        away = indexed.docs.rename(indexed.folder / "away")
        (away / "sub" / "d.md").write_text("fog\n")
        away.rename(indexed.docs)
        said.append("default  1 new")
        watch.says(*said)
        assert watch.end() < PROMPT_S
        assert watch.notes == "Watching default; Ctrl-C ends it.\nStopped watching.\n"


@needs_posix
def test_a_root_that_is_gone_is_told_once_and_followed_again_when_it_is_back(indexed: Cli) -> None:
    (indexed.home / "config.toml").write_text("[watch]\nscan_interval = 1\n")
    with watching(indexed) as watch:
        watch.says(FOUND_AT_START)
        away = indexed.docs.rename(indexed.folder / "away")
        wait_for(lambda: "this root is gone" in watch.notes)
        (away / "c.md").write_text("gauge\n")
        assert "b.md" in indexed("search", "pump", "--format", "files").stdout
        away.rename(indexed.docs)
        watch.says(FOUND_AT_START, "default  1 new")
        assert watch.notes.count("this root is gone") == 1
        watch.end()


@needs_posix
def test_sigterm_ends_a_watch_as_ctrl_c_does(indexed: Cli) -> None:
    with watching(indexed, "--base", "default", "--no-embed") as watch:
        watch.says(FOUND_AT_START)
        assert watch.end(signal.SIGTERM) < PROMPT_S
        assert watch.notes.endswith("Stopped watching.\n")


def test_a_file_that_cannot_be_read_is_told_once(indexed: Cli) -> None:
    (indexed.home / "config.toml").write_text("[watch]\nscan_interval = 1\n")
    indexed.write("bad.pdf", "no PDF")
    with watching(indexed) as watch:
        wait_for(lambda: "bad.pdf is not a PDF" in watch.notes)
        indexed.write("c.md", "gauge\n")
        wait_for(lambda: len(watch.said) == 2)
        indexed.write("d.md", "fog\n")
        wait_for(lambda: len(watch.said) == 3)
        assert watch.notes.count("bad.pdf") == 1


def test_a_watch_of_a_base_that_does_not_exist_is_refused(indexed: Cli) -> None:
    done = indexed("watch", "-b", "defualt")
    assert (done.returncode, done.stdout) == (2, "")
    assert "did you mean 'default'?" in done.stderr


@needs_posix
def test_a_watch_without_any_base_waits_for_one(cli: Cli) -> None:
    (cli.home).mkdir()
    (cli.home / "config.toml").write_text("[watch]\nscan_interval = 1\n")
    with watching(cli) as watch:
        wait_for(lambda: "There is no base yet. Make one: zhiku index PATH" in watch.notes)
        cli.write("a.md", "valve\n")
        cli("index", "docs")
        cli.write("b.md", "pump\n")
        watch.says(FOUND_AT_START)
        watch.end()


# --- what the system announces ---


@contextmanager
def announced(root: Path) -> Iterator[Callable[..., None]]:
    """Yield a function that waits until all of these paths were announced, since the last call."""
    events = FileEvents(root)

    def told(*paths: Path) -> None:
        missing = set(map(str, paths))

        def all_came() -> bool:
            missing.difference_update(events.poll())
            return not missing

        wait_for(all_came)

    try:
        yield told
    finally:
        events.close()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path.resolve() / "root"
    folder.mkdir()
    return folder


def test_new_edited_moved_and_deleted_files_are_announced(root: Path) -> None:
    with announced(root) as told:
        file = root / "sub" / "a.md"
        file.parent.mkdir()
        file.write_text("1")
        told(file.parent)
        file.write_text("2")
        told(file)
        moved = file.rename(root / "b.md")
        told(file, moved)
        moved.unlink()
        told(moved)


def test_a_root_that_is_a_file_is_announced_also_after_it_was_replaced(root: Path) -> None:
    file = root / "a.md"
    file.write_text("1")
    with announced(file) as told:
        for _ in range(2):
            (root / "new").write_text("2")
            (root / "new").replace(file)
            told(file)


@needs_posix
def test_the_events_of_a_root_that_is_deleted_end(root: Path) -> None:
    events = FileEvents(root)
    root.rmdir()

    def has_ended() -> bool:
        try:
            events.poll()
        except FileNotFoundError:
            return True
        return False

    wait_for(has_ended)
    with pytest.raises(FileNotFoundError):
        FileEvents(root)


@needs_linux
def test_a_limit_of_the_system_is_an_error_in_words(root: Path, cli: Cli) -> None:
    code = (
        "import resource, pathlib, watchfiles\n"
        "from zhiku.ingest.events import FileEvents\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (20, 20))\n"
        "try:\n"
        f"    kept = [FileEvents(pathlib.Path({os.fspath(root)!r})) for _ in range(20)]\n"
        "except OSError as error:\n"
        "    print(error)\n"
    )
    assert cli.python(code).stdout == "[Errno 28] Too many open files\n"


@needs_linux
def test_names_that_are_no_text_are_announced_as_a_change_of_the_root(root: Path) -> None:
    watch = RootsWatch()
    watch.follow([root])
    (root / os.fsdecode(b"caf\xe9.md")).write_text("1")
    told: dict[Path, set[str]] = {}

    def is_told() -> bool:
        told.update(watch.take())
        return bool(told)

    wait_for(is_told)
    assert told == {root: {str(root)}}
    watch.close()
