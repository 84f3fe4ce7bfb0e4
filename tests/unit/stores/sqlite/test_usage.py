"""What requests cost is added up by day, in a private file that fails nobody."""

from __future__ import annotations

import stat
import subprocess
import sys
from contextlib import closing
from datetime import date, timedelta
from pathlib import Path
from threading import Thread

import apsw
import pytest

from fakes import FakeClock
from zhiku.errors import IndexStateError
from zhiku.remote import Call
from zhiku.stores.sqlite.usage import KEEP_DAYS, RETRY_S, UsageLog, read_usage

TODAY = date(2026, 11, 30)


def call(**other: object) -> Call:
    told = {"kind": "embedding", "address": "http://h/v1/embeddings", "model": "m", "texts": 2, "tokens": 10}
    return Call(**{**told, "is_estimate": False, "elapsed_s": 0.5, **other})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "usage.sqlite3"


def test_calls_to_one_endpoint_add_up_and_failed_ones_count_as_errors(path: Path) -> None:
    log = UsageLog(path)
    log(call())
    log(call(texts=3, tokens=7, is_estimate=True))
    log(call(tokens=0, error="503", elapsed_s=1.0))
    (usage,) = read_usage(path)
    assert (usage.calls, usage.errors, usage.texts) == (3, 1, 5)
    assert (usage.tokens, usage.tokens_estimated, usage.seconds) == (17, 7, 2.0)


def test_kinds_models_and_addresses_are_told_apart(path: Path) -> None:
    log = UsageLog(path)
    for other in ({}, {"kind": "rerank"}, {"model": "n"}, {"address": "http://i/v1/embeddings"}):
        log(call(**other))
    assert [(each.kind, each.model, each.address, each.calls) for each in read_usage(path)] == [
        ("embedding", "m", "http://h/v1/embeddings", 1),
        ("embedding", "m", "http://i/v1/embeddings", 1),
        ("embedding", "n", "http://h/v1/embeddings", 1),
        ("rerank", "m", "http://h/v1/embeddings", 1),
    ]


def test_days_before_the_one_asked_for_are_left_out(path: Path) -> None:
    for days in (2, 1, 0):
        UsageLog(path, today=lambda days=days: TODAY - timedelta(days))(call())
    assert [each.calls for each in read_usage(path, TODAY - timedelta(1))] == [2]
    assert [each.calls for each in read_usage(path)] == [3]


def test_the_file_does_not_grow_with_the_calls_nor_for_ever(path: Path) -> None:
    UsageLog(path, today=lambda: TODAY - timedelta(KEEP_DAYS + 1))(call())
    log = UsageLog(path, today=lambda: TODAY)
    for _ in range(100):
        log(call())
    with closing(apsw.Connection(str(path))) as connection:
        assert list(connection.execute("SELECT day, calls FROM usage")) == [("2026-11-30", 100)]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such modes")
def test_the_file_and_what_lies_beside_it_are_their_owners_alone(path: Path) -> None:
    log = UsageLog(path)
    log(call())
    assert {file.name for file in path.parent.iterdir()} >= {"usage.sqlite3", "usage.sqlite3-wal"}
    assert {stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()} == {0o600}


def test_several_threads_and_processes_count_at_once(path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from zhiku.remote import Call\n"
        "from zhiku.stores.sqlite.usage import UsageLog\n"
        "log = UsageLog(Path(sys.argv[1]))\n"
        "for _ in range(50):\n"
        "    log(Call(kind='rerank', address='a', model='m', texts=1, tokens=1, is_estimate=True, elapsed_s=0.0))"
    )
    runs = [subprocess.Popen([sys.executable, "-c", code, str(path)]) for _ in range(2)]
    log = UsageLog(path)
    threads = [Thread(target=lambda: [log(call()) for _ in range(50)]) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert [run.wait(60) for run in runs] == [0, 0]
    assert [each.calls for each in read_usage(path)] == [100, 100]


def test_a_file_that_is_locked_holds_up_nobody_and_its_calls_are_counted_later(path: Path) -> None:
    clock = FakeClock()
    log = UsageLog(path, clock=clock)
    log(call())
    with closing(apsw.Connection(str(path))) as other:
        other.execute("BEGIN IMMEDIATE")
        log(call())
        log(call())
        other.execute("ROLLBACK")
    assert [each.calls for each in read_usage(path)] == [1]
    clock.now_s += RETRY_S
    log(call())
    assert [each.calls for each in read_usage(path)] == [4]


@pytest.mark.parametrize("content", [b"no database at all, and long enough to be taken for one" * 9, None])
def test_a_file_that_cannot_be_written_fails_nobody(path: Path, content: bytes | None) -> None:
    if content is None:
        path.mkdir()
    else:
        path.write_bytes(content)
    UsageLog(path)(call())
    with pytest.raises(IndexStateError, match=r"cannot be read") as caught:
        read_usage(path)
    assert "remove it" in caught.value.hint


def test_a_home_that_does_not_exist_fails_nobody(tmp_path: Path) -> None:
    UsageLog(tmp_path / "gone" / "usage.sqlite3")(call())
    assert read_usage(tmp_path / "gone" / "usage.sqlite3") == []
