"""Starting is cheap: a command imports what it needs and nothing else. Speed itself is measured in benchmarks/."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Cli

IMPORTED = "import sys\nfrom zhiku.cli.main import run\nrun({args!r})\nprint(*sorted(sys.modules), file=sys.stderr)"
SLOW = {
    "zhiku.ingest", "zhiku.parsers", "zhiku.chunkers", "zhiku.service.indexing", "tomlkit", "tomllib", "yaml",
    "numpy", "onnxruntime", "zhiku.embedders", "zhiku.retrieve.hybrid",
    "logging", "difflib", "shutil", "hashlib", "pypdfium2", "charset_normalizer", "markdown_it", "pathspec", "asyncio",
}  # fmt: skip


def imported(cli: Cli, *args: str) -> set[str]:
    return set(cli.python(IMPORTED.format(args=list(args))).stderr.split())


@pytest.mark.parametrize("args", [["--help"], ["--version"], ["search", "--help"]])
def test_help_imports_click_and_little_else(notes: Cli, args: list[str]) -> None:
    modules = imported(notes, *args)
    assert not modules & (SLOW | {"zhiku.config", "zhiku.model", "pathlib", "dataclasses", "apsw"})
    if args == ["--help"]:
        assert not {name for name in modules if name.startswith("zhiku.cli.") and name.endswith(("content", "admin"))}


def test_a_search_by_words_imports_nothing_that_only_indexing_needs(notes: Cli) -> None:
    modules = imported(notes, "search", "密封圈", "--mode", "lexical")
    assert "zhiku.retrieve.search" in modules
    assert not modules & (SLOW | {"zhiku.retrieve.grep", "zhiku.retrieve.read", "zhiku.texts_zh"})
    assert not {name for name in modules if name.startswith(("zhiku.rerankers", "zhiku.remote"))}


def test_a_base_without_an_embedder_imports_none(notes: Cli) -> None:
    assert not imported(notes, "search", "密封圈") & (SLOW - {"tomllib"})
