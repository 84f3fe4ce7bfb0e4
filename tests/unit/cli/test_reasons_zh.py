"""Why a file could not be read stands in the ledger in English, and is told to a Chinese reader in Chinese."""

from __future__ import annotations

import ast
import io
import re
import string
from collections.abc import Iterator
from pathlib import Path

import pytest

import zhiku
import zhiku.errors
from zhiku.cli.reasons import RULES, retold, sentence
from zhiku.cli.screen import Screen
from zhiku.errors import SourceError
from zhiku.i18n import hint_of, message_of
from zhiku.model import LedgerEntry

PACKAGE = Path(zhiku.__file__).parent
KINDS = {
    name: kind
    for name, kind in vars(zhiku.errors).items()
    if isinstance(kind, type) and issubclass(kind, SourceError) and kind is not SourceError
}
# What the ledger never holds: these are errors of commands.
OF_COMMANDS = {"service/named.py", "service/sync.py", "service/watching.py", "service/library_root.py"}
VALUES = {"path": "资料/报告.bin", "cause": "Permission denied"}
LATIN = re.compile(r"[A-Za-z]{2,}(?: [A-Za-z]{2,}){2,}")


def assigned_in(tree: ast.AST) -> Iterator[tuple[str, object]]:
    """Yield the names that stand for constants, and these."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.Constant):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                if isinstance(target, ast.Name):
                    yield target.id, node.value.value


def written() -> Iterator[tuple[str, SourceError]]:
    """Yield each error of a file that the code makes, with some values in its template."""
    trees = {path.relative_to(PACKAGE).as_posix(): ast.parse(path.read_text("utf-8")) for path in PACKAGE.rglob("*.py")}
    shared = dict(pair for tree in trees.values() for pair in assigned_in(tree))  # a name may be imported
    for name, tree in sorted(trees.items()):
        if name in OF_COMMANDS:
            continue
        assigned = shared | dict(assigned_in(tree))
        for node in ast.walk(tree):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in KINDS):
                continue
            given = [node.args[0], *(k.value for k in node.keywords if k.arg == "hint")]
            texts = [
                str(each.value if isinstance(each, ast.Constant) else assigned[ast.unparse(each)]) for each in given
            ]
            fields = {f for text in texts for _, f, _, _ in string.Formatter().parse(text) if f}
            values = {field: VALUES.get(field, 12345) for field in fields}
            hint = texts[1] if len(texts) > 1 else ""
            yield f"{name}:{node.lineno}", KINDS[node.func.id](texts[0], hint=hint, **values)


WRITTEN = list(written())


def screen() -> Screen:
    return Screen("zh", io.StringIO(), {})


def test_every_code_of_a_file_that_could_not_be_read_has_words() -> None:
    assert {kind.code for kind in KINDS.values()} <= set(RULES)


def test_errors_of_every_parser_are_looked_at() -> None:
    assert len(WRITTEN) > 40
    assert {type(error).code for _, error in WRITTEN} >= {"damaged", "needs_ocr", "password", "timeout", "unreadable"}


@pytest.mark.parametrize("error", [error for _, error in WRITTEN], ids=[place for place, _ in WRITTEN])
def test_what_was_written_down_in_english_is_told_as_it_would_have_been_in_chinese(error: SourceError) -> None:
    told = retold(screen(), str(error))
    chinese = [text.rstrip("。.") for text in (message_of(error, "zh"), hint_of(error, "zh")) if text]
    for text in chinese:
        assert text.replace("Permission denied", "没有权限") in told
    entry = LedgerEntry(root="/docs", path="资料/报告.bin", outcome="failed", code=error.code, message=str(error))
    assert not LATIN.search(sentence(screen(), entry, entry.path))


@pytest.mark.parametrize("code", sorted({kind.code for kind in KINDS.values()}))
def test_a_code_without_a_known_sentence_is_told_in_chinese(code: str) -> None:
    entry = LedgerEntry(root="/docs", path="a", outcome="failed", code=code, message="Permission denied")
    assert not LATIN.search(sentence(screen(), entry, "a"))
    assert "没有权限" in sentence(screen(), entry, "a")
