"""The command, with a commit after every few files or texts, and an embedder that costs next to nothing, `letters`.

Where a run is killed, it has then done a part of its work, though the documents are few. To be run as a file, in the
place of `-m zhiku`. With NO_WAL set, the file system cannot do SQLite's WAL.
"""

from __future__ import annotations

import os
import sys
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import zhiku.ingest.embed
import zhiku.ingest.pipeline
from no_wal import NoSharedMemory
from zhiku.cli.main import main
from zhiku.model import CosineScale
from zhiku.registry import EMBEDDERS

DIMS = 128
CHECKPOINT_CHARS = 4_000


class LettersEmbedder:
    """Implements `zhiku.ports.Embedder`: texts of the same three letters in a row are near each other."""

    name = "letters"
    dims = DIMS
    max_tokens = 512
    batch_size = 16
    is_remote = False
    fingerprint = f"letters {DIMS}"
    scale = CosineScale(mean=0.0, std=0.2, script_gap=0.0, good=4.0)

    def __init__(self, **_: Any) -> None:
        pass

    def check(self) -> None:
        pass

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.stack([_vector(text) for text in texts])

    embed_queries = embed_documents

    def count_tokens(self, text: str) -> int:
        return len(text)


def _vector(text: str) -> NDArray[np.float32]:
    vector = np.full(DIMS, 1e-3, dtype=np.float32)
    for i in range(len(text) - 2):
        number = zlib.crc32(text[i : i + 3].encode("utf-8", "surrogatepass"))
        vector[number % DIMS] += 1.0 if number & 1 << 20 else -1.0
    return vector / np.linalg.norm(vector)


if __name__ == "__main__":
    EMBEDDERS["letters"] = "hasty:LettersEmbedder"
    file_system = NoSharedMemory() if os.environ.get("NO_WAL") else None
    zhiku.ingest.pipeline.CHECKPOINT_CHARS = CHECKPOINT_CHARS
    zhiku.ingest.embed.CHECKPOINT_S = 0.0
    sys.exit(main())
