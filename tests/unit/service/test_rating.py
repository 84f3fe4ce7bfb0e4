import tempfile
from pathlib import Path
from typing import get_args

import pytest

from beir_set import PASSAGES, write_rows, write_set
from zhiku.answer import Mode
from zhiku.service.rating import MODES, compare, rate_set

QRELS = {"q1": {"a": 1}, "q2": {"b": 1}}


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder that temporary files of this test go to."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def test_a_set_is_rated_and_nothing_of_it_stays(tmp_path: Path, temporary: Path) -> None:
    rating = rate_set(write_set(tmp_path / "small"))

    assert (rating.name, rating.passages, rating.indexed, rating.questions) == ("small", 3, 3, 3)
    assert {name: each.mean for name, each in rating.modes["lexical"].items()} == {
        "ndcg@10": 1,
        "recall@10": 1,
        "recall@100": 1,
        "mrr@10": 1,
    }
    assert set(rating.modes) | set(rating.left_out) == set(MODES) == set(get_args(Mode))
    assert list(temporary.iterdir()) == []


def test_passages_that_are_not_in_the_index_are_counted(tmp_path: Path, temporary: Path) -> None:
    folder = write_set(tmp_path / "small")
    write_rows(folder / "corpus.jsonl", [*PASSAGES, {"_id": "empty", "text": ""}])

    rating = rate_set(folder)

    assert (rating.passages, rating.indexed) == (4, 3)


def test_a_limit_and_what_is_done_reach_the_caller(tmp_path: Path, temporary: Path) -> None:
    indexed: list[int] = []
    asked: list[tuple[int, int, Mode]] = []

    rating = rate_set(
        write_set(tmp_path / "small"),
        limit=1,
        progress=lambda done, total, path: indexed.append(total),
        asked=lambda done, total, mode: asked.append((done, total, mode)),
    )

    assert rating.questions == 1
    assert 3 in indexed
    assert (0, 1, "lexical") in asked


def test_an_interrupted_run_gives_no_figures(tmp_path: Path, temporary: Path) -> None:
    def interrupt(done: int, total: int, path: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        rate_set(write_set(tmp_path / "small"), progress=interrupt)
    assert list(temporary.iterdir()) == []


def test_what_fusing_adds_is_compared_with_each_leg() -> None:
    right, wrong = {"q1": ["a"], "q2": ["b"]}, {"q1": ["x"], "q2": ["b"]}

    modes, differences = compare({"lexical": wrong, "semantic": right, "hybrid": right}, QRELS)

    assert {mode: figures["mrr@10"].mean for mode, figures in modes.items()} == {
        "lexical": 0.5,
        "semantic": 1,
        "hybrid": 1,
    }
    assert {pair: figures["mrr@10"].mean for pair, figures in differences.items()} == {
        ("hybrid", "lexical"): 0.5,
        ("hybrid", "semantic"): 0,
    }


def test_one_way_of_searching_is_compared_with_nothing() -> None:
    modes, differences = compare({"lexical": {"q1": ["a"]}}, QRELS)

    assert (list(modes), differences) == (["lexical"], {})
