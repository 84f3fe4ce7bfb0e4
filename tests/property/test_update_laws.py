"""However a folder came to be what it is, its index answers as one made of it at once."""

from __future__ import annotations

import shutil
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import strategies
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shelf import Shelf
from zhiku.errors import NotFound
from zhiku.service.library import Library

bounded = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])

PATHS = ["a.md", "b.md", "b.txt", "sub/a.md", "sub/c.md", "阀门.md"]
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
steps = st.one_of(
    st.tuples(st.just("write"), places, contents),
    st.tuples(st.just("write"), places, contents),
    st.tuples(st.just("move"), places, places),
    st.tuples(st.just("delete"), places, st.just("")),
    st.tuples(st.sampled_from(["index", "index, prune"]), st.sampled_from(["", "sub"]), st.just("")),
    st.tuples(st.sampled_from(["forget", "unforget"]), places, st.just("")),
    st.tuples(st.sampled_from(["snapshot", "restore", "rebuild", "repair"]), st.just(""), st.just("")),
)


def do(shelf: Shelf, action: str, path: str, argument: str) -> None:
    file = shelf.docs / path
    if action == "write":
        shelf.write(path, argument)
    elif action == "move":
        if file.exists():
            (shelf.docs / argument).parent.mkdir(exist_ok=True)
            file.rename(shelf.docs / argument)
    elif action == "delete":
        file.unlink(missing_ok=True)
    elif action.startswith("index"):
        if not path or (file.exists() and shelf.library.names()):
            shelf.index(file, prune=action.endswith("prune"))
    elif shelf.library.names():
        maintain(shelf, action, file)


def maintain(shelf: Shelf, action: str, file: Path) -> None:
    base = shelf.base
    if action in ("forget", "unforget"):
        with suppress(NotFound):  # nothing is indexed of it yet
            getattr(base, action)(str(file))
    elif action == "restore":
        if base.snapshots():
            base.restore()
    else:
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
                found[source.path] = (source.size_bytes, source.mtime_ns, source.sha256, body, *values)
        totals = session.totals()
        found[""] = (totals.documents, totals.chunks, totals.tokens, totals.chars)
        assert session.check() == []
    return found


def ranking(shelf: Shelf, query: str) -> list[tuple[float, str, str, tuple[str, ...]]]:
    """Return all hits, equal scores by path."""
    hits = shelf.search(query, top_k=100)
    return sorted((-round(hit.score, 3), hit.path, hit.text, hit.section) for hit in hits)


@bounded
@given(st.lists(steps, max_size=16))
def test_any_way_to_a_folder_leads_to_the_same_index(history: list[tuple[str, str, str]]) -> None:
    with TemporaryDirectory() as one, TemporaryDirectory() as other:
        shelf = Shelf(Path(one))
        shelf.write("keep.md", "an emptied folder is not told from a drive that is not there")
        for step in history:
            do(shelf, *step)
        shelf.index(prune=True)
        fresh = Shelf(Path(other))
        shutil.copytree(shelf.docs, fresh.docs, dirs_exist_ok=True)
        for document in shelf.base.documents():
            if "forgotten" in document.hidden_by:
                (fresh.docs / document.source.path).unlink(missing_ok=True)
        fresh.index()

        assert contents_of(shelf) == contents_of(fresh)
        ledgers = [[(e.path, e.outcome) for e in each.base.status().ledger] for each in (shelf, fresh)]
        assert ledgers[0] == ledgers[1]
        for query in QUERIES:
            assert ranking(shelf, query) == ranking(fresh, query)
        again = shelf.index(prune=True)
        assert (again.read, again.moved, again.pruned, again.missing) == (0, 0, 0, 0)


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
