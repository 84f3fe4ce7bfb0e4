"""Real commands are killed at any instant: what was good before still answers, and the next run makes it all good.

KILLS sets how many kills there are; `make torture` does it with 500. SEED repeats a run that failed.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import hasty
from papers import FOLDERS, Papers, check_whole
from zhiku.answer import Query
from zhiku.ports import ReadSession
from zhiku.registry import EMBEDDERS
from zhiku.service.library import Library

pytestmark = pytest.mark.skipif(
    sys.platform == "win32", reason="Windows cannot send SIGINT or SIGKILL to another process"
)

KILLS = int(os.environ.get("KILLS", "20"))
SEED = int(os.environ.get("SEED", time.time_ns() % 1_000_000))
MANY_KILLS = 100
KILLS_PER_WORLD = 10
MAX_TRIES = 2
PAPERS = 40
FORGOTTEN = 7
QUERIES = 50
TOP_K = 20
TOLERANCE = 1.5e-4  # scores are rounded to four places
HASTY = str(Path(hasty.__file__))
RUN_TIMEOUT_S = 120
WORKER_TIMEOUT_S = 10.0

INDEX = ("index", "docs")
PRUNE = ("index", "docs", "--prune")


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """A command to be killed."""

    command: tuple[str, ...]
    has_wal: bool = True
    """Whether the file system can do SQLite's WAL."""
    embedder: str = "letters"
    share: float = 0.25
    """Of all kills; of those that have less, none in a small number."""
    before: tuple[str, ...] = INDEX
    """What makes the base, or the bases, that are there before."""
    after: tuple[str, ...] = ()
    """What is run last, besides the command itself, before all is compared with a fresh build."""

    @property
    def deletes(self) -> bool:
        return "--prune" in (*self.command, *self.after)


SCENARIOS = {
    "index": Scenario(command=INDEX),
    "sync": Scenario(command=("sync", "docs", "--prune"), before=("sync", "docs"), embedder="none"),
    "prune": Scenario(command=PRUNE),
    "rebuild": Scenario(command=("rebuild",)),
    "restore": Scenario(command=("restore", "latest"), after=PRUNE, share=0.1),
    "repair": Scenario(command=("doctor", "--repair"), after=PRUNE, share=0.1),
    "no wal": Scenario(command=PRUNE, has_wal=False, share=0.1),
}


class World:
    """A home, made before the papers were edited, and the papers."""

    def __init__(self, folder: Path, scenario: Scenario, chance: random.Random) -> None:
        self.folder = folder
        self.scenario = scenario
        self.papers = Papers(folder / "docs", chance, PAPERS, kept=[FORGOTTEN])
        self.queries = self.papers.queries(QUERIES)
        self.home = folder / "template"
        self.run(*scenario.before)
        self.run(
            "forget", str(self.papers.files[FORGOTTEN]), "-b", FOLDERS[FORGOTTEN % 2] if self.is_sync else "default"
        )
        if scenario.command[0] == "restore":
            self.run("snapshot")
        self.known = list(self.papers.files)
        self.papers.edit(deletes=scenario.deletes)
        self._template = self.home

    @property
    def is_sync(self) -> bool:
        return self.scenario.command[0] == "sync"

    def begin(self, name: str) -> None:
        """Go on in a fresh copy of the home."""
        self.home = self.folder / name
        shutil.copytree(self._template, self.home)

    def start(self, *command: str) -> subprocess.Popen[bytes]:
        told = {
            "ZHIKU_HOME": str(self.home),
            "ZHIKU_LANG": "en",
            "ZHIKU_EMBEDDER": self.scenario.embedder,
            "PYTHONWARNINGS": "error",
            **({} if self.scenario.has_wal else {"NO_WAL": "1"}),
        }
        return subprocess.Popen(
            [sys.executable, HASTY, *command],
            env={**os.environ, **told},
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def run(self, *command: str, codes: tuple[int, ...] = (0,)) -> str:
        child = self.start(*command)
        out, errors = child.communicate(timeout=RUN_TIMEOUT_S)
        assert child.returncode in codes, errors.decode()
        assert b"Traceback" not in errors
        return out.decode()

    def kill(self, delay_s: float) -> bool:
        """Kill the command some time after its start, and return whether it was still running."""
        child = self.start(*self.scenario.command)
        with child:
            time.sleep(delay_s)
            was_running = child.poll() is None
            child.kill()
        return was_running

    def library(self) -> Library:
        return Library(self.home)


def check_after_kill(world: World) -> None:
    """Assert that the index of now is whole and answers.

    Of what the doctor may find, chunks without a vector are the only thing: words are stored first, on purpose.
    """
    check_whole(world.library().bases(), world.papers, FORGOTTEN, world.known)
    for diagnosis in json.loads(world.run("doctor", "--format", "json", codes=(0, 4)))["bases"]:
        found = [(each["part"], each["code"]) for each in diagnosis["findings"]]
        allowed = [("vector", "index_state")] if diagnosis["pending_vectors"] else []
        assert found in ([], allowed), diagnosis
        assert diagnosis["legs"]["vector"]["state"] in ("ok", "unknown", "off"), diagnosis
    names = [option for name in world.library().names() for option in ("-b", name)]
    told = json.loads(world.run("search", "阀门", *names, "--mode", "lexical", "--format", "json"))
    assert told["hits"]


class Contents:
    """What is searched, and how it is ranked, without what depends on its history."""

    def __init__(self, library: Library, queries: Sequence[str]) -> None:
        self.documents: dict[str, Any] = {}
        self.totals: dict[str, Any] = {}
        for base in library.bases():
            with closing(base), base.reading() as session:
                self._read(base.name, session)
        self.hits = {query: hits_of(library, query) for query in queries}

    def _read(self, base: str, session: ReadSession) -> None:
        for document in session.documents():
            if document.state == "active":
                source = document.source
                look = (source.size_bytes, source.mtime_ns, source.sha256)
                chunks = [(each.chunk.text, each.chunk.section) for each in session.chunks_of(document.doc_id)]
                self.documents[f"{base} {source.path}"] = (document.title, document.format, look, chunks)
        totals = session.totals()
        self.totals[base] = (totals.documents, totals.chunks, totals.tokens, totals.chars, totals.pending_vectors)


def hits_of(library: Library, query: str) -> dict[tuple[str, ...], float]:
    """Return the best hits with their scores."""
    hits = library.search(Query(text=query, top_k=TOP_K), library.names())
    return {(hit.base, hit.path, hit.text): hit.score for hit in hits}


def are_alike(one: dict[tuple[str, ...], float], other: dict[tuple[str, ...], float]) -> bool:
    """Return whether hits are the same with the same scores, but for some in the place of others that are as good.

    Of equally good passages those with the lower ids are taken, and ids depend on history.
    """
    alone = [sorted(hits[hit] for hit in hits.keys() - others.keys()) for hits, others in ((one, other), (other, one))]
    pairs = [(one[hit], other[hit]) for hit in one.keys() & other.keys()]
    return len(one) == len(other) and all(abs(a - b) < TOLERANCE for a, b in [*pairs, *zip(*alone, strict=True)])


def fresh_library(world: World) -> Library:
    """Return the index made at once of the papers of now, but for the one that is forgotten."""
    fresh = world.folder / "fresh"
    shutil.copytree(world.folder / "docs", fresh / "docs")
    next((fresh / "docs").rglob(f"paper{FORGOTTEN}.*")).unlink()
    library = Library(fresh / "home")
    library.sync([fresh / "docs"]) if world.is_sync else library.index([fresh / "docs"])
    return library


def check_no_leftovers(home: Path) -> None:
    assert {path.name for path in home.iterdir()} <= {"bases", "models.json"}
    for folder in (home / "bases").iterdir():
        index = Library(home).open(folder.name)._store.path
        expected = {"base.toml", "writer.lock", "generation", "snapshots"}
        expected |= {index.name + ending for ending in ("", "-wal", "-shm")}
        assert {path.name for path in folder.iterdir()} <= expected
        for snapshot in folder.glob("snapshots/*"):
            assert snapshot.suffix == ".sqlite3"


def check_no_workers(home: Path) -> None:
    """Assert that soon no process works for this home any more."""
    until = time.monotonic() + WORKER_TIMEOUT_S
    while left := list(_processes_of(home)):
        assert time.monotonic() < until, left
        time.sleep(0.02)


def _processes_of(home: Path) -> Iterator[Path]:
    for environ in Path("/proc").glob("[0-9]*/environ"):
        try:
            if f"ZHIKU_HOME={home}\0".encode() in environ.read_bytes():
                yield environ.parent
        except OSError:  # it has ended, or is another user's
            continue


def instants(count: int, chance: random.Random) -> list[float]:
    """Return instants as parts of a run: spread evenly over it, each at random within its share, in any order."""
    found = [(i + chance.random()) / count for i in range(count)]
    chance.shuffle(found)
    return found


def torture(world: World, kills: int, chance: random.Random) -> int:
    """Kill the command so often, a few times in one home, then compare what a run makes of it with a fresh build.

    Returns how many runs were killed before they ended: on a machine that is busy now and idle then, a few may not be.
    """
    fresh = Contents(fresh_library(world), world.queries)
    world.begin("undisturbed")
    began = time.monotonic()
    world.run(*world.scenario.command)
    run_s = time.monotonic() - began
    finish(world, fresh)

    left = instants(kills, chance)
    for n in range(MAX_TRIES * kills):
        if not left:
            break
        world.begin(f"home{n}")
        for i in range(min(chance.randint(1, 4), len(left))):
            instant = left.pop()
            was_running = world.kill(instant * run_s)
            check_after_kill(world)
            if not was_running:
                left.insert(0, instant)
                if i == 0:  # it was the whole run, and not what other kills had left of it
                    run_s *= instant
                break
        check_no_workers(world.home)
        world.run(*world.scenario.command)
        finish(world, fresh)
        shutil.rmtree(world.home)
    return kills - len(left)


def finish(world: World, fresh: Contents) -> None:
    """Assert that after an undisturbed run nothing tells the index from a fresh one, and nothing is left over."""
    if world.scenario.after:
        world.run(*world.scenario.after)
    check_no_leftovers(world.home)
    found = Contents(world.library(), world.queries)
    assert found.documents == fresh.documents
    assert found.totals == fresh.totals
    for query, hits in fresh.hits.items():
        assert are_alike(found.hits[query], hits), (query, found.hits[query], hits)


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_kill_at_any_instant_costs_nothing(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scenario = SCENARIOS[name]
    monkeypatch.setitem(EMBEDDERS, "letters", "hasty:LettersEmbedder")
    monkeypatch.setenv("ZHIKU_EMBEDDER", scenario.embedder)
    sys.stdout.write(f"SEED={SEED} KILLS={KILLS}\n")
    chance = random.Random(f"{SEED} {name}")
    left = round(KILLS * scenario.share)
    if KILLS < MANY_KILLS and scenario.share < 0.25:
        pytest.skip("too rare a command for 20 kills; make torture covers it")
    killed = 0
    for n in range(-(-left // KILLS_PER_WORLD)):
        folder = tmp_path / str(n)
        folder.mkdir()
        kills = min(KILLS_PER_WORLD, left - n * KILLS_PER_WORLD)
        killed += torture(World(folder, scenario, chance), kills, chance)
        shutil.rmtree(folder)
    sys.stdout.write(f"{name}: {killed} of {left} runs were killed before they ended\n")
    assert killed >= 0.8 * left
