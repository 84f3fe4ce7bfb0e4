"""Damage to vectors is an error that says so: no traceback, and no answer that leaves something out in silence."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import apsw
import pytest

from fakes import FakeEmbedder, install
from shelf import Shelf
from zhiku.errors import Damaged
from zhiku.service.library import Library

FILES = 20
TRUNCATED = "UPDATE packs SET {column} = substr({column}, 1, {length})"


@pytest.fixture
def full(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Shelf:
    install(monkeypatch, FakeEmbedder())
    monkeypatch.setenv("ZHIKU_EMBEDDER", "fake")
    shelf = Shelf(tmp_path_factory.mktemp("shelf"))
    for n in range(FILES):
        shelf.write(f"{n}.txt", f"pump number {n}" if n % 2 else f"第 {n} 号水泵 pump")
    shelf.library.index([shelf.docs])
    assert shelf.search("pump", mode="hybrid", top_k=FILES).mode == "hybrid"
    return shelf


def damage(shelf: Shelf, *statements: str) -> None:
    shelf.base.close()
    with closing(apsw.Connection(str(shelf.index_file))) as connection:
        for statement in statements:
            connection.execute(statement)
    shelf.library = Library(shelf.library.home)


DAMAGES = {
    "vectors cut off": TRUNCATED.format(column="vectors", length=1_000),
    "vectors cut to whole rows": TRUNCATED.format(column="vectors", length=4 * 4096),
    "vectors empty": TRUNCATED.format(column="vectors", length=0),
    "vectors too long": "UPDATE packs SET vectors = vectors || vectors",
    "scales cut off": TRUNCATED.format(column="scales", length=17),
    "scripts cut off": TRUNCATED.format(column="scripts", length=17),
    "scripts zeroed": "UPDATE packs SET scripts = zeroblob(4096)",
    "pack missing": "DELETE FROM packs",
    "row missing": "DELETE FROM embeddings WHERE embedding_id = 3",
    "row cut off": "UPDATE embeddings SET vector = substr(vector, 1, 15) WHERE embedding_id = 3",
    "row too long": "UPDATE embeddings SET vector = vector || x'0000' WHERE embedding_id = 3",
    "row of text": "UPDATE embeddings SET vector = 'sixteen letters.' WHERE embedding_id = 3",
    "rows missing": "DELETE FROM embeddings",
}


@pytest.mark.parametrize("mode", ["hybrid", "semantic"])
@pytest.mark.parametrize("statement", DAMAGES.values(), ids=DAMAGES)
def test_a_search_says_that_the_index_is_damaged(full: Shelf, statement: str, mode: str) -> None:
    damage(full, statement)
    with pytest.raises(Damaged, match=r"is damaged.*zhiku doctor --repair --base default") as caught:
        full.search("pump", mode=mode, top_k=FILES)
    assert caught.value.exit_code == 4
    assert len(full.found("pump", top_k=FILES)) == FILES


@pytest.mark.parametrize("embedding_id", [21, 4_095, 4_096, 10**9])
@pytest.mark.parametrize("source", [None, "*.txt"])
def test_a_chunk_whose_vector_is_nowhere_is_damage(full: Shelf, embedding_id: int, source: str | None) -> None:
    damage(full, f"UPDATE chunks SET embedding_id = {embedding_id} WHERE embedding_id = 3")
    with pytest.raises(Damaged):
        full.search("pump", mode="hybrid", source=source, top_k=FILES)


def test_a_pack_of_many_that_is_missing_is_damage(full: Shelf) -> None:
    lines = "\n\n".join(f"# {n}\n\npump {n}" for n in range(4_100))
    full.write("many.md", lines)
    full.library.index([full.docs])
    damage(full, "DELETE FROM packs WHERE pack_id = 0")
    with pytest.raises(Damaged):
        full.search("pump", mode="semantic")


@pytest.mark.parametrize("statement", DAMAGES.values(), ids=DAMAGES)
def test_damage_is_told_by_the_next_run_or_by_the_next_search(full: Shelf, statement: str) -> None:
    damage(full, statement)
    full.write("new.txt", "a new pump")
    full.write("3.txt", "nothing that was there before")

    def go_on(path: Path) -> None:
        full.library.index([path])
        full.search("pump", mode="semantic", top_k=FILES)

    with pytest.raises(Damaged):
        go_on(full.docs)
