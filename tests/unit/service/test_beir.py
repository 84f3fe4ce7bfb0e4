from pathlib import Path

import pytest

from beir_set import PASSAGES, QRELS, QUERIES, write_rows, write_set
from shelf import Shelf
from zhiku.errors import NotFound, UsageError
from zhiku.service.beir import RetrievalSet, load_set, run_queries, run_set


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_set(tmp_path / "small")


def load(folder: Path, **limits: int) -> RetrievalSet:
    return load_set(folder, folder.parent / "passages", **limits)


def test_a_set_has_the_questions_that_are_judged(folder: Path) -> None:
    data = load(folder)

    assert data.name == "small"
    assert list(data.queries) == list(data.qrels) == ["q1", "q2", "q3"]
    assert data.qrels["q3"] == {"docs/.valves/a.md": 2, "p1": 0}


def test_judgements_may_lie_in_a_folder_of_their_own(tmp_path: Path) -> None:
    assert load(write_set(tmp_path / "small", "qrels/test.tsv")).qrels == load(write_set(tmp_path / "other")).qrels


def test_each_passage_becomes_a_file_that_an_index_wants(folder: Path, shelf: Shelf) -> None:
    data = load_set(folder, shelf.docs)

    shelf.index()

    assert sorted(data.files) == [document.source.path for document in shelf.base.documents()]
    assert sorted(data.files.values()) == sorted(row["_id"] for row in PASSAGES)
    assert (shelf.docs / "0.md").read_text("utf-8").startswith("# Pumps\n\nThe seal")


@pytest.mark.parametrize(
    "doc_id",
    ["../../../up", "/", "//", "a/..", "https://x.org/?q=1|2&r=*", "甲" * 500 + "/b", "a/CON. /b\\c", "_/.git"],
)
def test_no_id_leads_out_of_the_folder_or_into_a_name_that_is_none(folder: Path, shelf: Shelf, doc_id: str) -> None:
    write_rows(folder / "corpus.jsonl", [{"_id": doc_id, "text": "水泵"}])

    data = load_set(folder, shelf.docs)
    shelf.index()

    assert data.files == {shelf.base.documents()[0].source.path: doc_id}


def test_a_limit_keeps_the_same_questions_every_time(folder: Path) -> None:
    assert list(load(folder, limit=2).queries) == ["q1", "q3"]  # by SHA-1: q1 35…, q3 4d…, q2 a7…
    assert list(load(folder, limit=99).queries) == ["q1", "q2", "q3"]


def test_what_is_missing_is_named(folder: Path) -> None:
    (folder / "corpus.jsonl").unlink()
    with pytest.raises(NotFound, match=r"corpus\.jsonl does not exist"):
        load(folder)
    (folder / "queries.jsonl").unlink()
    with pytest.raises(NotFound, match=r"queries\.jsonl does not exist"):
        load(folder)
    (folder / "qrels.tsv").unlink()
    with pytest.raises(NotFound, match=r"holds neither qrels\.tsv nor"):
        load(folder)


@pytest.mark.parametrize("line", ["q1\tp1", "q1 p1 1", "q1\tp1\t0.5", "q1\t0\tp1\t1"])
def test_a_line_that_is_no_judgement_is_named(folder: Path, line: str) -> None:
    (folder / "qrels.tsv").write_text(QRELS + line + "\n")
    with pytest.raises(UsageError, match=r"qrels\.tsv, line 7: this is no judgement"):
        load(folder)


def test_judgements_need_no_names_of_columns(folder: Path) -> None:
    (folder / "qrels.tsv").write_text("q1\tp1\t1\n\n")
    assert load(folder).qrels == {"q1": {"p1": 1}}


def test_a_set_without_questions_or_passages_is_none(folder: Path) -> None:
    write_rows(folder / "corpus.jsonl", [])
    with pytest.raises(UsageError, match="holds no passage"):
        load(folder)
    write_rows(folder / "queries.jsonl", [QUERIES[3]])
    with pytest.raises(UsageError, match="holds no question that is judged"):
        load(folder)


def test_a_run_ranks_passages_by_their_best_chunk(folder: Path, shelf: Shelf) -> None:
    data = load_set(folder, shelf.docs)
    shelf.index()
    asked: list[tuple[int, int]] = []

    runs = run_set(shelf.base, data, "lexical", lambda done, total: asked.append((done, total)))

    assert {query_id: ranked[:1] for query_id, ranked in runs.items()} == {
        "q1": ["p1"],
        "q2": ["p2"],
        "q3": ["docs/.valves/a.md"],
    }
    assert asked == [(0, 3), (1, 3), (2, 3)]


def test_a_passage_counts_once_and_an_empty_question_finds_nothing() -> None:
    data = RetrievalSet(name="x", files={"a": "1", "b": "2"}, queries={"q": "?", "blank": " "}, qrels={})

    assert run_queries(lambda text: ["b", "a", "b"], data) == {"q": ["2", "1"], "blank": []}
