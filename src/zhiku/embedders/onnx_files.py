"""The files of an ONNX model of the user's own, known by their content."""

from __future__ import annotations

import hashlib
import json
import logging
from pathlib import Path
from typing import Any

from zhiku.errors import ConfigError, IndexStateError
from zhiku.paths import write_private

log = logging.getLogger(__name__)

MODEL_FILE = "model.onnx"
TOKENIZER_FILE = "tokenizer.json"
DIGEST_CHARS = 16


def model_digest(folder: Path, known: Path | None = None) -> str:
    """Return what stands for the model in a folder: it changes with any byte of its network or tokenizer.

    What lies beside the network as a part of it (`model.onnx_data`) counts too. A large file takes seconds to hash:
    the private file `known` remembers what came out, which holds while path, size and time are as they were. Raises
    `ConfigError` where a file is missing or cannot be read.
    """
    remembered = _read(known)
    told = dict(remembered)
    try:
        hashes = [(path.name, _hash(path, told)) for path in _files(folder)]
    except OSError as error:
        raise ConfigError(
            "the model file {path} cannot be read: {cause}.",
            path=error.filename or folder,
            cause=error.strerror,
            hint="check its permissions, or set another path in config.toml",
        ) from error
    if known is not None and told != remembered:
        _remember(known, told)
    return hashlib.sha256(json.dumps(hashes).encode()).hexdigest()[:DIGEST_CHARS]


def _files(folder: Path) -> list[Path]:
    for name in (MODEL_FILE, TOKENIZER_FILE):
        if not (folder / name).is_file():
            raise ConfigError(
                "the folder {path} holds no {name}.",
                path=folder,
                name=name,
                hint="put model.onnx and tokenizer.json there, or set another path in config.toml",
            )
    beside = sorted(path for path in folder.glob(f"{MODEL_FILE}[_.]*") if path.is_file())
    return [folder / MODEL_FILE, *beside, folder / TOKENIZER_FILE]


def _hash(path: Path, told: dict[str, Any]) -> str:
    """Return a file's SHA-256: what is told of it, if that is of the file as it is now."""
    status = path.stat()
    look = [status.st_size, status.st_mtime_ns]
    before = told.get(str(path))
    if isinstance(before, list) and before[:-1] == look:
        return str(before[-1])
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    told[str(path)] = [*look, found]
    return found


def _read(known: Path | None) -> dict[str, Any]:
    """Return what was found before; a file that is missing or damaged says nothing."""
    try:
        found = json.loads(known.read_text("utf-8")) if known else {}
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _remember(known: Path, told: dict[str, Any]) -> None:
    """Keep what was found; where that cannot be, as on a read-only disk, it is found again."""
    try:
        write_private(known, json.dumps(told))
    except IndexStateError as error:
        log.debug("no hash kept: %s", error)
