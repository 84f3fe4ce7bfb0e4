"""Runs that ask nobody send nothing to another computer for the first time."""

from __future__ import annotations

from pathlib import Path

import pytest

from endpoints import Seen, Told, embedded, serving
from zhiku.config import CONFIG_FILE
from zhiku.errors import UsageError
from zhiku.service.library import Library


def library(folder: Path, url: str) -> Library:
    """Return a library whose new bases are embedded at an address, and a library root beside it."""
    (folder / "home").mkdir(exist_ok=True)
    (folder / "home" / CONFIG_FILE).write_text(f'[models.embedding]\napi_url = "{url}"\nmodel_name = "m"\n')
    (folder / "root" / "notes").mkdir(parents=True, exist_ok=True)
    (folder / "root" / "notes" / "a.txt").write_text("the pump is greased")
    return Library(folder / "home")


@pytest.fixture(autouse=True)
def _no_override(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ZHIKU_EMBEDDER", raising=False)


def test_a_sync_stores_the_words_and_says_how_to_agree(tmp_path: Path) -> None:
    synced = library(tmp_path, "http://192.0.2.1:9").sync([tmp_path / "root"])
    assert isinstance(synced.failure, UsageError)
    assert "zhiku index -b notes --yes" in synced.failure.hint
    assert [hit.path for hit in library(tmp_path, "http://192.0.2.1:9").open("notes").search("pump", mode="lexical")]


def test_a_sync_uses_an_endpoint_on_this_computer(tmp_path: Path) -> None:
    def answer(number: int, seen: Seen) -> Told:
        return embedded(seen)

    with serving(answer) as server:
        synced = library(tmp_path, server.url).sync([tmp_path / "root"])
    assert synced.failure is None
    assert [len(seen.body["input"]) for seen in server.seen] == [1]
