"""What the ignore files of a folder say about a name in it, with git's rules.

A folder's `.gitignore` and `.zhikuignore` are read as one list, the latter last: it has the last word.
Within a list the last matching pattern decides; among folders the nearest list that matches. As in git,
nothing below an ignored folder can be brought back.

pathspec translates the patterns, one by one. The decision is made here, because pathspec answers for files
only: under `*`, `!*/`, `!*.md` it calls every folder ignored (1.1.1), so that a walk would enter none.

Its translation (1.1.1) differs from git's (2.x) for a few patterns that hardly anybody writes:
- `[[:alpha:]]`, `[b-a]`, `[a--b]` and others that are no safe expression, and `\\/`: left out with a warning;
- a backslash between brackets is a member of the set, and a slash there lets the pattern match nothing;
- `[!x]` matches a slash too, if the pattern has one elsewhere;
- two stars and more that share a segment (`a**/b`, `***/b`) never match a slash;
- white space is removed before a closing slash, tabs also at the end; `a\\ ` with another space is left out.
"""

from __future__ import annotations

import codecs
import logging
import re
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

from zhiku.ingest.regular import read_head

log = logging.getLogger(__name__)

IGNORE_FILES = (".gitignore", ".zhikuignore")
"""In the order in which they are read: the last word is zhiku's own."""

MAX_IGNORE_BYTES = 131_072
"""An ignore file above this size is refused: compiling its patterns would take seconds."""

MAX_STARS = 4
"""A pattern with more is left out: the worst name takes a second with four and 12 s with five."""

_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_ANY_FOLDERS = "^(?:.+/)?"  # a name lies in none; 110 patterns take 40% less time without it
_NAMED_GROUP = re.compile(r"\(\?P<\w+>")
_REPEAT = re.compile(r"(?<!\\)[*+]")


@dataclass(frozen=True, kw_only=True)
class Pattern:
    """One line of an ignore file."""

    text: str
    """The line as written, for messages."""
    origin: str
    """The ignore file, relative to the root."""
    regex: re.Pattern[str]
    """What the name, or the path below the file's folder, has to match in full."""
    by_name: bool
    """Whether `regex` is matched with the name alone."""
    folders_only: bool
    negated: bool

    def matches(self, path: str, name: str) -> bool:
        """Answer whether the pattern is about `path`, were it a folder."""
        return self.regex.fullmatch(name if self.by_name else path) is not None


def parse_patterns(lines: Iterable[str], origin: str = "") -> tuple[Pattern, ...]:
    """Return the patterns of `lines` in order; warn of those that cannot be used, and leave them out."""
    patterns: list[Pattern] = []
    refused: list[str] = []
    with warnings.catch_warnings():
        warnings.simplefilter("error", FutureWarning)  # what `re` may come to read in another way
        for line in lines:
            try:
                pattern = _parse_pattern(line, origin)
            except (ValueError, re.error, FutureWarning):
                refused.append(line)
            else:
                patterns += [pattern] if pattern else []
    if refused:
        log.warning(
            "%s: left out what cannot be used as a pattern: %d lines, such as %r",
            origin,
            len(refused),
            refused[0][:80],
        )
    return tuple(patterns)


def load_patterns(disk_path: str, origin: str) -> tuple[Pattern, ...]:
    """Read an ignore file; raise OSError if it cannot be read, ValueError if it is too large to be one.

    Bytes that are not UTF-8 are kept as surrogate escapes, as in file names: they match the same bytes.
    """
    data = read_head(disk_path, MAX_IGNORE_BYTES + 1)
    if len(data) > MAX_IGNORE_BYTES:
        raise ValueError(f"larger than {MAX_IGNORE_BYTES} bytes")
    return parse_patterns(_decode(data).split("\n"), origin)


class PatternList:
    """The patterns of one folder: neighbours of the same sign are tried in one match."""

    def __init__(self, patterns: Sequence[Pattern], base: str = "") -> None:
        """`base` is the folder relative to the root: empty, or ending in a slash."""
        self._patterns = patterns
        self._base_length = len(base)

    def find(self, path: str, name: str, is_folder: bool) -> Pattern | None:
        """Return a pattern that decides about `path` (relative to the root, ending in `name`), or None."""
        below = path[self._base_length :]
        for run in self._runs_for_folders if is_folder else self._runs_for_files:
            pattern = run.find(below, name)
            if pattern is not None:
                return pattern
        return None

    @cached_property
    def _runs_for_files(self) -> list[_Run]:
        return _split_runs([pattern for pattern in self._patterns if not pattern.folders_only])

    @cached_property
    def _runs_for_folders(self) -> list[_Run]:
        return _split_runs(self._patterns)


def find_deciding(lists: Iterable[PatternList], path: str, name: str, is_folder: bool) -> Pattern | None:
    """Return the pattern that ignores `path` according to `lists` (nearest folder first), or None."""
    for patterns in lists:
        pattern = patterns.find(path, name, is_folder)
        if pattern is not None:
            return None if pattern.negated else pattern
    return None


def _parse_pattern(line: str, origin: str) -> Pattern | None:
    """Return the pattern of one line; None for a comment, a blank line and what can match nothing.

    pathspec never sees a closing slash: its expression for one would match a slash that no path here ends in.
    """
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern  # 30 ms that most runs need not spend

    text = line.removesuffix("\r")
    glob = text.rstrip()
    folders_only = glob.endswith("/")
    translated, ignores = GitIgnoreSpecPattern.pattern_to_regex(glob[:-1] if folders_only else text)
    if translated is None:
        return None
    by_name = "/" not in glob.removesuffix("/")
    expression = _complete(translated)
    if by_name:
        expression = expression.removeprefix(_ANY_FOLDERS)
    if len(_REPEAT.findall(expression)) > MAX_STARS:
        raise ValueError("too many stars")
    return Pattern(
        text=text,
        origin=origin,
        regex=re.compile(expression, re.DOTALL),
        by_name=by_name,
        folders_only=folders_only,
        negated=not ignores,
    )


def _complete(translated: str) -> str:
    """Return pathspec's expression, which is for searching, as one for a full match without named groups.

    It has no anchor where it may match anywhere, and ends in a slash if it matches all that a folder holds.
    """
    start = "" if translated.startswith("^") else ".*"
    end = ".+" if translated.endswith("/") else ""
    return start + _NAMED_GROUP.sub("(?:", translated) + end


class _Run:
    """Neighbouring patterns of the same sign."""

    def __init__(self, patterns: Sequence[Pattern]) -> None:
        self._patterns = patterns[::-1]
        self._match_name = _join(pattern for pattern in patterns if pattern.by_name)
        self._match_path = _join(pattern for pattern in patterns if not pattern.by_name)

    def find(self, path: str, name: str) -> Pattern | None:
        if self._match_name(name) or self._match_path(path):
            return next(pattern for pattern in self._patterns if pattern.matches(path, name))
        return None


def _split_runs(patterns: Sequence[Pattern]) -> list[_Run]:
    """Return the runs in the order in which they decide: last line first."""
    runs = [_Run(list(run)) for _, run in groupby(patterns, key=lambda pattern: pattern.negated)]
    return runs[::-1]


def _join(patterns: Iterable[Pattern]) -> Callable[[str], re.Match[str] | None]:
    """Return a match with any of the patterns. It has no groups: a thousand make it 13 times slower."""
    joined = "|".join(f"(?:{pattern.regex.pattern})" for pattern in patterns)
    return re.compile(joined or "(?!)", re.DOTALL).fullmatch


def _decode(data: bytes) -> str:
    for bom, encoding in _BOMS:
        if data.startswith(bom):
            return data[len(bom) :].decode(encoding, "surrogateescape" if encoding == "utf-8" else "ignore")
    return data.decode("utf-8", "surrogateescape")
