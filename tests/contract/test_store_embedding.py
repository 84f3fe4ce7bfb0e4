"""What every registered store promises about writing vectors (`zhiku.ports.WriteSession`)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from vectors import QUESTION, check_exact, cosine, digest, fill, give_vectors, many, open_store, put, texts_found

from fakes import unit_vector
from zhiku.model import LedgerEntry
from zhiku.ports import Store
from zhiku.registry import STORES
from zhiku.text.script import HAN, LATIN


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    opened = open_store(request.param, tmp_path)
    yield opened
    opened.close()


def test_chunks_without_a_vector_come_by_id_and_from_behind_one(store: Store) -> None:
    with store.writing() as session:
        put(session, "a", "one", "two")
        put(session, "b", "三")
        every = session.view().pending_texts(after=-1, limit=9)
        assert [(item.text, item.script) for item in every] == [("one", LATIN), ("two", LATIN), ("三", HAN)]
        assert session.view().pending_texts(after=every[0].chunk_id, limit=1) == [every[1]]
        session.put_vectors([digest("two")], [LATIN], unit_vector("two")[None])
        assert session.link_vectors({every[1].chunk_id: digest("two")}) == {every[1].chunk_id}
        assert session.view().pending_texts(after=-1, limit=9) == [every[0], every[2]]
        assert session.pending_vectors() == 2


def test_a_digest_without_a_vector_links_nothing(store: Store) -> None:
    with store.writing() as session:
        doc_id = put(session, "a", "one")
        assert session.link_vectors({doc_id << 20: digest("one")}) == frozenset()
        assert session.pending_vectors() == 1


def test_equal_texts_share_a_vector(store: Store) -> None:
    with store.writing() as session:
        put(session, "a", "same", "other")
        put(session, "b", "same")
        assert give_vectors(session) == 2
        put(session, "c", "same", "same")
        assert (give_vectors(session), session.pending_vectors()) == (0, 0)
    with store.reading() as session:
        check_exact(session, limit=9)
        assert session.search_vectors(QUESTION, limit=9).statistics[LATIN].count == 2
        assert sorted(texts_found(session)) == ["other", "same", "same", "same", "same"]


def test_a_changed_document_keeps_the_vectors_of_its_unchanged_chunks(store: Store) -> None:
    fill(store, {"a": ["one", "two", "three"], "b": ["four"]})
    with store.writing() as session:
        put(session, "a", "zero", "one", "three")
        assert session.pending_vectors() == 3
        assert give_vectors(session) == 1
    with store.reading() as session:
        check_exact(session, limit=9)
        assert sorted(texts_found(session)) == ["four", "one", "three", "zero"]


def test_vectors_are_kept_until_they_are_settled(store: Store) -> None:
    fill(store, {"a": ["one", "two"], "b": ["two"]})
    with store.writing() as session:
        put(session, "a", "three")
        put(session, "b", "three")
        put(session, "c", "one")
        assert give_vectors(session) == 1
        session.settle_vectors()
        put(session, "d", "two")
        assert give_vectors(session) == 1
    with store.reading() as session:
        assert session.search_vectors(QUESTION, limit=9).statistics[LATIN].count == 3
        check_exact(session, limit=9)


def test_many_vectors_come_and_go(store: Store) -> None:
    """More than one pack, if a store has such, with gaps that are filled again."""
    fill(store, many("latin", 100, 50))
    for round_ in range(2):
        with store.writing() as session:
            for n in range(0, 100, 3):
                put(session, f"latin{n}", *(f"汉字 {round_} {n} {i}" for i in range(30 + 20 * round_)))
            give_vectors(session)
            session.settle_vectors()
            put(session, f"more{round_}", *(f"more {round_} {i}" for i in range(700)))
            give_vectors(session)
        with store.reading() as session:
            check_exact(session, limit=200)
            counts = {s: part.count for s, part in session.search_vectors(QUESTION, limit=1).statistics.items()}
            assert counts == {LATIN: 66 * 50 + 700 * (round_ + 1), HAN: 34 * (30 + 20 * round_)}


def test_forgotten_vectors_are_made_anew_in_any_size(store: Store) -> None:
    fill(store, many("latin", 4, 5))
    with store.writing() as session:
        session.forget_vectors()
        assert session.pending_vectors() == 20
        assert give_vectors(session, dims=12) == 20
    question = unit_vector("a question", 12)
    with store.reading() as session:
        ranking = session.search_vectors(question, limit=3)
        best = sorted((cosine(f"latin {n} {i}", question) for n in range(4) for i in range(5)), reverse=True)
        assert [candidate.score for candidate in ranking.candidates] == pytest.approx(best[:3], abs=1e-6)


def test_a_reader_sees_the_vectors_of_its_time(store: Store) -> None:
    fill(store, {"a": ["one"]})
    with store.reading() as before:
        assert texts_found(before) == ["one"]
        with store.writing() as session:
            put(session, "b", "two")
            give_vectors(session)
            session.checkpoint()
            assert texts_found(before) == ["one"]
            with store.reading() as after:
                assert sorted(texts_found(after)) == ["one", "two"]
            assert texts_found(before) == ["one"]
            session.forget_vectors()
        assert texts_found(before) == ["one"]
    with store.reading() as after:
        assert texts_found(after) == []


def test_vectors_written_by_another_process_are_seen(
    store: Store, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    other = open_store(request.node.callspec.params["store"], tmp_path)
    fill(store, {"a": ["one"]})
    with other.reading() as session:
        assert texts_found(session) == ["one"]
    for text in ("two", "three"):
        fill(store, {"a": [text]})
        with other.reading() as session:
            assert texts_found(session) == [text]
    other.close()


def noted(store: Store) -> list[tuple[str, str, int]]:
    with store.reading() as session:
        return [(entry.path, entry.outcome, entry.tries) for entry in session.ledger()]


def test_files_with_a_chunk_that_has_no_vector_are_noted_until_all_have_one(store: Store) -> None:
    with store.writing() as session:
        put(session, "a", "one", "two")
        put(session, "b", "three")
        ids = [item.chunk_id for item in session.view().pending_texts(after=-1, limit=9)]
        session.note_unembedded(ids, whole=True)
    assert noted(store) == [("a", "unembedded", 1), ("b", "unembedded", 1)]
    with store.writing() as session:
        session.note_unembedded(ids[:1], whole=False)
    assert noted(store) == [("a", "unembedded", 2), ("b", "unembedded", 1)]
    with store.writing() as session:
        session.note_unembedded(ids[2:], whole=True)
    assert noted(store) == [("b", "unembedded", 2)]
    with store.writing() as session:
        session.note_unembedded([], whole=True)
    assert noted(store) == []


def test_a_note_on_vectors_and_one_on_the_file_do_not_undo_each_other(store: Store) -> None:
    with store.writing() as session:
        put(session, "a", "one")
        put(session, "b", "two")
        ids = [item.chunk_id for item in session.view().pending_texts(after=-1, limit=9)]
        root = next(session.view().documents()).source.root
        failed = LedgerEntry(root=root, path="a", outcome="failed", code="damaged", message="it is damaged")
        session.put_notes(root, [failed])
        session.note_unembedded(ids, whole=True)
        session.put_notes(root, [failed])
    assert noted(store) == [("a", "failed", 1), ("b", "unembedded", 1)]


class Broken(Exception):
    pass


def test_vectors_since_the_last_checkpoint_are_undone_by_an_error(store: Store) -> None:
    def write() -> None:
        with store.writing() as session:
            put(session, "a", "one")
            give_vectors(session)
            session.checkpoint()
            put(session, "b", "two")
            give_vectors(session)
            raise Broken

    with pytest.raises(Broken):
        write()
    with store.reading() as session:
        assert (texts_found(session), session.totals().pending_vectors) == (["one"], 0)
    fill(store, {"b": ["two"]})
    with store.reading() as session:
        assert sorted(texts_found(session)) == ["one", "two"]
