"""Exact search: every line that holds a string, character for character."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from zhiku.errors import QueryError
from zhiku.model import LexicalQuery, TextPiece
from zhiku.ports import ReadSession
from zhiku.text.analyze import Analyzer

# Han alone can say which documents need no look: its characters are folded one by one, so a text with this run in
# it has the run's pairs as tokens in a row.
# A longer part than this of the run need not lie whole in one chunk, shorter ones do: chunks overlap by more.
_HAN_RUN = re.compile(r"[\u4e00-\u9fff]{2,16}")

_EVERY = 1 << 30


@dataclass(frozen=True, kw_only=True)
class LineMatch:
    """One line that holds the keyword; `spans` are the keyword's places in its `text`."""

    doc_id: int
    line: int
    """Of the file, or of the document's text where its places are pages."""
    char_start: int
    text: str
    spans: tuple[tuple[int, int], ...]


def grep(
    session: ReadSession, keyword: str, *, case_sensitive: bool = False, source: str | None = None
) -> Iterator[LineMatch]:
    """Yield every line that holds `keyword`, by document and place; case is ignored unless `case_sensitive`.

    Composed and decomposed forms of the same characters are the same keyword. Raises `QueryError` where it is empty
    or has more than one line.
    """
    pattern = _compile(keyword, case_sensitive)
    doc_ids = session.select(source) if source else None
    if run := max(_HAN_RUN.findall(keyword), key=len, default=""):
        doc_ids = _documents_with(session, run, doc_ids)
    for line_piece in _whole_lines(session.texts(doc_ids)):
        if pattern.search(line_piece.body):
            yield from _matches(line_piece, pattern)


def _compile(keyword: str, case_sensitive: bool) -> re.Pattern[str]:
    if not keyword.strip():
        raise QueryError("the keyword is empty.", hint="say what to look for: zhiku grep KEYWORD")
    if "\n" in keyword:
        raise QueryError("the keyword has more than one line.", hint="grep looks within lines; look for one of them")
    forms = dict.fromkeys([keyword, *(unicodedata.normalize(form, keyword) for form in ("NFC", "NFD"))])
    return re.compile("|".join(map(re.escape, forms)), 0 if case_sensitive else re.IGNORECASE)


def _documents_with(session: ReadSession, run: str, doc_ids: list[int] | None) -> list[int]:
    pairs = Analyzer().tokens(run)[:-1]
    found = session.search_lexical(
        LexicalQuery(phrases=(tuple(pairs),)), limit=_EVERY, doc_ids=doc_ids, per_document=True
    )
    return sorted(candidate.doc_id for candidate in found)


def _whole_lines(pieces: Iterable[TextPiece]) -> Iterator[TextPiece]:
    """Yield the pieces with every line whole: a line that was cut is put together again."""
    pending: list[TextPiece] = []
    for piece in pieces:
        if pending and (pending[-1].doc_id != piece.doc_id or pending[-1].body.endswith("\n")):
            yield _join(pending)
            pending = []
        pending.append(piece)
    if pending:
        yield _join(pending)


def _join(pieces: list[TextPiece]) -> TextPiece:
    if len(pieces) == 1:
        return pieces[0]
    # Where a line goes on in the next piece, both count it.
    numbers = pieces[0].line_numbers + tuple(number for piece in pieces[1:] for number in piece.line_numbers[1:])
    return replace(pieces[0], body="".join(piece.body for piece in pieces), line_numbers=numbers)


def _matches(piece: TextPiece, pattern: re.Pattern[str]) -> Iterator[LineMatch]:
    body = piece.body
    at = 0
    while match := pattern.search(body, at):
        start = body.rfind("\n", 0, match.start()) + 1
        end = body.find("\n", match.end())
        end = len(body) if end < 0 else end
        text = body[start:end]
        yield LineMatch(
            doc_id=piece.doc_id,
            line=piece.file_line(start),
            char_start=piece.char_start + start,
            text=text,
            spans=tuple(m.span() for m in pattern.finditer(text)),
        )
        at = end
