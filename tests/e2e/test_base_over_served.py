"""A base embedded through `zhiku serve-models`, over a real socket, beside one that is embedded in the process."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any

import httpx2
import pytest

import zhiku
from endpoints import Seen, Told, serving
from served import HAS_BUILTIN, Served, served

if TYPE_CHECKING:
    from conftest import Cli

pytestmark = pytest.mark.skipif(not HAS_BUILTIN, reason="this system has no built-in model")

SAMPLES = Path(zhiku.__file__).parent / "samples"
MODEL = "multilingual-e5-small"
DOCUMENTS = ("notes/power-system.md", "notes/霜冻预警流程.md", "notes/雨量筒校准.md")
QUESTIONS = [
    ("Why must a frozen battery not be charged?", "hybrid"),
    ("when can the frost fans be stopped", "semantic"),
]
BATCH_SIZE = 2
TOLERANCE = 0.002
"""Vectors pass the wire as decimals and are brought to length 1 once more."""


class Homes:
    """The command over some of the samples, with a home for each way of embedding."""

    def __init__(self, cli: Cli) -> None:
        self.cli = cli
        for name in DOCUMENTS:
            shutil.copy(SAMPLES / name, cli.docs)
        self.run("builtin", "index", "docs")
        self._expected = [self._hits("builtin", *each) for each in QUESTIONS]

    def env(self, home: str) -> dict[str, str]:
        return {"ZHIKU_EMBEDDER": "", "ZHIKU_HOME": str(self.cli.folder / home)}

    def run(self, home: str, *args: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        done = self.cli(*args, env=self.env(home))
        assert done.returncode == code, done.stderr
        return done

    def configure(self, home: str, url: str) -> None:
        folder = self.cli.folder / home
        folder.mkdir(exist_ok=True)
        embedding = f'[models.embedding]\napi_url = "{url}"\nmodel_name = "{MODEL}"\nbatch_size = {BATCH_SIZE}\n'
        (folder / "config.toml").write_text(embedding, "utf-8")

    def _hits(self, home: str, question: str, mode: str) -> list[dict[str, Any]]:
        done = self.run(home, "search", question, "--mode", mode, "--format", "json")
        found = json.loads(done.stdout)
        assert found["health"]["legs"]["vector"]["ran"] is True, found["health"]
        hits: list[dict[str, Any]] = found["hits"]
        return hits

    def check_equal(self, home: str) -> None:
        """Hold a home's hits to those of the base that was embedded in the process."""
        for (question, mode), expected in zip(QUESTIONS, self._expected, strict=True):
            found = self._hits(home, question, mode)
            assert len(expected) > 1
            assert [hit["locator"] for hit in found] == [hit["locator"] for hit in expected]
            for name in ("score", "relevance"):
                assert [hit[name] for hit in found] == pytest.approx([hit[name] for hit in expected], abs=TOLERANCE)


@pytest.fixture(scope="module")
def homes(new_cli: Callable[[], Cli]) -> Homes:
    return Homes(new_cli())


@pytest.fixture(scope="module")
def server(homes: Homes) -> Iterator[Served]:
    with served(homes.cli.folder, homes.cli.environ()) as running:
        yield running


def test_its_hits_are_those_of_the_built_in_base_at_another_endpoint_too(homes: Homes, server: Served) -> None:
    homes.configure("one", server.url)
    homes.run("one", "index", "docs")
    homes.check_equal("one")

    homes.configure("one", server.url.replace("127.0.0.1", "localhost"))
    refused = homes.run("one", "index", code=4)
    assert all(part in refused.stderr for part in ("127.0.0.1", "localhost", "384", "zhiku rebuild"))
    homes.run("one", "search", "battery", "--mode", "semantic", code=4)
    by_words = homes.run("one", "search", "battery", "--format", "files")
    assert by_words.stdout

    homes.run("one", "rebuild")
    homes.check_equal("one")


def test_it_reranks_the_hits_of_a_search(homes: Homes, server: Served) -> None:
    rerank = f'[models.rerank]\napi_url = "{server.url}"\nmodel_name = "{MODEL}"\n[search]\nrerank_timeout = 50\n'
    (homes.cli.folder / "builtin" / "config.toml").write_text(rerank, "utf-8")
    done = homes.run("builtin", "search", QUESTIONS[0][0], "--rerank", "--format", "json")
    found = json.loads(done.stdout)
    assert found["health"]["reranker"] == f"{server.url}/rerank"
    assert found["health"]["degraded"] == []
    assert "power-system" in found["hits"][0]["path"]
    assert "rerank: " in server.notes


class Counting:
    """Passes requests on to a server; hangs at the `hangs_at`-th one."""

    def __init__(self, http: httpx2.Client) -> None:
        self._http = http
        self.hangs_at = 0
        self.is_hanging = Event()
        self.answered: list[str] = []

    def answer(self, number: int, seen: Seen) -> Told:
        if number == self.hangs_at:
            self.is_hanging.set()
            return Told(hangs=True)
        done = self._http.post(seen.path, json=seen.body)
        self.answered += seen.body["input"]
        return Told(body=done.content, status=done.status_code)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
def test_after_a_kill_the_rest_is_embedded_nothing_twice_and_its_hits_are_the_same(
    homes: Homes, server: Served
) -> None:
    with httpx2.Client(base_url=server.url.removesuffix("/v1"), trust_env=False, timeout=60) as http:
        counting = Counting(http)
        with serving(counting.answer) as counted:
            homes.configure("killed", counted.url)
            counting.hangs_at = 4
            command = [sys.executable, "-m", "zhiku", "index", "docs"]
            with subprocess.Popen(command, env=homes.cli.environ(**homes.env("killed")), cwd=homes.cli.folder) as run:
                assert counting.is_hanging.wait(30)
                run.kill()
            before = len(counting.answered)
            homes.run("killed", "index")
            assert 0 < before < len(counting.answered)
            assert [text for text, times in Counter(counting.answered).items() if times > 1] == []
            assert all(text.startswith("passage: ") for text in counting.answered)
            homes.check_equal("killed")
