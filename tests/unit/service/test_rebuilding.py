"""An index made anew, mended, or put back takes the place of the old one in one step, or not at all."""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from dataclasses import replace
from typing import Any

import apsw
import pytest

import fakes
from fakes import FakeEmbedder
from shelf import Shelf
from zhiku.config import CONFIG_FILE
from zhiku.errors import Damaged, ManifestMismatch, MigrationNeeded, NewerSchema, NotFound
from zhiku.service.doctor import diagnose
from zhiku.service.library import Library
from zhiku.stores.sqlite.store import SqliteStore


@pytest.fixture
def fake(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> FakeEmbedder:
    embedder = FakeEmbedder("fake")
    fakes.install(monkeypatch, embedder)
    monkeypatch.setenv("ZHIKU_EMBEDDER", embedder.name)
    shelf.library = Library(shelf.library.home)
    return embedder


@pytest.fixture
def filled(shelf: Shelf) -> Shelf:
    for name in "abc":
        shelf.write(f"{name}.md", f"# 水泵 {name}\n\n阀门 {name}")
    shelf.index()
    return shelf


def sql(shelf: Shelf, statement: str) -> None:
    shelf.base.close()
    connection = apsw.Connection(str(shelf.index_file))
    connection.execute(statement)
    connection.close()


def index_files(shelf: Shelf) -> list[str]:
    return sorted(path.name for path in shelf.base.folder.glob("index*.sqlite3"))


def ids(shelf: Shelf) -> dict[str, int]:
    return {each.source.path: each.doc_id for each in shelf.base.documents()}


def test_a_rebuild_reads_all_files_and_keeps_ids_and_what_was_forgotten(filled: Shelf) -> None:
    before = ids(filled)
    filled.base.forget("b.md")
    (filled.docs / "c.md").unlink()
    filled.index(prune=True)
    done = filled.base.rebuild()
    report = done.report[0].report
    assert (report.reread, report.forgotten, report.gone, done.from_nothing) == (1, 1, [], False)
    assert ids(filled) == before
    assert filled.found("阀门") == ["a.md"]
    assert index_files(filled) == ["index-2.sqlite3"]
    with filled.base.reading() as session:
        assert session.check() == []


def test_a_rebuild_embeds_nothing_twice_with_the_same_embedder(filled: Shelf, fake: FakeEmbedder) -> None:
    filled.library.index([filled.docs])
    seen = len(fake.seen)
    assert seen > 0
    rebuilt = filled.base.rebuild().report.embedding
    assert rebuilt is not None
    assert (rebuilt.report.embedded, rebuilt.report.pending, len(fake.seen)) == (0, 0, seen)
    assert len(filled.search("阀门 a", mode="semantic")) == 3


@pytest.mark.parametrize("way", ["rebuild", "repair"])
def test_vectors_of_texts_that_are_gone_are_no_obstacle(filled: Shelf, fake: FakeEmbedder, way: str) -> None:
    filled.base.embed()
    filled.write("a.md", "# 水泵 a\n\n雨量筒")
    filled.index()  # by words alone: the old text's vector has no chunk any more, and the new text has none yet
    getattr(filled.base, way)()
    filled.base.embed()
    assert filled.base.status().totals.pending_vectors == 0
    assert filled.search("雨量筒", mode="semantic").hits


def test_a_vector_that_only_a_forgotten_document_still_has_counts_no_more(filled: Shelf, fake: FakeEmbedder) -> None:
    for name in "de":
        filled.write(f"{name}.md", "# 同一份\n\n同样的内容")
    filled.index()
    filled.base.embed()
    filled.base.forget("d.md")
    filled.write("e.md", "# 水泵 e\n\n另外的内容")
    filled.index()
    filled.base.embed()
    with filled.base.reading() as session:
        ranking = session.search_vectors(fakes.unit_vector("x"), limit=10)
        assert sum(part.count for part in ranking.statistics.values()) == 4
        assert session.check(fakes.DIMS) == []


def test_a_document_whose_file_is_gone_keeps_its_text_in_a_rebuild(filled: Shelf) -> None:
    (filled.docs / "c.md").unlink()
    filled.base.rebuild()
    assert filled.found("c") == ["c.md"]
    assert [hit.file_state for hit in filled.search("c")] == ["missing"]


def test_another_chunker_or_analyzer_calls_for_a_rebuild(filled: Shelf) -> None:
    with filled.base._store.writing() as session:
        session.set_manifest({"chunker": "another", "analyzer": "another"})
    with pytest.raises(ManifestMismatch, match="zhiku rebuild --base default"):
        filled.index()
    with pytest.raises(ManifestMismatch, match="zhiku rebuild --base default"):
        filled.search("阀门")
    filled.base.rebuild()
    assert len(filled.found("阀门")) == 3
    assert filled.index().unchanged == 3


def test_a_repair_makes_the_words_of_the_analyzer_of_now(filled: Shelf) -> None:
    with filled.base._store.writing() as session:
        session.set_manifest({"analyzer": "another"})
    filled.base.repair()
    assert len(filled.found("阀门")) == 3


@pytest.mark.parametrize("error", [KeyboardInterrupt(), RuntimeError("broken")])
def test_a_rebuild_that_does_not_end_changes_nothing(
    filled: Shelf, fake: FakeEmbedder, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    filled.library.index([filled.docs])
    before = filled.index_file.read_bytes()

    def fail(texts: Any) -> None:
        raise error

    broken = FakeEmbedder("other", before=fail)
    fakes.install(monkeypatch, broken)
    monkeypatch.setenv("ZHIKU_EMBEDDER", broken.name)
    filled.library = Library(filled.library.home)
    with pytest.raises(type(error)):
        filled.base.rebuild()
    assert index_files(filled) == ["index.sqlite3"]
    assert filled.index_file.read_bytes() == before
    assert len(filled.found("阀门")) == 3


def test_readers_go_on_with_the_old_index_and_then_take_the_new_one(filled: Shelf) -> None:
    reader = Library(filled.library.home).open("default")
    assert len(reader.search("阀门", mode="lexical")) == 3
    filled.write("a.md", "换了")
    with reader.reading() as session:
        filled.base.rebuild()
        assert session.totals().documents == 3
        assert [each.title for each in session.documents()] == ["水泵 a", "水泵 b", "水泵 c"]
    assert len(reader.search("阀门", mode="lexical")) == 2
    filled.index()
    assert index_files(filled) == ["index-2.sqlite3"]


def test_an_open_base_notices_that_it_was_deleted_and_made_anew(filled: Shelf) -> None:
    reader = Library(filled.library.home).open("default")
    assert len(reader.search("阀门", mode="lexical")) == 3
    filled.base.close()
    filled.library.delete("default")
    filled.write("a.md", "换了")
    filled.index()
    assert [hit.path for hit in reader.search("换了", mode="lexical")] == ["a.md"]


FULL_TEXT = {
    "a block is gone": "DELETE FROM lexical_data WHERE id = 10",
    "a block is zero": "UPDATE lexical_data SET block = zeroblob(length(block)) WHERE id > 10",
    "rows are gone": "DELETE FROM lexical WHERE rowid % 2 = 0",
    "its settings are gone": "DELETE FROM lexical_config",
    "a pack is gone": "DELETE FROM packs",
    "a pack is cut off": "UPDATE packs SET vectors = zeroblob(7)",
}


def test_the_next_run_removes_what_killed_ones_left(filled: Shelf) -> None:
    filled.base.snapshot()
    folder = filled.base.folder
    left = [
        "index-2.building",
        "index-2.building-wal",
        "index-3.sqlite3-wal",
        "snapshots/20261130.part",
        "snapshots/1.part-journal",
    ]
    for name in left:
        (folder / name).write_bytes(b"half of something")
    filled.index()
    assert [name for name in left if (folder / name).exists()] == []


def test_readers_find_an_index_whenever_it_is_replaced(filled: Shelf) -> None:
    # Each replacing takes some milliseconds, in which the reader looks where the index is and opens it many times.
    done = threading.Event()

    def replace_again_and_again() -> None:
        store = SqliteStore(filled.base.folder)
        for _ in range(60):
            with store.successor(store.path):
                pass
        done.set()

    replacing = threading.Thread(target=replace_again_and_again)
    replacing.start()
    while not done.is_set():
        with SqliteStore(filled.base.folder).reading() as session:
            assert session.totals().documents == 3
    replacing.join()


@pytest.mark.parametrize("damage", FULL_TEXT)
def test_a_repair_mends_words_and_packs_from_the_record(filled: Shelf, fake: FakeEmbedder, damage: str) -> None:
    filled.library.index([filled.docs])
    expected = [(hit.path, hit.score) for hit in filled.search("阀门 a", mode="hybrid")]
    seen = len(fake.seen)
    for file in filled.docs.iterdir():
        file.rename(filled.docs.parent / file.name)  # no file is read
    sql(filled, FULL_TEXT[damage])
    done = filled.base.repair()
    assert (done.chunks, done.pending_vectors) == (3, 0)
    with filled.base.reading() as session:
        assert session.check() == []
    assert len(fake.seen) == seen
    assert [(hit.path, hit.score) for hit in filled.search("阀门 a", mode="hybrid")] == expected


def test_a_vector_that_is_damaged_waits_for_the_next_run(filled: Shelf, fake: FakeEmbedder) -> None:
    filled.library.index([filled.docs])
    sql(filled, "UPDATE embeddings SET vector = zeroblob(3) WHERE embedding_id = 1")
    assert filled.base.repair().pending_vectors == 1
    embedding = filled.library.index([filled.docs]).embedding
    assert embedding is not None
    assert embedding.report.embedded == 1


def test_what_a_repair_cannot_mend_sends_to_a_rebuild_which_does(filled: Shelf) -> None:
    sql(filled, "DELETE FROM texts")
    with pytest.raises(Damaged, match="zhiku rebuild --base default"):
        filled.base.repair()
    filled.base.rebuild()
    assert len(filled.found("阀门")) == 3


RECORD = {
    "a document is gone": "DELETE FROM documents WHERE doc_id = 2",
    "a table is gone": "DROP TABLE texts",
    "the sums are gone": "DELETE FROM totals",
    "the roots are gone": "DELETE FROM roots",
    "chunks are gone": "DELETE FROM chunks WHERE chunk_id % 2 = 0",
}


@pytest.mark.parametrize("damage", RECORD)
def test_a_rebuild_mends_any_damage_of_the_record_and_none_is_a_bug(filled: Shelf, damage: str) -> None:
    sql(filled, f"PRAGMA foreign_keys = off; {RECORD[damage]}")
    for ask in (lambda: filled.found("阀门"), lambda: filled.base.documents(), lambda: filled.base.status()):
        with suppress(Damaged):
            ask()
    assert diagnose(filled.base).findings
    filled.base.rebuild()
    assert len(filled.found("阀门")) == 3
    assert diagnose(filled.base).findings == ()


def test_a_file_that_is_no_index_is_rebuilt_from_the_documents(filled: Shelf) -> None:
    filled.base.close()
    filled.index_file.write_bytes(b"no database" * 1000)
    done = filled.base.rebuild()
    assert (done.from_nothing, done.report[0].report.added) == (True, 3)
    assert len(filled.found("阀门")) == 3


def test_the_newest_whole_index_answers_whatever_lies_beside_it(filled: Shelf) -> None:
    filled.base.rebuild()
    filled.base.close()
    folder = filled.base.folder
    (folder / "index.sqlite3").write_bytes(b"an older one that could not be removed")
    (folder / "index-7.building").write_bytes(b"what a killed run left")
    (folder / "index-x.sqlite3").write_bytes(b"not ours")
    assert len(filled.found("阀门")) == 3
    filled.index()
    assert index_files(filled) == ["index-2.sqlite3", "index-x.sqlite3"]
    assert not (folder / "index-7.building").exists()


def test_a_newer_index_is_not_rebuilt(filled: Shelf) -> None:
    sql(filled, "PRAGMA user_version = 99")
    with pytest.raises(NewerSchema):
        filled.base.rebuild()


def test_a_snapshot_is_restored_with_a_copy_of_what_was_there(filled: Shelf) -> None:
    taken = filled.base.snapshot()
    filled.write("a.md", "换了")
    filled.index()
    assert filled.found("换了") == ["a.md"]
    done = filled.base.restore(taken.name)
    assert (done.restored.name, done.saved is not None) == (taken.name, True)
    assert (filled.found("换了"), len(filled.found("阀门"))) == ([], 3)
    assert done.saved is not None
    filled.base.restore(done.saved.name)
    assert filled.found("换了") == ["a.md"]
    assert filled.index().unchanged == 3


def test_a_restored_base_catches_up_with_its_files(filled: Shelf) -> None:
    filled.base.snapshot()
    filled.write("a.md", "换了")
    filled.write("d.md", "新")
    filled.index()
    filled.base.restore()
    report = filled.index()
    assert (report.changed, report.added, report.unchanged) == (1, 1, 2)


def test_the_last_snapshots_are_kept_within_their_number_and_size(filled: Shelf) -> None:
    (filled.library.home / CONFIG_FILE).write_text("[snapshots]\nkeep = 3\n")
    filled.library = Library(filled.library.home)
    names = [filled.base.snapshot().name for _ in range(5)]
    assert [each.name for each in filled.base.snapshots()] == names[:1:-1]
    (filled.library.home / CONFIG_FILE).write_text("[snapshots]\nmax_bytes = 1\n")
    filled.library = Library(filled.library.home)
    last = filled.base.snapshot()
    assert filled.base.snapshots() == [last]


def test_the_oldest_snapshot_survives_being_restored(filled: Shelf) -> None:
    (filled.library.home / CONFIG_FILE).write_text("[snapshots]\nkeep = 1\n")
    filled.library = Library(filled.library.home)
    taken = filled.base.snapshot()
    filled.base.restore(taken.name)
    assert len(filled.found("阀门")) == 3


def test_snapshots_are_private_and_whole_files(filled: Shelf) -> None:
    taken = filled.base.snapshot()
    assert [path.name for path in taken.path.parent.iterdir()] == [taken.path.name]
    if os.name != "nt":  # which has no such modes
        assert taken.path.stat().st_mode & 0o077 == 0


def test_a_damaged_snapshot_is_refused_and_the_index_stays(filled: Shelf) -> None:
    taken = filled.base.snapshot()
    taken.path.write_bytes(b"x" * 10_000)
    with pytest.raises(Damaged, match=f"snapshot .*{taken.name}.* is damaged.*zhiku snapshot --list"):
        filled.base.restore(taken.name)
    assert len(filled.found("阀门")) == 3
    taken.path.write_bytes(b"")
    with pytest.raises(Damaged, match="snapshot"):
        filled.base.restore(taken.name)
    assert (len(filled.found("阀门")), filled.base.snapshots()) == (3, [replace(taken, size_bytes=0)])
    with pytest.raises(NotFound, match="--list"):
        filled.base.restore("none")


def old_schema(shelf: Shelf) -> None:
    """Make the index one of the schema before: what the third step added is taken away."""
    shelf.base.close()
    connection = apsw.Connection(str(shelf.index_file))
    for event, row in (("insert", "new"), ("delete", "old"), ("update", "old"), ("update", "new")):
        connection.execute(f"DROP TRIGGER {row}_totals_on_{event}")
        # The triggers of the second schema differ; the third one's step only needs them to be there.
        connection.execute(f"CREATE TRIGGER {row}_totals_on_{event} AFTER {event} ON documents BEGIN SELECT 1; END")
    connection.execute("DROP INDEX hidden_embeddings")
    connection.execute("DROP INDEX textless_documents")
    connection.execute("DROP INDEX looks_of_documents")
    for table, column in (
        ("documents", "ctime_ns"),
        ("documents", "pruned"),
        ("documents", "forgotten"),
        ("embeddings", "hidden"),
        ("ledger", "size_bytes"),
        ("ledger", "mtime_ns"),
        ("ledger", "ctime_ns"),
        ("ledger", "reader"),
    ):
        connection.execute(f"ALTER TABLE {table} DROP COLUMN {column}")
    connection.execute("PRAGMA user_version = 2")
    connection.close()


def test_an_index_of_an_older_schema_is_migrated_by_a_run_after_a_snapshot(filled: Shelf) -> None:
    old_schema(filled)
    with pytest.raises(MigrationNeeded, match="zhiku index --base default"):
        filled.search("阀门")
    report = filled.index()
    assert (report.unchanged, report.read) == (3, 0)
    assert len(filled.found("阀门")) == 3
    (taken,) = filled.base.snapshots()
    assert taken.reason == "migration"
    filled.base.restore()
    assert len(filled.found("阀门")) == 3


def test_a_rebuild_reads_an_older_schema(filled: Shelf) -> None:
    before = ids(filled)
    old_schema(filled)
    filled.base.rebuild()
    assert (ids(filled), len(filled.found("阀门"))) == (before, 3)


def test_a_base_is_moved_to_windows_of_lines_by_a_rebuild(filled: Shelf) -> None:
    filled.write("lines.txt", "".join(f"zeile {number}\n" for number in range(1, 31)))
    filled.index()
    settings = filled.base.folder / "base.toml"
    settings.write_text(settings.read_text() + 'chunker = "lines"\n')
    with pytest.raises(ManifestMismatch, match="lines-1 10/2"):
        filled.index()
    assert filled.search("zeile").hits
    filled.base.rebuild()
    (hit,) = filled.search("zeile 20", source="lines.txt", top_k=1).hits
    assert (hit.line_start, hit.line_end) == (17, 26)
    assert filled.base.read(hit.locator).text == hit.text
    filled.index()
    settings.write_text(settings.read_text() + "overlap_lines = 3\n")
    with pytest.raises(ManifestMismatch, match="lines-1 10/3"):
        filled.index()
