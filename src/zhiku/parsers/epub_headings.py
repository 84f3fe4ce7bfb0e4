"""Give the headings of an e-book the levels that its table of contents gives them, and chapters without one theirs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from zhiku.parsers.epub_contents import MAX_LEVEL, Entry
from zhiku.parsers.lines import Line


class HeadingLevels:
    """Goes through a book's chapters in order; a chapter that the contents do not name goes on like the one before."""

    def __init__(self) -> None:
        self._shift = 0
        self._made = 0

    def apply(self, lines: Sequence[Line], entries: Sequence[Entry]) -> Iterator[Line]:
        """Yield a chapter's lines with its headings as the contents have them.

        A line that reads like an entry is a heading, unless another one is marked as that. Entries above the first of
        them, such as the part that a chapter begins, are put before the text, and so is that of a chapter without any.
        """
        if not lines:
            return
        pending: dict[str, int] = {}
        for entry in entries:
            pending.setdefault(_key(entry.title), entry.level)
        yield from self._put_before(lines, entries, pending)
        marked = {_key(line.text) for line in lines if line.level}
        for line in lines:
            key = _key(line.text)
            may_be = line.level or (line.kind == "paragraph" and key not in marked)
            level = pending.pop(key, 0) if may_be else 0
            if line.level:
                self._shift = level - line.level if level else self._shift
                yield line._replace(level=min(max(line.level + self._shift, 1), MAX_LEVEL))
            else:
                yield self._heading(line.text, level) if level else line

    def _put_before(self, lines: Sequence[Line], entries: Sequence[Entry], pending: dict[str, int]) -> Iterator[Line]:
        """Yield the headings of entries that the chapter begins and whose titles it does not hold."""
        keys = {_key(line.text) for line in lines if line.level or line.kind == "paragraph"}
        first = next((_key(line.text) for line in lines if line.level), None)
        named = next((i for i, entry in enumerate(entries) if _key(entry.title) in keys), len(entries))
        above = list(entries[:named] if named < len(entries) else entries[:1])
        below = entries[named].level if named < len(entries) else MAX_LEVEL + 1
        if first is not None and first not in pending and above:
            below = pending[first] = above.pop().level  # the chapter says it in other words
        yield from (self._heading(entry.title, entry.level) for entry in above if entry.level < below)

    def _heading(self, title: str, level: int) -> Line:
        self._made -= 1  # a group of its own
        return Line("heading", self._made, title.strip(), 0, level)


def _key(text: str) -> str:
    return "".join(text.split()).casefold()
