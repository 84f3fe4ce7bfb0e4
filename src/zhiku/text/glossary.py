"""Glossaries: words that mean the same, and which of them a text holds."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import field
from typing import NamedTuple

from zhiku.errors import SourceError, ZhikuError
from zhiku.frozen import frozen
from zhiku.text.analyze import Analyzer, Run
from zhiku.text.fold import fold

_ACCENTS = re.compile("[\u0300-\u036f]")
_MAX_ENDING = 3
"""How many characters the singular and the plural of a word may differ by at its end: policy, policies."""

Key = tuple[str, ...]
"""What a word is known by."""

_BREAK = ""
"""Stands between two runs of Han where a blank or a mark parts them: a word does not reach across it unnoticed."""


@frozen
class Entry:
    """One line of a glossary: words that mean the same, the term first. `line` counts from 1."""

    words: tuple[str, ...]
    line: int
    path: str = ""


@frozen
class Glossary:
    """What one file says, or several."""

    entries: tuple[Entry, ...] = ()
    problems: tuple[SourceError, ...] = ()
    """Lines that cannot be used."""
    paths: tuple[str, ...] = ()
    faults: tuple[ZhikuError, ...] = ()
    """Why files cannot be read."""
    _cores: tuple[tuple[str, ...], ...] = field(default=(), repr=False)
    """Of each entry, for each word: what a text must hold, folded, to hold the word in any number."""

    def __len__(self) -> int:
        return len(self.entries)

    def shortcomings(self, base: str) -> tuple[ZhikuError, ...]:
        """Return what somebody who searches a base should know: files that cannot be read, lines that are not used."""
        if not self.problems:
            return self.faults
        unused = SourceError(
            "the glossary of base {base!r} has lines that cannot be used: {count}.",
            base=base,
            count=len(self.problems),
            hint="see which: zhiku terms --base {base}",
        )
        return (*self.faults, unused)

    def entries_for(self, folded: str) -> Iterator[Entry]:
        """Yield the entries of which a text, folded by `key_text`, may hold a word; the others it cannot hold."""
        for entry, cores in zip(self.entries, self._cores, strict=True):
            if any(core in folded for core in cores):
                yield entry


def make_glossary(
    entries: Iterable[Entry], problems: Iterable[SourceError] = (), paths: Iterable[str] = ()
) -> Glossary:
    """Return a glossary of these entries."""
    entries = tuple(entries)
    folded = iter(key_text("\n".join(word for entry in entries for word in entry.words)).split("\n"))
    cores = tuple(tuple(_core(next(folded)) for _ in entry.words) for entry in entries)
    return Glossary(entries=entries, problems=tuple(problems), paths=tuple(dict.fromkeys(paths)), _cores=cores)


def merge_glossaries(parts: Sequence[Glossary]) -> Glossary:
    """Return several glossaries as one."""
    if len(parts) == 1:
        return parts[0]
    return Glossary(
        entries=tuple(entry for part in parts for entry in part.entries),
        problems=tuple(problem for part in parts for problem in part.problems),
        faults=tuple(fault for part in parts for fault in part.faults),
        paths=tuple(dict.fromkeys(path for part in parts for path in part.paths)),
        _cores=tuple(cores for part in parts for cores in part._cores),
    )


class Mention(NamedTuple):
    """A word of a glossary in a text."""

    said: str
    """The word as the glossary writes it."""
    terms: tuple[str, ...]
    """The analyzer's terms of the text that stand for it, or for a part of it."""
    others: tuple[str, ...]
    """The other words of its lines, in their order, without those that the text holds as well."""


def find_mentions(
    glossary: Glossary, text: str, analyzer: Analyzer, as_written: Container[str] = frozenset()
) -> list[Mention]:
    """Return the words of a glossary in a text, in their order; of words that overlap, the longest.

    A Latin word is found whole, in singular and plural; Han is found inside of longer words, but for a single
    character, which must stand alone. Case and variants of characters do not matter, as in the index; but words that,
    in small letters, are among `as_written` (it, who, us) are found only with the glossary's capitals.
    """
    lines: dict[Key, list[Entry]] = {}
    said: dict[Key, str] = {}
    for entry in glossary.entries_for(key_text(" ".join(text.split()))):
        for word in entry.words:
            key = key_of(word, analyzer)
            lines.setdefault(key, []).append(entry)
            said.setdefault(key, word)
    found = _longest(_units(analyzer.runs(text)), said, as_written)
    held = {key for key, _ in found}
    return [Mention(said[key], terms, _others(lines[key], held, analyzer)) for key, terms in found]


def _others(entries: Sequence[Entry], held: set[Key], analyzer: Analyzer) -> tuple[str, ...]:
    words = dict.fromkeys(word for entry in entries for word in entry.words)
    return tuple(word for word in words if key_of(word, analyzer) not in held)


def key_of(word: str, analyzer: Analyzer) -> Key:
    """Return what is equal for words that are one: in any case and number, in all variants of their characters."""
    return tuple(unit.key for unit in _units(analyzer.runs(word)))


def _longest(
    units: Sequence[_Unit], said: dict[Key, str], as_written: Container[str]
) -> list[tuple[Key, tuple[str, ...]]]:
    """Return the keys of the words that stand in a row of units, with the terms of their places."""
    sizes = sorted({len(key) for key in said}, reverse=True)
    taken: set[int] = set()
    found: dict[int, tuple[Key, tuple[str, ...]]] = {}
    for size in sizes:
        for start in range(len(units) - size + 1):
            part = units[start : start + size]
            key = tuple(unit.key for unit in part)
            if key in said and taken.isdisjoint(range(start, start + size)) and _is_meant(part, said[key], as_written):
                taken.update(range(start, start + size))
                found[start] = (key, tuple(dict.fromkeys(term for unit in part for term in unit.terms)))
    return [found[start] for start in sorted(found)]


def _is_meant(part: Sequence[_Unit], word: str, as_written: Container[str]) -> bool:
    if len(part) > 1:
        return True
    return part[0].is_whole and (part[0].key not in as_written or part[0].text in word)


class _Unit(NamedTuple):
    """What a word of a glossary is found by: a word, or a character of a run of Han."""

    key: str
    text: str
    terms: tuple[str, ...]
    """What stands for it, or for a part of it, in a query."""
    is_whole: bool = True
    """Whether nothing is written next to it."""


def _units(runs: Iterable[Run]) -> list[_Unit]:
    units: list[_Unit] = []
    was_cjk = False
    for run in runs:
        if not run.is_cjk:
            units.append(_Unit(singular(_plain(run.text).removesuffix("'s")), run.text, run.terms))
        else:
            if was_cjk:
                units.append(_Unit(_BREAK, "", ()))
            for i, char in enumerate(run.text):
                units.append(_Unit(char, char, run.terms[max(0, i - 1) : i + 1], len(run.text) == 1))
        was_cjk = run.is_cjk
    return units


def singular(word: str) -> str:
    """Return an English word in small letters without what makes its plural, as far as its form tells."""
    if len(word) <= _MAX_ENDING or not word.isascii() or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies") and len(word) > _MAX_ENDING + 1:
        return f"{word[:-3]}y"
    return word[:-2] if word.endswith(("sses", "xes", "zes", "ches", "shes")) else word[:-1]


def number_forms(word: str) -> tuple[str, ...]:
    """Return an English word in small letters as it stands, in the singular and in the plural."""
    one = singular(word)
    if one.endswith("y") and one[-2:-1] not in "aeiou":
        many = f"{one[:-1]}ies"
    else:
        many = f"{one}es" if one.endswith(("s", "x", "z", "ch", "sh")) else f"{one}s"
    return tuple(dict.fromkeys((word, one, many)))


def key_text(text: str) -> str:
    """Return a text in the form in which words of glossaries are looked for: folded, in small letters."""
    return re.sub(r"[^\S\n]+", " ", _plain(fold(text)))


def _plain(text: str) -> str:
    """Return folded text in small letters, and Latin ones without accents."""
    text = text.casefold().replace("’", "'")
    return text if text.isascii() else _ACCENTS.sub("", unicodedata.normalize("NFD", text))


def _core(word: str) -> str:
    """Return what is common to the singular and the plural of a folded word."""
    return word[: max(2, len(word) - _MAX_ENDING)] if word[-1:].isascii() else word
