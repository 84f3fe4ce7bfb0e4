"""Why a file was left out or not read, in the reader's language."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from typing import TYPE_CHECKING

from zhiku.cli.screen import Screen
from zhiku.i18n import hint_of, message_of

if TYPE_CHECKING:
    from zhiku.errors import ZhikuError
    from zhiku.model import LedgerEntry

MAX_LISTED = 20

# The codes of zhiku.ingest.rules, and of a SourceError; the former is not imported for their names alone.
RULES = {
    "hidden": "name begins with . or _",
    "vcs_or_build": "version control, packages or build output",
    "own_files": "zhiku's own files",
    "ignored": "left out by an ignore file or a setting",
    "too_large": "larger than the limit",
    "binary": "not text",
    "unsupported": "no reader for this kind of file",
    "not_regular": "not a regular file",
    "link_broken": "link to nothing",
    "link_loop": "link into a folder around it",
    "link_outside": "link out of its root",
    "link_duplicate": "link to what is read already",
    "unreadable": "the system refused to read it",
    "root_missing": "this root is gone; what is indexed of it stays. Connect its drive; if it was removed: zhiku forget"
    " PATH",
    "root_empty": "this root holds nothing now; what is indexed of it stays. Connect its drive; if you emptied it:"
    " zhiku forget PATH",
    "damaged": "damaged, or not what its ending says",
    "password": "encrypted",
    "needs_ocr": "pictures of text, which need OCR",
    "changing": "was being written while it was read",
    "crashed": "its reader crashes over it",
    "timeout": "takes too long to read",
    "memory": "needs too much memory",
    "empty": "it holds no text",
    "unembedded": "the model fails over a part of it, which is found by words only",
    "bug": "a fault in zhiku; what happened stands in logs/errors.log",
}
# Codes whose message only says again what the words above say.
_WITHOUT_DETAIL = frozenset({"empty", "unembedded", "root_missing", "root_empty"})
_SIZES = re.compile(r"(\d+) > (\d+)")
_FIELD = re.compile(r"\\\{(\w+)[^}]*\}")
_FORMATTING = re.compile(r"\{(\w+)[^}]*\}")
_MIN_LITERAL_CHARS = 8


def rule(screen: Screen, code: str) -> str:
    """Return a rule's code in words."""
    return screen.tr(RULES[code]) if code in RULES else code


def by_rule(screen: Screen, entries: Iterable[LedgerEntry]) -> str:
    """Return how many files there are for each reason, most frequent first."""
    counts = Counter(entry.code for entry in entries).most_common()
    return "  ".join(f"{rule(screen, code)} {count}" for code, count in counts)


def listed(entries: Iterable[LedgerEntry], screen: Screen, *, with_root: bool = False) -> Iterator[str]:
    """Yield one line for each file and its reason, and one for how many more there are."""
    found = list(entries)
    for entry in found[:MAX_LISTED]:
        place = f"{entry.root}/{entry.path}".rstrip("/") if with_root or not entry.path else entry.path
        yield f"- {sentence(screen, entry, place)}"
    if len(found) > MAX_LISTED:
        yield screen.tr("… and {count} more: zhiku ledger", count=len(found) - MAX_LISTED)


def sentence(screen: Screen, entry: LedgerEntry, place: str) -> str:
    """Return a file and why it is not in the index, or has no text there."""
    if entry.path and entry.message.startswith(entry.path):
        # A sentence about the file, which names it as its root does.
        return place + retold(screen, entry.message)[len(entry.path) :]
    if sizes := _SIZES.fullmatch(entry.message):
        size, limit = (f"{int(number) / 1e6:.1f} MB" for number in sizes.groups())
        return screen.tr("{path}: {size}, over the limit of {limit}", path=place, size=size, limit=limit)
    reason = rule(screen, entry.code)
    if entry.message and entry.code not in _WITHOUT_DETAIL:
        reason = screen.tr("{reason} ({detail})", reason=reason, detail=retold(screen, entry.message))
    return screen.tr("{path}: {reason}", path=place, reason=reason)


def retold(screen: Screen, message: str) -> str:
    """Return a message that was written down in English in the reader's language, as far as it is known."""
    sentence, _, hint = message.partition(" Hint: ")
    if screen.language == "zh":
        sentence, hint = _in_chinese(sentence), _in_chinese(hint)
    return _with_hint(screen, sentence, hint)


def told(screen: Screen, error: ZhikuError) -> str:
    """Return an error and its hint as one sentence."""
    return _with_hint(screen, message_of(error, screen.language), hint_of(error, screen.language))


def _with_hint(screen: Screen, sentence: str, hint: str) -> str:
    if not hint:
        return sentence
    if hint[1:2].islower():
        hint = hint[0].lower() + hint[1:]
    return screen.tr("{sentence}; {hint}", sentence=sentence.rstrip(".。"), hint=hint.rstrip(".。"))


def _in_chinese(text: str) -> str:
    from zhiku.texts_zh import TEXTS  # a Chinese reader's run alone pays for it

    if text in TEXTS:
        return TEXTS[text]
    for pattern, chinese in _patterns():
        if match := pattern.fullmatch(text):
            return chinese.format(**{name: TEXTS.get(value, value) for name, value in match.groupdict().items()})
    return text


@cache
def _patterns() -> list[tuple[re.Pattern[str], str]]:
    from zhiku.texts_zh import TEXTS  # as above

    found = []
    for template, chinese in TEXTS.items():
        literal = re.sub(r"\{[^}]*\}", "", template)
        fields = re.findall(r"\{(\w+)", template)
        if len(literal) >= _MIN_LITERAL_CHARS and len(set(fields)) == len(fields):
            pattern = _FIELD.sub(r"(?P<\1>.+?)", re.escape(template))
            found.append((len(literal), re.compile(pattern, re.DOTALL), _FORMATTING.sub(r"{\1}", chinese)))
    # `{path} is damaged: {cause}` also fits what is said in particular of some causes.
    found.sort(key=lambda each: -each[0])
    return [(pattern, chinese) for _, pattern, chinese in found]
