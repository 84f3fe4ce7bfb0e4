from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

import apsw
import numpy as np
import pytest
from numpy.typing import NDArray

import fakes
from fakes import FakeEmbedder
from shelf import Shelf
from zhiku.config import load_base_settings, save_base_settings
from zhiku.errors import ModelUnavailable
from zhiku.service.doctor import MAX_SENTENCE_CHARS, Diagnosis, LegHealth, diagnose, find_probes, longest_sentence
from zhiku.service.library import Library
from zhiku.text.analyze import Analyzer

ANALYZER = Analyzer()
PLACES = "orchard harbour quarry meadow chapel granary tannery foundry brewery bakery windmill lighthouse".split()
DEEDS = "果园 码头 采石场 草地 教堂 谷仓 制革坊 铸造厂 酿酒坊 面包房 风车 灯塔".split()


class BagOfWords(FakeEmbedder):
    """Texts are near where they share words, so that a sentence is near the passage that holds it."""

    def __init__(self, name: str = "bag", dims: int = 256) -> None:
        super().__init__(name, dims)

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.stack([self._bag(text) for text in texts])

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.before(None)
        return self.embed_documents(texts)

    def _bag(self, text: str) -> NDArray[np.float32]:
        vector = np.full(self.dims, 1e-3, np.float32)
        for token in ANALYZER.tokens(text):
            vector[int.from_bytes(hashlib.sha256(token.encode()).digest()[:4], "big") % self.dims] += 1
        return vector / np.linalg.norm(vector)


@pytest.fixture
def bag(monkeypatch: pytest.MonkeyPatch) -> BagOfWords:
    embedder = BagOfWords()
    fakes.install(monkeypatch, embedder)
    monkeypatch.delenv("ZHIKU_EMBEDDER")
    return embedder


@pytest.fixture
def words(shelf: Shelf) -> Shelf:
    """Return a base of two languages that is searched by words only."""
    return filled(shelf, "none")


def filled(shelf: Shelf, embedder: str) -> Shelf:
    for i, (place, deed) in enumerate(zip(PLACES, DEEDS, strict=True)):
        shelf.write(f"{i}.md", f"# {place}\n\nThe keeper of the {place} counted {i + 3} lanterns before winter.\n")
        shelf.write(f"{i}.txt", f"守夜人在{deed}里点亮了第{i}盏灯，然后记下{deed}的风向。\n")
    shelf.library = Library(shelf.library.home)  # which looks at the environment anew
    base = shelf.library.open_or_create("default")
    save_base_settings(base.folder, replace(load_base_settings(base.folder), embedder=embedder))
    shelf.library.index([shelf.docs])
    return shelf


@contextmanager
def opened(shelf: Shelf) -> Iterator[apsw.Connection]:
    connection = apsw.Connection(str(shelf.index_file))
    yield connection
    connection.close()


def change(shelf: Shelf, *statements: str) -> None:
    with opened(shelf) as connection:
        for statement in statements:
            connection.execute(statement)


def parts(diagnosis: Diagnosis) -> list[str]:
    return [finding.part for finding in diagnosis.findings]


def states(diagnosis: Diagnosis) -> dict[str, str]:
    return {name: leg.state for name, leg in diagnosis.legs.items()}


# --- bases that are well ---


def test_a_base_in_order_finds_the_sentences_of_both_its_languages(shelf: Shelf, bag: BagOfWords) -> None:
    found = diagnose(filled(shelf, bag.name).base)
    assert found.findings == ()
    assert found.legs["lexical"] == found.legs["vector"] == LegHealth(state="ok", found=24, asked=24)
    assert found.legs["exact"].state == "ok"


def test_a_base_without_an_embedder_is_well(words: Shelf) -> None:
    found = diagnose(words.base)
    assert (states(found), found.findings) == ({"lexical": "ok", "vector": "off", "exact": "ok"}, ())


def test_a_base_that_holds_nothing_yet_is_well(shelf: Shelf) -> None:
    base = shelf.library.open_or_create("default")
    for _ in range(2):
        found = diagnose(base)
        assert set(states(found).values()) <= {"unknown", "off"}
        assert found.findings == ()
        shelf.library.index([shelf.docs])  # no document in it


def test_text_that_stands_in_many_documents_may_be_found_in_any(shelf: Shelf) -> None:
    for i in range(60):
        shelf.write(f"{i}.txt", "The same notice hangs on every door of this house.\n")
    shelf.index()
    assert diagnose(shelf.base).legs["lexical"] == LegHealth(state="ok", found=12, asked=12)


def test_files_that_were_not_read_are_counted_and_no_finding(words: Shelf) -> None:
    words.write("broken.pdf", b"%PDF-1.4 nothing more")
    words.index()
    found = diagnose(words.base)
    assert (found.to_dict()["failed_files"], found.findings) == (1, ())


# --- damage ---


@pytest.mark.parametrize(
    "damage",
    [
        "DELETE FROM lexical WHERE rowid % 3 = 0",
        "UPDATE lexical_data SET block = zeroblob(length(block)) WHERE id > 10",
        "DELETE FROM lexical_data WHERE id = 10",
    ],
)
def test_a_damaged_full_text_is_not_blamed_on_meaning(shelf: Shelf, bag: BagOfWords, damage: str) -> None:
    change(filled(shelf, bag.name), damage)
    found = diagnose(shelf.base)
    assert states(found) == {"lexical": "damaged", "vector": "ok", "exact": "unknown"}
    assert parts(found) == ["lexical"]
    assert found.findings[0].error.hint == "mend it: zhiku doctor --repair --base default"


def test_a_full_text_that_agrees_with_itself_and_holds_nothing_is_blind(words: Shelf) -> None:
    change(
        words,
        "CREATE TABLE kept AS SELECT * FROM lexical_docsize",
        "INSERT INTO lexical(lexical) VALUES ('delete-all')",
        "INSERT INTO lexical_docsize SELECT * FROM kept",
    )
    found = diagnose(words.base)
    assert found.legs["lexical"] == LegHealth(state="blind", found=0, asked=24)
    assert found.legs["exact"] == LegHealth(state="blind", found=2, asked=4)  # Latin text is read without an index
    assert parts(found) == ["lexical", "exact"]


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE packs SET vectors = zeroblob(length(vectors))",
        "UPDATE packs SET scales = zeroblob(3)",
        "UPDATE packs SET scripts = zeroblob(length(scripts))",
        "UPDATE embeddings SET vector = zeroblob(length(vector)) WHERE embedding_id = 5",
        "UPDATE embeddings SET vector = zeroblob(7)",
        "DELETE FROM embeddings WHERE embedding_id % 2",
        "DELETE FROM packs",
    ],
)
def test_damaged_vectors_are_not_blamed_on_words(shelf: Shelf, bag: BagOfWords, damage: str) -> None:
    change(filled(shelf, bag.name), damage)
    found = diagnose(shelf.base)
    assert states(found) == {"lexical": "ok", "vector": "damaged", "exact": "ok"}
    assert parts(found) == ["vector"]


def test_vectors_of_another_length_than_the_embedders_are_damage(shelf: Shelf, bag: BagOfWords) -> None:
    change(
        filled(shelf, bag.name),
        "UPDATE embeddings SET vector = zeroblob(64)",
        "UPDATE packs SET vectors = zeroblob(4096 * 32)",
    )
    assert states(diagnose(shelf.base))["vector"] == "damaged"


def test_vectors_that_belong_to_other_chunks_are_blind(shelf: Shelf, bag: BagOfWords) -> None:
    change(filled(shelf, bag.name), "UPDATE chunks SET embedding_id = (embedding_id + 7) % 24")
    found = diagnose(shelf.base)
    assert (found.legs["vector"].state, found.legs["vector"].asked) == ("blind", 24)
    assert parts(found) == ["vector"]
    assert "misses" in found.findings[0].error.message


@pytest.mark.parametrize(
    "damage",
    [
        "DELETE FROM chunks WHERE (chunk_id >> 20) % 2",
        "DELETE FROM texts",
        "DELETE FROM roots",
        "DROP TABLE sections",
        "DROP TABLE lexical_docsize",
    ],
)
def test_damaged_tables_keep_every_leg_from_being_asked(words: Shelf, damage: str) -> None:
    change(words, damage)
    found = diagnose(words.base)
    assert set(states(found).values()) == {"unknown"}
    assert (parts(found), found.findings[0].error.code) == (["base"], "damaged_index")


def test_a_file_that_is_no_index_is_a_finding(words: Shelf) -> None:
    words.base.close()
    words.index_file.write_bytes(b"not an index" * 100)
    assert parts(diagnose(words.base)) == ["base"]


def test_settings_that_cannot_be_read_are_a_finding(words: Shelf) -> None:
    (words.base.folder / "base.toml").write_text("roots = 3\n")
    assert parts(diagnose(words.base)) == ["base"]


def test_an_index_of_another_analyzer_is_a_finding(words: Shelf) -> None:
    change(words, "UPDATE manifest SET value = '0' WHERE key = 'analyzer'")
    assert diagnose(words.base).findings[0].error.code == "manifest_mismatch"


# --- meaning that is not there ---


def test_vectors_of_another_embedder_are_named(shelf: Shelf, bag: BagOfWords, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(shelf, bag.name)
    fakes.install(monkeypatch, BagOfWords(dims=128))
    shelf.library = type(shelf.library)(shelf.library.home)
    found = diagnose(shelf.base)
    assert (states(found)["vector"], parts(found)) == ("blind", ["vector"])
    assert "zhiku rebuild -b default" in found.findings[0].error.hint


def test_a_base_that_was_not_embedded_yet_is_blind_to_meaning(shelf: Shelf, bag: BagOfWords) -> None:
    filled(shelf, "none")
    base = shelf.base
    save_base_settings(base.folder, replace(load_base_settings(base.folder), embedder=bag.name))
    found = diagnose(base)
    assert (found.legs["vector"], parts(found)) == (LegHealth(state="blind"), ["vector"])
    assert "zhiku index -b default" in found.findings[0].error.hint


def test_chunks_without_a_vector_are_counted_and_not_asked_for(shelf: Shelf, bag: BagOfWords) -> None:
    change(filled(shelf, bag.name), "UPDATE chunks SET embedding_id = NULL WHERE (chunk_id >> 20) % 2")
    found = diagnose(shelf.base)
    assert found.legs["vector"] == LegHealth(state="ok", found=12, asked=12)
    assert found.findings[0].error.message.startswith("12 of 24 chunks in base 'default' have no vector yet")


def test_an_embedder_that_cannot_be_loaded_is_named(shelf: Shelf, bag: BagOfWords) -> None:
    filled(shelf, bag.name)
    bag.before = fakes.stop_at(1, ModelUnavailable("no model.", hint="install it"))
    found = diagnose(shelf.base)
    assert (found.legs["vector"], parts(found)) == (LegHealth(state="blind"), ["vector"])
    assert found.findings[0].error.hint == "install it"


def test_an_embedder_that_understands_nothing_is_blind(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    fakes.install(monkeypatch, FakeEmbedder("noise"))
    monkeypatch.delenv("ZHIKU_EMBEDDER")
    found = diagnose(filled(shelf, "noise").base)
    assert (found.legs["vector"].state, found.legs["lexical"].state) == ("blind", "ok")


def test_a_root_that_is_gone_is_named(words: Shelf) -> None:
    words.docs.rename(words.docs.with_name("elsewhere"))
    found = diagnose(words.base)
    assert parts(found) == ["roots"]
    assert str(words.docs) in found.findings[0].error.message
    assert states(found)["lexical"] == "ok"


# --- sentences ---


def test_sentences_are_the_same_each_time_and_stand_in_their_chunks(words: Shelf) -> None:
    with words.base.reading() as session:
        probes = find_probes(session, ANALYZER)
        assert probes == find_probes(session, ANALYZER)
        for probe in probes:
            (stored,) = session.chunks([probe.chunk_id])
            assert probe.sentence in stored.chunk.text


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("短。这一句长得多，所以被选中。又短！", "这一句长得多，所以被选中"),
        ("a b\nfour words are enough here\nc", "four words are enough here"),
        ("12\n---\n| a |", ""),
        ("", ""),
        ("word " * 99, ("word " * (MAX_SENTENCE_CHARS // 5)).strip()),
        ("字" * 999, "字" * MAX_SENTENCE_CHARS),
    ],
)
def test_the_longest_sentence_of_a_line_is_taken(text: str, sentence: str) -> None:
    assert longest_sentence(text, ANALYZER) == sentence
