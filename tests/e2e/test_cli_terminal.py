"""What a reader at a terminal sees, in a pseudo-terminal."""

from __future__ import annotations

import os
import re
import select
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from endpoints import embedded, serving
from zhiku.cli.columns import width
from zhiku.registry import default_embedder_name

if TYPE_CHECKING:
    from conftest import Cli

pty = pytest.importorskip("pty", reason="pseudo-terminals of POSIX")

ESCAPES = re.compile(r"\x1b\[[0-9;]*[mK]|\x1b\]8;;[^\x1b]*\x1b\\")


class Terminal:
    """A command on a terminal of 60 columns."""

    def __init__(self, cli: Cli, *args: str, **env: str) -> None:
        self._ours, theirs = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "zhiku", *args],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env=cli.environ(**{"TERM": "xterm", "COLUMNS": "60", **env}),
            cwd=cli.folder,
        )
        os.close(theirs)
        self._written = b""

    def type(self, text: str) -> None:
        os.write(self._ours, text.encode())

    def wait_for(self, pattern: bytes) -> None:
        """Read until something was written; fail if the command ends before."""
        while not re.search(pattern, self._written):
            assert self._read(), "the command ended too early"

    def finish(self) -> tuple[int, str]:
        """Read to the end; return the exit code and all that was written."""
        while self._read():
            pass
        os.close(self._ours)
        return self.process.wait(timeout=180), self._written.decode().replace("\r\n", "\n")

    def _read(self) -> bytes:
        ready, _, _ = select.select([self._ours], [], [], 60)
        assert ready, "nothing was written for a minute"
        try:
            piece = os.read(self._ours, 65536)
        except OSError:  # what Linux says when the other side is closed
            piece = b""
        self._written += piece
        return piece


def test_who_starts_the_server_for_agents_by_hand_is_told_what_it_is(cli: Cli) -> None:
    terminal = Terminal(cli, "mcp")
    terminal.wait_for(b"zhiku mcp install CLIENT")
    terminal.process.send_signal(signal.SIGINT)
    code, said = terminal.finish()
    assert code == 130
    assert "Traceback" not in said


def on_terminal(cli: Cli, *args: str, answer: str = "", **env: str) -> tuple[int, str]:
    """Run a command on a terminal; return its exit code and all that it wrote there."""
    terminal = Terminal(cli, *args, **env)
    terminal.type(answer)
    return terminal.finish()


def test_matched_words_stand_out_and_the_path_opens_the_file(notes: Cli) -> None:
    code, shown = on_terminal(notes, "search", "密封圈")
    assert code == 0
    assert "水泵的\x1b[1;33m密封圈\x1b[0m每年" in shown
    assert f"\x1b]8;;{(notes.docs / 'notes' / 'pumps.md').as_uri()}\x1b\\" in shown


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_a_reader_who_wants_no_colour_gets_none(notes: Cli, name: str, value: str) -> None:
    shown = on_terminal(notes, "search", "密封圈", **{name: value})[1]
    assert "密封圈" in shown
    assert "\x1b[" not in shown


def test_long_passages_are_shortened_and_lines_fit(cli: Cli) -> None:
    cli.write(
        "a.md", "# 水泵\n\n" + "\n".join(f"第{n}条：水泵的密封圈每年春天上一次油，并记录在册。" for n in range(60))
    )
    cli("index", "docs")
    code, shown = on_terminal(cli, "search", "密封圈", "-k", "1")
    lines = ESCAPES.sub("", shown).splitlines()
    assert code == 0
    assert all(width(line) <= 60 for line in lines)
    assert len(lines) <= 20
    assert re.fullmatch(r" +… \d+ lines below", lines[-1])
    whole = ESCAPES.sub("", on_terminal(cli, "search", "密封圈", "-k", "1", "--max-chars-per-hit", "5000")[1])
    assert "lines below" not in whole


def test_read_numbers_its_lines_for_a_reader(notes: Cli) -> None:
    shown = ESCAPES.sub("", on_terminal(notes, "read", "pumps.md", "--lines", "9-11")[1])
    assert "notes/pumps.md  L9-11\n" in shown
    assert "\n 9  The seal of the gate-sync pump" in shown


def test_progress_is_drawn_and_wiped(cli: Cli) -> None:
    for number in range(30):
        cli.write(f"文件{number}.md", "valve\n")
    code, shown = on_terminal(cli, "index", "docs")
    assert code == 0
    assert "Looking for files …" in shown
    assert re.search(r"\[[#-]{20}\] \d+/30  文件", shown)
    assert "\r\x1b[KBase default\n" in shown


@pytest.mark.skipif(default_embedder_name() == "none", reason="no embedder is installed here")
def test_embedding_has_a_bar_of_its_own(cli: Cli) -> None:
    cli.write("a.md", "valve\n")
    code, shown = on_terminal(cli, "index", "docs", ZHIKU_EMBEDDER="")
    assert code == 0
    assert "[--------------------] embedding 0/1" in shown
    assert re.search(r"\[#{20}\] embedding 1/1  0 s left  \d+/s", shown)
    assert "\r\x1b[KBase default\n" in shown


def test_ctrl_c_keeps_what_is_done_and_the_next_run_goes_on(cli: Cli) -> None:
    for number in range(2000):
        cli.write(f"{number}.md", f"# Note {number}\n\n" + "the valve and the pump\n" * 20)
    terminal = Terminal(cli, "index", "docs")
    terminal.wait_for(rb"\] [1-9]\d*/2000")
    terminal.process.send_signal(signal.SIGINT)
    code, shown = terminal.finish()
    assert code == 130
    assert "the same command goes on from here" in shown
    (read,) = re.findall(r"read +(\d+) ", shown)
    assert 0 < int(read) < 2000
    assert f"unchanged  {read}\n" in cli("index", "docs").stdout


@pytest.mark.skipif(default_embedder_name() == "none", reason="no embedder is installed here")
def test_ctrl_c_keeps_what_is_embedded(cli: Cli) -> None:
    for number in range(600):
        cli.write(f"{number}.md", f"Note {number} about the valve and the pump")
    terminal = Terminal(cli, "index", "docs", ZHIKU_EMBEDDER="")
    terminal.wait_for(rb"embedding [1-9]\d*/600")
    terminal.process.send_signal(signal.SIGINT)
    code, shown = terminal.finish()
    assert code == 130
    assert "the same command goes on from here" in shown
    (embedded,) = re.findall(r"embedded +(\d+)", shown)
    assert 0 < int(embedded) < 600
    assert f"Chunks without a vector: {600 - int(embedded)};" in shown


@pytest.mark.parametrize(("answer", "is_removed"), [("n\n", False), ("\n", False), ("y\n", True), ("是\n", True)])
def test_delete_asks_first(cli: Cli, answer: str, is_removed: bool) -> None:
    cli.write("a.md", "valve\n")
    cli("index", "docs")
    code, shown = on_terminal(cli, "delete", "default", answer=answer)
    assert code == 0
    assert "the index of 1 documents" in shown
    assert (cli.home / "bases" / "default").exists() is not is_removed


def test_help_fits_the_terminal_in_both_languages(notes: Cli) -> None:
    for language in ("en", "zh"):
        for args in (["--help"], ["search", "--help"], ["index", "--help"]):
            shown = on_terminal(notes, *args, ZHIKU_LANG=language)[1]
            examples = re.split("Examples:|示例：", shown)[0]
            assert all(width(line) <= 60 for line in examples.splitlines())


@pytest.mark.parametrize(("answer", "is_sent"), [("n\n", False), ("y\n", True)])
def test_a_sync_asks_once_before_text_goes_to_another_computer(cli: Cli, answer: str, is_sent: bool) -> None:
    for name in ("notes", "papers"):
        cli.write(f"{name}/a.txt", f"the pump of {name}")
    with serving(lambda number, seen: embedded(seen)) as proxy:
        named = ["--embed-base-url", "http://models.example.com", "--embed-model", "m"]
        env = {"ZHIKU_EMBEDDER": "", "HTTP_PROXY": proxy.url, "http_proxy": proxy.url, "NO_PROXY": "", "no_proxy": ""}
        code, written = on_terminal(cli, "sync", "docs", *named, answer=answer, **env)
        assert written.count("Send it?") == 1
        assert all(f"The text of base {name} is going to be sent" in written for name in ("notes", "papers"))
        assert (code, len(proxy.seen)) == ((0, 2) if is_sent else (2, 0))
    assert cli("search", "pump", "-b", "notes", "-b", "papers").returncode == 0
