"""Where glossaries lie, that their edits apply at once, and that a broken one costs no search."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import zhiku
from shelf import Shelf
from zhiku.config import load_base_settings
from zhiku.errors import NotFound, SourceError
from zhiku.service.doctor import diagnose
from zhiku.service.library import Library


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    made = Shelf(tmp_path)
    made.write("work/shop.md", "Louis Vuitton 的目录")
    made.write("work/other.md", "别的内容，与此无关")
    made.index(made.docs / "work", name="work")
    return made


def found(shelf: Shelf, text: str = "LV") -> list[str]:
    return [hit.path for hit in shelf.library.open("work").search(text, mode="lexical")]


def problems(shelf: Shelf) -> list[str]:
    answer = shelf.search("LV")
    assert answer.query == "LV"
    return [error.message for error in answer.health.degraded]


def test_without_a_glossary_nothing_is_added_and_nothing_told(shelf: Shelf) -> None:
    assert found(shelf) == []
    assert problems(shelf) == []
    assert len(shelf.library.open("work").glossary()) == 0


def test_a_glossary_may_lie_beside_the_root_in_any_case(shelf: Shelf) -> None:
    shelf.write("_glossary/Work.md", "LV = Louis Vuitton")
    assert found(shelf) == ["shop.md"]
    shelf.write("_glossary/other.md", "目录 = catalogue")
    assert found(shelf, "catalogue") == []


def test_a_glossary_may_lie_in_the_base_s_own_folder(shelf: Shelf) -> None:
    shelf.library.open("work").folder.joinpath("glossary.md").write_text("LV = Louis Vuitton")
    assert found(shelf) == ["shop.md"]


def test_a_glossary_may_be_named_and_is_remembered_until_it_is_taken_back(shelf: Shelf, tmp_path: Path) -> None:
    terms = tmp_path / "my terms.csv"
    terms.write_text("term,aliases\nLV,Louis Vuitton\n")
    base = shelf.library.open("work")
    base.index(glossary=terms, embed=False)
    assert load_base_settings(base.folder).glossary == str(terms)
    assert found(shelf) == ["shop.md"]
    base.index(embed=False)
    assert found(shelf) == ["shop.md"]
    base.index(glossary="", embed=False)
    assert found(shelf) == []


def test_all_glossaries_of_a_base_count_together(shelf: Shelf, tmp_path: Path) -> None:
    base = shelf.library.open("work")
    terms = tmp_path / "terms.md"
    terms.write_text("LV = Louis Vuitton")
    base.index(glossary=terms, embed=False)
    base.folder.joinpath("glossary.md").write_text("catalogue = 目录", "utf-8")
    shelf.write("_glossary/work.md", "content = 内容")
    assert len(base.glossary()) == 3
    assert base.glossary().paths == (
        str(terms),
        str(base.folder / "glossary.md"),
        str(shelf.docs / "_glossary" / "work.md"),
    )


def test_an_edit_applies_to_the_next_search(shelf: Shelf) -> None:
    terms = shelf.write("_glossary/work.md", "ZZ = Louis Vuitton")
    assert found(shelf) == []
    shelf.write("_glossary/work.md", "LV = Louis Vuitton")
    assert found(shelf) == ["shop.md"]
    terms.unlink()
    assert found(shelf) == []


def test_a_named_glossary_must_exist_when_it_is_named(shelf: Shelf, tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="is no file"):
        zhiku.index([shelf.docs], "new", home=shelf.library.home, embed=False, glossary=tmp_path / "none.md")
    assert shelf.library.names() == ["work"]


def test_a_glossary_that_is_gone_is_told_and_the_search_goes_on(shelf: Shelf, tmp_path: Path) -> None:
    terms = tmp_path / "terms.md"
    terms.write_text("LV = Louis Vuitton")
    shelf.library.open("work").index(glossary=terms, embed=False)
    terms.unlink()
    assert found(shelf, "目录") == ["shop.md"]
    assert problems(shelf) == [f"the glossary {terms} is gone."]


def test_lines_that_cannot_be_used_are_told_and_the_others_count(shelf: Shelf) -> None:
    shelf.write("_glossary/work.md", "prose\nLV = Louis Vuitton\nmore prose")
    assert found(shelf) == ["shop.md"]
    assert problems(shelf) == ["the glossary of base 'work' has lines that cannot be used: 2."]
    assert shelf.search("LV", expand=False).health.degraded == ()


@pytest.mark.parametrize("content", [b"\x00\x01\x02\xff" * 500, b"LV = Louis Vuitton\n" * 100_000])
def test_a_file_that_is_no_glossary_is_told(shelf: Shelf, content: bytes) -> None:
    shelf.write("_glossary/work.md", content)
    assert found(shelf, "目录") == ["shop.md"]
    assert len(problems(shelf)) == 1


def test_a_glossary_in_gb18030_is_read(shelf: Shelf) -> None:
    shelf.write("_glossary/work.md", "catalogue = 目录，清单\n".encode("gb18030"))
    assert found(shelf, "catalogue") == ["shop.md"]


@pytest.mark.skipif(os.name == "nt", reason="links need a right there")
def test_a_link_out_of_the_library_root_is_not_followed(shelf: Shelf, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    outside.joinpath("work.md").write_text("LV = Louis Vuitton")
    (shelf.docs / "_glossary").symlink_to(outside)
    assert found(shelf) == []
    (shelf.docs / "_glossary").unlink()
    (shelf.docs / "_glossary").mkdir()
    (shelf.docs / "_glossary" / "work.md").symlink_to(outside / "work.md")
    assert found(shelf) == []
    assert "is a link out of its root" in problems(shelf)[0]


def test_a_glossary_among_the_documents_sets_nothing(shelf: Shelf) -> None:
    shelf.write("work/glossary.md", "LV = Louis Vuitton")
    shelf.index(shelf.docs / "work", name="work")
    assert found(shelf) == ["glossary.md"]
    base = shelf.library.open("work")
    assert (len(base.glossary()), load_base_settings(base.folder).glossary) == (0, "")


def test_base_settings_that_cannot_be_read_are_told_where_they_name_a_glossary(shelf: Shelf) -> None:
    base = shelf.library.open("work")
    base.folder.joinpath("base.toml").write_text("glossary = [")
    assert found(shelf, "目录") == ["shop.md"]
    assert "is not valid TOML" in problems(shelf)[0]


def test_a_base_in_a_hidden_folder_of_a_library_root_has_the_root_s_glossary(tmp_path: Path) -> None:
    made = Shelf(tmp_path)
    home = tmp_path / "home"
    home.mkdir()
    home.joinpath("config.toml").write_text(f"[library]\nroots = ['{made.docs}']\n")
    made.write("_store/work/shop.md", "Louis Vuitton 的目录")
    made.write("_glossary/work.md", "LV = Louis Vuitton")
    library = Library(home)
    library.index([made.docs / "_store" / "work"], "work", embed=False)
    assert [hit.path for hit in library.open("work").search("LV", mode="lexical")] == ["shop.md"]


def test_read_faults_are_errors_of_the_file(shelf: Shelf) -> None:
    shelf.write("_glossary/work.md", b"LV = Louis Vuitton\n" * 100_000)
    (fault,) = shelf.library.open("work").glossary().faults
    assert isinstance(fault, SourceError)


def test_terms_are_checked_against_the_documents(shelf: Shelf, tmp_path: Path) -> None:
    shelf.write("_glossary/work.md", "LV = Louis Vuitton\n目录 = catalogue, lists\nprose")
    terms = shelf.library.terms("work")
    assert terms.was_asked
    assert [finding.words for finding in terms.of("not_found")] == [("LV",), ("catalogue",), ("lists",)]
    assert [str(fault.params["line"]) for fault in terms.faults] == ["3"]
    assert not terms.is_sound
    other = tmp_path / "other.md"
    other.write_text("无关 = irrelevant", "utf-8")
    terms = shelf.library.terms("work", other)
    assert [finding.words for finding in terms.of("not_found")] == [("irrelevant",)]
    assert terms.is_sound


def test_a_file_of_terms_is_checked_without_a_base(tmp_path: Path) -> None:
    file = tmp_path / "terms.md"
    file.write_text("LV = Louis Vuitton")
    terms = Library(tmp_path / "home").terms(file=file)
    assert (terms.base, terms.was_asked, len(terms.glossary)) == (None, False, 1)
    with pytest.raises(NotFound):
        Library(tmp_path / "home").terms(file=tmp_path / "none.md")


def test_status_and_doctor_tell_of_the_glossary(shelf: Shelf) -> None:
    base = shelf.library.open("work")
    assert "glossary" not in {finding.part for finding in diagnose(base).findings}
    shelf.write("_glossary/work.md", "LV = Louis Vuitton\nprose")
    status = base.status()
    assert status.summary()["terms"] == 1
    assert status.to_dict()["glossary"]["files"] == [str(shelf.docs / "_glossary" / "work.md")]
    assert len(status.to_dict()["glossary"]["shortcomings"]) == 1
    diagnosis = diagnose(base)
    assert diagnosis.to_dict()["terms"] == 1
    (error,) = (finding.error for finding in diagnosis.findings if finding.part == "glossary")
    assert error.hint == "see which: zhiku terms --base work"
