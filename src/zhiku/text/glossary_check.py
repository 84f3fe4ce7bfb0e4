"""What is odd about the lines of a glossary, as far as they tell by themselves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from zhiku.text.analyze import Analyzer
from zhiku.text.glossary import Entry, Key, key_of

Kind = Literal["duplicate", "circle", "no_entry", "not_found"]


@dataclass(frozen=True, kw_only=True)
class Finding:
    """Words about which something is odd, and the lines that they stand in.

    `duplicate`: a term of several lines, an alias of several terms, or a word twice in one line. `circle`: terms that
    are aliases of each other, from line to line. `no_entry`: an alias that is the term of no line. `not_found`: a word
    that no document holds.
    """

    kind: Kind
    words: tuple[str, ...]
    entries: tuple[Entry, ...]

    @property
    def is_fault(self) -> bool:
        """Return whether the lines should be changed; the others are as a glossary may well be."""
        return self.kind in ("duplicate", "circle")


def check_entries(entries: Sequence[Entry], analyzer: Analyzer) -> list[Finding]:
    """Return the duplicates, the circles and the aliases without an entry of their own, in the order of their lines."""
    keys = [[key_of(word, analyzer) for word in entry.words] for entry in entries]
    terms = _where(entries, keys, slice(0, 1))
    aliases = _where(entries, keys, slice(1, None))
    circles = list(_circles(entries, keys))
    found = [*_duplicates(entries, keys, terms, aliases), *circles]
    found += [
        Finding(kind="no_entry", words=(places[0][1],), entries=tuple(entry for entry, _ in places))
        for key, places in aliases.items()
        if key not in terms
    ]
    return found


_Places = Mapping[Key, list[tuple[Entry, str]]]


def _where(entries: Sequence[Entry], keys: Sequence[Sequence[Key]], part: slice) -> _Places:
    """Return for each word among the terms, or among the aliases, in which lines it stands, and how."""
    places: dict[Key, list[tuple[Entry, str]]] = {}
    for entry, known in zip(entries, keys, strict=True):
        for key, word in dict(zip(known[part], entry.words[part], strict=True)).items():
            places.setdefault(key, []).append((entry, word))
    return places


def _duplicates(
    entries: Sequence[Entry], keys: Sequence[Sequence[Key]], terms: _Places, aliases: _Places
) -> Iterator[Finding]:
    for entry, known in zip(entries, keys, strict=True):
        twice = [word for i, (key, word) in enumerate(zip(known, entry.words, strict=True)) if key in known[:i]]
        if twice:
            yield Finding(kind="duplicate", words=tuple(twice), entries=(entry,))
    for places in (*terms.values(), *(each for key, each in aliases.items() if key not in terms)):
        if len(places) > 1:
            yield Finding(kind="duplicate", words=(places[0][1],), entries=tuple(entry for entry, _ in places))


def _circles(entries: Sequence[Entry], keys: Sequence[Sequence[Key]]) -> Iterator[Finding]:
    """Yield the terms that lead back to themselves over the terms among their aliases, each circle once."""
    lines: dict[Key, list[int]] = {}
    for i, known in enumerate(keys):
        lines.setdefault(known[0], []).append(i)
    leads = {
        term: {key for i in numbers for key in keys[i][1:] if key in lines and key != term}
        for term, numbers in lines.items()
    }
    told: set[Key] = set()
    for term in leads:
        circle = _path(leads, term) if term not in told else []
        if circle:
            told.update(circle)
            found = [entries[i] for key in circle for i in lines[key]]
            yield Finding(
                kind="circle", words=tuple(entries[lines[key][0]].words[0] for key in circle), entries=tuple(found)
            )


def _path(leads: Mapping[Key, set[Key]], start: Key) -> list[Key]:
    """Return the terms of a shortest way from a term back to itself; none where there is no way."""
    came_from: dict[Key, Key] = {}
    ahead = [start]
    for term in ahead:
        for following in sorted(leads[term]):
            if following == start:
                way = [term]
                while way[-1] != start:
                    way.append(came_from[way[-1]])
                return way[::-1]
            if following not in came_from:
                came_from[following] = term
                ahead.append(following)
    return []
