"""Reading pages by OCR, as a run over a base does it: if asked, if it is installed, and each page once."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from zhiku.config import BaseSettings
from zhiku.errors import MissingExtra, NeedsOcr
from zhiku.ingest.pipeline import Progress
from zhiku.model import Document, Source
from zhiku.parsers.pool import PooledParser, WorkerPool
from zhiku.ports import Parser, ReadSession, WriteSession
from zhiku.registry import OCR_FORMATS, has_ocr, parser_options
from zhiku.text.ocr_pages import is_forced, is_read_by_ocr, needs_ocr

if TYPE_CHECKING:
    from zhiku.parsers.pages import OcrUse

log = logging.getLogger(__name__)

SOME_FORCED: Final = "ocr_forced"
"""Key of the manifest, there if OCR of every page was ever asked for: other bases need not look for such documents."""

_INSTALL = 'install it: pip install "zhiku[ocr]"'


def check_ocr_is_installed() -> None:
    """Raise `MissingExtra` where OCR was asked for and is not installed."""
    if not has_ocr():
        raise MissingExtra("OCR is not installed.", hint=_INSTALL)


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


@dataclass(frozen=True)
class OcrWish:
    """Which pages of which files a run is to read by OCR."""

    use: OcrUse
    """Of files in general."""
    forced_places: frozenset[tuple[str, str]] = frozenset()
    """The roots and paths of documents every page of which is read so, and ..."""
    forced_contents: frozenset[str] = frozenset()
    """... the SHA-256 of their files, which may have been moved."""

    def use_of(self, source: Source) -> OcrUse:
        """Return which pages of a file are read. Raises `NeedsOcr` where that takes what is not installed."""
        if (source.root, source.path) not in self.forced_places and source.sha256 not in self.forced_contents:
            return self.use
        if not has_ocr():
            raise NeedsOcr(
                "{path} was read by OCR on request, which is not installed now", path=source.path, hint=_INSTALL
            )
        return "every page"

    def to_read_again(self, documents: Iterable[Document], root: Path) -> frozenset[str]:
        """Return the paths of a root's documents of which OCR may read more, though their files are as they were."""
        if self.use == "no":
            return frozenset()
        every_page = self.use == "every page"
        return frozenset(
            each.source.path
            for each in documents
            if each.source.root == str(root) and (needs_ocr(each) or (every_page and each.format in OCR_FORMATS))
        )

    @property
    def is_wanted(self) -> bool:
        """Return whether any page might be read so."""
        return self.use != "no" or bool(self.forced_contents)

    @property
    def reader(self) -> str:
        """Return what names the run's readers apart: what one could not read is tried by another."""
        if not (self.is_wanted and has_ocr()):
            return ""
        return " with OCR" if self.use != "no" else " with OCR of some"


def general_use(settings: BaseSettings, *, every_page: bool = False) -> OcrUse:
    """Return which pages a run with these settings reads of files in general."""
    if not (settings.ocr and has_ocr()):
        return "no"
    return "every page" if every_page else "where needed"


def wish_of(session: WriteSession, use: OcrUse) -> OcrWish:
    """Return which pages a run reads, and let the base remember if that is every page of some files."""
    if use == "every page":
        session.set_manifest({SOME_FORCED: "yes"})
    return wish_in(session.view(), use)


def wish_in(record: ReadSession | None, use: OcrUse) -> OcrWish:
    """Return which pages a run reads; None stands for a base that does not exist yet."""
    if record is None or SOME_FORCED not in record.manifest():
        return OcrWish(use)
    forced = [each.source for each in record.documents() if is_forced(each)]
    return OcrWish(
        use,
        frozenset((source.root, source.path) for source in forced),
        frozenset(source.sha256 for source in forced),
    )


class PageReading:
    """How a run reads the pages of one base that are images."""

    def __init__(self, base_folder: Path, pool: WorkerPool, on_page: Callable[[str, int, int], None], wish: OcrWish):
        from zhiku.parsers.recognising import Recognition  # a run without OCR must not pay for the import
        from zhiku.service.ocr_cache import OcrCache

        self._cache = OcrCache(base_folder)
        self._recognition = Recognition(pool=pool, cache=self._cache, on_page=on_page, use_of=wish.use_of)

    def parser(self, format_name: str, pool: WorkerPool) -> Parser:
        """Return the parser of a format that OCR reads."""
        from zhiku.parsers.recognising import RecognisingParser  # as above

        return RecognisingParser(format_name, pool, self._recognition)

    def drop_old(self, session: ReadSession) -> None:
        """Forget what was kept of pages of files that are no longer in the base."""
        self._cache.drop_old(session)


def parser_for(format_name: str, settings: BaseSettings, pool: WorkerPool, reading: PageReading | None) -> Parser:
    """Return the parser of a format, with OCR where `reading` says how."""
    if reading is not None and format_name in OCR_FORMATS:
        return reading.parser(format_name, pool)
    return PooledParser(format_name, pool, parser_options(format_name, settings))
