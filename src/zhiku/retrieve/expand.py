"""What a base's glossary adds to a question, for the search by words alone."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from zhiku.frozen import frozen
from zhiku.model import ANY_ENDING, Unit
from zhiku.retrieve.plan import STOP_WORDS
from zhiku.text.analyze import Analyzer
from zhiku.text.glossary import Glossary, find_mentions, number_forms

ALIAS_WEIGHT = 0.8
"""What an alias counts, as a share of what the query's own words would (evals/README.md)."""

MAX_ALIASES = 64
"""A pasted page may hold many words of a large glossary; those of its first ones are asked for."""

_LAST_WORD = re.compile(r"[A-Za-z]+\Z")


@frozen
class Alias:
    """Another word for what was asked. It is looked for as a whole: `phrases` are the ways in which it is written."""

    text: str
    phrases: tuple[Unit, ...]


@frozen
class Expansion:
    """A word of the question that a glossary knows, and what else it is called."""

    said: str
    terms: frozenset[str]
    """What the query looks for that stands for this word, or for a part of it."""
    aliases: tuple[Alias, ...]


def expand(text: str, glossaries: Mapping[str, Glossary], analyzer: Analyzer) -> dict[str, tuple[Expansion, ...]]:
    """Return by base what its glossary adds to a question; bases whose glossary adds nothing are left out."""
    found = {name: _expansions(text, glossary, analyzer) for name, glossary in glossaries.items() if len(glossary)}
    return {name: expansions for name, expansions in found.items() if expansions}


def _expansions(text: str, glossary: Glossary, analyzer: Analyzer) -> tuple[Expansion, ...]:
    expansions = []
    left = MAX_ALIASES
    for mention in find_mentions(glossary, text, analyzer, STOP_WORDS):
        if others := mention.others[:left]:
            left -= len(others)
            aliases = tuple(Alias(text=word, phrases=spellings_of(word, analyzer)) for word in others)
            expansions.append(Expansion(said=mention.said, terms=frozenset(mention.terms), aliases=aliases))
    return tuple(expansions)


def phrases_of(expansions: Sequence[Expansion]) -> tuple[Unit, ...]:
    """Return all ways in which the aliases are written."""
    return tuple(dict.fromkeys(p for each in expansions for alias in each.aliases for p in alias.phrases))


def spellings_of(word: str, analyzer: Analyzer) -> tuple[Unit, ...]:
    """Return the runs of tokens that stand for a word where it is written as here or small, in singular and plural."""
    spellings = [word, word.casefold()]
    if last := _LAST_WORD.search(word):
        forms = number_forms(last.group().lower())
        spellings += [word[: last.start()] + form for form in forms]
    return tuple(dict.fromkeys(_phrase(spelling, analyzer) for spelling in spellings))


def _phrase(spelling: str, analyzer: Analyzer) -> Unit:
    runs = analyzer.runs(spelling)
    tokens = tuple(token for run in runs for token in run.tokens)
    if not runs[-1].is_cjk:
        return tokens
    # In a text it may be the beginning of a longer run.
    return tokens[:-1] if len(runs[-1].text) > 1 else (*tokens, ANY_ENDING)
