"""Exact search finds every line that holds a keyword, and nothing else."""

from __future__ import annotations

import pytest

from shelf import Shelf
from zhiku.errors import QueryError
from zhiku.retrieve.lines import ELLIPSIS, GrepAnswer, GrepQuery, shorten


def lines(shelf: Shelf, keyword: str, **limits: object) -> GrepAnswer:
    return shelf.library.grep(GrepQuery(keyword=keyword, **limits), shelf.library.names())


def test_every_line_is_found_with_its_number(shelf: Shelf) -> None:
    shelf.write("a.txt", "阀门一\n其他\n第二个阀门\n")
    shelf.write("b.md", "# 标题\n\n没有\n")
    shelf.index()
    assert shelf.grep("阀门") == [("a.txt", 1, "阀门一"), ("a.txt", 3, "第二个阀门")]


def test_a_line_is_found_once_however_often_it_holds_the_keyword(shelf: Shelf) -> None:
    shelf.write("a.txt", "阀门，阀门，阀门")
    shelf.index()
    ((_, match),) = shelf.base.grep("阀门")
    assert match.spans == ((0, 2), (3, 5), (6, 8))


@pytest.mark.parametrize("keyword", ["a-b", "(x)", '"q"', "*", "50%", "\\d", "c++", "，", "b c", "e"])
def test_marks_are_characters_like_any_other(shelf: Shelf, keyword: str) -> None:
    shelf.write("a.txt", 'a-b c (x) "q" * 50% \\d C++，e\nzzz')
    shelf.index()
    assert [line for _, line, _ in shelf.grep(keyword)] == [1]


def test_case_is_ignored_unless_told(shelf: Shelf) -> None:
    shelf.write("a.txt", "Gate\ngate")
    shelf.index()
    assert [line for _, line, _ in shelf.grep("GATE")] == [1, 2]
    assert [line for _, line, _ in shelf.grep("gate", case_sensitive=True)] == [2]


def test_composed_and_decomposed_forms_find_each_other(shelf: Shelf) -> None:
    shelf.write("a.txt", "re\u0301sume\u0301\nrésumé")
    shelf.index()
    assert len(shelf.grep("résumé")) == len(shelf.grep("re\u0301sume\u0301")) == 2


def test_scripts_are_not_folded(shelf: Shelf) -> None:
    shelf.write("a.txt", "網絡\n网络")
    shelf.index()
    assert [line for _, line, _ in shelf.grep("网络")] == [2]


def test_a_long_line_is_searched_whole(shelf: Shelf) -> None:
    shelf.write("a.txt", "头" + "x" * 3_998 + "接缝" + "y" * 9_000 + "尾\n下一行")
    shelf.index()
    for keyword in ("x接缝y", "接缝", "尾"):
        ((_, line, text),) = shelf.grep(keyword)
        assert (line, len(text)) == (1, 13_002)
    assert [line for _, line, _ in shelf.grep("下一行")] == [2]


def test_a_long_han_keyword_is_found_wherever_the_text_was_cut(shelf: Shelf) -> None:
    text = "".join(chr(0x4E00 + n * 7 % 8000) for n in range(6_000))
    shelf.write("a.txt", text)
    shelf.index()
    for start in range(0, 5_700, 97):
        assert len(shelf.grep(text[start : start + 300])) == 1


def test_a_word_across_two_lines_is_not_found(shelf: Shelf) -> None:
    shelf.write("a.txt", "阀\n门")
    shelf.index()
    assert shelf.grep("阀门") == []


def test_a_source_filter_chooses_documents(shelf: Shelf) -> None:
    shelf.write("a/x.txt", "阀门")
    shelf.write("b/x.txt", "阀门 valve")
    shelf.index()
    assert [path for path, _, _ in shelf.grep("阀门", source="b/")] == ["b/x.txt"]
    assert [path for path, _, _ in shelf.grep("valve", source="*/a/*")] == []


@pytest.mark.parametrize("keyword", ["", "  ", "a\nb"])
def test_a_keyword_that_no_line_can_hold_is_refused(shelf: Shelf, keyword: str) -> None:
    shelf.write("a.txt", "a\nb")
    shelf.index()
    with pytest.raises(QueryError):
        shelf.grep(keyword)


def test_the_answer_has_the_lines_of_all_bases(shelf: Shelf) -> None:
    for name in ("one", "two"):
        shelf.index(shelf.write(f"{name}/a.txt", "阀门").parent, name=name)
    answer = lines(shelf, "阀门")
    assert [(item.base, item.path, item.line, item.page) for item in answer.items] == [
        ("one", "a.txt", 1, None),
        ("two", "a.txt", 1, None),
    ]
    assert (answer.truncated, answer.to_dict()["count"]) == (False, 2)


def test_limits_hold_and_say_that_there_is_more(shelf: Shelf) -> None:
    shelf.write("a.txt", "阀门一二三四五六七八\n" * 10)
    shelf.index()
    assert (len(lines(shelf, "阀门", max_lines=3).items), lines(shelf, "阀门", max_lines=3).truncated) == (3, True)
    assert (len(lines(shelf, "阀门", max_lines=10).items), lines(shelf, "阀门", max_lines=10).truncated) == (10, False)
    assert sum(len(item.text) for item in lines(shelf, "阀门", max_chars=25).items) <= 25
    assert all(len(item.text) <= 6 for item in lines(shelf, "阀门", max_chars_per_line=6).items)


@pytest.mark.parametrize("limit", ["max_lines", "max_chars", "max_chars_per_line"])
def test_limits_below_one_are_refused(shelf: Shelf, limit: str) -> None:
    shelf.write("a.txt", "阀门")
    shelf.index()
    with pytest.raises(QueryError, match=limit):
        lines(shelf, "阀门", **{limit: 0})


@pytest.mark.parametrize("max_chars", [3, 5, 9, 20])
@pytest.mark.parametrize("at", [0, 1, 25, 48, 50])
def test_a_shortened_line_shows_the_keyword(max_chars: int, at: int) -> None:
    line = "x" * at + "阀" + "y" * (50 - at)
    text, marks = shorten(line, ((at, at + 1),), max_chars)

    assert len(text) <= max_chars
    assert [text[start:end] for start, end in marks] == ["阀"]
    assert text.replace(ELLIPSIS, "") in line


def test_a_short_line_is_not_shortened() -> None:
    assert shorten("阀门", ((0, 2),), 2) == ("阀门", ((0, 2),))
