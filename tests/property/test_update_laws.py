"""However a folder came to be what it is, its index answers as one made of it at once."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import strategies
from hypothesis import HealthCheck, event, example, given, settings
from hypothesis import strategies as st

import fakes
from fakes import FakeEmbedder
from shelf import Shelf
from zhiku.answer import Mode
from zhiku.errors import NotFound
from zhiku.service.library import Library

bounded = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])

ROOTS = ["one", "two"]
PATHS = ["one/a.md", "one/b.txt", "one/sub/a.md", "two/a.md", "two/sub/c.md", "two/阀门.md"]
PARTS = ["", "one", "one/sub", "two/sub", "two/a.md"]
CONTENTS = [
    "# 水泵\n\n先断电，再拆盖板。阀门要检查。",
    "水泵和阀门，gate-sync。",
    "",
    "---\ntitle: 阀门手册\ntags: [水泵]\n---\n\n正文",
    "no Han here: pumps and valves",
]
QUERIES = ["阀门", "水泵 盖板", "pump valve", "gate-sync", "手册", "正文"]

places = st.sampled_from(PATHS)
contents = st.one_of(st.sampled_from(CONTENTS), strategies.lines)
edits = st.one_of(
    st.tuples(st.just("write"), places, contents),
    st.tuples(st.just("move"), places, places),
    st.tuples(st.just("delete"), places, st.just("")),
)
runs = st.one_of(
    st.tuples(st.sampled_from(["index", "index, embed", "index, prune"]), st.sampled_from(PARTS)),
    st.tuples(st.just("forget"), st.sampled_from([*PATHS, "one/sub"])),
    st.tuples(st.just("unforget"), st.sampled_from([*PATHS, *ROOTS])),
    st.tuples(st.sampled_from(["snapshot", "restore", "restore"]), st.just("")),
    st.tuples(st.sampled_from(["rebuild", "repair"]), st.just("")),
)
# Each run meets what some edits left; with single steps in any order, nearly all would meet an empty base.
rounds = st.tuples(st.lists(edits, max_size=4), runs)


def edit(shelf: Shelf, action: str, path: str, argument: str) -> None:
    file = shelf.docs / path
    if action == "write":
        shelf.write(path, argument)
    elif action == "delete":
        file.unlink(missing_ok=True)
    elif file.exists():
        target = shelf.docs / argument
        target.parent.mkdir(exist_ok=True)
        event(f"move {'onto another' if target.exists() and target != file else 'away'}")
        file.replace(target)


def run(shelf: Shelf, action: str, path: str) -> None:
    base, file = shelf.base, shelf.docs / path
    if action.startswith("index"):
        if file.exists():
            event(f"{action} {'of a part' if path else 'of all'}")
            paths = [file] if path else [shelf.docs / root for root in ROOTS]
            shelf.library.index(paths, embed=action.endswith("embed"), prune=action.endswith("prune"))
    elif action in ("forget", "unforget"):
        with suppress(NotFound):  # nothing is indexed of it
            event(f"{action} {len(getattr(base, action)(str(file)).done)}")
    else:
        event(action)
        getattr(base, action)()


def contents_of(shelf: Shelf) -> dict[str, Any]:
    """Return what is searched, without what depends on its history."""
    found: dict[str, Any] = {}
    with shelf.base.reading() as session:
        for document in session.documents():
            if document.state == "active":
                source = document.source
                body = "".join(piece.body for piece in session.text(document.doc_id))
                values = (document.title, document.format, document.chunk_count, document.metadata, document.links)
                found[f"{Path(source.root).name}/{source.path}"] = (
                    source.size_bytes,
                    source.mtime_ns,
                    source.sha256,
                    body,
                    *values,
                )
        totals = session.totals()
        found[""] = (totals.documents, totals.chunks, totals.tokens, totals.chars, totals.pending_vectors)
        assert session.check(fakes.DIMS) == []
    return found


def ranking(shelf: Shelf, query: str, mode: Mode = "lexical") -> list[tuple[float, str, str, tuple[str, ...]]]:
    """Return all hits, equal scores by path."""
    hits = shelf.search(query, top_k=100, mode=mode)
    return sorted((-round(hit.score, 3), hit.path, hit.text, hit.section) for hit in hits)


def begin(folder: str) -> Shelf:
    """Return an indexed folder of two roots; an emptied one could not be told from a drive that is not there.

    There is a snapshot to go back to.
    """
    shelf = Shelf(Path(folder))
    for root in ROOTS:
        shelf.write(f"{root}/keep.md", "水泵")
        shelf.write(f"{root}/a.md", CONTENTS[0])
    shelf.write("one/sub/a.md", CONTENTS[1])
    shelf.library.index([shelf.docs / root for root in ROOTS])
    shelf.base.snapshot()
    return shelf


@pytest.fixture(scope="module")
def _fake() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        fakes.install(patch, FakeEmbedder())
        patch.setenv("ZHIKU_EMBEDDER", "fake")
        yield


@bounded
@example([([("write", "one/sub/a.md", CONTENTS[0])], ("index", "")), ([], ("rebuild", ""))])
@example([([], ("forget", "one/a.md")), ([("move", "one/sub/a.md", "two/a.md")], ("index", ""))])
@given(st.lists(rounds, min_size=2, max_size=7))
@pytest.mark.usefixtures("_fake")
def test_any_way_to_a_folder_leads_to_the_same_index(
    history: list[tuple[list[tuple[str, str, str]], tuple[str, str]]],
) -> None:
    with TemporaryDirectory() as one, TemporaryDirectory() as other:
        shelf = begin(one)
        for edits_of_round, run_of_round in history:
            for step in edits_of_round:
                edit(shelf, *step)
            run(shelf, *run_of_round)
        shelf.library.index(prune=True)
        fresh = Shelf(Path(other))
        shutil.copytree(shelf.docs, fresh.docs, dirs_exist_ok=True)
        for document in shelf.base.documents():
            if "forgotten" in document.hidden_by:
                (fresh.docs / Path(document.source.root).name / document.source.path).unlink(missing_ok=True)
        fresh.library.index([fresh.docs / root for root in ROOTS])

        assert contents_of(shelf) == contents_of(fresh)
        ledgers = [[(e.path, e.outcome) for e in each.base.status().ledger] for each in (shelf, fresh)]
        assert ledgers[0] == ledgers[1]
        for query in QUERIES:
            assert ranking(shelf, query) == ranking(fresh, query)
            assert ranking(shelf, query, "semantic") == ranking(fresh, query, "semantic")
        for again in shelf.library.index(prune=True):
            assert (again.report.read, again.report.moved, again.report.pruned, again.report.missing) == (0, 0, 0, 0)


@bounded
@given(st.dictionaries(places, contents, min_size=1), st.integers(0, 5))
def test_an_interrupted_run_and_the_next_one_lead_to_the_same_index(files: dict[str, str], stop_at: int) -> None:
    def interrupt(done: int, total: int, path: str) -> None:
        if done == stop_at and path:
            raise KeyboardInterrupt

    with TemporaryDirectory() as folder:
        shelf = Shelf(Path(folder))
        for path, content in files.items():
            shelf.write(path, content)
        report = shelf.library.index([shelf.docs], progress=interrupt, embed=False)[0].report
        assert report.interrupted == (stop_at < len(files))
        assert report.added == min(stop_at, len(files))
        rest = shelf.index()
        assert report.added + rest.added == len(files)
        interrupted = (contents_of(shelf), [ranking(shelf, query) for query in QUERIES])

        shelf.library = Library(Path(folder) / "fresh")
        shelf.index()
        assert interrupted == (contents_of(shelf), [ranking(shelf, query) for query in QUERIES])
