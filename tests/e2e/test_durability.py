"""What goes wrong under a run (a full disk, lost permissions, another run, readers) is told, and costs nothing."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from conftest import Cli
from shelf import Shelf
from users import as_normal_user, common_folder
from zhiku.errors import IndexStateError
from zhiku.service.library import Library

needs_posix = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no POSIX limits, signals and permissions")
FILES = 40
COMMANDS = {
    "rebuild": ("rebuild",),
    "repair": ("doctor", "--repair"),
    "snapshot": ("snapshot",),
    "restore": ("restore", "latest"),
    "sync": ("sync", "library"),
}

LIMITED = """
import resource, sys
limit = int(sys.argv.pop(1))
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
from zhiku.cli.main import main
main()
"""
"""The command, where no file may grow beyond the bytes that the first argument says."""

ON_A_SMALL_DISK = """
mount -t tmpfs -o size={size} none home && cp -a kept/. home || exit 99
"{python}" -m zhiku {command} >out 2>errors; echo $? >code
"{python}" -m zhiku search {word} --mode lexical -k 100 --format files >found 2>/dev/null
mount -o remount,size=1g home
"{python}" -m zhiku {command} >again 2>&1; echo $? >>code
ls -R home/bases >left
"""

HOLD = """
import sys
from pathlib import Path
from zhiku.service.library import Library
def hold(done, total, path):
    if done == 0:
        print("held", flush=True)
        sys.stdin.readline()
Library(Path(sys.argv[1])).index([sys.argv[2]], progress=hold, embed=False)
"""
"""A run that stops at its first file until it is told to go on."""


def fill(cli: Cli, edition: str) -> None:
    for n in range(FILES):
        body = "".join(chr(0x4E00 + (n * 7_919 + i * 31) % 9_000) for i in range(2_000))
        cli.write(f"{n:02}.md", f"# 水泵 {n}\n\n{edition} {body} {edition}\n")


@pytest.fixture
def filled(cli: Cli) -> Cli:
    """Return a base of a library root, with a snapshot, whose files have changed and grown in number since."""
    cli.docs = cli.folder / "library" / "notes"
    fill(cli, "oldedition")
    for command in (("sync", "library"), ("snapshot",)):
        done = cli(*command)
        assert done.returncode == 0, done.stderr
    fill(cli, "newedition")
    return cli


def index_of(cli: Cli, base: str = "notes") -> Path:
    return Library(cli.home).open(base)._store.path


def found(cli: Cli, word: str) -> int:
    done = cli("search", word, "--mode", "lexical", "-k", "100", "--format", "files")
    assert done.returncode in (0, 1), done.stderr
    return len(done.stdout.splitlines())


def check_no_leftovers(cli: Cli, base: str = "notes") -> None:
    names = {path.name for path in index_of(cli, base).parent.iterdir()}
    sides = {index_of(cli, base).name + ending for ending in ("", "-wal", "-shm")}
    assert names <= {"base.toml", "writer.lock", "generation", "snapshots", *sides}
    assert [path.name for path in index_of(cli, base).parent.glob("snapshots/*") if path.suffix != ".sqlite3"] == []


def check_that_it_said_so(code: int, told: str) -> None:
    assert code == 4, told
    assert "Traceback" not in told
    assert "the disk is full" in told or "cannot be written" in told
    assert "Everything indexed before is kept" in told


@needs_posix
@pytest.mark.parametrize("name", COMMANDS)
def test_a_file_that_cannot_grow_is_an_error_that_says_so_and_the_old_index_answers(filled: Cli, name: str) -> None:
    size = index_of(filled).stat().st_size
    limit = size + 10_000 if name == "sync" else size // 2
    done = filled.python(LIMITED, str(limit), *COMMANDS[name])
    check_that_it_said_so(done.returncode, done.stdout + done.stderr)
    # What was stored as a whole stays, also where it could not be copied from the log into the file any more.
    assert {found(filled, "oldedition"), found(filled, "newedition")} == {FILES, 0}

    done = filled(*COMMANDS[name])
    assert done.returncode == 0, done.stderr
    check_no_leftovers(filled)


def can_mount() -> bool:
    if not shutil.which("unshare"):
        return False
    probe = ["unshare", "-rm", "mount", "-t", "tmpfs", "none", "/mnt"]
    return subprocess.run(probe, capture_output=True, check=False).returncode == 0


@pytest.mark.parametrize("name", COMMANDS)
def test_a_full_disk_is_an_error_that_says_so_and_the_old_index_answers(filled: Cli, name: str) -> None:
    if not can_mount():
        pytest.skip("needs the right to mount a small disk")
    sizes = [-(-path.stat().st_size // 4096) * 4096 for path in filled.home.rglob("*") if path.is_file()]
    filled.home.rename(filled.folder / "kept")
    filled.home.mkdir()
    script = ON_A_SMALL_DISK.format(
        size=sum(sizes) + 200_000,
        python=sys.executable,
        command=" ".join(COMMANDS[name]),
        word="oldedition",
    )
    subprocess.run(["unshare", "-rm", "sh", "-c", script], cwd=filled.folder, env=filled.environ(), check=True)
    code, second = (filled.folder / "code").read_text().split()
    check_that_it_said_so(int(code), (filled.folder / "out").read_text() + (filled.folder / "errors").read_text())
    assert len((filled.folder / "found").read_text().splitlines()) == FILES
    assert second == "0", (filled.folder / "again").read_text()
    left = (filled.folder / "left").read_text().split()
    assert [name for name in left if ".part" in name or name.endswith(".new")] == []
    assert sum(name.endswith(".sqlite3") and name.startswith("index") for name in left) == 1


@needs_posix
@pytest.mark.parametrize("way", ["index", "rebuild"])
def test_permissions_lost_half_way_are_an_error_or_do_no_harm(way: str) -> None:
    with common_folder() as folder, as_normal_user(folder):
        shelf = Shelf(folder)
        for n in range(4):
            shelf.write(f"{n}.md", f"水泵 {n}")
        shelf.index()
        for n in range(4):
            shelf.write(f"{n}.md", f"阀门 {n}")
        shelf.base.close()
        base, parts = shelf.base.folder, list(shelf.base.folder.iterdir())

        def take(done: int, total: int, path: str) -> None:
            if done == 2:
                base.chmod(0o500)
                for part in parts:
                    part.chmod(0o400)

        run: Callable[[], object] = {
            "index": lambda: shelf.index(progress=take),
            "rebuild": lambda: shelf.base.rebuild(progress=take),
        }[way]
        if way == "index":  # what is open already can be written on
            run()
        else:
            with pytest.raises(IndexStateError, match="cannot be"):
                run()
        assert len(shelf.found("阀门" if way == "index" else "水泵")) == 4
        base.chmod(0o700)
        for part in parts:
            part.chmod(0o600)
        shelf.library = Library(shelf.library.home)
        assert shelf.index().failed == []
        assert (len(shelf.found("阀门")), len(shelf.found("水泵"))) == (4, 0)
        assert len(list(base.glob("index*.sqlite3"))) == 1


@needs_posix
def test_documents_that_may_not_be_read_half_way_keep_what_is_indexed_of_them() -> None:
    with common_folder() as folder, as_normal_user(folder):
        shelf = Shelf(folder)
        for n in range(4):
            shelf.write(f"{n}.md", f"水泵 {n}")
        shelf.index()
        for n in range(4):
            shelf.write(f"{n}.md", f"阀门 {n}")

        def take(done: int, total: int, path: str) -> None:
            if done == 2:
                shelf.docs.chmod(0)

        report = shelf.index(progress=take)
        shelf.docs.chmod(0o700)
        assert len(report.failed) >= 1
        assert report.missing == 0
        assert len(shelf.found("水泵")) + len(shelf.found("阀门")) == 4
        shelf.index()
        assert len(shelf.found("阀门")) == 4


@pytest.fixture
def held(cli: Cli) -> Iterator[subprocess.Popen[str]]:
    """Yield a run that holds its base until it is told to go on."""
    fill(cli, "oldedition")
    command = [sys.executable, "-c", HOLD, str(cli.home), str(cli.docs)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, env=cli.environ(), text=True, **pipes) as run:
        assert run.stdout is not None
        assert run.stdout.readline() == "held\n"
        yield run
        run.kill()


def test_a_second_run_names_the_first_one_or_waits_for_it(cli: Cli, held: subprocess.Popen[str]) -> None:
    refused = cli("index", "docs")
    assert refused.returncode == 7
    assert f"(process {held.pid})" in refused.stderr
    assert "--wait" in refused.stderr
    assert "Traceback" not in refused.stderr
    assert cli("doctor", "--repair").returncode == 7

    waiting = subprocess.Popen(
        [sys.executable, "-m", "zhiku", "index", "docs", "--wait"],
        env=cli.environ(),
        cwd=cli.folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    with pytest.raises(subprocess.TimeoutExpired):
        waiting.communicate(timeout=1.0)
    held.communicate("go on\n", timeout=180)
    out, errors = waiting.communicate(timeout=180)
    assert waiting.returncode == 0, errors
    assert f"unchanged  {FILES}".encode() in out
    base = Library(cli.home).open("default")
    assert len({each.source.path for each in base.documents()}) == len(base.documents()) == FILES


@needs_posix
def test_the_base_of_a_process_that_died_is_free(cli: Cli, held: subprocess.Popen[str]) -> None:
    held.kill()
    held.wait(timeout=10)
    done = cli("index", "docs")
    assert done.returncode == 0, done.stderr
    assert f"{FILES} new" in done.stdout


def test_a_search_writes_nothing(notes: Cli) -> None:
    index = index_of(notes, "notes")
    before = (index.stat().st_mtime_ns, index.read_bytes())
    for _ in range(3):
        assert notes("search", "水泵", "-b", "notes").returncode == 0
    assert (index.stat().st_mtime_ns, index.read_bytes()) == before
