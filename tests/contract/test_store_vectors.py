"""What every registered store promises about search by meaning (`zhiku.ports.ReadSession`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import pytest
from vectors import QUESTION, check_exact, cosine, fill, many, open_store, put, texts_found

from fakes import unit_vector
from zhiku.model import ChunkTokens, HiddenBy
from zhiku.ports import Store
from zhiku.registry import STORES
from zhiku.text.script import HAN, LATIN, script_of

INT8_ERROR = 0.006
"""Above what rounding eight numbers to 1/127 of the largest can change of their sum."""


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    opened = open_store(request.param, tmp_path)
    yield opened
    opened.close()


def test_a_base_without_vectors_has_none(store: Store) -> None:
    with store.writing() as session:
        doc_id = put(session, "a", "alpha", "beta")
        assert session.pending_vectors() == 2
        session.settle_vectors()
    with store.reading() as session:
        ranking = session.search_vectors(QUESTION, limit=5)
        assert (ranking.candidates, ranking.statistics) == ((), {})
        assert session.search_vectors(QUESTION, limit=5, doc_ids=[doc_id]).candidates == ()
        assert session.cosines(QUESTION, [doc_id << 20]) == {}
        assert session.totals().pending_vectors == 2


@pytest.mark.parametrize("limit", [1, 7, 100, 5_000])
def test_the_nearest_of_each_script_are_exact(store: Store, limit: int) -> None:
    fill(store, many("latin", 60, 5) | many("汉字", 40, 5))
    with store.reading() as session:
        check_exact(session, limit)


def test_equal_cosines_come_by_chunk(store: Store) -> None:
    vector = unit_vector("all of them")
    documents = many("latin", 40, 5)
    fill(store, documents, **{text: vector for texts in documents.values() for text in texts})
    with store.reading() as session:
        for limit in (3, 50, 150):
            ids = [candidate.chunk_id for candidate in session.search_vectors(QUESTION, limit=limit).candidates]
            every = [each << 20 | i for each in sorted(d.doc_id for d in session.documents()) for i in range(5)]
            assert ids == every[:limit]
        cosines = session.cosines(QUESTION, every)
        assert len(set(cosines.values())) == 1


def test_a_search_is_bound_to_documents_however_far_they_are(store: Store) -> None:
    near = {f"near{n}": QUESTION for n in range(600)}
    far = {"far one": -QUESTION, "far two": -QUESTION, "远": -QUESTION}
    ids = fill(store, {text: [text] for text in (*near, *far)}, **near, **far)
    with store.reading() as session:
        assert sorted(texts_found(session, doc_ids=[ids[text] for text in far], limit=2)) == sorted(far)
        assert texts_found(session, doc_ids=[ids["far two"]]) == ["far two"]
        assert texts_found(session, doc_ids=[]) == texts_found(session, doc_ids=[999_999]) == []
        bound = session.search_vectors(QUESTION, limit=2, doc_ids=[ids["far two"]]).statistics
        assert bound == session.search_vectors(QUESTION, limit=2).statistics


def test_a_bound_search_is_exact_too(store: Store) -> None:
    ids = fill(store, many("latin", 30, 5) | many("汉字", 30, 5))
    with store.reading() as session:
        check_exact(session, limit=20, doc_ids=sorted(ids.values())[::3])


def hide(store: Store, doc_ids: Iterable[int], by: HiddenBy = "pruned") -> None:
    with store.writing() as session:
        for doc_id in doc_ids:
            session.hide(doc_id, by)


def test_deprecated_documents_are_never_found(store: Store) -> None:
    near = {f"near{n}": QUESTION for n in range(700)}
    others = many("latin", 30, 5)
    ids = fill(store, {text: [text] for text in near} | others, **near)
    hide(store, [ids[text] for text in near])
    with store.reading() as session:
        check_exact(session, limit=100)
        assert texts_found(session, doc_ids=[ids["near0"], ids["latin0"]], limit=2) != []
        check_exact(session, limit=100, doc_ids=[ids["near0"], ids["latin0"]])
        assert session.check() == []


def test_deprecated_documents_count_for_nothing_until_they_are_shown_again(store: Store) -> None:
    others = many("latin", 30, 5)
    ids = fill(store, others | {"near": ["near", "latin0 text"]}, near=QUESTION)
    with store.reading() as session:
        before = session.search_vectors(QUESTION, limit=5)
    hide(store, [ids["near"]])
    with store.reading() as session:
        hidden = session.search_vectors(QUESTION, limit=5)
        assert hidden.statistics["latin"].count == before.statistics["latin"].count - 2
        assert hidden.statistics["latin"].best < before.statistics["latin"].best
    with store.writing() as session:
        assert session.show(ids["near"], "pruned")
        session.put_tokens(ids["near"], [ChunkTokens(body=["near"], title=[], heading=[], name=[])] * 2)
    with store.reading() as session:
        assert session.search_vectors(QUESTION, limit=5) == before
        assert session.check() == []


def test_a_vector_that_an_active_document_shares_is_found_while_the_other_is_deprecated(store: Store) -> None:
    ids = fill(store, {"one": ["near"], "two": ["near"], "far": ["far"]}, near=QUESTION, far=-QUESTION)
    hide(store, [ids["one"]])
    with store.reading() as session:
        found = session.search_vectors(QUESTION, limit=5).candidates
        assert [candidate.doc_id for candidate in found] == [ids["two"], ids["far"]]
    hide(store, [ids["two"]])
    with store.reading() as session:
        assert [candidate.doc_id for candidate in session.search_vectors(QUESTION, limit=5).candidates] == [ids["far"]]
    with store.writing() as session:
        session.show(ids["two"], "pruned")
        session.put_tokens(ids["two"], [ChunkTokens(body=["near"], title=[], heading=[], name=[])])
    with store.reading() as session:
        assert session.search_vectors(QUESTION, limit=5).candidates[0].doc_id == ids["two"]
        assert session.check() == []


def test_a_new_document_with_the_text_of_a_deprecated_one_takes_its_vector(store: Store) -> None:
    ids = fill(store, {"old": ["near"], "far": ["far"]}, near=QUESTION, far=-QUESTION)
    hide(store, [ids["old"]])
    new = fill(store, {"new": ["near"]})["new"]
    with store.reading() as session:
        assert session.search_vectors(QUESTION, limit=5).candidates[0].doc_id == new
        assert session.totals().pending_vectors == 0
        assert session.check() == []


def test_vectors_that_no_chunk_has_any_more_hide_none(store: Store) -> None:
    near = {f"near{n}": QUESTION for n in range(700)}
    fill(store, many("latin", 30, 5) | {"a": list(near)}, **near)
    with store.writing() as session:
        put(session, "a", "something else")
    with store.reading() as session:
        assert len(texts_found(session, limit=120)) == 120
        assert "something else" not in texts_found(session)


def test_statistics_are_those_of_all_vectors_by_script(store: Store) -> None:
    documents = {"latin": many("latin", 30, 5), "han": many("汉字", 20, 5)}
    fill(store, documents["latin"] | documents["han"])
    with store.reading() as session:
        statistics = session.search_vectors(QUESTION, limit=1).statistics
    assert set(statistics) == {LATIN, HAN}
    for script, part in documents.items():
        cosines = np.array([cosine(text) for texts in part.values() for text in texts])
        found = statistics[script]
        assert found.count == len(cosines)
        assert (found.mean, found.std, found.best) == pytest.approx(
            (cosines.mean(), cosines.std(), cosines.max()), abs=INT8_ERROR
        )


def test_one_vector_has_no_spread(store: Store) -> None:
    fill(store, {"a": ["alpha"]})
    with store.reading() as session:
        (found,) = session.search_vectors(QUESTION, limit=1).statistics.values()
    assert (found.count, found.std) == (1, 0.0)


def test_cosines_are_those_of_a_search(store: Store) -> None:
    ids = fill(store, many("latin", 60, 5) | many("汉字", 10, 5))
    with store.writing() as session:
        new = put(session, "new", "not embedded")
    with store.reading() as session:
        found = {c.chunk_id: c.score for c in session.search_vectors(QUESTION, limit=1_000).candidates}
        assert len(found) == 350
        assert session.cosines(QUESTION, [*found, new << 20, 1 << 60]) == found
        some = [ids["latin3"] << 20, ids["汉字3"] << 20 | 4]
        assert session.cosines(QUESTION, some) == {chunk_id: found[chunk_id] for chunk_id in some}


def test_documents_are_told_apart_by_script(store: Store) -> None:
    with store.writing() as session:
        ids = [put(session, "a", "alpha"), put(session, "b", "雨量筒"), put(session, "c", "")]
    with store.reading() as session:
        assert session.scripts([*ids, 999]) == dict(zip(ids, [LATIN, HAN, LATIN], strict=True))
        assert session.scripts([]) == {}
        assert {d.doc_id: d.script for d in session.documents()} == session.scripts(ids)


def test_terms_are_looked_for_in_one_script(store: Store) -> None:
    with store.writing() as session:
        put(session, "a", "pump both", "雨")
        put(session, "b", "水泵 both", "valve")
        assert (script_of("pump both\n雨"), script_of("水泵 both\nvalve")) == (HAN, HAN)
        put(session, "c", "pump both latin valve")
    with store.reading() as session:
        terms = ["pump", "both", "水泵", "latin", "han", "absent", "valv", 'a"b', "OR"]
        assert session.terms_in(LATIN, terms) == {"pump", "both", "latin", "valv"}
        assert session.terms_in(HAN, terms) == {"pump", "both", "水泵", "valv"}
        assert session.terms_in(LATIN, []) == frozenset()


@pytest.mark.parametrize("mark", ["\ue000", "\U000f0000", "\ue000 "])
def test_a_document_cannot_pass_for_one_of_another_script(store: Store, mark: str) -> None:
    with store.writing() as session:
        put(session, f"{mark}han.txt", f"english {mark}han {mark}HAN", f"{mark}han")
        put(session, f"{mark}latin.txt", f"{mark}latin 中文")
    with store.reading() as session:
        assert session.terms_in(HAN, ["english", "latin", "中文"]) == {"latin", "中文"}
        assert session.terms_in(LATIN, ["english", "han", "中文"]) == {"english", "han"}
