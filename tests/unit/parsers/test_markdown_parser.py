"""Notes become blocks whose lines are the file's lines."""

from __future__ import annotations

import json
import time
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zhiku.model import ParsedDocument, Source
from zhiku.parsers.markdown import LONG_LIST_LINES, MarkdownParser

CASES = Path(__file__).parents[2] / "cases"
SOURCE = Source(root="/r", path="note.md", size_bytes=0, mtime_ns=0, sha256="")


def _parse(text: str | bytes) -> ParsedDocument:
    return MarkdownParser().parse(SOURCE, text.encode() if isinstance(text, str) else text)


def _shown(document: ParsedDocument) -> list[tuple[str, str]]:
    return [(block.kind, document.text[block.char_start : block.char_end]) for block in document.blocks]


def _uncovered(document: ParsedDocument) -> str:
    rest = list(document.text)
    for block in document.blocks:
        rest[block.char_start : block.char_end] = " " * (block.char_end - block.char_start)
    return "".join(rest).strip()


def test_comments_in_fences_are_no_headings() -> None:  # case B17
    document = _parse((CASES / "B17/kb/fence.md").read_bytes())
    assert [block.title for block in document.blocks if block.kind == "heading"] == ["安装", "验证"]
    assert document.text.split("\n")[17] == "收尾句：指示灯变绿。"


def test_wikilinks_have_exact_targets_even_in_tables() -> None:  # case B19
    document = _parse((CASES / "B19/kb/hub.md").read_bytes())
    targets = [link.target for link in document.links if not link.embed]
    assert sorted(targets) == sorted(["页A", "页A", "页A", "wiki/页C.md", "不存在", ""])
    assert [link.target for link in document.links if link.embed] == ["图.png", "页B"]
    assert [link.line for link in document.links] == [5, 7, 7, 7, 7, 7, 8, 8]
    assert "别名 | 表内链接" in document.text


@pytest.mark.parametrize("path", sorted((CASES / "B21/kb").glob("*.md")), ids=lambda path: path.name)
def test_text_that_breaks_splitters_is_read_at_once_and_whole(path: Path) -> None:  # case B21
    case = json.loads((CASES / "B21/case.json").read_text(encoding="utf-8"))
    begin = time.process_time()
    document = _parse(path.read_bytes())
    assert time.process_time() - begin < 2
    assert _uncovered(document) == ""
    words = [step["query"] for step in case["steps"] if step["op"] == "search"]
    assert any(word in document.text for word in words)


def test_every_kind_of_block_is_found_with_its_visible_text() -> None:
    document = _parse(
        "# 一 #\n\n段**落**\n续行\n\n二级\n---\n- 甲\n- 乙\n\n> [!note] 提示\n> 引用\n> # 不是标题\n\n"
        "| a | b |\n|---|:-:|\n| 1 | x\\|y |\n\n```py\n# c\n```\n\n    缩进\n\n"
        "<div>\n块 <!-- 无 -->\n</div>\n\n***\n"
    )
    assert _shown(document) == [
        ("heading", "一"),
        ("paragraph", "段落\n续行"),
        ("heading", "二级"),
        ("list", "- 甲\n- 乙"),
        ("paragraph", "提示\n引用\n不是标题"),
        ("table", "a | b\n\n1 | x|y"),
        ("fence", "# c"),
        ("fence", "    缩进"),
        ("paragraph", "块"),
    ]
    assert [block.level for block in document.blocks if block.kind == "heading"] == [1, 2]


def test_frontmatter_goes_to_the_metadata_and_leaves_its_lines_empty() -> None:
    document = _parse("---\ntitle: 名\ntags: '#甲, 乙'\naliases: [别, 名二]\nday: 2024-01-05\n---\n# 题\n正文 #丙\n")
    assert document.title == "名"
    assert document.metadata["tags"] == ["甲", "乙", "丙"]
    assert document.metadata["aliases"] == ["别", "名二"]
    assert document.metadata["frontmatter"]["day"] == "2024-01-05"
    assert document.text.split("\n") == [""] * 6 + ["题", "正文 #丙", ""]
    json.dumps(document.metadata)


def test_the_title_is_the_first_heading_of_level_one() -> None:
    assert _parse("## 二\n\n# 一\n").title == "一"
    assert _parse("正文\n").title == ""


def test_anchors_behind_a_heading_are_not_part_of_it() -> None:
    document = _parse("## Usage {/*usage*/}\n\n## 安装 {#install} ##\n\nC#\n==\n")
    assert [block.title for block in document.blocks] == ["Usage", "安装", "C#"]


def test_a_one_word_footnote_is_text() -> None:
    assert "[^1]: 脚注" in _parse("正文[^1]\n\n[^1]: 脚注\n").text


def test_a_long_list_is_cut_between_its_items() -> None:
    document = _parse("".join(f"- 项 {n}\n  续\n" for n in range(100)))
    shown = [text for _, text in _shown(document)]
    assert len(shown) > 1
    assert all(text.startswith("- 项") and text.count("\n") < LONG_LIST_LINES + 1 for text in shown)
    assert _uncovered(document) == ""


def test_odd_yaml_is_a_warning_and_not_a_failure() -> None:
    document = _parse("---\ntitle: a: b\n---\n正文\n")
    assert document.title == "a: b"
    assert document.metadata["frontmatter_raw"] == "title: a: b"
    assert any("frontmatter" in warning for warning in document.warnings)


def test_an_empty_file_has_no_blocks() -> None:
    assert _parse(b"").blocks == ()


@pytest.mark.parametrize(
    "text",
    [
        "> " * 5000 + "x",
        "- " * 1500 + "x",
        "[" * 5000 + "\n\n" + "`" * 20000 + "x",
        "字" * 1_000_000,
        "|" + "a|" * 2000 + "\n|" + "-|" * 2000 + "\n|" + "b|" * 2000,
        "a|b\n-|-\n" + "x|y\n" * 20000,
        "* a\n" * 20000,
        "<div>\n" * 20000,
        "```\n" * 20001,
    ],
    ids=["quotes", "lists", "brackets", "line", "columns", "rows", "items", "html", "fences"],
)
def test_pathological_notes_are_read_in_bounded_time(text: str) -> None:
    begin = time.process_time()
    document = _parse(text)
    assert time.process_time() - begin < 5
    assert _uncovered(document) == ""


@settings(max_examples=100, deadline=None)
@given(st.text(alphabet="ab中# \n`~-*_>[]()|!<>/:\\&;1.=+\t", max_size=120))
def test_lines_are_kept_and_blocks_cover_the_text(text: str) -> None:
    document = _parse(text)
    assert document.text.count("\n") == text.count("\n")
    assert _uncovered(document) == ""
    spans = [(block.char_start, block.char_end) for block in document.blocks]
    assert all(start < end for start, end in spans)
    assert all(before[1] <= after[0] for before, after in pairwise(spans))
