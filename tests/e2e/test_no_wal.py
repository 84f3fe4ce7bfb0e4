"""Where the file system cannot keep a log of writes, a base works too; and searches do not fail while runs write."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import apsw
import pytest
from test_durability import FILES, fill, found, index_of, needs_posix

import hasty
import no_wal
from conftest import Cli
from searchers import Searchers
from zhiku.service.library import Library

CRASH = """
import os, signal, sys
from pathlib import Path
import no_wal
from zhiku.stores.sqlite.store import SqliteStore
file_system = no_wal.NoSharedMemory()
with SqliteStore(Path(sys.argv[1])).writing() as session:
    connection = session._connection
    connection.execute("DELETE FROM lexical")
    connection.execute("UPDATE chunks SET char_start = char_start + 1")
    connection.cache_flush()
    os.kill(os.getpid(), signal.SIGKILL)
"""
"""A writer that is killed when half of what it writes is in the file."""


@needs_posix
@pytest.mark.parametrize("without_wal", ["", "1"])
def test_searches_never_fail_while_runs_write(cli: Cli, without_wal: str) -> None:
    fill(cli, "oldedition")
    hasty_run = [hasty.__file__, "index", "docs"]
    environ = {"NO_WAL": without_wal}
    assert cli.file(*hasty_run, env=environ).returncode == 0
    searchers = Searchers(cli.home, 3, "水泵", ZHIKU_EMBEDDER="none", **environ)
    for command in (hasty_run, hasty_run, [hasty.__file__, "rebuild"]):
        fill(cli, str(command))
        done = cli.file(*command, env=environ)
        assert done.returncode == 0, done.stderr
    for told in searchers.stop():
        assert told["failures"] == []
        assert told["found"] == told["searches"] > 0


@needs_posix
def test_a_base_works_where_the_file_system_cannot_keep_a_log_and_the_run_says_so(cli: Cli) -> None:
    fill(cli, "oldedition")
    done = cli.file(no_wal.__file__, "index", "docs")
    assert done.returncode == 0, done.stderr
    assert "This file system cannot keep a log of writes" in done.stdout
    assert sorted(path.name for path in index_of(cli, "default").parent.iterdir()) == [
        "base.toml",
        "index.sqlite3",
        "writer.lock",
    ]
    assert cli.file(no_wal.__file__, "search", "oldedition").returncode == 0
    fill(cli, "newedition")
    assert cli.file(no_wal.__file__, "index", "docs").returncode == 0
    assert (found(cli, "oldedition"), found(cli, "newedition")) == (0, FILES)


@needs_posix
@pytest.mark.parametrize("command", ["search oldedition", "rebuild", "snapshot", "doctor", "doctor --repair", "index"])
def test_what_a_killed_run_wrote_half_without_a_log_is_undone_by_whoever_comes_next(cli: Cli, command: str) -> None:
    fill(cli, "oldedition")
    assert cli.file(no_wal.__file__, "index", "docs").returncode == 0
    crash = [sys.executable, "-c", CRASH, str(index_of(cli, "default").parent)]
    environ = cli.environ(PYTHONPATH=os.pathsep.join(filter(None, [str(Path(no_wal.__file__).parent), *sys.path])))
    assert subprocess.run(crash, env=environ, check=False).returncode < 0
    assert index_of(cli, "default").with_name("index.sqlite3-journal").exists()

    done = cli.file(no_wal.__file__, *command.split())
    assert done.returncode == 0, done.stdout + done.stderr
    assert found(cli, "oldedition") == FILES
    with Library(cli.home).open("default").reading() as session:
        assert session.check() == []


def test_the_stand_in_for_a_file_system_without_shared_memory_has_none(tmp_path: Path) -> None:
    code = (
        "import apsw, no_wal, sys; v = no_wal.NoSharedMemory();"
        " print(apsw.Connection(sys.argv[1]).execute('PRAGMA journal_mode=WAL').get)"
    )
    environ = {**os.environ, "PYTHONPATH": str(Path(no_wal.__file__).parent)}
    command = [sys.executable, "-c", code, str(tmp_path / "x.db")]
    assert subprocess.run(command, env=environ, capture_output=True, check=True).stdout.strip() == b"delete"
    connection = apsw.Connection(str(tmp_path / "y.db"))
    assert connection.execute("PRAGMA journal_mode=WAL").get == "wal"
