"""However a base came to its vectors, they are those of its texts; and what is made of them keeps its order."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from fakes import FakeEmbedder, install, stop_at, unit_vector
from shelf import Shelf
from zhiku.model import ScriptStatistics
from zhiku.retrieve.fuse import fuse, weigh
from zhiku.retrieve.standing import pooled
from zhiku.service.library import Library
from zhiku.text.script import SCRIPTS

bounded = settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])

FAKE = FakeEmbedder()
PROBES = [unit_vector(f"probe {n}") for n in range(3)]

PATHS = ["a.md", "b.md", "b.txt", "sub/a.md"]
PARTS = ["# Pumps", "the pump is greased in spring and in autumn", "水", "水泵每年上油", "gate", "the same", "the same"]
GAP = "\n" * 70
"""Parts this far apart are chunks of their own."""


@pytest.fixture(autouse=True, scope="module")
def fake() -> Iterator[None]:
    """Let the fake be the embedder of every base, and a batch be small."""
    with pytest.MonkeyPatch.context() as patch:
        install(patch, FAKE)
        patch.setenv("ZHIKU_EMBEDDER", FAKE.name)
        patch.setattr(FAKE, "batch_size", 3)
        yield


places = st.sampled_from(PATHS)
contents = st.lists(st.sampled_from(PARTS), max_size=6).map(GAP.join)
steps = st.one_of(
    st.tuples(st.just("write"), places, contents),
    st.tuples(st.just("write"), places, contents),
    st.tuples(st.just("move"), places, places),
    st.tuples(st.just("delete"), places, st.just("")),
    st.tuples(st.just("words"), st.just(""), st.just("")),
    st.tuples(st.just("embed"), st.just(""), st.integers(0, 12)),
)


def do(shelf: Shelf, action: str, path: str, argument: str | int) -> None:
    file = shelf.docs / path
    if action == "write":
        shelf.write(path, str(argument))
    elif action == "move" and file.exists():
        (shelf.docs / str(argument)).parent.mkdir(exist_ok=True)
        file.rename(shelf.docs / str(argument))
    elif action == "delete":
        file.unlink(missing_ok=True)
    elif action == "words":
        shelf.index()
    elif action == "embed":
        run(shelf, stop=int(argument))


def run(shelf: Shelf, stop: int = 0) -> None:
    """Index and embed; Ctrl-C comes when the model is asked for the `stop`-th time, from 1."""
    FAKE.before = stop_at(stop, KeyboardInterrupt())
    try:
        shelf.library.index([shelf.docs])
    except KeyboardInterrupt:  # while the model was being loaded
        pass
    finally:
        FAKE.before = stop_at(0, KeyboardInterrupt())


def vectors_of(shelf: Shelf) -> dict[tuple[str, int], tuple[str, str, list[float]]]:
    """Return script, text and cosines for every chunk of every file that is there."""
    found = {}
    with shelf.base.reading() as session:
        for document in session.documents():
            if (shelf.docs / document.source.path).exists():
                ids = [document.doc_id << 20 | i for i in range(document.chunk_count)]
                cosines = [session.cosines(probe, ids) for probe in PROBES]
                for i, stored in enumerate(session.chunks(ids)):
                    values = [each[stored.chunk_id] for each in cosines]
                    found[document.source.path, i] = (document.script, stored.chunk.text, values)
    return found


def statistics_of(shelf: Shelf) -> dict[str, tuple[float, ...]]:
    with shelf.base.reading() as session:
        assert session.totals().pending_vectors == 0
        statistics = session.search_vectors(PROBES[0], limit=1).statistics
    return {script: (part.count, part.mean, part.std, part.best) for script, part in statistics.items()}


@bounded
@given(st.lists(steps, max_size=12))
@example([("write", "sub/a.md", "# Pumps"), ("words", "", ""), ("delete", "sub/a.md", "")])  # an emptied root
def test_any_way_to_a_folder_leads_to_the_same_vectors(history: list[tuple[str, str, str | int]]) -> None:
    with TemporaryDirectory() as one, TemporaryDirectory() as other:
        shelf = Shelf(Path(one))
        for step in history:
            do(shelf, *step)
        run(shelf)
        fresh = Shelf(Path(other))
        shutil.copytree(shelf.docs, fresh.docs, dirs_exist_ok=True)
        run(fresh)

        assert vectors_of(shelf) == vectors_of(fresh)
        shelf.index()
        if all((shelf.docs / each.source.path).exists() for each in shelf.base.documents()):
            found, expected = statistics_of(shelf), statistics_of(fresh)
            assert found.keys() == expected.keys()
            for script, values in expected.items():
                assert found[script] == pytest.approx(values, abs=1e-5)
        FAKE.seen.clear()
        run(shelf)
        assert FAKE.seen == []


@bounded
@given(st.dictionaries(places, contents, min_size=1), st.sampled_from(PARTS))
def test_the_same_question_has_the_same_answer(files: dict[str, str], question: str) -> None:
    with TemporaryDirectory() as folder:
        shelf = Shelf(Path(folder))
        for path, content in files.items():
            shelf.write(path, content)
        run(shelf)
        for mode in ("hybrid", "semantic"):
            answers = []
            for _ in range(2):
                answers += [shelf.search(question, mode=mode, top_k=top_k).hits for top_k in (50, 50, 3)]
                shelf.library = Library(shelf.library.home)
            assert answers[0] == answers[1] == answers[3]
            assert [hit.score for hit in answers[0]] == sorted((hit.score for hit in answers[0]), reverse=True)


cosines = st.lists(st.floats(-1, 1, width=32), min_size=1, max_size=30)


def statistics(values: list[float]) -> ScriptStatistics:
    return ScriptStatistics(
        count=len(values), mean=float(np.mean(values)), std=float(np.std(values)), best=float(np.max(values))
    )


@given(st.lists(cosines, min_size=1, max_size=5))
def test_pooled_statistics_are_those_of_all_together(parts: list[list[float]]) -> None:
    found = pooled(statistics(part) for part in parts)
    expected = statistics([value for part in parts for value in part])
    assert (found.count, found.best) == (expected.count, expected.best)
    assert (found.mean, found.std) == pytest.approx((expected.mean, expected.std), abs=1e-6)


scores = st.floats(0, 60)
shares = st.floats(0, 1)


@given(
    st.lists(scores, max_size=15),
    scores,
    st.dictionaries(st.sampled_from(SCRIPTS), shares),
    st.tuples(scores, scores).map(sorted),
    st.tuples(st.floats(-9, 9), st.floats(-9, 9)).map(sorted),
    st.sampled_from(SCRIPTS),
    st.booleans(),
)
def test_a_better_match_by_words_or_by_meaning_never_counts_less(
    others: list[float],
    perfect: float,
    coverage: dict[str, float],
    words: list[float],
    standing: list[float],
    script: str,
    is_complete: bool,
) -> None:
    weights = weigh([*others, *words], perfect, coverage)
    worse, by_words, by_meaning, better = (
        fuse(score, z, 4.0, script, weights, is_complete=is_complete).score for score in words for z in standing
    )
    assert 0 <= worse <= min(by_words, by_meaning) <= max(by_words, by_meaning) <= better
