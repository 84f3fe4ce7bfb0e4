"""What files can do to a worker, and what becomes of it."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from samples import source_of
from sheet_files import row, xlsx
from zhiku.errors import Crashed, NeedsOcr, OutOfMemory, SourceError, TimedOut, TooLarge
from zhiku.model import ParsedDocument
from zhiku.parsers.limits import IN_PROCESS_BYTES, SPENT_FILES, Limits, needs_worker
from zhiku.parsers.pool import PooledParser, WorkerPool
from zhiku.parsers.wire import ParserBug
from zhiku.registry import PARSERS

needs_posix = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limits of processes")
needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits the memory of a process")

TARGET = "bad_parsers:Parser"


def parse(pool: WorkerPool, does: str, root: str = "/not/there") -> ParsedDocument:
    data = does.encode()
    return pool.parse(TARGET, source_of("a {0}.pdf", data, root), data)


def fails(pool: WorkerPool, does: str, kind: type[SourceError], root: str = "/not/there") -> str:
    with pytest.raises(kind) as caught:
        parse(pool, does, root)
    assert parse(pool, "say on").text == "on", "the next file is read"
    return str(caught.value)


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def wait_for(file: Path) -> int:
    for _ in range(1_000):
        if file.exists() and (text := file.read_text()):
            return int(text)
        time.sleep(0.01)
    raise AssertionError(f"{file} never came")


@pytest.fixture(scope="module")
def pool() -> Iterator[WorkerPool]:
    with WorkerPool(Limits(base_s=20, max_chars=1_000, max_reply_bytes=2_000)) as pool:
        yield pool


def test_a_worker_is_reused_and_is_another_process(pool: WorkerPool) -> None:
    first, second = (int(parse(pool, "pid").text) for _ in range(2))
    assert first == second != os.getpid()


@pytest.mark.parametrize("does", ["abort", "leave"])
def test_a_dead_worker_is_one_file_that_crashed(pool: WorkerPool, does: str) -> None:
    assert fails(pool, does, Crashed).startswith("a {0}.pdf makes its reader crash")


def test_a_crash_that_other_files_may_have_caused_is_tried_again_in_a_fresh_worker(pool: WorkerPool) -> None:
    parse(pool, "harm")
    assert parse(pool, "crash_unless_fresh").text == "fresh"


def test_what_a_library_prints_goes_nowhere_and_there_is_nothing_to_read(
    pool: WorkerPool, capfd: pytest.CaptureFixture[str]
) -> None:
    assert parse(pool, "print").text == "b''"
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("does", ["forge", "overlap"])
def test_an_answer_that_no_parser_gives_is_a_crash(pool: WorkerPool, does: str) -> None:
    fails(pool, does, Crashed)


@pytest.mark.parametrize("does", ["long 1001", "long 900"])
def test_too_much_text_and_too_large_a_reply_are_refused(pool: WorkerPool, does: str) -> None:
    assert "more text than zhiku reads" in fails(pool, does, TooLarge)


def test_an_error_of_the_parser_comes_as_it_was_raised(pool: WorkerPool) -> None:
    message = fails(pool, "refuse", NeedsOcr)
    assert message == "a {0}.pdf has {no} text Hint: look at a {0}.pdf"


def test_a_fault_of_the_parser_comes_with_its_traceback(pool: WorkerPool) -> None:
    with pytest.raises(ParserBug, match="KeyError: 'missing'") as caught:
        parse(pool, "fail")
    assert "bad_parsers.py" in caught.value.__notes__[0]
    with pytest.raises(ParserBug, match="RecursionError"):
        parse(pool, "recurse")


def test_a_file_that_never_ends_is_given_up(tmp_path: Path) -> None:
    with WorkerPool(Limits(base_s=1, wall_factor=1)) as pool:
        assert "takes too long" in fails(pool, "sleep", TimedOut, str(tmp_path))


@needs_posix
def test_a_file_that_uses_the_processor_for_too_long_is_given_up() -> None:
    with WorkerPool(Limits(base_s=1, wall_factor=100)) as pool:
        fails(pool, "spin", TimedOut)


@needs_linux
def test_a_file_that_needs_too_much_memory_is_given_up(pool: WorkerPool) -> None:
    assert "more memory than one file may use" in fails(pool, "allocate", OutOfMemory)


@needs_linux
def test_a_worker_that_dies_of_much_memory_is_told_from_one_that_crashes(pool: WorkerPool) -> None:
    import resource  # there is none on Windows

    # On Linux a process begins with the peak of the one that made it, so what it fills must be more than that.
    much = max(Limits().spent_bytes, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024) * 5 // 4
    fails(pool, f"fill_and_abort {much // 2**20}", OutOfMemory)
    fails(pool, "fill_and_abort 1", Crashed)


@needs_linux
def test_a_worker_that_takes_memory_without_end_has_crashed() -> None:
    # In pieces, as a reader does that calls itself; one piece that does not fit is refused with most memory left.
    with WorkerPool(Limits(memory_bytes=2**30)) as pool:
        # "take memory without end", or just "crash" where the system had moved some of it out of the way meanwhile.
        assert "makes its reader" in fails(pool, "hoard_and_abort", Crashed)
        fails(pool, "allocate", OutOfMemory)


def test_a_worker_is_replaced_after_many_files() -> None:
    with WorkerPool() as pool:
        pids = [parse(pool, "pid").text for _ in range(SPENT_FILES + 1)]
    assert len(set(pids[:SPENT_FILES])) == 1
    assert pids[-1] != pids[0]


@needs_posix
def test_no_worker_is_left_when_the_pool_is_closed(tmp_path: Path) -> None:
    failures: list[Exception] = []

    def sleep() -> None:
        try:
            parse(pool, "sleep", str(tmp_path))
        except Crashed as error:
            failures.append(error)

    with WorkerPool() as pool:
        sleeper = threading.Thread(target=sleep)
        sleeper.start()
        busy = wait_for(tmp_path / "asleep")
        idle = int(parse(pool, "pid").text)
    sleeper.join(10)
    assert len(failures) == 1
    assert [pid for pid in (busy, idle) if is_alive(pid)] == []
    with pytest.raises(RuntimeError):
        parse(pool, "say more")


def test_modules_in_the_current_folder_are_not_for_a_worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "decoy.py").write_text("")
    (tmp_path / "json.py").write_text("raise SystemExit('not this one')")
    monkeypatch.chdir(tmp_path)
    with WorkerPool() as pool, pytest.raises(ParserBug, match="ModuleNotFoundError"):
        parse(pool, "import_decoy")


def test_a_parser_is_made_with_its_options_wherever_it_reads() -> None:
    data = xlsx(("S", row(1, A="x")), ("T", row(1, A="y")), states={"T": "hidden"})
    source = source_of("a.xlsx", data)
    with WorkerPool() as pool:
        texts = [
            PooledParser("spreadsheet", pool, {"hidden_sheets": wanted}).parse(source, data).text
            for wanted in (False, True)
        ]
    assert texts == ["S\n\nx", "S\n\nx\n\nT\n\ny"]


def test_small_texts_stay_in_the_process_and_all_else_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    here = {name for name in PARSERS if not needs_worker(name, IN_PROCESS_BYTES)}
    assert here == {"markdown", "html", "notebook", "mail", "plain"}
    assert all(needs_worker(name, IN_PROCESS_BYTES + 1) for name in PARSERS)
    monkeypatch.setitem(PARSERS, "plain", TARGET)
    with WorkerPool() as pool:
        parser = PooledParser("plain", pool)
        small, large = b"pid", b"pid " + b"x" * IN_PROCESS_BYTES
        pids = [int(parser.parse(source_of("a.txt", data), data).text) for data in (small, large)]
    assert pids[0] == os.getpid() != pids[1]


@pytest.mark.parametrize("does", ["abort", "spin", pytest.param("allocate", marks=needs_linux)])
def test_source_code_that_its_parser_does_not_survive_is_read_in_lines(
    does: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(PARSERS, "code", TARGET)
    data = does.encode()
    with WorkerPool(Limits(base_s=1)) as pool:
        document = PooledParser("code", pool).parse(source_of("a.py", data), data)
    assert document.text == does
    assert document.warnings == ("Its functions could not be told; it is read in lines",)


def test_what_makes_tree_sitter_take_all_memory_is_read_in_lines() -> None:
    data = b"/*\n" * 20_000
    with WorkerPool(Limits(base_s=2)) as pool:
        document = PooledParser("code", pool).parse(source_of("a.py", data), data)
    assert document.text == data.decode()
    assert len(document.warnings) == 1
