"""However a folder came to be what it is, its index answers as one made of it at once."""

from __future__ import annotations

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import strategies
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shelf import Shelf
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
    st.tuples(st.just("index"), st.just(""), st.just("")),
    st.tuples(st.just("index part"), st.just("sub"), st.just("")),
)


def do(shelf: Shelf, action: str, path: str, argument: str) -> None:
    file = shelf.docs / path
    if action == "write":
        shelf.write(path, argument)
    elif action == "move" and file.exists():
        (shelf.docs / argument).parent.mkdir(exist_ok=True)
        file.rename(shelf.docs / argument)
    elif action == "delete":
        file.unlink(missing_ok=True)
    elif action == "index" or (action == "index part" and file.exists() and shelf.library.names()):
        shelf.index(file) if path else shelf.index()


def contents_of(shelf: Shelf) -> dict[str, Any]:
    """Return what the index says of every file that is there, without what depends on its history."""
    found = {}
    with shelf.base.reading() as session:
        for document in session.documents():
            source = document.source
            if (shelf.docs / source.path).exists():
                body = "".join(piece.body for piece in session.text(document.doc_id))
                values = (document.title, document.format, document.chunk_count, document.metadata, document.links)
                found[source.path] = (source.size_bytes, source.mtime_ns, source.sha256, body, *values)
    return found


def ranking(shelf: Shelf, query: str) -> list[tuple[float, str, str, tuple[str, ...]]]:
    """Return all hits for files that are there, equal scores by path."""
    hits = [hit for hit in shelf.search(query, top_k=100) if (shelf.docs / hit.path).exists()]
    return sorted((-round(hit.score, 3), hit.path, hit.text, hit.section) for hit in hits)


@bounded
@given(st.lists(steps, max_size=14))
def test_any_way_to_a_folder_leads_to_the_same_index(history: list[tuple[str, str, str]]) -> None:
    with TemporaryDirectory() as one, TemporaryDirectory() as other:
        shelf = Shelf(Path(one))
        for step in history:
            do(shelf, *step)
        report = shelf.index()
        fresh = Shelf(Path(other))
        shutil.copytree(shelf.docs, fresh.docs, dirs_exist_ok=True)
        fresh.index()

        assert contents_of(shelf) == contents_of(fresh)
        ledgers = [[(e.path, e.outcome) for e in each.base.status().ledger] for each in (shelf, fresh)]
        assert ledgers[0] == ledgers[1]
        for query in QUERIES:
            found, expected = ranking(shelf, query), ranking(fresh, query)
            if report.missing:  # what is gone from disk still counts in how rare a word is
                found, expected = ([hit[1:] for hit in each] for each in (found, expected))
                assert sorted(found) == sorted(expected)
            else:
                assert found == expected
        assert shelf.index().read == 0


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
