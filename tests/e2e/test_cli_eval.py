"""`zhiku eval` as another program sees it."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from beir_set import write_set

if TYPE_CHECKING:
    from conftest import Cli

SAMPLES = Path(str(files("zhiku") / "samples"))


def cases(cli: Cli, *lines: str) -> str:
    file = cli.folder / "cases.jsonl"
    file.write_text("\n".join(lines), "utf-8")
    return str(file)


def test_the_cases_of_the_samples_are_found(cli: Cli) -> None:
    assert cli("index", str(SAMPLES)).returncode == 0

    done = cli("eval", "--cases", str(SAMPLES / "cases.jsonl"), "--min-recall", "0.6")

    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    marks = [line.split()[0] for line in lines if line.startswith(("PASS", "FAIL"))]
    assert len(marks) == 30
    assert f"{marks.count('PASS')} of 30" in done.stdout
    assert "PASS  1  杀青" in lines
    assert [line.split()[0] for line in lines[-5:]] == ["passed", "recall@5", "Top-1", "MRR", "time"]


def test_a_recall_below_the_floor_is_exit_1(notes: Cli) -> None:
    file = cases(
        notes,
        '{"query": "seal", "expect": "greased every spring", "source": "pumps.md"}',
        '{"query": "seal", "expect": "rusted", "source": "pumps.md"}',
    )

    done = notes("eval", "--cases", file, "--min-recall", "0.51", "-k", "3", "--mode", "lexical")

    assert done.returncode == 1
    assert "FAIL  -  seal\n         expected: rusted  (pumps.md)\n         first hit: notes/pumps.md\n" in done.stdout
    assert done.stderr == "Recall is 0.500, below the 0.51 asked for.\n"
    assert notes("eval", "--cases", file, "--min-recall", "0.5").returncode == 0
    assert notes("eval", "--cases", file).returncode == 0


def test_cases_come_as_json(notes: Cli) -> None:
    file = cases(notes, '{"query": "雨量筒", "expect": "校准完毕"}')

    report = json.loads(notes("eval", "--cases", file, "-b", "notes", "--format", "json").stdout)

    assert (report["bases"], report["top_k"], report["cases"], report["passed"]) == (["notes"], 5, 1, 1)
    assert (report["recall"], report["top_1"], report["mrr"]) == (1, 1, 1)
    assert report["items"][0]["rank"] == 1


def test_a_retrieval_set_is_rated_in_every_mode_and_leaves_no_base(cli: Cli) -> None:
    folder = write_set(cli.folder / "small")

    done = cli("eval", "--beir", str(folder))
    rating = json.loads(cli("eval", "--beir", str(folder), "--format", "json", "--limit", "2").stdout)

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("small: 3 passages in 3 chunks, 3 questions\n")
    assert "nDCG@10     1.000 [1.000, 1.000]" in done.stdout
    assert (rating["set"], rating["questions"]) == ("small", 2)
    assert rating["modes"]["lexical"]["ndcg@10"] == {"mean": 1, "low": 1, "high": 1}
    assert sorted([*rating["modes"], *rating["left_out"]]) == ["hybrid", "lexical", "semantic"]
    assert not (cli.home / "bases").exists()


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ((), "name one of --cases FILE and --beir DIR"),
        (("--cases", "a", "--beir", "b"), "name one of --cases FILE and --beir DIR"),
        (("--cases", "a", "--limit", "3"), "--limit goes with --beir only"),
        (("--beir", "a", "--min-recall", "0"), "--min-recall goes with --cases only"),
        (("--beir", "a", "-b", "notes"), "--base goes with --cases only"),
        (("--cases", "a", "--min-recall", "nan"), "--min-recall must be a number from 0 to 1, not 'nan'"),
        (("--cases", "a", "--mode", "fast"), "--mode cannot be 'fast'"),
        (("--cases", "none.jsonl"), "none.jsonl does not exist"),
        (("--beir", "none"), "none holds neither qrels.tsv nor qrels/test.tsv"),
    ],
)
def test_what_is_asked_wrongly_is_exit_2(notes: Cli, args: tuple[str, ...], said: str) -> None:
    done = notes("eval", *args)

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"Error: {said}")
    assert "\nHint: " in done.stderr
