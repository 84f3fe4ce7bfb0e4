"""How a glossary is written: lines `term = alias1, alias2`, or rows of a table."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator

from zhiku.errors import SourceError
from zhiku.text.frontmatter import read_frontmatter
from zhiku.text.glossary import Entry, Glossary, make_glossary

_SEPARATOR = re.compile("[,，、]")
_EQUALS = re.compile("[=＝]")
_ITEM = re.compile(r"[-*+]\s+")
_COMMENT = re.compile(r"(?:^|\s)#.*")
_HEADERS = frozenset({"term", "terms", "术语", "词条", "词"})

_MAX_ROW_CHARS = 100_000
"""More than any row of terms has; csv gives up at 131,072."""


def parse_glossary(text: str, path: str) -> Glossary:
    """Return what the lines `term = alias1, alias2` say; a line that says something else is a problem, and no more.

    A leading `- `, blank lines, headings and comments from `#` on are allowed; `＝`, `，` and `、` do as well. A file
    that ends in `.csv` has a row for each term, its aliases in the cells behind it. `path` names the file.
    """
    rows = _table_rows(text) if path.lower().endswith(".csv") else _line_rows(text)
    entries: list[Entry] = []
    problems: list[SourceError] = []
    for number, term, aliases in rows:
        words = list(dict.fromkeys(filter(None, (" ".join(word.split()) for word in (term, *aliases)))))
        if not term.strip() or not aliases:
            problems.append(_malformed(path, number))
        elif unsaid := next((word for word in words if not re.search(r"[^\W_]", word)), None):
            problems.append(_unsaid(path, number, unsaid))
        else:
            entries.append(Entry(words=tuple(words), line=number, path=path))
    return make_glossary(entries, problems, [path])


def _line_rows(text: str) -> Iterator[tuple[int, str, list[str]]]:
    """Yield for each line that is no comment its number, its term and its aliases."""
    lines = text.removeprefix("\ufeff").split("\n")
    for number, line in enumerate(lines[(skipped := read_frontmatter(lines).line_count) :], start=skipped + 1):
        line = _COMMENT.sub("", line.strip()).strip()
        if line:
            term, _, rest = _EQUALS.sub("=", _ITEM.sub("", line, count=1), count=1).partition("=")
            yield number, term, [alias for alias in _SEPARATOR.split(rest) if alias.strip()]


def _table_rows(text: str) -> Iterator[tuple[int, str, list[str]]]:
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), start=1):
        cells = [cell.strip() for cell in next(csv.reader([line[:_MAX_ROW_CHARS]]), [])]
        is_header = number == 1 and cells and cells[0].casefold() in _HEADERS
        if any(cells) and not cells[0].startswith("#") and not is_header:
            yield number, cells[0], [alias for cell in cells[1:] for alias in _SEPARATOR.split(cell) if alias.strip()]


def _malformed(path: str, line: int) -> SourceError:
    return SourceError(
        "{path}, line {line}: this is no term with its aliases.",
        path=path,
        line=line,
        hint="write it as: TERM = ALIAS, ALIAS",
    )


def _unsaid(path: str, line: int, word: str) -> SourceError:
    return SourceError(
        "{path}, line {line}: {word!r} holds no letter or digit to look for.",
        path=path,
        line=line,
        word=word,
        hint="leave it out",
    )
