"""Faults over endpoints that other tools have been reported to have: the cases of tests/cases that need a server.

Each runs the real command against tests/cases/tools/fake_endpoint.py, which misbehaves as the case says; every entry of
`variants` is a run of its own.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from case_doors import CASES, has_endpoint

if TYPE_CHECKING:
    from conftest import Cli

MODES = {"keyword": "lexical", None: "hybrid"}

CASE_RUNS = [
    pytest.param(path.parent.name, extra, id=f"{path.parent.name} {' '.join(extra)}".strip())
    for path in sorted(CASES.glob("*/case.json"))
    if has_endpoint(path)
    for extra in json.loads(path.read_text("utf-8"))["endpoint"].get("variants", [[]])
]


@contextmanager
def endpoint(log: Path, options: list[str], port: int = 0) -> Iterator[int]:
    """Run the fake endpoint and give its port."""
    told = [argument for option in options for argument in ("--opt", option)]
    command = [sys.executable, str(CASES / "tools" / "fake_endpoint.py"), "--port", str(port), "--log", str(log), *told]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, encoding="utf-8") as server:
        try:
            assert server.stdout is not None
            yield int(server.stdout.readline().split()[1])
        finally:
            server.kill()


class Run:
    """One case: the command, the server, and what each step gave."""

    def __init__(self, cli: Cli, case: dict[str, Any], options: list[str]) -> None:
        self.cli = cli
        self.case = case
        self.log = cli.folder / "requests.jsonl"
        self.results: list[Any] = []
        self.reranks = case["kind_name"] == "rerank endpoint"
        self.slowest_s = 0.0
        self._options = options
        self._server = ExitStack()
        self.port = self._server.enter_context(endpoint(self.log, options))

    def close(self) -> None:
        self._server.close()

    def command(self, *args: str) -> subprocess.CompletedProcess[str]:
        done = self.cli(*args, env={"ZHIKU_EMBEDDER": "none" if self.reranks else ""})
        assert "Traceback" not in done.stderr
        return done

    def configure(self, url: str, model: str) -> None:
        if self.reranks:
            settings = {"models.rerank.api_url": url, "models.rerank.model_name": model}
        else:
            settings = {"api_url": url, "model_name": model, "timeout": "10"}
            settings = {f"models.embedding.{key}": value for key, value in settings.items()}
        for key, value in settings.items():
            assert self.command("config", "set", key, value).returncode == 0

    def requests(self) -> list[dict[str, Any]]:
        text = self.log.read_text("utf-8") if self.log.exists() else ""
        return [json.loads(line) for line in text.splitlines()]

    def do(self, step: dict[str, Any]) -> None:
        step = dict(step)
        self.results.append(getattr(self, f"do_{step.pop('op')}")(**step))

    def do_index(self, path: str) -> subprocess.CompletedProcess[str]:
        asked = len(self.requests())
        done = self.command("index", path)
        if asked and not self.reranks:  # nothing that has a vector is sent again
            sent = [text for request in self.requests()[asked:] for text in request["body"]["input"]]
            assert sent == []
        return done

    def do_search(
        self, query: str, mode: str | None = None, rerank: bool = False, min_relevance: float | None = None
    ) -> subprocess.CompletedProcess[str]:
        options = ["--rerank"] if rerank else []
        options += [] if min_relevance is None else ["--min-relevance", str(min_relevance)]
        began = time.monotonic()
        done = self.command("search", query, "--mode", MODES.get(mode, mode or ""), "--format", "json", *options)
        self.slowest_s = max(self.slowest_s, time.monotonic() - began)
        return done

    def do_status(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.command("status", "--format", "json").stdout)["bases"][0]
        return found

    def do_config(self, set: dict[str, str], endpoint_opt: list[str]) -> None:  # noqa: A002 - as the cases name it
        self._server.close()
        self._server.enter_context(endpoint(self.log, endpoint_opt, self.port))
        self.configure(f"http://127.0.0.1:{self.port}", set["model"])

    def do_foreach(self, file: str, do: str) -> list[tuple[set[str], str]]:
        assert do == "index with base_url, read the endpoint log"
        paths = []
        for url, expected in json.loads((self.cli.folder / file).read_text("utf-8")):
            shutil.rmtree(self.cli.home)
            asked = len(self.requests())
            self.configure(url.replace("http://H", f"http://127.0.0.1:{self.port}"), "m1")
            assert self.command("index", "kb").returncode == 0
            paths.append(({request["path"] for request in self.requests()[asked:]}, expected))
        return paths


def _hits(done: subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    assert done.returncode == 0, done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout)["hits"]
    return found


def _taken(run: Run, most: int) -> int:
    """Return how many passages the server took, which are those of requests that are not too large for it."""
    bodies = [request["body"]["input"] for request in run.requests()]
    return sum(len(texts) for texts in bodies if len(texts) <= most and any("货架" in text for text in texts))


def _files(run: Run, done: subprocess.CompletedProcess[str]) -> list[str]:
    return [Path(hit["file"]).relative_to(run.cli.folder).as_posix() for hit in _hits(done)]


CHECKS: dict[str, Callable[[Run, Any, Any], bool]] = {
    "top1": lambda run, done, file: _files(run, done)[0] == file,
    "contains": lambda run, done, file: file in _files(run, done),
    "not_contains": lambda run, done, file: file not in _files(run, done),
    "topk": lambda run, done, most: len(_hits(done)) <= most,
    "max_s": lambda run, _, most: run.slowest_s <= most,
    "error_contains": lambda _, done, parts: done.returncode == 4 and all(part in done.stderr for part in parts),
    "endpoint_texts": lambda run, _, count: _taken(run, 10) in (count, count + 1),  # with the question
    "endpoint_max_ok_batch": lambda run, _, most: (
        max(len(request["body"]["input"]) for request in run.requests()[-3:]) <= most
    ),
    "vectors": lambda _, status, count: status["chunks"] - status["pending_vectors"] == count,
    "without_vector": lambda run, status, files: (
        [(Path(each["root"]) / each["path"]).relative_to(run.cli.folder).as_posix() for each in status["unembedded"]]
        == files
    ),
    "path_equals": lambda run, _, __: all(paths == {expected} for paths, expected in run.results[0]),
}


@pytest.mark.parametrize(("name", "extra"), CASE_RUNS)
def test_a_reported_fault_of_an_endpoint_is_not_ours(cli: Cli, name: str, extra: list[str]) -> None:
    case = json.loads((CASES / name / "case.json").read_text("utf-8"))
    shutil.copytree(CASES / name, cli.folder, dirs_exist_ok=True)
    run = Run(cli, case, [*case["endpoint"]["opt"], *extra])
    try:
        run.configure(f"http://127.0.0.1:{run.port}", "m1")
        for step in case["steps"]:
            run.do(step)
        for expectation in case["expect"]:
            step = expectation.pop("step", None)
            for key, value in expectation.items():
                result = None if step is None else run.results[step]
                assert CHECKS[key](run, result, value), (key, value, result)
    finally:
        run.close()


NOTES = {
    "hit.md": "保修条款：水泵保修期为三年。",
    "n1.md": "水泵安装：先装底座。",
    "n2.md": "阀门保修条款另见附件。",
    "n3.md": "食堂菜单：周三面条。",
}
QUESTION = "水泵保修期为三年"


@pytest.fixture
def reranked(cli: Cli) -> Cli:
    """Return the command over four notes that are searched by words."""
    for path, text in NOTES.items():
        cli.write(path, text)
    assert cli("index", "docs").returncode == 0
    return cli


def search(cli: Cli, *options: str) -> tuple[dict[str, Any], str]:
    done = cli("search", QUESTION, "--format", "json", *options)
    assert (done.returncode, "Traceback" in done.stderr) == (0, False)
    return json.loads(done.stdout), done.stderr


@pytest.mark.parametrize("options", [["shape=cohere"], ["shape=tei"], ["shape=data"], ["shape=scores_only"], ["oor=1"]])
@pytest.mark.parametrize("scale", ["unit", "logit"])
def test_every_kind_of_rerank_endpoint_gives_scores_from_0_to_1(
    reranked: Cli, tmp_path: Path, options: list[str], scale: str
) -> None:
    with endpoint(tmp_path / "log", [*options, f"scale={scale}", "order=reversed"]) as port:
        reranked("config", "set", "models.rerank.api_url", f"http://127.0.0.1:{port}/v1/")
        answer, told = search(reranked, "--rerank")
    scores = {hit["path"]: hit["rerank_score"] for hit in answer["hits"]}
    assert scores["hit.md"] == pytest.approx(1.0, abs=0.001)
    assert scores["n2.md"] < 0.15
    assert told == ""
    assert answer["health"]["reranker"] == f"http://127.0.0.1:{port}/v1/rerank"


@pytest.mark.parametrize(
    "options", [["err200=1"], ["rerank_status=500"], ["rerank_status=401"], ["paths=/v2"], ["hang=60"]]
)
def test_a_rerank_endpoint_that_fails_costs_no_search_and_is_told(
    reranked: Cli, tmp_path: Path, options: list[str]
) -> None:
    plain, _ = search(reranked)
    with endpoint(tmp_path / "log", options) as port:
        reranked("config", "set", "models.rerank.api_url", f"http://127.0.0.1:{port}")
        reranked("config", "set", "models.rerank.api_key", "sk-secret")
        reranked("config", "set", "search.rerank_timeout", "0.5")
        answer, told = search(reranked, "--rerank")
    assert answer["hits"] == plain["hits"]
    assert "the hits were not scored anew" in told
    assert f"http://127.0.0.1:{port}/v1/rerank" in told
    assert "sk-secret" not in told
    assert len(answer["health"]["degraded"]) == 2


def test_a_rerank_endpoint_that_is_gone_costs_no_search_and_is_told(reranked: Cli, tmp_path: Path) -> None:
    plain, _ = search(reranked)
    with endpoint(tmp_path / "log", []) as port:
        reranked("config", "set", "models.rerank.api_url", f"http://127.0.0.1:{port}")
        search(reranked, "--rerank")
    answer, told = search(reranked, "--rerank")
    assert answer["hits"] == plain["hits"]
    assert "cannot be reached" in told


def test_what_is_kept_and_where_text_goes_is_shown(reranked: Cli, tmp_path: Path) -> None:
    with endpoint(tmp_path / "log", []) as port:
        reranked("config", "set", "models.rerank.api_url", f"http://127.0.0.1:{port}")
        reranked("config", "set", "search.enable_rerank", "true")
        answer, told = search(reranked, "-k", "2")
        explained = reranked("search", QUESTION, "--explain")
    assert [hit["path"] for hit in answer["hits"]] == ["hit.md"]
    assert "rerank_top_k must be below top_k" in told
    assert "reranked 1.000, found in place 1" in explained.stdout
    assert f"Scored anew by: http://127.0.0.1:{port}/v1/rerank" in explained.stderr
    assert search(reranked, "--no-rerank")[0]["health"]["reranker"] is None


def test_the_settings_say_where_text_of_hits_goes(cli: Cli) -> None:
    cli("config", "set", "models.rerank.api_url", "https://rerank.example.com")
    done = cli("config", "set", "search.enable_rerank", "true")
    assert "https://rerank.example.com/v1/rerank" in done.stderr
    assert "https://rerank.example.com/v1/rerank" in cli("config", "show").stderr
