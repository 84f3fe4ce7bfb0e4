"""What a person meets who searches notebooks, mail and source code."""

from __future__ import annotations

import pytest

from samples import golden
from shelf import Shelf
from zhiku.registry import CODE_PACKAGES, FORMAT_ENDINGS


def write(shelf: Shelf, format_name: str, name: str) -> None:
    shelf.write(name, golden(format_name)[name])
    shelf.index()


def test_a_hit_in_source_code_says_its_class_and_function(shelf: Shelf) -> None:
    write(shelf, "code", "pump.go")
    (hit,) = shelf.search("slowly")
    assert (hit.section, hit.line_start, hit.line_end) == (("Valve", "Open"), 14, 18)
    assert "heading" in shelf.search("Valve.Open").hits[0].why
    assert shelf.grep("Println") == [("pump.go", 16, "\tfmt.Println(v.Name)")]


def test_a_place_in_a_notebook_opens_the_line_of_its_file(shelf: Shelf) -> None:
    write(shelf, "notebook", "levels.ipynb")
    hit = shelf.search("最高水位").hits[0]
    assert hit.section == ("水位分析 Water levels", "结论")
    ((path, line, text),) = shelf.grep("csv.reader")
    assert text in (shelf.docs / path).read_text("utf-8").split("\n")[line - 1]
    assert shelf.base.read(path, lines=(line, line)).text.strip() == text.strip()


def test_a_message_is_found_by_its_subject_its_sender_and_what_is_attached(shelf: Shelf) -> None:
    write(shelf, "mail", "letter.eml")
    assert shelf.search("检修计划").hits[0].title == "泵站检修计划 (Q3)"
    assert shelf.found("李雷") == shelf.found("龍門") == ["letter.eml"]
    assert shelf.search("crane").hits[0].section == ("泵站检修计划 (Q3)", "Re: valves")


def test_each_message_of_a_mailbox_is_a_section(shelf: Shelf) -> None:
    write(shelf, "mail", "box.mbox")
    assert shelf.search("阀门已经更换").hits[0].section == ("阀门",)


def test_the_status_says_what_the_extra_would_do_where_it_would_do_something(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(shelf, "code", "pump.go")
    assert not shelf.base.status().lacks_code_extra

    monkeypatch.setitem(CODE_PACKAGES, "tree_sitter_of_nowhere", frozenset({".nowhere"}))
    monkeypatch.setitem(FORMAT_ENDINGS, "code", FORMAT_ENDINGS["code"] | {".nowhere"})
    shelf.write("b.nowhere", "def f")
    shelf.index()
    assert shelf.base.status().lacks_code_extra
