"""Which embedder a base is searched with, and why it may be none."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from fakes import FakeEmbedder, install, stop_at
from zhiku.config import BaseSettings
from zhiku.errors import ConfigError, ManifestMismatch, ModelUnavailable
from zhiku.registry import EMBEDDER_PACKAGES
from zhiku.service.meaning import EMBEDDER_NAME, FINGERPRINT, VERDICTS_FILE, Embedders, meaning_of

UNSET = BaseSettings()


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> FakeEmbedder:
    """Return an embedder that cannot be loaded: nothing here may need that."""
    embedder = FakeEmbedder(before=stop_at(1, AssertionError("loaded")))
    install(monkeypatch, embedder)
    return embedder


def packages(monkeypatch: pytest.MonkeyPatch, builtin: str, fallback: str) -> None:
    monkeypatch.setitem(EMBEDDER_PACKAGES, "builtin", (builtin,))
    monkeypatch.setitem(EMBEDDER_PACKAGES, "fallback", (fallback,))


@pytest.mark.parametrize(
    ("forced", "settings", "manifest", "name"),
    [
        ("fake", "builtin", "fallback", "fake"),
        ("", "fake", "fallback", "fake"),
        ("", "", "fake", "fake"),
        ("", "", "", "fallback"),
        ("none", "fake", "fake", "none"),
        ("", "none", "fake", "none"),
        ("", "", "of a newer zhiku", "fallback"),
    ],
)
def test_what_is_forced_comes_before_what_is_set_and_before_what_made_the_vectors(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    fake: FakeEmbedder,
    forced: str,
    settings: str,
    manifest: str,
    name: str,
) -> None:
    packages(monkeypatch, "no_such_package", "json")
    embedders = Embedders(tmp_path, forced)
    assert embedders.name_for(BaseSettings(embedder=settings), {EMBEDDER_NAME: manifest}) == name


@pytest.mark.parametrize(
    ("builtin", "fallback", "name"),
    [("json", "json", "builtin"), ("no_such", "json", "fallback"), ("no_such", "no_such", "none")],
)
def test_the_best_one_installed_is_the_default(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, builtin: str, fallback: str, name: str
) -> None:
    packages(monkeypatch, builtin, fallback)
    assert Embedders(tmp_path).name_for(UNSET, {}) == name


@pytest.mark.parametrize(("forced", "settings"), [("bultin", ""), ("", "bultin")])
def test_an_unknown_name_is_an_error_that_lists_the_known_ones(tmp_path: Path, forced: str, settings: str) -> None:
    with pytest.raises(ConfigError, match=r"no embedder 'bultin'.*builtin, fallback, endpoint, none"):
        Embedders(tmp_path, forced).name_for(BaseSettings(embedder=settings), {})


def test_an_embedder_is_made_once_for_each_number_of_threads(tmp_path: Path) -> None:
    embedders = Embedders(tmp_path)
    assert embedders.get("builtin") is embedders.get("builtin", 1)
    assert embedders.get("builtin", 2) is not embedders.get("builtin")


def test_a_base_is_searched_by_the_embedder_that_made_its_vectors(tmp_path: Path, fake: FakeEmbedder) -> None:
    manifest = {EMBEDDER_NAME: "fake", FINGERPRINT: fake.fingerprint}
    meaning = meaning_of("notes", UNSET, manifest, Embedders(tmp_path))
    assert (meaning.embedder, meaning.reason, meaning.is_fault) == (fake, None, False)


def test_a_base_without_an_embedder_is_no_fault(tmp_path: Path, fake: FakeEmbedder) -> None:
    manifest = {EMBEDDER_NAME: "fake", FINGERPRINT: fake.fingerprint}
    meaning = meaning_of("notes", BaseSettings(embedder="none"), manifest, Embedders(tmp_path))
    assert isinstance(meaning.reason, ModelUnavailable)
    assert "'notes'" in str(meaning.reason)
    assert (meaning.embedder, meaning.is_fault) == (None, False)


def test_a_base_that_was_never_embedded_is_a_fault(tmp_path: Path, fake: FakeEmbedder) -> None:
    meaning = meaning_of("notes", BaseSettings(embedder="fake"), {}, Embedders(tmp_path))
    assert isinstance(meaning.reason, ModelUnavailable)
    assert "zhiku index -b notes" in str(meaning.reason)
    assert (meaning.embedder, meaning.is_fault) == (None, True)


def test_vectors_of_another_embedder_are_a_fault(tmp_path: Path, fake: FakeEmbedder) -> None:
    meaning = meaning_of("notes", UNSET, {EMBEDDER_NAME: "fake", FINGERPRINT: "fake 7"}, Embedders(tmp_path))
    assert isinstance(meaning.reason, ManifestMismatch)
    assert all(part in str(meaning.reason) for part in ("'notes'", "fake 7", "fake 8", "zhiku rebuild -b notes"))
    assert (meaning.embedder, meaning.is_fault) == (None, True)


def test_a_verdict_that_cannot_be_kept_does_not_matter(tmp_path: Path) -> None:
    if not all(find_spec(package) for package in EMBEDDER_PACKAGES["builtin"]):
        pytest.skip("this system has no built-in model")
    (tmp_path / VERDICTS_FILE).mkdir()
    assert Embedders(tmp_path).get("builtin").count_tokens("water") > 0
