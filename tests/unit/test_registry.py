"""Which parser reads a file, by its ending and by what is installed."""

from __future__ import annotations

import pytest

from zhiku.parsers.code_queries import GRAMMARS
from zhiku.registry import CODE_PACKAGES, FORMAT_ENDINGS, code_package, format_of, is_cut_at_names


@pytest.mark.parametrize(
    ("path", "format_name"),
    [
        ("a.md", "markdown"),
        ("A.IPYNB", "notebook"),
        ("b/c.eml", "mail"),
        ("box.mbox", "mail"),
        ("x.tsx", "code"),
        ("x.h", "code"),
        ("x.rb", "plain"),
        ("x", "plain"),
    ],
)
def test_an_ending_names_the_format(path: str, format_name: str) -> None:
    assert format_of(path) == format_name


def test_source_code_whose_grammar_is_not_installed_is_plain_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(CODE_PACKAGES, "tree_sitter_of_nowhere", frozenset({".nowhere"}))
    monkeypatch.setitem(FORMAT_ENDINGS, "code", FORMAT_ENDINGS["code"] | {".nowhere"})

    assert not is_cut_at_names(".nowhere")
    assert format_of("a.nowhere") == "plain"


def test_each_grammar_has_its_query_and_each_ending_one_grammar() -> None:
    assert set(CODE_PACKAGES) == set(GRAMMARS)
    assert sum(map(len, CODE_PACKAGES.values())) == len(FORMAT_ENDINGS["code"])
    assert code_package(".pyi") == "tree_sitter_python"
