"""Reading pages by OCR, as a run over a base does it: if asked, if it is installed, and each page once."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from zhiku.config import BaseSettings
from zhiku.errors import MissingExtra
from zhiku.ingest.pipeline import Progress
from zhiku.model import Document
from zhiku.parsers.pool import PooledParser, WorkerPool
from zhiku.ports import Parser, ReadSession
from zhiku.registry import OCR_FORMATS, has_ocr, parser_options
from zhiku.text.ocr_pages import is_read_by_ocr, needs_ocr

log = logging.getLogger(__name__)


def check_ocr_is_installed() -> None:
    """Raise `MissingExtra` where OCR was asked for and is not installed."""
    if not has_ocr():
        raise MissingExtra("OCR is not installed.", hint='install it: pip install "zhiku[ocr]"')


def with_ocr(settings: BaseSettings, asked: bool) -> BaseSettings:
    """Return a base's settings for a run that may have been asked for OCR."""
    return replace(settings, ocr=True) if asked else settings


def any_read_by_ocr(documents: Iterable[Document]) -> bool:
    """Return whether OCR read a page of any document."""
    return any(is_read_by_ocr(each) for each in documents)


class PageProgress:
    """Tells of the pages of a file between one file and the next, from whichever thread they are read in."""

    def __init__(self, progress: Progress | None) -> None:
        self._progress = progress
        self._files = (0, 0)

    def __call__(self, done: int, total: int, path: str) -> None:
        """Pass on how many files are done."""
        self._files = (done, total)
        if self._progress:
            self._progress(done, total, path)

    def on_page(self, path: str, done: int, total: int) -> None:
        """Tell which page of a file is read now."""
        log.info("OCR of %s: page %d of %d", path, done + 1, total)
        if self._progress:
            self._progress(*self._files, f"{path} ({done + 1}/{total})")


class PageReading:
    """How a run reads the pages of one base that are images."""

    def __init__(self, base_folder: Path, pool: WorkerPool, progress: PageProgress, *, every_page: bool) -> None:
        from zhiku.parsers.recognising import Recognition  # a run without OCR must not pay for the import
        from zhiku.service.ocr_cache import OcrCache

        self._cache = OcrCache(base_folder)
        self._every_page = every_page
        self._recognition = Recognition(
            pool=pool,
            cache=self._cache,
            on_page=progress.on_page,
            use="every page" if every_page else "where needed",
        )

    def parser(self, format_name: str, pool: WorkerPool) -> Parser:
        """Return the parser of a format that OCR reads."""
        from zhiku.parsers.recognising import RecognisingParser  # as above

        return RecognisingParser(format_name, pool, self._recognition)

    def to_read_again(self, documents: Iterable[Document], root: Path) -> frozenset[str]:
        """Return the paths of a root's documents of which OCR may read more, though their files are as they were."""
        return frozenset(
            each.source.path
            for each in documents
            if each.source.root == str(root) and (needs_ocr(each) or (self._every_page and each.format in OCR_FORMATS))
        )

    def drop_stored(self, session: ReadSession) -> None:
        """Forget what was kept of pages for a run that would have been interrupted."""
        self._cache.drop_stored(session)


def parser_for(format_name: str, settings: BaseSettings, pool: WorkerPool, reading: PageReading | None) -> Parser:
    """Return the parser of a format, with OCR where `reading` says how."""
    if reading is not None and format_name in OCR_FORMATS:
        return reading.parser(format_name, pool)
    return PooledParser(format_name, pool, parser_options(format_name, settings))
