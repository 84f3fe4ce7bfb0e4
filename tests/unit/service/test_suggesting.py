"""What the texts of a base suggest for its glossary: a file to be looked through, and nothing more."""

from __future__ import annotations

from pathlib import Path

import pytest

from shelf import Shelf
from zhiku.errors import UsageError
from zhiku.service.suggesting import as_glossary, write_new
from zhiku.text.glossary_lines import parse_glossary

TEXTS = {
    "a.md": "# 启动\n\n硬盘上有主引导记录（Master Boot Record，MBR）。参数（day）另说。",
    "b.md": "主引导记录（MBR）很小。\n\nThe Name Service Switch (NSS) asks. 见 [[水泵|离心泵]]。",
    "c.md": "修复主引导记录（MBR）。图片浏览器（KDE）、数码相册（KDE）、桌面计算（KDE）。",
}


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    made = Shelf(tmp_path)
    for path, text in TEXTS.items():
        made.write(path, text)
    made.index()
    return made


def suggested(shelf: Shelf) -> dict[str, tuple[str, ...]]:
    return {each.term: each.aliases for each in shelf.base.suggest_terms()}


def test_terms_come_by_how_often_they_are_explained(shelf: Shelf) -> None:
    assert suggested(shelf) == {
        "主引导记录": ("MBR", "Master Boot Record"),
        "Name Service Switch": ("NSS",),
        "水泵": ("离心泵",),
    }
    first = shelf.base.suggest_terms(1)
    assert [(each.term, each.count, each.documents, each.path, each.line) for each in first] == [
        ("主引导记录", 4, 3, "a.md", 3)
    ]
    assert "主引导记录（Master Boot Record，MBR）" in first[0].example


def test_what_the_glossary_says_already_is_not_suggested_again(shelf: Shelf) -> None:
    shelf.base.folder.joinpath("glossary.md").write_text("mbr = 主引导记录\nNSS = Name Service Switches", "utf-8")
    assert suggested(shelf) == {"主引导记录": ("Master Boot Record",), "水泵": ("离心泵",)}


def test_suggestions_are_a_glossary_that_can_be_read_and_that_nothing_uses(shelf: Shelf) -> None:
    text = "\n".join(as_glossary(shelf.base.suggest_terms(), "default"))
    read = parse_glossary(text, "terms.md")
    assert {entry.words[0]: entry.words[1:] for entry in read.entries} == suggested(shelf)
    assert read.problems == ()
    assert len(shelf.base.glossary()) == 0
    assert "glossary" not in {code for hit in shelf.search("主引导记录") for code in hit.why}


def test_a_file_is_never_written_over(tmp_path: Path) -> None:
    path = tmp_path / "terms.md"
    write_new(path, ["a", "b"])
    assert path.read_text("utf-8") == "a\nb\n"
    with pytest.raises(UsageError, match="exists, and nothing is ever written over"):
        write_new(path, ["c"])
    assert path.read_text("utf-8") == "a\nb\n"
    with pytest.raises(UsageError, match="cannot be written"):
        write_new(tmp_path / "none" / "terms.md", ["c"])


def test_a_base_that_explains_nothing_suggests_nothing(tmp_path: Path) -> None:
    made = Shelf(tmp_path)
    made.write("a.md", "没有括号的一句话。")
    made.index()
    assert made.base.suggest_terms() == []
