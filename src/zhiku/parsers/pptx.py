"""Read slides: each is a page, with its title as a heading, its text, tables and notes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Final

from zhiku.errors import ParseFailed
from zhiku.model import Block, BlockKind, Page, ParsedDocument, Source
from zhiku.parsers.lines import Line, assemble
from zhiku.parsers.ooxml import Package, Relationship, relationship_id
from zhiku.parsers.ooxml_chart import read_chart
from zhiku.parsers.ooxml_parts import Parts
from zhiku.parsers.pptx_comments import read_authors, read_comments
from zhiku.parsers.pptx_slide import Slide, SlideLine, SlideReader
from zhiku.parsers.xml_walk import Attributes, Handlers

MAX_SLIDES: Final = 10_000
MAX_TITLE_CHARS: Final = 80
"""Of a slide without a title, whose first line stands in its place."""


class PptxParser:
    """Read the slides of a presentation in their order, with notes and comments, without layouts and running text."""

    def parse(self, source: Source, data: bytes) -> ParsedDocument:
        """Return the document; page n is slide n.

        Raise PasswordNeeded if it is encrypted, UnsupportedFormat if it is of PowerPoint 97-2003, TooLarge if it
        unpacks to too much, ParseFailed if it is damaged, no presentation, or declares a document type.
        """
        return _Presentation(Package(data, source.path), source.path).read()


class _Presentation:
    """The parts of one presentation. A slide that is damaged is left out, as far as it is."""

    def __init__(self, package: Package, path: str) -> None:
        self._parts = Parts(package, path, usual_main="ppt/presentation.xml")
        self._path = path
        self._reader = SlideReader(path)
        self._authors = read_authors(self._parts)
        self._missing: list[int] = []

    def read(self) -> ParsedDocument:
        properties = self._parts.read_properties()
        ids = self._slide_ids()
        slides = [self._read_slide(page_no, slide_id) for page_no, slide_id in enumerate(ids[:MAX_SLIDES], 1)]
        lines = [line for page_no, slide in enumerate(slides, 1) for line in _iter_lines(page_no, slide)]
        text, blocks, numbers = assemble(lines)
        return ParsedDocument(
            text=text,
            blocks=tuple(map(_with_short_title, blocks)),
            title=(slides[0].title if slides else "") or properties.title,
            metadata=properties.metadata,
            pages=tuple(_iter_pages(text, numbers, len(slides))),
            warnings=tuple(self._iter_warnings(len(ids), has_text=bool(text))),
        )

    def _slide_ids(self) -> list[str]:
        ids: list[str] = []
        found: list[bool] = []

        def start(_: Attributes) -> None:
            found.append(True)

        def add(attributes: Attributes) -> None:
            ids.append(relationship_id(attributes))

        self._parts.walk_main(
            Handlers(starts={"p:presentation": start, "p:sldId": add}, ends={}, characters=lambda _: None)
        )
        if not found:
            raise ParseFailed(
                "{path} is not a PowerPoint presentation",
                path=self._path,
                hint="give the file the ending of what it is",
            )
        return ids

    def _read_slide(self, page_no: int, slide_id: str) -> Slide:
        relationship = self._parts.by_id.get(slide_id)
        if relationship is None:
            self._missing.append(page_no)
            return Slide()
        slide = self._read_part(relationship.part)
        if not slide.is_slide:
            self._missing.append(page_no)
        related = self._parts.relationships(relationship.part)
        for drawing in slide.drawings:
            if drawing in related:
                slide.lines += self._read_drawing(related[drawing])
        for kind, part in related.values():
            if kind == "notesSlide":
                slide.lines += self._read_part(part).lines
        for kind, part in related.values():
            if kind == "comments":
                for comment in read_comments(self._parts, part, self._authors):
                    slide.lines += self._reader.shown(comment)
        return slide

    def _read_drawing(self, drawing: Relationship) -> list[SlideLine]:
        if drawing.kind == "chart":
            return self._reader.shown(read_chart(self._parts, drawing.part))
        return self._read_part(drawing.part).lines

    def _read_part(self, part: str) -> Slide:
        self._parts.walk(part, self._reader.handlers())
        return self._reader.take()

    def _iter_warnings(self, stated: int, *, has_text: bool) -> Iterator[str]:
        yield from self._parts.warnings()
        if stated > MAX_SLIDES:
            limit = MAX_SLIDES
            yield f"The file states {stated} slides; only the first {limit} were read"
        if self._missing:
            numbers = ", ".join(map(str, self._missing))
            yield f"Slides that could not be read: {numbers}"
        if not has_text:
            yield "The slides hold no text"


def _iter_lines(page_no: int, slide: Slide) -> Iterator[Line]:
    """Yield the lines of a slide: its title as a heading, or else its first line, so that it is a section."""
    lines = slide.lines
    if slide.title:
        yield Line("heading", -page_no, slide.title, page_no, 1)
    elif lines:
        yield Line("heading", -page_no, lines[0].text.strip(), page_no, 1)
        lines = lines[1:]
    for (group, is_row), members in groupby(lines, key=lambda line: (line.group, line.is_row)):
        shown = list(members)
        kind: BlockKind = "table" if is_row else "list" if len(shown) > 1 else "paragraph"
        yield from (Line(kind, group, line.text, page_no) for line in shown)


def _with_short_title(block: Block) -> Block:
    if len(block.title) <= MAX_TITLE_CHARS:
        return block
    return replace(block, title=block.title[:MAX_TITLE_CHARS].rstrip() + "…")


def _iter_pages(text: str, numbers: Sequence[int], count: int) -> Iterator[Page]:
    """Yield a page for each slide; `numbers` says for each line of the text which one it stands on."""
    spans: dict[int, tuple[int, int]] = {}
    at = 0
    for page_no, line in zip(numbers, text.split("\n") if text else (), strict=True):
        if line:
            start, _ = spans.get(page_no, (at, at))
            spans[page_no] = start, at + len(line)
        at += len(line) + 1
    done = 0
    for page_no in range(1, count + 1):
        start, done = spans.get(page_no, (done, done))
        yield Page(page_no=page_no, char_start=start, char_end=done)
