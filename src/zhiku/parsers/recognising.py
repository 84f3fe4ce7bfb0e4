"""Parse files whose pages may be images: page by page in workers, each page once, also where a run is interrupted."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Protocol

from zhiku.errors import SourceError
from zhiku.model import ParsedDocument, Source
from zhiku.parsers.page_reader import RECOGNISED
from zhiku.parsers.pages import WANTED, OcrUse
from zhiku.parsers.pool import WorkerPool
from zhiku.parsers.wire import ParserBug
from zhiku.registry import PAGE_READER, PARSERS

log = logging.getLogger(__name__)

MAX_FAILED_RUN: Final = 5
"""After so many pages in a row that cannot be read, the rest of a file is not tried: each may take minutes to fail."""

OnPage = Callable[[str, int, int], None]
"""Called with a file's path, the number of its pages that OCR has read, and how many it is to read."""


class PageCache(Protocol):
    """Keeps what OCR saw on a page."""

    def load(self, sha256: str, page_no: int) -> dict[str, Any] | None:
        """Return what was seen on a page of the file of this content; None where that is not known."""
        ...

    def save(self, sha256: str, page_no: int, page: dict[str, Any]) -> None:
        """Keep it."""
        ...


@dataclass(frozen=True, kw_only=True)
class Recognition:
    """How pages are read."""

    pool: WorkerPool
    """Of workers with the limits of one page."""
    cache: PageCache
    on_page: OnPage
    use_of: Callable[[Source], OcrUse]
    """Which pages of a file OCR reads; may raise why the file cannot be read so."""


class RecognisingParser:
    """The parser of a format whose pages may be images, with OCR."""

    def __init__(self, format_name: str, pool: WorkerPool, recognition: Recognition) -> None:
        self._format_name = format_name
        self._pool = pool
        self._recognition = recognition

    def parse(self, source: Source, data: bytes) -> ParsedDocument:
        """Return the document; raise a `SourceError` that says why none of it can be read.

        A page that cannot be read is left out with a warning.
        """
        use = self._recognition.use_of(source)
        document = self._parse(source, data, {"ocr": use})
        wanted = document.metadata.get(WANTED)
        if not wanted:
            return document
        pages, failure = self._read_pages(source, data, wanted)
        if failure is not None and not document.text and not any(pages.values()):
            raise failure
        recognised = {str(number): page for number, page in pages.items()}
        return self._parse(source, data, {"ocr": use, "recognised": recognised})

    def _parse(self, source: Source, data: bytes, options: dict[str, Any]) -> ParsedDocument:
        return self._pool.parse(PARSERS[self._format_name], source, data, options)

    def _read_pages(
        self, source: Source, data: bytes, wanted: list[int]
    ) -> tuple[dict[int, dict[str, Any] | None], Exception | None]:
        """Return what was seen on each page, None where it could not be read, and the last reason for that."""
        pages: dict[int, dict[str, Any] | None] = dict.fromkeys(wanted)
        failure: Exception | None = None
        failed_run = 0
        for done, page_no in enumerate(wanted):
            self._recognition.on_page(source.path, done, len(wanted))
            try:
                pages[page_no] = self._read_page(source, data, page_no)
                failed_run = 0
            except (SourceError, ParserBug) as error:
                if self._recognition.pool.is_closed:
                    raise
                log.warning("page %d of %s cannot be read by OCR: %s", page_no, source.path, error)
                failure = error
                failed_run += 1
                if failed_run == MAX_FAILED_RUN:
                    break
        return pages, failure

    def _read_page(self, source: Source, data: bytes, page_no: int) -> dict[str, Any]:
        known = self._recognition.cache.load(source.sha256, page_no)
        if known is not None:
            return known
        options = {"format_name": self._format_name, "page_no": page_no}
        found = self._recognition.pool.parse(PAGE_READER, source, data, options)
        page: dict[str, Any] = found.metadata[RECOGNISED]
        self._recognition.cache.save(source.sha256, page_no, page)
        return page
