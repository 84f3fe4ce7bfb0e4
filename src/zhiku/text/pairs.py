"""Pairs of words that a text itself says to be one thing: 全称（简称）, Term (ABBR), 术语（term）, [[page|alias]]."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from zhiku.text.term_head import HAN, are_alike_in_size

Kind = Literal["short", "latin", "han", "named", "link"]
"""Which of them: an abbreviation, a Han term in Latin, a Latin one in Han, another Han name, the text of a link."""

MAX_BEFORE = 80
"""How many characters before a parenthesis are looked at."""
MAX_WORDS = 5
MAX_LETTERS = 7
"""Of an abbreviation behind Han; what is longer and all in capitals is a name in some program."""

_PARENTHESIS = re.compile(r"[（(]([^（）()\n]{1,60})[）)]")
_SEPARATOR = re.compile(r"[,，;；、]| or ")
_QUOTES = "\"'“”‘’*`_「」『』 "

_HAN_RUN = re.compile(f"[{HAN}·]+$")
_HAN_NAME = re.compile(f"[{HAN}][{HAN}·]{{1,11}}")
_LATIN_NAME = re.compile(r"[A-Za-z](?:[A-Za-z0-9+#&'’/-]| (?=[A-Za-z0-9])){1,59}")
_CODE_NAME = re.compile(r"(?=\w{7})\w*[a-z][A-Z]\w*")
_LAST_WORD = re.compile(r"[A-Za-z][A-Za-z0-9+#&'’-]*$")
_LONG_FORM = re.compile(r"[A-Za-z0-9][\w '’/&.+-]*")
_LINK_NAME = re.compile(rf"[\w{HAN} +#&'’·-]*[^\W\d_][\w{HAN} +#&'’·-]*")

_ANNOUNCED = re.compile(
    r"(?:(?:以下|下文|后文)?简称|缩写(?:为|是)?|又称|又名|又叫|也称|也叫|亦称|俗称|别称|别名|全称|旧称|学名|英文名?称?|英语|中文名?称?|译名"
    r"|also (?:known as|called)|a\.?k\.?a\.?|abbreviated(?: as| to)?|short for)(?:是|为)?\s*[:：]?\s*",
    re.IGNORECASE,
)
"""What says that another name follows."""

_ASIDE = re.compile(
    r"(?:a|about|all|alpha|also|an|and|any|are|as|at|beta|both|but|by|chapter|default|e\.?g|eq|etc|fig|figure|for|from|http\S*|i\.?e"
    r"|if|in|including|is|it|like|no|not|note|of|often|on|only|optional|or|page|section|see|so|such|table|that|the|this|to"
    r"|usually|version|was|we|when|which|with|www\S*|you)\b",
    re.IGNORECASE,
)
_UNIT = re.compile(r"[kmgt]i?b|bits?|bytes?|[mun]s|seconds?|minutes?|hours?|days?|px|[kmgt]?hz", re.IGNORECASE)

_HAN_ASIDE = re.compile(
    r"[的了是不可会将从在或使当等把被让]|^(?:默认|实验|试用|即|例|比如|如|参[见考阅照]|详?见|包[括含]|含|仅|只|已|未|尚|约|注|需|必|推荐|建议|大致|同上|以及"
    r"|共|第|每|其|单位|下同)"
)
"""What begins a remark, which is no name."""


class Pair(NamedTuple):
    """Two words for one thing, as they stand in a text."""

    term: str
    alias: str
    kind: Kind
    is_whole: bool = True
    """Whether all of `term` is the term; else it is the run of Han that ends with it."""

    @property
    def is_telling(self) -> bool:
        """Return whether one occurrence is enough to take it for a pair: a single word may be a remark."""
        if self.kind in ("short", "named", "link"):
            return True
        latin = self.alias if self.kind == "latin" else self.term
        return len(latin.split()) > 1 or sum(char.isupper() for char in latin) > 1


def find_pairs(text: str) -> Iterator[tuple[int, Pair]]:
    """Yield the pairs that a text explains in parentheses, with the place of the second word."""
    for match in _PARENTHESIS.finditer(text):
        start = max(text.rfind("\n", 0, match.start()) + 1, match.start() - MAX_BEFORE)
        for pair in _of_parenthesis(text[start : match.start()].rstrip(" "), match[1]):
            yield match.start(1), pair


def pair_of_link(target: str, text: str) -> Pair | None:
    """Return the note that a wikilink leads to and what it is called there, if both are names."""
    name, text = target.rpartition("/")[2].strip(), text.strip(_QUOTES)
    is_pair = _is_link_name(name) and _is_link_name(text) and name.casefold() != text.casefold()
    return Pair(name, text, "link") if is_pair else None


def _of_parenthesis(before: str, inside: str) -> Iterator[Pair]:
    for part in _SEPARATOR.split(inside)[:3]:
        part = part.strip(_QUOTES)
        announced = _ANNOUNCED.match(part)
        name = part[announced.end() :].strip(_QUOTES) if announced else part
        if not announced and _ASIDE.match(name) and not name.isupper():
            return
        pair = _pair(before, name, is_announced=announced is not None)
        if pair is None:  # a remark, whose further parts are no names either
            return
        yield pair


def _pair(before: str, name: str, *, is_announced: bool) -> Pair | None:
    run = _HAN_RUN.search(before)
    if _LATIN_NAME.fullmatch(name):
        if run:
            return _latin_behind_han(run[0], name)
        long = long_form(before, name)
        return Pair(long, name, "short") if long else None
    if not _HAN_NAME.fullmatch(name):
        return None
    if run:
        return _han_behind_han(run[0], name, is_announced=is_announced)
    return _han_behind_latin(before, name)


def _latin_behind_han(run: str, name: str) -> Pair | None:
    if (name.islower() and len(name) < 3) or (name.isupper() and len(name) > MAX_LETTERS):
        return None
    if _CODE_NAME.fullmatch(name) or _UNIT.fullmatch(name):
        return None
    return Pair(run, name, "latin", is_whole=False)


def _han_behind_han(run: str, name: str, *, is_announced: bool) -> Pair | None:
    """Return a name and its short form, whose characters it holds in order, or two names that are said to be one."""
    if name not in run and (start := _start_of(run, name)) is not None:
        return Pair(run[start:], name, "short")
    return Pair(run, name, "named", is_whole=False) if is_announced else None


def _start_of(run: str, short: str) -> int | None:
    """Return where in a run the shortest end begins that holds some characters in order."""
    at = len(run)
    for char in reversed(short):
        at = run.rfind(char, 0, at)
        if at < 0:
            return None
    return at


def _han_behind_latin(before: str, name: str) -> Pair | None:
    latin = _last_words(before)
    if _UNIT.fullmatch(latin):
        return None
    if (
        not latin
        or latin.islower()
        or _CODE_NAME.fullmatch(latin)
        or _HAN_ASIDE.search(name)
        or not are_alike_in_size(name, latin)
    ):
        return None
    return Pair(latin, name, "han")


def _last_words(before: str) -> str:
    """Return the Latin words at the end of a text; nothing where they are too many to be a name."""
    words: list[str] = []
    while match := _LAST_WORD.search(before):
        words.append(match[0])
        before = before[: match.start()]
        if before[-1:] != " ":
            break
        before = before[:-1]
    if len(words) > MAX_WORDS or before[-1:] in tuple("./_\\$"):
        return ""
    return " ".join(reversed(words))


def long_form(before: str, short: str) -> str | None:
    """Return what an abbreviation in parentheses stands for, which ends the text before it; None if nothing does.

    After Schwartz and Hearst (2003): its letters are sought backwards, the first one at the beginning of a word.
    """
    letters = [char.lower() for char in short if char.isalnum()]
    if not 2 <= len(letters) <= 10 or len(short.split()) > 2 or sum(char.isupper() for char in short) < 2:
        return None
    text = " ".join(before.split()[-min(len(letters) + 5, 2 * len(letters)) :])
    start = _start_of_long_form(text.lower(), letters)
    if start is None:
        return None
    long = text[start:].strip(_QUOTES)
    holds_short = short.lower() in long.lower().split()
    return long if _LONG_FORM.fullmatch(long) and not holds_short else None


def _start_of_long_form(text: str, letters: list[str]) -> int | None:
    at = len(text)
    for left, letter in zip(range(len(letters) - 1, -1, -1), reversed(letters), strict=True):
        at = text.rfind(letter, 0, at)
        while left == 0 and at > 0 and text[at - 1].isalnum():
            at = text.rfind(letter, 0, at)
        if at < 0:
            return None
    return at


def _is_link_name(text: str) -> bool:
    """Return whether the text of a link may be a name: no date and no sentence."""
    is_short = len(text.split()) <= MAX_WORDS and len(text) <= MAX_BEFORE // 2
    return is_short and _LINK_NAME.fullmatch(text) is not None
