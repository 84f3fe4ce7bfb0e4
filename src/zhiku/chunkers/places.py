"""Where a span of a document stands."""

from __future__ import annotations

import re
from bisect import bisect_right

from zhiku.model import Chunk, ParsedDocument


class Places:
    """The lines and pages of one document, and chunks that know theirs."""

    def __init__(self, document: ParsedDocument) -> None:
        self._text = document.text
        self._line_numbers = document.line_numbers
        self._breaks = [match.start() for match in re.finditer("\n", document.text)]
        self._pages = [p for p in document.pages if p.char_end > p.char_start]
        self._page_starts = [p.char_start for p in self._pages]

    def chunk(self, start: int, end: int, chain: tuple[str, ...]) -> Chunk | None:
        """Return the chunk of a span without the blanks around it, or None where nothing else is there."""
        raw = self._text[start:end]
        text = raw.strip()
        if not text:
            return None
        start += len(raw) - len(raw.lstrip())
        end = start + len(text)
        return Chunk(
            text=text,
            char_start=start,
            char_end=end,
            line_start=self.line(start),
            line_end=self.line(end - 1),
            section=chain,
            page=self._page(start),
            page_end=self._page(end - 1),
        )

    def line(self, at: int) -> int:
        """Return the file's line of a character."""
        line = bisect_right(self._breaks, at - 1)
        return self._line_numbers[line] if self._line_numbers else line + 1

    def _page(self, at: int) -> int | None:
        if not self._pages:
            return None
        return self._pages[max(0, bisect_right(self._page_starts, at) - 1)].page_no
