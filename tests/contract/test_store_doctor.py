"""What every registered store promises to who looks for damage (`zhiku.ports.ReadSession`)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from vectors import fill, many, open_store

from fakes import DIMS
from zhiku.ports import Store
from zhiku.registry import STORES


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    opened = open_store(request.param, tmp_path)
    yield opened
    opened.close()


def test_a_sample_is_spread_over_the_documents_of_each_script(store: Store) -> None:
    fill(store, many("latin", 10, 3) | many("汉字", 2, 2))
    with store.reading() as session:
        found = session.sample(5)
        assert found == session.sample(5)
        assert len({each.document.doc_id for each in found if each.document.script == "latin"}) == 5
        assert len([each for each in found if each.document.script == "han"]) == 4  # there are no more
        assert [each.chunk_id for each in found] == sorted({each.chunk_id for each in found})


def test_a_sample_of_nothing_is_empty(store: Store) -> None:
    fill(store, {"a": []})
    with store.reading() as session:
        assert session.sample(5) == []


def test_a_base_in_order_has_no_faults(store: Store) -> None:
    fill(store, {})
    with store.reading() as session:
        assert session.check() == session.check(DIMS) == []
    fill(store, many("latin", 3, 3) | many("汉字", 2, 2))
    fill(store, {"latin0": ["another text"]})  # what it had before is gone, its vectors are not yet
    with store.reading() as session:
        assert session.check() == session.check(DIMS) == []


def test_vectors_of_another_length_are_a_fault(store: Store) -> None:
    fill(store, many("latin", 3, 3))
    with store.reading() as session:
        assert [fault.part for fault in session.check(DIMS + 1)] == ["vector"]
