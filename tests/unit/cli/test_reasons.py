import io
from typing import get_args

import pytest

from zhiku.cli.reasons import MAX_LISTED, RULES, listed, retold, sentence
from zhiku.cli.screen import Screen
from zhiku.errors import TooLarge
from zhiku.i18n import Language
from zhiku.ingest.rules import SkipReason
from zhiku.model import LedgerEntry


def screen(language: Language = "en") -> Screen:
    return Screen(language, io.StringIO(), {})


def entry(path: str, code: str, message: str) -> LedgerEntry:
    return LedgerEntry(root="/docs", path=path, outcome="failed", code=code, message=message)


def test_every_rule_has_words() -> None:
    assert set(get_args(SkipReason)) <= set(RULES)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (entry("a.txt", "too_large", "30000000 > 20000000"), "a.txt: 30.0 MB, over the limit of 20.0 MB"),
        (entry("a.md", "unreadable", "Permission denied"), "a.md: the system refused to read it (Permission denied)"),
        (entry("a.pdf", "damaged", "a.pdf is damaged. Hint: Mend it."), "a.pdf is damaged; mend it"),
        (entry("a.md", "empty", "it holds no text"), "a.md: it holds no text"),
        (entry("a.md", "new_code", "odd"), "a.md: new_code (odd)"),
    ],
)
def test_a_reason_is_one_sentence(given: LedgerEntry, told: str) -> None:
    assert sentence(screen(), given, given.path) == told


def test_a_place_with_its_root_replaces_the_path() -> None:
    given = entry("a.pdf", "damaged", "a.pdf is damaged.")
    assert sentence(screen(), given, "/docs/a.pdf") == "/docs/a.pdf is damaged."


def test_a_message_written_in_english_is_retold_in_chinese() -> None:
    written = str(
        TooLarge(
            "{path} has too much text: {chars:,} characters.", path="x", chars=12345, hint="split it into several files"
        )
    )
    assert retold(screen("zh"), written) == "x 文字太多：12,345 个字符；把它拆成几个文件"
    assert retold(screen("zh"), "nobody knows this") == "nobody knows this"


def test_a_long_list_ends_with_how_many_more() -> None:
    lines = list(listed([entry(f"{n}.md", "empty", "") for n in range(MAX_LISTED + 5)], screen()))
    assert len(lines) == MAX_LISTED + 1
    assert lines[-1] == "… and 5 more: zhiku ledger"
