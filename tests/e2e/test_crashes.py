"""A run that ends half way leaves what was there before, and the next one goes on."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import apsw
import pytest

from shelf import Shelf
from zhiku.answer import Mode
from zhiku.registry import EMBEDDER_PACKAGES
from zhiku.service.library import Library

needs_posix = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals and limits")
needs_model = pytest.mark.skipif(
    not all(find_spec(package) for package in EMBEDDER_PACKAGES["builtin"]), reason="needs the built-in model"
)
FILES = 60
WORD = "水泵"

RUN = """
import json, sys, zhiku.ingest.pipeline
from pathlib import Path
from zhiku.errors import ZhikuError
from zhiku.service.library import Library
home, docs, max_bytes = sys.argv[1:]
if int(max_bytes):
    import resource
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(max_bytes), int(max_bytes)))
zhiku.ingest.pipeline.CHECKPOINT_CHARS = 5_000
def tell(done, total, path):
    print(path, flush=True)
try:
    report = Library(Path(home)).index([docs], progress=tell, embed=False)[0].report
    print(json.dumps({"added": report.added}))
except ZhikuError as error:
    print(json.dumps({"error": type(error).__name__, "message": str(error)}))
"""
"""Indexes a folder with many checkpoints, perhaps under a limit on the size of files; tells each file it comes to."""

EMBED = """
import json, sys, zhiku.embedders.builtin, zhiku.embedders.fallback, zhiku.ingest.embed
from pathlib import Path
from zhiku.service.library import Library
home, docs = sys.argv[1:]
zhiku.ingest.embed.CHECKPOINT_S = 0.0
zhiku.embedders.builtin.BATCH_SIZE = zhiku.embedders.fallback.BATCH_SIZE = 4
def tell(done, total):
    print(done, flush=True)
report = Library(Path(home)).index([docs], embed_progress=tell).embedding.report
print(json.dumps({"embedded": report.embedded, "reused": report.reused, "pending": report.pending}))
"""
"""Indexes a folder and embeds it with many checkpoints; tells how many chunks are done."""


def fill(shelf: Shelf) -> None:
    for n in range(FILES):
        body = "".join(chr(0x4E00 + (n * 7_919 + i * 31) % 9_000) for i in range(1_500))
        shelf.write(f"{n:03}.md", f"# {WORD} {n}\n\n{body}\n\n阀门 gate-sync {n}\n")


def start(shelf: Shelf, *, max_bytes: int = 0) -> subprocess.Popen[str]:
    arguments = [str(shelf.library.home), str(shelf.docs), str(max_bytes)]
    return subprocess.Popen([sys.executable, "-c", RUN, *arguments], stdout=subprocess.PIPE, text=True)


def kill_at(child: subprocess.Popen[str], path: str, delay_s: float) -> None:
    """Kill a run some moments after it came to a file."""
    assert child.stdout is not None
    with child, child.stdout as told:
        assert any(line.strip() == path for line in told)
        time.sleep(delay_s)
        child.send_signal(signal.SIGKILL)


def finish(child: subprocess.Popen[str]) -> dict[str, Any]:
    out, _ = child.communicate(timeout=180)
    result: dict[str, Any] = json.loads(out.splitlines()[-1])
    return result


def answers(shelf: Shelf, mode: Mode = "lexical") -> list[Any]:
    return [
        sorted((hit.path, hit.text, round(hit.score, 3)) for hit in shelf.search(query, mode=mode, top_k=200))
        for query in (WORD, "阀门 gate", "gate-sync 17")
    ]


def check_integrity(shelf: Shelf) -> None:
    connection = apsw.Connection(str(shelf.index_file))
    try:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        connection.execute("INSERT INTO lexical(lexical) VALUES ('integrity-check')")
    finally:
        connection.close()


@needs_posix
def test_a_killed_run_damages_nothing_and_the_next_one_completes_it(tmp_path: Path) -> None:
    shelf, fresh = Shelf(tmp_path / "killed"), Shelf(tmp_path / "fresh")
    fill(shelf)
    chance = random.Random(7)
    seen = 0
    for stop_at in range(8, FILES - 4, 9):
        kill_at(start(shelf), f"{stop_at:03}.md", chance.uniform(0.0, 0.004))
        documents = shelf.base.documents()
        shelf.base.close()
        assert max(seen, stop_at - 8) <= len(documents) < FILES
        assert {document.source.path for document in documents} == set(shelf.found(WORD, top_k=200))
        seen = len(documents)
    assert finish(start(shelf)) == {"added": FILES - seen}
    check_integrity(shelf)

    fill(fresh)
    fresh.index()
    assert len(shelf.base.documents()) == FILES
    assert answers(shelf) == answers(fresh)


def start_embedding(shelf: Shelf) -> subprocess.Popen[str]:
    arguments = [str(shelf.library.home), str(shelf.docs)]
    return subprocess.Popen([sys.executable, "-c", EMBED, *arguments], stdout=subprocess.PIPE, text=True)


@needs_posix
@needs_model
def test_a_run_killed_while_embedding_loses_a_batch_and_the_next_one_completes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ZHIKU_EMBEDDER", "builtin")
    shelf, fresh = Shelf(tmp_path / "killed"), Shelf(tmp_path / "fresh")
    for each in (shelf, fresh):
        for n in range(2 * FILES):
            each.write(f"{n:03}.md", f"# {WORD} {n}\n\n阀门 gate-sync {n}\n")
    chance = random.Random(7)
    pending = 2 * FILES
    for stop_at in (0, 4, 12):
        kill_at(start_embedding(shelf), str(stop_at), chance.uniform(0.0, 0.02))
        left = shelf.base.status().totals.pending_vectors
        shelf.base.close()
        assert left <= pending - stop_at
        pending = left
    assert pending > 0
    assert finish(start_embedding(shelf)) == {"embedded": pending, "reused": 0, "pending": 0}
    check_integrity(shelf)

    fresh.library.index([fresh.docs])
    assert answers(shelf, "hybrid") == answers(fresh, "hybrid")
    assert answers(shelf, "semantic") == answers(fresh, "semantic")


def test_ctrl_c_keeps_what_is_done_and_the_next_run_goes_on(shelf: Shelf) -> None:
    fill(shelf)

    def interrupt(done: int, total: int, path: str) -> None:
        if done == 25:
            raise KeyboardInterrupt

    report = shelf.library.index([shelf.docs], progress=interrupt, embed=False)[0].report
    assert (report.interrupted, report.added, report.missing) == (True, 25, 0)
    assert len(shelf.base.documents()) == len(set(shelf.found(WORD, top_k=100))) == 25

    rest = shelf.index()
    assert (rest.interrupted, rest.added, rest.unchanged) == (False, FILES - 25, 25)
    check_integrity(shelf)


def test_ctrl_c_while_files_are_looked_for_forgets_nothing(shelf: Shelf) -> None:
    shelf.write("bad.pdf", b"%PDF-1.7 nothing else")
    shelf.write("a.md", WORD)
    shelf.index()

    def interrupt(done: int, total: int, path: str) -> None:
        raise KeyboardInterrupt

    shelf.library.index([shelf.docs], progress=interrupt, embed=False)
    assert [entry.path for entry in shelf.base.status().noted("failed")] == ["bad.pdf"]
    assert shelf.found(WORD) == ["a.md"]


@needs_posix
def test_a_full_disk_is_an_error_that_says_so_and_loses_nothing(shelf: Shelf) -> None:
    shelf.write("first.md", f"最早的{WORD}")
    shelf.index()
    shelf.base.close()
    fill(shelf)
    result = finish(start(shelf, max_bytes=shelf.index_file.stat().st_size + 150_000))

    assert result["error"] == "IndexStateError"
    assert "Everything indexed before is kept" in result["message"]
    shelf.library = Library(shelf.library.home)
    assert "first.md" in shelf.found("最早")
    check_integrity(shelf)
    assert shelf.index().failed == []
    assert len(shelf.base.documents()) == FILES + 1


@needs_posix
def test_a_disk_that_was_full_from_the_start_is_an_error_too(shelf: Shelf) -> None:
    fill(shelf)
    result = finish(start(shelf, max_bytes=1_000))

    assert result["error"] == "IndexStateError"
    assert shelf.index().added == FILES
