"""Runs over many bases: to which endpoint their text goes, and that nobody's goes to another computer unasked."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

import pytest

from endpoints import Server, embedded, serving
from fakes import FakeClock, FakeEmbedder, FakeFileSystem, install
from zhiku.config import CONFIG_FILE
from zhiku.errors import UsageError
from zhiku.ingest.watch import RootsWatch
from zhiku.service.embedding import Sending
from zhiku.service.endpoints import EmbedOptions
from zhiku.service.library import Library
from zhiku.service.watching import Watcher, WatchEvent

AWAY = "http://192.0.2.1:9"
REMOTE = "http://models.example.com"


def library(folder: Path, url: str = "", options: EmbedOptions | None = None) -> Library:
    """Return a library whose new bases are embedded at an address, and a library root beside it."""
    (folder / "home").mkdir(exist_ok=True)
    section = f'[models.embedding]\napi_url = "{url}"\nmodel_name = "m"\n' if url else ""
    (folder / "home" / CONFIG_FILE).write_text(section)
    (folder / "root" / "notes").mkdir(parents=True, exist_ok=True)
    (folder / "root" / "notes" / "a.txt").write_text("the pump is greased")
    return Library(folder / "home", options)


def told(url: str, key: str = "") -> EmbedOptions:
    return EmbedOptions(base_url=url, model="m", api_key=key, for_new=True)


@pytest.fixture(autouse=True)
def _no_override(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ZHIKU_EMBEDDER", raising=False)


@pytest.fixture
def server() -> Iterator[Server]:
    with serving(lambda number, seen: embedded(seen)) as opened:
        yield opened


@pytest.fixture
def remote(server: Server, monkeypatch: pytest.MonkeyPatch) -> Server:
    """Return a server that answers for one on another computer, `REMOTE`."""
    monkeypatch.setenv("HTTP_PROXY", server.url)
    for name in ("http_proxy", "NO_PROXY", "no_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    return server


# --- who agrees ---


def test_a_sync_stores_the_words_and_says_how_to_agree(tmp_path: Path) -> None:
    synced = library(tmp_path, AWAY).sync([tmp_path / "root"])
    assert isinstance(synced.failure, UsageError)
    assert "zhiku index -b notes --yes" in synced.failure.hint
    assert [hit.path for hit in library(tmp_path, AWAY).open("notes").search("pump", mode="lexical")]


def test_a_sync_uses_an_endpoint_on_this_computer(tmp_path: Path, server: Server) -> None:
    synced = library(tmp_path, server.url).sync([tmp_path / "root"])
    assert synced.failure is None
    assert [len(seen.body["input"]) for seen in server.seen] == [1]


def test_a_sync_asks_once_for_all_bases_and_sends_what_was_agreed_to(tmp_path: Path, remote: Server) -> None:
    for name in ("notes", "private"):
        (tmp_path / "root" / name).mkdir(parents=True)
        (tmp_path / "root" / name / "b.txt").write_text(f"the valve of {name}")
    asked: list[dict[str, Sending]] = []

    def agree(sendings: Mapping[str, Sending]) -> Collection[str]:
        assert not remote.seen
        asked.append(dict(sendings))
        return ["notes"]

    synced = library(tmp_path, REMOTE).sync([tmp_path / "root"], agree=agree)
    (sendings,) = asked
    assert {name: (each.address, each.is_new) for name, each in sendings.items()} == {
        "notes": (f"{REMOTE}/v1/embeddings", True),
        "private": (f"{REMOTE}/v1/embeddings", True),
    }
    assert [(base.name, base.failure is None) for base in synced.bases] == [("notes", True), ("private", False)]
    assert not any("private" in text for seen in remote.seen for text in seen.body["input"])
    assert library(tmp_path, REMOTE).sync([tmp_path / "root"], may_send=True).failure is None


# --- what options mean ---


def test_options_are_for_bases_without_vectors_alone(
    tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(monkeypatch, FakeEmbedder())
    monkeypatch.setenv("ZHIKU_EMBEDDER", "fake")
    assert library(tmp_path).sync([tmp_path / "root"]).failure is None
    monkeypatch.delenv("ZHIKU_EMBEDDER")
    with serving(lambda number, seen: embedded(seen, 16)) as other:
        (tmp_path / "root" / "first").mkdir()
        (tmp_path / "root" / "first" / "c.txt").write_text("a first endpoint")
        assert library(tmp_path, options=told(server.url)).sync([tmp_path / "root"]).failure is None
        (tmp_path / "root" / "second").mkdir()
        (tmp_path / "root" / "second" / "d.txt").write_text("a second endpoint")
        for name in ("first", "notes"):
            (tmp_path / "root" / name / "new.txt").write_text(f"more {name}")
        assert library(tmp_path, options=told(other.url)).sync([tmp_path / "root"]).failure is None
        assert [text for seen in other.seen for text in seen.body["input"]] == ["a second endpoint"]
        assert [text for seen in server.seen for text in seen.body["input"]] == ["a first endpoint", "more first"]
    names = {base.name: base.status().embedder_name for base in library(tmp_path).bases()}
    assert names == {"first": "endpoint", "notes": "fake", "second": "endpoint"}


def test_a_base_that_is_set_to_no_embedder_stays_so(tmp_path: Path, server: Server) -> None:
    library(tmp_path).open_or_create("notes")
    (tmp_path / "home" / "bases" / "notes" / "base.toml").write_text('embedder = "none"\n')
    assert library(tmp_path, options=told(server.url)).sync([tmp_path / "root"]).failure is None
    assert server.seen == []


def test_the_key_of_options_goes_to_their_address_alone(tmp_path: Path, server: Server) -> None:
    library(tmp_path, options=told(server.url)).sync([tmp_path / "root"])
    (tmp_path / "root" / "notes" / "new.txt").write_text("more")
    library(tmp_path, options=told("http://elsewhere:9", "its-key")).sync([tmp_path / "root"])
    library(tmp_path, options=told(server.url, "my-key")).sync([tmp_path / "root"])
    (tmp_path / "root" / "notes" / "last.txt").write_text("most")
    library(tmp_path, options=told(server.url, "my-key")).sync([tmp_path / "root"])
    assert [seen.headers.get("Authorization") for seen in server.seen] == [None, None, "Bearer my-key"]


# --- a watch ---


def test_a_watch_sends_nothing_for_the_first_time_unless_somebody_agreed(tmp_path: Path, remote: Server) -> None:
    library(tmp_path, REMOTE).sync([tmp_path / "root"], embed=False)
    failures = []
    for may_send in (False, True):
        events: list[WatchEvent] = []
        watcher = Watcher(
            library(tmp_path, REMOTE),
            may_send=may_send,
            on_event=events.append,
            watch=RootsWatch(FakeFileSystem(), FakeClock()),
        )
        while watcher.step(threading.Event()):
            pass
        failures.append([type(event.error) for event in events if event.error])
        assert bool(remote.seen) == may_send
    assert failures == [[UsageError], []]
