"""Terms that the texts of a base suggest for its glossary. Somebody has to look at them before they are used."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import permutations
from pathlib import Path
from typing import Any

from zhiku.errors import UsageError
from zhiku.model import LexicalQuery
from zhiku.ports import ReadSession
from zhiku.text.analyze import Analyzer
from zhiku.text.glossary import Entry, Glossary, Key, key_of
from zhiku.text.pairs import Pair, find_pairs, pair_of_link
from zhiku.text.term_head import are_alike_in_size, head_of

MAX_HEADS = 3_000
"""Of so many runs of Han, the most frequent ones, it is found out where the term begins."""
MAX_COUNT = 2_000
"""Runs that stand in more chunks are all alike frequent."""
MAX_RARE = 50
"""Of runs that stand in no more chunks each occurrence is counted, not only the chunks."""
MAX_PARTNERS = 2
"""A word beside more other words than these is what they have in common, and no name of any; unless one prevails."""
EXAMPLE_CHARS = 60


@dataclass(frozen=True, kw_only=True)
class Suggestion:
    """A term with what it is also called, and where that is said first."""

    term: str
    aliases: tuple[str, ...]
    count: int
    documents: int
    path: str
    line: int | None
    """None where the document has pages instead."""
    example: str

    def to_dict(self) -> dict[str, Any]:
        """Return the suggestion as every door gives it in JSON."""
        return {
            "term": self.term,
            "aliases": list(self.aliases),
            "count": self.count,
            "documents": self.documents,
            "example": {"path": self.path, "line": self.line, "text": self.example},
        }


@dataclass(kw_only=True)
class _Seen:
    """Where a pair stands: how often, in which documents, and where first."""

    doc_id: int
    line: int
    example: str
    count: int = 0
    doc_ids: set[int] = field(default_factory=set)

    def add(self, doc_id: int) -> None:
        self.count += 1
        self.doc_ids.add(doc_id)

    def merge(self, other: _Seen) -> None:
        self.count += other.count
        self.doc_ids |= other.doc_ids


_Pairs = dict[Pair, _Seen]


def suggest_terms(session: ReadSession, known: Glossary, analyzer: Analyzer, limit: int) -> list[Suggestion]:
    """Return the terms that the texts suggest and no line of a glossary has, the most frequent first."""
    seen = _whole(_found(session), session, analyzer)
    keys = {word: key_of(word, analyzer) for pair in seen for word in (pair.term, pair.alias)}
    kept = _without_crowds(seen, keys)
    told = {frozenset(pair) for each in known.entries for pair in permutations(_keys(each, analyzer), 2)}
    by_term: defaultdict[Key, dict[Pair, _Seen]] = defaultdict(dict)
    for pair, places in kept.items():
        if keys[pair.term] != keys[pair.alias] and frozenset((keys[pair.term], keys[pair.alias])) not in told:
            by_term[keys[pair.term]][pair] = places
    made = [_suggestion(session, pairs) for pairs in by_term.values()]
    return sorted(made, key=lambda each: (-each.count, each.term))[:limit]


def _keys(entry: Entry, analyzer: Analyzer) -> list[Key]:
    return [key_of(word, analyzer) for word in entry.words]


def _found(session: ReadSession) -> _Pairs:
    found: _Pairs = {}
    for piece in session.texts():
        for at, pair in find_pairs(piece.body):
            if pair not in found:
                found[pair] = _Seen(doc_id=piece.doc_id, line=piece.file_line(at), example=_around(piece.body, at))
            found[pair].add(piece.doc_id)
    for document in session.documents():
        for link in document.links if document.state == "active" else ():
            # A wikilink's target has no ending and is no address; behind an anchor, its text may name the section.
            is_wikilink = "." not in link.target and not link.target.startswith("/")
            if is_wikilink and not link.anchor and (named := pair_of_link(link.target, link.alias)):
                example = f"[[{link.target}|{link.alias}]]"
                found.setdefault(named, _Seen(doc_id=document.doc_id, line=link.line, example=example))
                found[named].add(document.doc_id)
    return found


def _around(text: str, at: int) -> str:
    """Return what stands around a place in its line."""
    start = max(text.rfind("\n", 0, at) + 1, at - EXAMPLE_CHARS)
    end = text.find("\n", at)
    return text[start : min(end if end >= 0 else len(text), at + EXAMPLE_CHARS)].strip()


def _whole(found: _Pairs, session: ReadSession, analyzer: Analyzer) -> _Pairs:
    """Return the pairs with the term alone where it was the end of a run of Han."""

    @cache
    def count(run: str) -> int:
        query = LexicalQuery(phrases=(tuple(analyzer.tokens(run)[:-1]),))
        holders = [each.chunk_id for each in session.search_lexical(query, limit=MAX_COUNT)]
        if len(holders) > MAX_RARE:
            return len(holders)
        return int(sum(sum(held.counts.values()) for held in session.occurrences(query, holders).values()))

    made: _Pairs = {pair: seen for pair, seen in found.items() if pair.is_whole}
    by_run: defaultdict[str, list[Pair]] = defaultdict(list)
    for pair in found:
        if not pair.is_whole:
            by_run[pair.term].append(pair)
    runs = sorted(by_run, key=lambda run: (-sum(found[pair].count for pair in by_run[run]), run))
    for run in runs[:MAX_HEADS]:
        term = head_of(run, [pair.alias for pair in by_run[run]], count)
        for pair in by_run[run]:
            if term and are_alike_in_size(term, pair.alias):
                whole = pair._replace(term=term, is_whole=True)
                if whole in made:
                    made[whole].merge(found[pair])
                else:
                    made[whole] = found[pair]
    return made


def _without_crowds(seen: _Pairs, keys: Mapping[str, Key]) -> _Pairs:
    """Return the pairs that are likely: said more than once or in a telling way, of words that have few partners."""
    partners: defaultdict[Key, Counter[Key]] = defaultdict(Counter)
    for pair, places in seen.items():
        term, alias = keys[pair.term], keys[pair.alias]
        partners[term][alias] += places.count
        partners[alias][term] += places.count

    def is_one_of_many(word: str, other: str) -> bool:
        counts = partners[keys[word]]
        return len(counts) > MAX_PARTNERS and 2 * counts[keys[other]] < counts.total()

    return {
        pair: places
        for pair, places in seen.items()
        if (places.count > 1 or pair.is_telling)
        and not is_one_of_many(pair.term, pair.alias)
        and not is_one_of_many(pair.alias, pair.term)
    }


def _suggestion(session: ReadSession, pairs: Mapping[Pair, _Seen]) -> Suggestion:
    ordered = sorted(pairs, key=lambda pair: (-pairs[pair].count, pair))
    first = pairs[ordered[0]]
    document = session.document(first.doc_id)
    return Suggestion(
        term=ordered[0].term,
        aliases=tuple(dict.fromkeys(pair.alias for pair in ordered)),
        count=sum(places.count for places in pairs.values()),
        documents=len(set().union(*(places.doc_ids for places in pairs.values()))),
        path=document.source.path if document else "",
        line=None if document and document.page_count else first.line,
        example=first.example,
    )


def as_glossary(suggestions: Iterable[Suggestion], base: str) -> Iterator[str]:
    """Yield the lines of a glossary to be looked through, each term with where it comes from."""
    yield f"# Suggested by the texts of base {base}, and used by nothing. Delete what is wrong, then name the file:"
    yield f"# zhiku index --base {base} --glossary FILE"
    for each in suggestions:
        yield ""
        place = f"{each.path} L{each.line}" if each.line else each.path
        yield f"# {each.count} times in {each.documents} documents; {place}: {' '.join(each.example.split())}"
        yield f"{each.term} = {', '.join(each.aliases)}"


def write_new(path: Path, lines: Sequence[str]) -> None:
    """Write a file that does not exist yet. Raises `UsageError` where it does."""
    try:
        with path.open("x", encoding="utf-8", newline="\n") as file:
            file.writelines(f"{line}\n" for line in lines)
    except FileExistsError as error:
        raise UsageError(
            "{path} exists, and nothing is ever written over.", path=path, hint="name a file that does not exist"
        ) from error
    except OSError as error:
        raise UsageError(
            "{path} cannot be written: {cause}.", path=path, cause=error.strerror, hint="name a file in another folder"
        ) from error
