"""What OCR saw on single pages, kept beside a base's index, about 5 kB a page.

A scan of 300 pages takes half an hour: a run that is interrupted in the middle goes on from there, and a rebuild reads
none of them again.
"""

from __future__ import annotations

import json
import shutil
import time
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from zhiku.parsers.ocr import engine_version
from zhiku.paths import make_private_dir, write_private
from zhiku.ports import ReadSession

FOLDER: Final = "ocr"
MAX_AGE_S: Final = 30 * 86_400
"""Pages of a file that the base does not know, or no longer as it was, are kept for thirty days."""


class OcrCache:
    """The pages of a base, by the SHA-256 of their file; those of another engine are none."""

    def __init__(self, base_folder: Path) -> None:
        self._folder = base_folder / FOLDER

    @cached_property
    def _engine(self) -> str:
        return engine_version()

    def load(self, sha256: str, page_no: int) -> dict[str, Any] | None:
        """Return what was seen on a page, or None."""
        try:
            kept = json.loads(self._path(sha256, page_no).read_text("utf-8"))
            page: dict[str, Any] = kept["page"]
            return page if kept["engine"] == self._engine else None
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def save(self, sha256: str, page_no: int, page: dict[str, Any]) -> None:
        """Keep what was seen on a page. Raises `IndexStateError` where it cannot be written."""
        path = self._path(sha256, page_no)
        for folder in (self._folder, path.parent):
            make_private_dir(folder)
        write_private(path, json.dumps({"engine": self._engine, "page": page}, ensure_ascii=False))

    def drop_old(self, session: ReadSession) -> None:
        """Remove the pages of files that the base does not know, and that were read long ago."""
        if not self._folder.exists():
            return
        for folder in self._folder.iterdir():
            with suppress(OSError):
                is_old = time.time() - folder.stat().st_mtime > MAX_AGE_S
                if is_old and not session.files_with(folder.name):
                    shutil.rmtree(folder)

    def _path(self, sha256: str, page_no: int) -> Path:
        return self._folder / sha256 / f"{page_no}.json"
