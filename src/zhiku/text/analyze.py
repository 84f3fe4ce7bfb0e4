"""The analyzer: text to the tokens that the lexical index and its queries are made of.

Han, kana and Hangul runs become overlapping pairs of characters, with the run's last character behind them, so that
the prefix of one character finds every word that holds it; nothing needs a dictionary, and any substring of two
characters or more is a phrase of pairs. A Latin word becomes itself, its stem, and the parts of an identifier
(`gate-sync`: gate-sync, gate, sync). A number with commas between its thousands is the number without them, and its
groups, since it may be a list (`1,200`: 1200, 200). Measured: docs/adr/0002-analyzer.md.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from operator import add

import Stemmer

from zhiku.text.fold import fold, fold_with_map

ANALYZER_VERSION = "2"
"""Part of the manifest: a change of any token that `tokens` returns needs a new version and a rebuild."""

MAX_TOKEN_CHARS = 64

# Han and its iteration marks and zero, kana, bopomofo, Hangul syllables: scripts written without spaces, or nearly so.
_CJK = (
    r"\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u31f0-\u31ff"
    r"\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003ffff"
)
_LETTER = rf"[^\W_{_CJK}]"
# All groups but the first have three digits, and no digit stands beyond a comma at either end: `1,200,30` is a list.
_GROUPED = r"(?<![0-9][.,])[1-9][0-9]{0,2}(?:,[0-9]{3})+(?!,?[0-9])"
_PART = rf"(?:{_GROUPED}|{_LETTER}){_LETTER}*"
_RUN = re.compile(
    rf"[{_CJK}]+"
    # A word: letters and digits, joined inside by one mark (gate-sync, 3.11, don't, AT&T, std::vector), perhaps
    # behind a dot (.NET) and before C++'s or C#'s marks.
    rf"|(?:(?<![\w.])\.(?=[^\W\d_]))?{_PART}(?:(?:[-.'’&@]|_+|::){_PART})*(?:\+\+|[+#](?![\w+#]))?"
)
_JOINT = re.compile(r"[-.'’&@_]+|::|[+#]+$")
# Where an identifier's parts begin: fooBar, HTTPServer.
_CASE_STEP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")

_CACHED_WORDS = 100_000


@dataclass(frozen=True, slots=True)
class Run:
    """A stretch of text that is one unit to the analyzer."""

    is_cjk: bool
    text: str
    tokens: tuple[str, ...]
    """What stands for it in the index, in order."""
    terms: tuple[str, ...]
    """What to ask for when any of it may match: one token for each pair, word or part of a word.

    A word is asked for by its stem, which stands beside every form of it: asking for the form as well would count
    words that have a stem of their own twice (worth .02 nDCG on the English sets). The single character behind a
    longer run serves prefixes alone, and would match far too much.
    """


class Analyzer:
    """Turns text into tokens; keeps the tokens of words it has seen. Safe to use from several threads.

    `bulk` is for much text: it starts slower and runs faster (see `zhiku.text.fold.fold`).
    """

    def __init__(self, *, bulk: bool = False) -> None:
        self._bulk = bulk
        self._stem = Stemmer.Stemmer("english").stemWord
        self._lock = threading.Lock()  # over the stemmer, which is for one thread at a time
        self._words: dict[str, tuple[str, ...]] = {}

    def tokens(self, text: str) -> list[str]:
        """Return the tokens of `text` in order."""
        found: list[str] = []
        words = self._words
        for run in _RUN.findall(fold(text, bulk=self._bulk)):
            known = words.get(run)
            if known is not None:
                found.extend(known)
            elif _is_cjk(run):
                found.extend(map(add, run, run[1:]))
                found.append(run[-1])
            else:
                found.extend(self._learn(run))
        return found

    def runs(self, text: str) -> list[Run]:
        """Return the runs of `text` in order; their tokens in a row are `tokens(text)`."""
        return [self._run(run) for run in _RUN.findall(fold(text))]

    def spans(self, text: str, wanted: frozenset[str] | None = None) -> Iterator[tuple[str, int, int]]:
        """Yield each token, or each of the wanted ones, with the half-open span of `text` that it stands for."""
        folded, offsets = fold_with_map(text)
        heads = frozenset(token[0] for token in wanted or ())
        for match in _RUN.finditer(folded):
            run = match.group()
            if wanted is not None and (_cannot_be(run, heads) or wanted.isdisjoint(self._tokens_of(run))):
                continue
            for token, start, end in self._placed(run, match.start()):
                if wanted is None or token in wanted:
                    yield token, offsets[start], _end_offset(offsets, end)

    def _tokens_of(self, run: str) -> Iterable[str]:
        if _is_cjk(run):
            return (*map(add, run, run[1:]), run[-1])
        return self._words.get(run) or self._learn(run)

    def _run(self, text: str) -> Run:
        tokens = tuple(token for token, _, _ in self._placed(text, 0))
        if _is_cjk(text):
            return Run(True, text, tokens, tokens[:-1] or tokens)
        return Run(False, text, tokens, tuple(dict.fromkeys(forms[-1] for forms in self._words_of(text))))

    def _placed(self, run: str, at: int) -> Iterator[tuple[str, int, int]]:
        if _is_cjk(run):
            for i in range(len(run) - 1):
                yield run[i : i + 2], at + i, at + i + 2
            yield run[-1], at + len(run) - 1, at + len(run)
        else:
            for token in self._words.get(run) or self._learn(run):
                yield token, at, at + len(run)

    def _learn(self, word: str) -> tuple[str, ...]:
        if len(self._words) >= _CACHED_WORDS:
            self._words.clear()
        tokens = tuple(dict.fromkeys(token for forms in self._words_of(word) for token in forms))
        self._words[word] = tokens
        return tokens

    def _words_of(self, word: str) -> Iterator[tuple[str, ...]]:
        """Yield the forms of a word as a whole, then of its parts if it has some."""
        whole = word.casefold().replace("’", "'").replace(",", "")
        for start in range(0, len(whole), MAX_TOKEN_CHARS):
            yield self._forms(whole[start : start + MAX_TOKEN_CHARS])
        for part in (part for joined in _JOINT.split(word) for part in _parts_of(joined)):
            if 1 < len(part) < len(word):
                yield self._forms(part.casefold()[:MAX_TOKEN_CHARS])

    def _forms(self, word: str) -> tuple[str, ...]:
        """Return a word, without its accents, and its stem; the last is what all forms of it have in common."""
        plain = word if word.isascii() else _without_marks(word)
        stem = plain
        if plain.isalpha() and plain.isascii():
            with self._lock:
                stem = self._stem(plain)
        return tuple(dict.fromkeys((word, plain, stem)))


def _parts_of(joined: str) -> list[str]:
    if "," in joined:
        return [joined.replace(",", ""), *joined.split(",")]
    return _CASE_STEP.split(joined)


def _is_cjk(run: str) -> bool:
    # Every script of the class above lies beyond U+3004, and no other letter of a word's first place does that
    # NFKC leaves (Yi, Vai and the like are beyond it too, hence the look at the class itself).
    return run[0] > "\u3004" and _CJK_START.match(run) is not None


_CJK_START = re.compile(rf"[{_CJK}]")


def _cannot_be(run: str, heads: frozenset[str]) -> bool:
    """Return whether a plain word begins like none of the tokens sought: its forms and its stem begin as it does."""
    return run[0].lower() not in heads and run.isascii() and run.isalpha() and run[1:].islower()


def _without_marks(word: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFD", word) if not unicodedata.combining(c))


def _end_offset(offsets: list[int], end: int) -> int:
    """Return the original end for a folded end: one cluster of text may have become several characters."""
    last = offsets[end - 1]
    while end < len(offsets) - 1 and offsets[end] == last:
        end += 1
    return offsets[end]
