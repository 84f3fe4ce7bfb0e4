"""Embedding through an endpoint by the real command: options, agreement, Ctrl-C, kills."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from threading import Event
from typing import TYPE_CHECKING

import pytest

from endpoints import Seen, Server, Told, embedded, serving
from patience import PROMPT_S

if TYPE_CHECKING:
    from conftest import Cli

FILES = 40
NO_OVERRIDE = {"ZHIKU_EMBEDDER": ""}


class Model:
    """A server that hangs from its `hangs_at`-th request on; `is_hanging` tells when it does."""

    def __init__(self) -> None:
        self.hangs_at = 1_000
        self.is_hanging = Event()

    def answer(self, number: int, seen: Seen) -> Told:
        if number >= self.hangs_at:
            self.is_hanging.set()
            return Told(hangs=True)
        return embedded(seen)


@pytest.fixture
def model() -> Model:
    return Model()


@pytest.fixture
def server(model: Model) -> Iterator[Server]:
    with serving(model.answer) as opened:
        yield opened


@pytest.fixture
def full(cli: Cli) -> Cli:
    for n in range(FILES):
        cli.write(f"{n}.txt", f"pump number {n}")
    return cli


def options(server: Server) -> list[str]:
    return ["--embed-base-url", server.url, "--embed-model", "m1"]


def start(cli: Cli, *args: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "zhiku", *args]
    env = cli.environ(**NO_OVERRIDE)
    return subprocess.Popen(command, env=env, cwd=cli.folder, stderr=subprocess.PIPE, text=True, encoding="utf-8")


def test_a_base_is_embedded_by_options_and_searched_without_them(full: Cli, server: Server) -> None:
    done = full("index", "docs", *options(server), env=NO_OVERRIDE)
    assert (done.returncode, done.stderr) == (0, "")
    found = full("search", "pump number 7", "--mode", "semantic", "-k", "1", "--format", "files", env=NO_OVERRIDE)
    assert found.stdout.strip().endswith("7.txt")
    assert "endpoint" in full("status", env=NO_OVERRIDE).stdout


def test_a_dry_run_says_what_would_be_sent_and_makes_no_home(full: Cli, server: Server) -> None:
    done = full("index", "docs", "--dry-run", *options(server), env=NO_OVERRIDE)
    assert (done.returncode, done.stderr, server.seen, full.home.exists()) == (0, "", [], False)
    assert f"To be sent to {server.url}/v1/embeddings: {FILES} texts, about" in done.stdout
    away = ["--embed-base-url", "http://192.0.2.1:9/v1", "--embed-model", "m1"]
    done = full("index", "docs", "--dry-run", *away, env=NO_OVERRIDE)
    assert (done.returncode, "it needs a yes (--yes)" in done.stdout) == (0, True)
    assert "To be sent" not in full("index", "docs", "--dry-run", "--no-embed", *away, env=NO_OVERRIDE).stdout
    assert full("index", "docs", "--dry-run", "--force-ocr").returncode == 2


def test_what_requests_cost_is_shown(full: Cli, server: Server) -> None:
    assert full("usage").stderr == "No request to an endpoint is on record.\n"
    assert full("index", "docs", *options(server), env=NO_OVERRIDE).returncode == 0
    assert full("search", "pump", env=NO_OVERRIDE).returncode == 0
    told = json.loads(full("usage", "--since", "2d", "--format", "json").stdout)
    (row,) = told["usage"]
    assert (row["kind"], row["model"], row["address"]) == ("embedding", "m1", f"{server.url}/v1/embeddings")
    assert (row["calls"], row["errors"], row["texts"], row["tokens_estimated"]) == (2, 0, FILES + 1, 0)
    head, line = full("usage").stdout.splitlines()
    assert head.split() == ["kind", "model", "calls", "errors", "texts", "tokens", "time", "address"]
    assert line.split()[:5] == ["embedding", "m1", "2", "0", str(FILES + 1)]
    assert full("usage", "--since", "3000-01-01").stdout == ""


def test_a_key_by_an_option_is_sent_and_not_shown_and_its_passing_is_told(full: Cli, server: Server) -> None:
    done = full("-vv", "index", "docs", *options(server), "--embed-api-key", "sk-secret", env=NO_OVERRIDE)
    assert done.returncode == 0
    assert server.seen[0].headers["Authorization"] == "Bearer sk-secret"
    assert "known to this run alone" in done.stderr
    assert "sk-secret" not in done.stdout + done.stderr
    assert "pump number" not in done.stderr
    for file in full.home.rglob("*"):
        assert not file.is_file() or b"sk-secret" not in file.read_bytes()


@pytest.mark.parametrize("status", [200, 400, 401, 404, 500])
def test_neither_key_nor_text_is_told_whatever_a_server_answers(cli: Cli, status: int) -> None:
    cli.write("a.txt", "a secret of the pump")

    def echo(number: int, seen: Seen) -> Told:
        return Told(status=status, body={"error": {"message": f"wrong: {seen.body['input']} {seen.headers}"}})

    with serving(echo) as server:
        keyed = [*options(server), "--embed-api-key", "sk-secret"]
        for form in ("text", "json"):
            done = cli("-vv", "--log-format", form, "index", "docs", *keyed, env=NO_OVERRIDE)
            assert done.returncode == 5
            assert "sk-secret" not in done.stdout + done.stderr
            assert "a secret of the pump" not in done.stdout + done.stderr
        found = cli("-vv", "search", "pump", "--format", "json", env=NO_OVERRIDE)
        assert "sk-secret" not in found.stdout + found.stderr
    for file in cli.home.rglob("*"):
        assert not file.is_file() or b"sk-secret" not in file.read_bytes()
        assert not file.is_file() or file.suffix != ".log" or b"a secret" not in file.read_bytes()


def test_text_for_another_computer_needs_a_yes(full: Cli) -> None:
    away = ["--embed-base-url", "http://192.0.2.1:9/v1", "--embed-model", "m1"]
    done = full("index", "docs", *away, env=NO_OVERRIDE)
    assert (done.returncode, "http://192.0.2.1:9/v1/embeddings" in done.stderr, "--yes" in done.stderr) == (
        2,
        True,
        True,
    )
    assert not (full.home / "bases" / "default" / "index.sqlite3").exists()
    assert full("index", "docs", "--no-embed", *away, env=NO_OVERRIDE).returncode == 0


def test_a_sync_embeds_new_bases_by_options_and_asks_nobody_where_nobody_can_be(cli: Cli, server: Server) -> None:
    cli.write("notes/a.txt", "the pump")
    away = ["--embed-base-url", "http://192.0.2.1:9/v1", "--embed-model", "m1"]
    done = cli("sync", "docs", *away, env=NO_OVERRIDE)
    assert (done.returncode, "zhiku index -b notes --yes" in done.stdout) == (2, True)
    assert cli("sync", "docs", *options(server), env=NO_OVERRIDE).returncode == 0
    assert cli("search", "pump", "--mode", "semantic", env=NO_OVERRIDE).returncode == 0


def test_another_endpoint_is_refused_and_a_rebuild_moves_the_base(full: Cli, server: Server) -> None:
    assert full("index", "docs", *options(server), env=NO_OVERRIDE).returncode == 0
    with serving(lambda number, seen: embedded(seen, dims=16)) as other:
        wanted = ["--embed-base-url", other.url, "--embed-model", "m2"]
        refused = full("index", *wanted, env=NO_OVERRIDE)
        assert refused.returncode == 4
        assert all(word in refused.stderr for word in ("m1, 8", "m2, 16", "zhiku rebuild", "set the old"))
        assert full("rebuild", *wanted, env=NO_OVERRIDE).returncode == 0
        found = full("search", "pump number 7", "--mode", "semantic", "--format", "files", env=NO_OVERRIDE)
        assert found.returncode == 0


@pytest.mark.skipif(sys.platform == "win32", reason="Windows cannot send SIGINT to another process")
@pytest.mark.parametrize("command", ["index", "search"])
def test_ctrl_c_ends_within_a_second_whatever_the_server_does(
    full: Cli, server: Server, model: Model, command: str
) -> None:
    if command == "search":
        assert full("index", "docs", *options(server), env=NO_OVERRIDE).returncode == 0
    model.hangs_at = len(server.seen) + 1
    args = ["index", "docs", *options(server)] if command == "index" else ["search", "pump"]
    with start(full, *args) as run:
        assert model.is_hanging.wait(30)
        began = time.monotonic()
        run.send_signal(signal.SIGINT)
        assert run.wait(10) == 130
        assert time.monotonic() - began < PROMPT_S
        assert run.stderr is not None
        assert "nterrupted" in run.stderr.read()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
def test_after_a_kill_the_rest_is_embedded_and_nothing_twice(full: Cli, server: Server, model: Model) -> None:
    for key, value in (("api_url", server.url), ("model_name", "m1"), ("batch_size", "4")):
        assert full("config", "set", f"models.embedding.{key}", value).returncode == 0
    model.hangs_at = 5
    with start(full, "index", "docs") as run:
        assert model.is_hanging.wait(30)
        run.kill()
        run.wait(10)
    model.hangs_at = 1_000
    done = full("index", env=NO_OVERRIDE)
    assert done.returncode == 0, done.stderr
    answered = [text for n, seen in enumerate(server.seen, 1) if n != 5 for text in seen.body["input"]]
    assert len(answered) == len(set(answered)) == FILES
