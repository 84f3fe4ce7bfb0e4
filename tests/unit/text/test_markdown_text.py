"""Inline markup becomes visible text, on the lines where it was, in linear time."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zhiku.text.frontmatter import read_frontmatter
from zhiku.text.markdown import InlineCleaner
from zhiku.text.markup import iter_markup, visible_text


def _clean(text: str) -> str:
    return InlineCleaner(text).clean(text, 1)


def _read(text: str):
    return read_frontmatter(text.split("\n"))


@pytest.mark.parametrize(
    ("written", "seen"),
    [
        ("很**重要**的 *词* 和 __它__", "很重要的 词 和 它"),
        ("~~旧~~ ==新== ***都***", "旧 新 都"),
        ("snake_case_name 2*3*4 a == b == c *.md", "snake_case_name 2*3*4 a == b == c *.md"),
        (r"\*不是\* \[强调\]", "*不是* [强调]"),
        ("[安装](a.md) ![图](b.png) <https://a_b_c.com/_x_>", "安装 图 https://a_b_c.com/_x_"),
        ("[![徽章](b.svg)](https://x.org)", "徽章"),
        ("`**code**` ``a`b`` `[[不是链接]]`", "**code** a`b [[不是链接]]"),
        ("[[页|别名]] [[页#节]] [[#节]] [[页#^b1]]", "别名 页 > 节 节 页 > ^b1"),
        ("![[图.png|300]] ![[页B]]", "图.png 页B"),
        ("a<br>b <b>c</b> <!-- d -->e %%f%%g", "a b c e g"),
        ("List<T> 与 <你的名字> <your-name>", "List<T> 与 <你的名字> <your-name>"),
        ("<insert a description, indented> <Sandpack /> <Note kind='x'>", "<insert a description, indented>  "),
        ("AT&amp;T &lt;b&gt; a&nbsp;b &#10;", "AT&T <b> a b  "),
        ("公式 $a_1*b*c_2$ 与 $$x_1*y*$$", "公式 $a_1*b*c_2$ 与 $$x_1*y*$$"),
        ("价格 $5 和 $6", "价格 $5 和 $6"),
        ("段落 ^block-1", "段落 "),
        ("<http://x`a`>", "<http://xa>"),
        ("脚注[^1] 与 [ ] 待办 [x]", "脚注[^1] 与 [ ] 待办 [x]"),
        ("[文][Ref] 与 [ref]\n[ref]: b.md '题'", "文 与 ref\n"),
    ],
)
def test_markup_becomes_what_a_reader_sees(written: str, seen: str) -> None:
    assert _clean(written) == seen


def test_text_without_markup_is_left_alone() -> None:
    text = "普通的一句话，plain words (and brackets)。"
    assert _clean(text) is text


def test_links_carry_target_anchor_alias_and_line() -> None:
    text = "甲\n[[页A#节|别名]] ![[图.png]]\n[乙](b%20c.md#x) [远](https://x.org) [[#本节]] `[[码]]`"
    cleaner = InlineCleaner(text)
    cleaner.clean(text, 10)
    found = [(link.target, link.anchor, link.alias, link.embed, link.line) for link in cleaner.links]
    assert found == [
        ("页A", "节", "别名", False, 11),
        ("图.png", "", "", True, 11),
        ("", "本节", "", False, 12),
        ("b c.md", "x", "乙", False, 12),
    ]


def test_tags_need_a_letter_and_a_gap_before_them() -> None:
    text = "#部署 正文，#父/子 #123 a#b https://x.org/#y `#code` (#v2)"
    cleaner = InlineCleaner(text)
    cleaner.clean(text, 1)
    assert list(cleaner.tags) == ["部署", "父/子", "v2"]


@settings(max_examples=100, deadline=None)
@given(st.text(alphabet="ab中 \n`*_[]()!|#<>/\\&;$%^~=-:.\"'1", max_size=60))
def test_cleaning_never_adds_or_removes_a_line(text: str) -> None:
    assert _clean(text).count("\n") == text.count("\n")
    assert visible_text(text).count("\n") == text.count("\n")


@pytest.mark.parametrize(
    "unit",
    [
        "[",
        "`",
        "``` `` ` ",
        "[[",
        "![",
        "[a](",
        "*a",
        "**",
        "_a ",
        "<!--",
        "%%",
        "$a",
        "<a ",
        "&",
        "[[a|",
        "](",
        "\\",
    ],
)
def test_a_megabyte_of_opening_marks_takes_linear_time(unit: str) -> None:
    text = unit * (1_000_000 // len(unit))
    begin = time.process_time()
    _clean(text)
    assert time.process_time() - begin < 30


@pytest.mark.parametrize("unit", ["<!--", "<![", "<!a", "<a ", "</", "&#", '<a b="', "<script>", "<a b=\"'>"])
@pytest.mark.parametrize("tail", ["", ">", '">'])
def test_a_megabyte_of_unclosed_tags_takes_linear_time(unit: str, tail: str) -> None:
    page = unit * (1_000_000 // len(unit)) + tail
    begin = time.process_time()
    visible_text(page)
    assert time.process_time() - begin < 30


def test_a_quoted_bracket_does_not_end_a_tag() -> None:
    assert [piece.raw for piece in iter_markup('<a title="x > y" b=1>文</a>') if hasattr(piece, "raw")] == ["文"]


def test_an_unclosed_comment_hides_nothing() -> None:
    assert visible_text("前 <!-- 后") == "前 <!-- 后"


def test_a_number_too_long_for_a_character_is_replaced() -> None:
    assert visible_text("a&#" + "9" * 5000 + ";b") == "a\ufffdb"


def test_frontmatter_is_read_as_yaml_with_dates_and_words_kept_as_written() -> None:
    front = _read("---\ntitle: 部署\ndate: 2024-01-05\ntags: [no, 2024]\ndraft: true\nn: 3\n...\n正文")
    assert front.line_count == 7
    assert front.values == {
        "title": "部署",
        "date": "2024-01-05",
        "tags": ["no", 2024],
        "draft": True,
        "n": 3,
    }
    assert front.names("tags") == ["no", "2024"]


@pytest.mark.parametrize("text", ["正文\n---\na: 1\n---", "---\na: 1\n没有结尾", "---\n\n# 标题\n\n正文\n---\n后"])
def test_rules_in_the_text_are_not_frontmatter(text: str) -> None:
    assert _read(text).line_count == 0


@pytest.mark.parametrize(
    "yaml",
    [
        'title: 部署: 二\ntags:\n  - 甲\n  - "#乙"\naliases: [别名]',
        "title: '部署: 二'\nx: &a [1, 2]\ny: [*a, *a]\ntags: [甲, '#乙']\naliases: 别名",
        "title: 部署: 二\nx: {{ date }}\ntags: 甲 #乙\ntags: 甲, 乙\naliases:\n- 别名".replace(" #乙", ",#乙"),
        "title: '部署: 二'\ntags: [甲, '#乙']\naliases: [别名]\nx: " + "[" * 5000,
    ],
)
def test_odd_yaml_still_gives_title_tags_and_aliases(yaml: str) -> None:
    front = _read(f"---\n{yaml}\n---\n正文")
    assert front.title == "部署: 二"
    assert [tag.lstrip("#") for tag in front.names("tags")] == ["甲", "乙"]
    assert front.names("aliases") == ["别名"]
    assert front.raw == yaml
    assert front.warning
