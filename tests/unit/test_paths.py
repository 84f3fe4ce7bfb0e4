"""Private files, replaced in one step; one writer at a time."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from zhiku.errors import Busy, ConfigError
from zhiku.paths import LOCK_FILE, make_private_dir, private_umask, write_private, writer_lock

needs_posix = pytest.mark.skipif(os.name == "nt", reason="modes are POSIX")

HOLD = """
import sys, pathlib
from zhiku.paths import writer_lock
with writer_lock(pathlib.Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@needs_posix
def test_a_private_folder_is_its_owners_alone(tmp_path: Path) -> None:
    folder = make_private_dir(tmp_path / "a" / "b")
    assert mode_of(folder) == 0o700
    assert make_private_dir(folder) == folder


def test_a_folder_that_cannot_be_made_is_an_error_that_says_why(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(ConfigError, match="cannot be made"):
        make_private_dir(tmp_path / "file" / "folder")


@needs_posix
def test_a_private_file_is_its_owners_alone_and_replaces_the_one_before(tmp_path: Path) -> None:
    file = tmp_path / "a.toml"
    file.write_text("old")
    file.chmod(0o644)
    write_private(file, "新")
    assert (file.read_text("utf-8"), mode_of(file)) == ("新", 0o600)
    assert list(tmp_path.iterdir()) == [file]


@needs_posix
def test_files_made_inside_are_private_whoever_makes_them(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        with private_umask():
            (tmp_path / "in").write_text("x")
        (tmp_path / "out").write_text("x")
    finally:
        os.umask(before)
    assert (mode_of(tmp_path / "in"), mode_of(tmp_path / "out")) == (0o600, 0o644)


def test_a_lock_is_held_once_and_can_be_taken_again(tmp_path: Path) -> None:
    with writer_lock(tmp_path), pytest.raises(Busy, match=f"process {os.getpid()}"), writer_lock(tmp_path):
        pass
    with writer_lock(tmp_path):
        pass


def test_the_lock_of_a_process_that_ended_is_free(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(Busy, match=f"process {holder.pid}"), writer_lock(tmp_path):
            pass
        holder.kill()
        holder.wait(10)
        with writer_lock(tmp_path):
            assert (tmp_path / LOCK_FILE).read_text() == f"{os.getpid()}\n"
