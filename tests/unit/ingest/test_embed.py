"""A vector for every chunk: in order, once for each text, and resumable wherever a run was stopped."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fakes import FakeEmbedder, stop_at, unit_vector
from zhiku.errors import MissingExtra, ModelUnavailable
from zhiku.ingest import embed
from zhiku.ingest.embed import EmbedReport, embed_pending
from zhiku.model import Chunk, ChunkTokens, ParsedDocument, PendingText, Source
from zhiku.ports import Store, WriteSession
from zhiku.registry import STORES, load
from zhiku.text.script import HAN, LATIN

Cosines = list[tuple[str, str, float]]
BATCH = 4
DOCUMENTS = {"a": [f"a {n}" for n in range(10)], "b": ["same", "b", "same"], "c": ["same", "汉字", "又"]}
DISTINCT = 15
"""Of the 16 texts; `same` in a Latin and in a Han document are two."""


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FakeEmbedder, "batch_size", BATCH)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = new_store(tmp_path)
    yield opened
    opened.close()


def new_store(folder: Path, documents: Mapping[str, Sequence[str]] = DOCUMENTS) -> Store:
    folder.mkdir(exist_ok=True)
    store: Store = load(STORES, "sqlite")(folder)
    with store.writing() as session:
        for path, texts in documents.items():
            put(session, path, *texts)
    return store


def put(session: WriteSession, path: str, *texts: str, title: str = "", section: tuple[str, ...] = ()) -> None:
    text = "\n".join(texts)
    starts = itertools.accumulate((len(each) + 1 for each in texts), initial=0)
    chunks = [
        Chunk(text=body, char_start=at, char_end=at + len(body), line_start=1, line_end=1, section=section)
        for at, body in zip(starts, texts, strict=False)
    ]
    source = Source(root="/docs", path=path, size_bytes=1, mtime_ns=1, sha256="0" * 64)
    tokens = [ChunkTokens(body=[], title=[], heading=[], name=[])] * len(chunks)
    session.put(source, ParsedDocument(text=text, blocks=(), title=title), chunks, tokens, format_name="plain")


def run(store: Store, embedder: FakeEmbedder, **options: Any) -> EmbedReport:
    with store.writing() as session:
        return embed_pending(session, embedder, **options)


def pending(store: Store) -> int:
    with store.reading() as session:
        return session.totals().pending_vectors


def cosines(store: Store) -> Cosines:
    """Return (script, text, cosine) of all chunks that a search by meaning finds."""
    with store.reading() as session:
        found = session.search_vectors(unit_vector("a question"), limit=1_000).candidates
        stored = session.chunks([candidate.chunk_id for candidate in found])
        return sorted(
            (each.document.script, each.chunk.text, candidate.score)
            for each, candidate in zip(stored, found, strict=True)
        )


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Cosines:
    """Return what a run that nothing stops leads to."""
    fresh = new_store(tmp_path_factory.mktemp("fresh"))
    run(fresh, FakeEmbedder())
    found = cosines(fresh)
    fresh.close()
    return found


def test_every_chunk_gets_the_vector_of_its_passage_in_order(store: Store) -> None:
    with store.writing() as session:
        put(session, "d", "text", title="Title", section=("Title", "Part"))
    embedder = FakeEmbedder()
    report = run(store, embedder)
    assert embedder.seen == [*DOCUMENTS["a"], "same", "b", "same", "汉字", "又", "Title › Part\ntext"]
    assert (report.embedded, report.reused, report.pending, report.interrupted) == (DISTINCT + 1, 1, 0, False)
    assert len(cosines(store)) == len(embedder.seen) + 1


def test_equal_texts_are_embedded_once_in_each_script(store: Store) -> None:
    embedder = FakeEmbedder()
    run(store, embedder)
    assert embedder.seen.count("same") == 2
    with store.reading() as session:
        statistics = session.search_vectors(unit_vector("a question"), limit=1).statistics
    assert {script: part.count for script, part in statistics.items()} == {LATIN: 12, HAN: 3}


def test_a_text_that_becomes_one_of_another_script_counts_there(store: Store) -> None:
    run(store, FakeEmbedder())
    with store.writing() as session:
        for path, texts in DOCUMENTS.items():
            put(session, path, *(text for text in texts if text.isascii()))
    run(store, FakeEmbedder())
    with store.reading() as session:
        statistics = session.search_vectors(unit_vector("a question"), limit=1).statistics
    assert {script: part.count for script, part in statistics.items()} == {LATIN: 12}


def test_a_second_run_embeds_nothing(store: Store) -> None:
    run(store, FakeEmbedder())
    told: list[tuple[int, int]] = []
    again = FakeEmbedder()
    report = run(store, again, progress=lambda *done: told.append(done))
    assert (again.seen, report.embedded, report.reused, report.pending, told) == ([], 0, 0, 0, [(0, 0)])


def test_what_a_changed_document_kept_is_reused(store: Store) -> None:
    run(store, FakeEmbedder())
    with store.writing() as session:
        put(session, "a", "new", "a 9", "a 3", "newer")
    again = FakeEmbedder()
    report = run(store, again)
    assert (again.seen, report.embedded, report.reused) == (["new", "newer"], 2, 2)
    with store.reading() as session:
        statistics = session.search_vectors(unit_vector("a question"), limit=1).statistics
    assert statistics[LATIN].count == 4 + 2


def test_progress_goes_from_none_to_all(store: Store) -> None:
    told: list[tuple[int, int]] = []
    run(store, FakeEmbedder(), progress=lambda *done: told.append(done))
    assert told == [(0, 16), (4, 16), (8, 16), (12, 16), (16, 16)]


@pytest.mark.parametrize("number", range(1, DISTINCT + 1))
def test_ctrl_c_in_the_embedder_loses_a_batch_at_most(store: Store, whole: Cosines, number: int) -> None:
    embedder = FakeEmbedder(before=stop_at(number, KeyboardInterrupt()))
    report = run(store, embedder)
    assert report.interrupted
    assert report.embedded + report.reused + report.pending == 16
    assert report.pending == pending(store) <= 16 - number + BATCH
    rest = FakeEmbedder()
    second = run(store, rest)
    assert (second.interrupted, second.pending, second.embedded) == (False, 0, DISTINCT - report.embedded)
    assert cosines(store) == whole


@pytest.mark.parametrize("number", range(1, 6))
def test_ctrl_c_between_batches_loses_nothing(store: Store, whole: Cosines, number: int) -> None:
    embedder = FakeEmbedder()
    report = run(store, embedder, progress=stop_at(number, KeyboardInterrupt()))
    assert (report.interrupted, report.pending) == (True, pending(store))
    run(store, embedder)
    assert len(embedder.seen) == DISTINCT
    assert cosines(store) == whole


class Interrupting:
    """A session that Ctrl-C reaches before its `number`-th call."""

    def __init__(self, session: WriteSession, number: int) -> None:
        self._session = session
        self._left = number

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._session, name)

        def call(*args: Any, **options: Any) -> Any:
            self._left -= 1
            if self._left == 0:
                raise KeyboardInterrupt
            return method(*args, **options)

        return call


@pytest.mark.parametrize("number", range(2, 22))
def test_ctrl_c_between_any_two_steps_costs_a_batch_at_most(store: Store, whole: Cosines, number: int) -> None:
    embedder = FakeEmbedder()
    with store.writing() as session:
        session.put_vectors([b"unused"], [HAN], unit_vector("unused")[None])
        try:
            report = embed_pending(Interrupting(session, number), embedder)
        except KeyboardInterrupt:  # in the very last steps: nobody is left to report to
            session.checkpoint()
        else:
            assert report.pending == session.pending_vectors()
    run(store, embedder)
    assert len(embedder.seen) <= DISTINCT + BATCH
    assert cosines(store) == whole


@pytest.mark.parametrize("statement", range(0, 125, 4))
def test_ctrl_c_within_a_step_leaves_a_base_that_the_next_run_completes(
    tmp_path: Path, whole: Cosines, statement: int
) -> None:
    store = new_store(tmp_path)
    with store.writing() as session:
        session.put_vectors([b"unused"], [HAN], unit_vector("unused")[None])
    left = iter(range(statement))

    def interrupt(_: object, sql: str, __: object) -> bool:
        # Leaving a transaction is one step of the connection's own, which no signal comes into.
        if "SAVEPOINT" not in sql and next(left, None) == statement - 1:
            raise KeyboardInterrupt
        return True

    with suppress(KeyboardInterrupt), store.writing() as session:
        session._connection.exec_trace = interrupt
        embed_pending(session, FakeEmbedder())
    assert {text for _, text, _ in cosines(store)} <= {text for _, text, _ in whole}
    report = run(store, FakeEmbedder())
    assert (report.pending, report.interrupted) == (0, False)
    assert cosines(store) == whole
    with store.reading() as session:
        statistics = session.search_vectors(unit_vector("a question"), limit=1).statistics
    assert sum(part.count for part in statistics.values()) == DISTINCT
    store.close()


class Broken(Exception):
    pass


@pytest.mark.parametrize(("checkpoint_s", "kept"), [(0.0, 8), (3600.0, 0)])
def test_an_error_loses_what_came_after_the_last_checkpoint(
    store: Store, whole: Cosines, monkeypatch: pytest.MonkeyPatch, checkpoint_s: float, kept: int
) -> None:
    monkeypatch.setattr(embed, "CHECKPOINT_S", checkpoint_s)
    with pytest.raises(Broken):
        run(store, FakeEmbedder(before=stop_at(11, Broken())))
    assert pending(store) == 16 - kept
    again = FakeEmbedder()
    run(store, again)
    assert len(again.seen) == DISTINCT - kept
    assert cosines(store) == whole


@pytest.mark.parametrize("error", [ModelUnavailable("gone"), MissingExtra("not there")])
def test_a_model_that_fails_keeps_what_is_done_and_says_why(
    store: Store, error: ModelUnavailable | MissingExtra
) -> None:
    report = run(store, FakeEmbedder(before=stop_at(11, error)))
    assert (report.failure, report.embedded, report.pending, report.interrupted) == (error, 8, 8, False)
    assert (pending(store), len(cosines(store))) == (8, 8)


class Failing(FakeEmbedder):
    """Fails over passages that hold a word."""

    def __init__(self, word: str) -> None:
        super().__init__()
        self.word = word

    def embed_documents(self, texts: Sequence[str]) -> np.ndarray:
        vectors = super().embed_documents(texts)
        vectors[[self.word in text for text in texts]] = np.nan
        return vectors


def test_a_text_that_the_embedder_fails_over_goes_without_a_vector_and_is_tried_once_a_run(store: Store) -> None:
    embedder = Failing("same")
    report = run(store, embedder)
    assert (report.embedded, len(report.refused), report.pending) == (DISTINCT - 2, 3, 3)
    assert embedder.seen.count("same") == 2  # once in each script
    with store.reading() as session:
        assert [entry.path for entry in session.ledger()] == ["b", "c"]

    again = FakeEmbedder()
    report = run(store, again)
    assert (again.seen, report.embedded, report.reused, report.pending) == (["same", "same"], 2, 1, 0)
    with store.reading() as session:
        assert session.ledger() == []


def test_what_an_interrupted_run_found_out_is_noted_too(store: Store) -> None:
    embedder = Failing("a 1")
    embedder.before = stop_at(BATCH + 1, KeyboardInterrupt())
    assert run(store, embedder).interrupted
    with store.reading() as session:
        assert [entry.path for entry in session.ledger()] == ["a"]


def test_it_is_settled_what_makes_vectors_before_the_first_is_stored(store: Store) -> None:
    with store.writing() as session:
        told: list[int] = []
        embed_pending(session, FakeEmbedder(), settle=lambda: told.append(session.pending_vectors()))
    assert told[0] == 16


class OnePassage:
    """A session with one passage that is no valid Unicode."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.digests: list[bytes] = []

    def pending_vectors(self) -> int:
        return 1

    def view(self) -> OnePassage:
        return self

    def pending_texts(self, *, after: int, limit: int) -> list[PendingText]:
        item = PendingText(chunk_id=0, doc_id=0, script=LATIN, title="\udcff", section=(), text=self._text)
        return [item] if after < 0 else []

    def link_vectors(self, digests: Mapping[int, bytes]) -> frozenset[int]:
        return frozenset()

    def put_vectors(self, digests: Sequence[bytes], scripts: Sequence[str], vectors: np.ndarray) -> None:
        self.digests += digests

    def settle_vectors(self) -> None:
        pass

    def note_unembedded(self, chunk_ids: Sequence[int], *, whole: bool) -> None:
        assert not chunk_ids

    def checkpoint(self) -> None:
        pass


def test_half_surrogates_are_told_apart() -> None:
    digests = set()
    for text in ("\ud800", "\udfff", "\ufffd", "?"):
        session = OnePassage(text)
        embed_pending(session, FakeEmbedder())
        digests.update(session.digests)
    assert len(digests) == 4
