"""Reading documents as they were indexed, by lines, pages or locator."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zhiku.errors import NotFound, UsageError
from zhiku.locator import Locator
from zhiku.model import Document, FileState
from zhiku.ports import ReadSession
from zhiku.retrieve.freshness import file_of, file_state
from zhiku.text.hidden import holds_hidden_text
from zhiku.text.ocr_pages import ocr_confidence


@dataclass(frozen=True, kw_only=True)
class Line:
    """One line of a document's text, without its line break. `number` is the file's."""

    number: int
    char_start: int
    text: str


@dataclass(frozen=True, kw_only=True)
class Excerpt:
    """A part of a document, as it was indexed."""

    base: str
    document: Document
    file: str
    file_state: FileState
    lines: tuple[Line, ...]
    page: int | None = None
    """Set where one page was asked for."""

    @property
    def text(self) -> str:
        """Return the lines as one text."""
        return "\n".join(line.text for line in self.lines)

    @property
    def hidden_text(self) -> bool:
        """Return whether any of it is text that a reader of the file does not see."""
        spans = [(line.char_start, line.char_start + len(line.text)) for line in self.lines]
        return bool(spans) and holds_hidden_text(self.document, spans[0][0], spans[-1][1])

    @property
    def ocr_confidence(self) -> float | None:
        """Return how sure OCR was of the page, or of the least certain one of the document; None without OCR."""
        return ocr_confidence(self.document, self.page or 1, self.page or self.document.page_count)

    def to_dict(self) -> dict[str, Any]:
        """Return the excerpt as every door gives it in JSON. Lines are None where the document's places are pages."""
        paged = self.document.page_count > 0
        numbers = (None, None) if paged or not self.lines else (self.lines[0].number, self.lines[-1].number)
        return {
            "base": self.base,
            "doc_id": self.document.doc_id,
            "path": self.document.source.path,
            "file": self.file,
            "title": self.document.title,
            "format": self.document.format,
            "page": self.page,
            "line_start": numbers[0],
            "line_end": numbers[1],
            "file_state": self.file_state,
            "ocr": self.ocr_confidence is not None,
            "ocr_confidence": self.ocr_confidence,
            "hidden_text": self.hidden_text,
            "text": self.text,
        }


def find_document(session: ReadSession, path: str) -> Document:
    """Return the document that a path means: absolute, from the current folder, or the end of a path in the base.

    Raises `NotFound`, with the nearest name, or `UsageError` where it means several.
    """
    if not path.strip():
        raise UsageError("the path is empty.", hint="see what there is: zhiku list --documents")
    wanted = os.path.normpath(Path(path).absolute())
    doc_ids = sorted({*session.select(path), *session.select(wanted)})
    found = [document for doc_id in doc_ids if (document := session.document(doc_id))]
    if not found:
        # A name may hold the characters of a glob.
        found = [document for document in session.documents() if _is_called(document, path, wanted)]
    exact = [document for document in found if wanted == str(file_of(document)) or path == document.source.path]
    ends = [document for document in found if _is_called(document, path, wanted)]
    for matches in (exact, ends, found):
        if len(matches) == 1:
            return matches[0]
        if matches:
            listed = ", ".join(sorted(document.source.path for document in matches)[:5])
            raise UsageError(
                "{path!r} means several documents: {listed}.",
                path=path,
                listed=listed,
                hint="give more of the path",
            )
    if close := _nearest(session, path):
        raise NotFound("no document {path!r} in this base.", path=path, close=close, hint="did you mean {close!r}?")
    raise NotFound("no document {path!r} in this base.", path=path, hint="see what it holds: zhiku list --documents")


def _is_called(document: Document, path: str, absolute: str) -> bool:
    return str(file_of(document)) == absolute or f"/{document.source.path}".endswith(f"/{path}")


def _nearest(session: ReadSession, path: str) -> str | None:
    import difflib  # only a path that means nothing needs likeness

    paths = [document.source.path for document in session.documents()]
    by_name = {known.rpartition("/")[2]: known for known in paths} | {known: known for known in paths}
    close = difflib.get_close_matches(path, by_name, n=1)
    return by_name[close[0]] if close else None


def read_document(
    session: ReadSession,
    base: str,
    document: Document,
    *,
    lines: tuple[int, int] | None = None,
    page: int | None = None,
    context: int = 0,
) -> Excerpt:
    """Return a document's text: all of it, or some lines or one page of it, with `context` more lines around."""
    everything = list(_iter_lines(session, document.doc_id))
    if page is not None:
        start, end = _page_span(session, document, page)
        chosen = _within_span(everything, start, end)
    elif lines is not None:
        chosen = [i for i, line in enumerate(everything) if lines[0] <= line.number <= lines[1]]
        if not chosen:
            raise _no_such_lines(document, lines, everything)
    else:
        chosen = list(range(len(everything)))
    return _excerpt(session, base, document, _with_context(everything, chosen, context), page)


def _no_such_lines(document: Document, lines: tuple[int, int], everything: Sequence[Line]) -> NotFound:
    path = document.source.path
    if not everything:
        return NotFound("{path} holds no text.", path=path, hint="see what does: zhiku list --documents")
    last = everything[-1].number
    if lines[0] > last:
        return NotFound(
            "{path} has no line {line}: it ends at line {last}.",
            path=path,
            line=lines[0],
            last=last,
            place=shlex.quote(path),
            hint="read its end: zhiku read {place} --lines {last}-",
        )
    # The lines of a page's markup hold none of its text.
    return NotFound(
        "{path} has no text in lines {first}-{end}.",
        path=path,
        first=lines[0],
        end=lines[1],
        line=next((line.number for line in everything if line.number > lines[1]), last),
        place=shlex.quote(path),
        hint="the next text: zhiku read {place} --lines {line}-",
    )


def read_locator(session: ReadSession, locator: Locator, *, context: int = 0) -> Excerpt:
    """Return the text that a locator points at, with `context` more lines around. Raises `NotFound`."""
    document = document_of(session, locator)
    if locator.char_start is not None and locator.char_end is not None:
        everything = list(_iter_lines(session, document.doc_id))
        chosen = _within_span(everything, locator.char_start, locator.char_end)
        shown = _with_context(everything, chosen, context)
        if not context:
            shown = [_clip(line, locator.char_start, locator.char_end) for line in shown]
        return _excerpt(session, locator.base, document, shown, locator.page)
    if locator.page is not None:
        return read_document(session, locator.base, document, page=locator.page, context=context)
    if locator.line_start is not None:
        span = (locator.line_start, locator.line_end or locator.line_start)
        return read_document(session, locator.base, document, lines=span, context=context)
    return read_document(session, locator.base, document)


def document_of(session: ReadSession, locator: Locator) -> Document:
    """Return the document that a locator was printed for. Raises `NotFound` where it says something else by now."""
    document = session.document(locator.doc_id) if locator.doc_id is not None else None
    if document is None or not _is_of(document, locator):
        # Made anew, a base counts its documents anew.
        document = find_document(session, locator.path)
    if not _is_of(document, locator):
        raise NotFound(
            "{path} was indexed anew since this locator was printed; the words it points at may be gone.",
            path=document.source.path,
            hint="search again, or read it as it is now: zhiku read {quoted}",
            quoted=shlex.quote(document.source.path),
        )
    return document


def _is_of(document: Document, locator: Locator) -> bool:
    return locator.content is None or document.source.sha256.startswith(locator.content)


def _iter_lines(session: ReadSession, doc_id: int) -> Iterator[Line]:
    pending: Line | None = None
    for piece in session.text(doc_id):
        at = 0
        for text in piece.body.split("\n"):
            line = Line(number=piece.file_line(at), char_start=piece.char_start + at, text=text)
            if pending is not None:
                yield_line, pending = pending, None
                line = Line(number=yield_line.number, char_start=yield_line.char_start, text=yield_line.text + text)
            at += len(text) + 1
            if at > len(piece.body):
                pending = line
            else:
                yield line
    if pending is not None and pending.text:
        yield pending


def _page_span(session: ReadSession, document: Document, page: int) -> tuple[int, int]:
    pages = session.pages(document.doc_id)
    for page_no, start, end in pages:
        if page_no == page:
            return start, end
    if not pages:
        raise UsageError("{path} has no pages.", path=document.source.path, hint="name lines: --lines 10-40")
    raise NotFound(
        "{path} has no page {page}: it has {count}.",
        path=document.source.path,
        page=page,
        count=len(pages),
        place=shlex.quote(document.source.path),
        hint="read its last: zhiku read {place} --page {count}",
    )


def _within_span(lines: Sequence[Line], start: int, end: int) -> list[int]:
    return [i for i, line in enumerate(lines) if line.char_start < end and line.char_start + len(line.text) >= start]


def _with_context(lines: Sequence[Line], chosen: Sequence[int], context: int) -> list[Line]:
    if not chosen:
        return []
    return list(lines[max(0, chosen[0] - context) : chosen[-1] + 1 + context])


def _clip(line: Line, start: int, end: int) -> Line:
    low = max(0, start - line.char_start)
    return Line(number=line.number, char_start=line.char_start + low, text=line.text[low : end - line.char_start])


def _excerpt(session: ReadSession, base: str, document: Document, lines: Sequence[Line], page: int | None) -> Excerpt:
    return Excerpt(
        base=base,
        document=document,
        file=str(file_of(document)),
        file_state=file_state(session, document),
        lines=tuple(lines),
        page=page,
    )
