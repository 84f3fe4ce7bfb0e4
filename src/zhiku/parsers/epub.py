"""Read e-books: chapter by chapter in reading order, under the headings of the book's contents."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from zhiku.errors import ParseFailed
from zhiku.model import ParsedDocument, Source
from zhiku.parsers.char_budget import CharBudget
from zhiku.parsers.epub_headings import HeadingLevels
from zhiku.parsers.epub_package import BookPackage
from zhiku.parsers.html import decode_page, read_all_lines
from zhiku.parsers.lines import Line, assemble
from zhiku.text.markup import close_empty_elements


class EpubParser:
    """Read the text of an e-book; nothing outside of it is opened, and no script is run."""

    def parse(self, source: Source, data: bytes) -> ParsedDocument:
        """Return the document; each line of its text counts as a line of the file.

        Raise PasswordNeeded if it is protected against copying, TooLarge if it unpacks to too much, ParseFailed if it
        is damaged, or no e-book.
        """
        return _Book(BookPackage(data, source.path), source.path).read()


class _Book:
    """The chapters of one book; one that is damaged is left out, unless none other is left."""

    def __init__(self, package: BookPackage, path: str) -> None:
        self._package = package
        self._path = path
        self._budget = CharBudget(path)
        self._groups = 0

    def read(self) -> ParsedDocument:
        package, levels, numbers = self._package, HeadingLevels(), itertools.count(1)
        lines: list[Line] = []
        chapters = package.chapters()
        readable = 0
        for part, entries in chapters:
            read = self._read_chapter(part)
            if read is not None:
                readable += 1
                lines += (line._replace(number=next(numbers)) for line in levels.apply(read, entries))
        if chapters and not readable:
            raise ParseFailed(
                "{path} is damaged: none of its chapters can be read",
                path=self._path,
                hint="open it in its own program to check it",
            )
        text, blocks, line_numbers = assemble(lines)
        return ParsedDocument(
            text=text,
            blocks=tuple(blocks),
            title=package.title,
            metadata=package.metadata,
            line_numbers=tuple(line_numbers),
            warnings=tuple(self._iter_warnings(has_text=bool(text))),
        )

    def _read_chapter(self, part: str) -> list[Line] | None:
        data = self._package.read(part)
        if data is None:
            return None
        try:
            page = decode_page(data, part).text
        except ParseFailed:
            self._package.damaged.append(part)
            return None
        lines = read_all_lines(close_empty_elements(page))
        self._budget.spend(sum(len(line.text) for line in lines))
        first = self._groups
        self._groups += max((line.group for line in lines), default=0) + 1
        return [line._replace(group=line.group + first) for line in lines]

    def _iter_warnings(self, *, has_text: bool) -> Iterator[str]:
        package = self._package
        if package.encrypted:
            names = ", ".join(package.encrypted)
            yield f"Chapters that are encrypted and were left out: {names}"
        if package.damaged:
            names = ", ".join(dict.fromkeys(package.damaged))
            yield f"Parts of the file that are damaged and were left out: {names}"
        if package.missing:
            names = ", ".join(package.missing)
            yield f"Chapters that are missing from the file: {names}"
        if count := package.outside:
            yield f"Chapters outside of the book, which were not looked for: {count}"
        if not has_text:
            yield "The book holds no text"
