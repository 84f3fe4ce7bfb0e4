"""Documents that the user has forgotten are not searched, whatever becomes of their files, until that is undone."""

from __future__ import annotations

import pytest

from shelf import Shelf
from zhiku.errors import NotFound, UsageError


@pytest.fixture
def filled(shelf: Shelf) -> Shelf:
    shelf.write("a.md", "水泵 甲")
    shelf.write("sub/b.md", "水泵 乙")
    shelf.write("sub/c.md", "水泵 丙")
    shelf.index()
    return shelf


def doc_id(shelf: Shelf, path: str) -> int:
    return next(each.doc_id for each in shelf.base.documents() if each.source.path == path)


def test_a_forgotten_document_is_neither_found_nor_listed_as_missing(filled: Shelf) -> None:
    done = filled.base.forget(str(filled.docs / "a.md"))
    assert [each.source.path for each in done.done] == ["a.md"]
    assert filled.found("水泵 甲") == ["sub/b.md", "sub/c.md"]
    assert filled.grep("甲") == []
    (filled.docs / "a.md").unlink()
    report = filled.index(prune=True)
    assert (report.gone, report.pruned) == ([], 0)
    status = filled.base.status()
    assert (status.losses.forgotten, status.losses.missing, status.totals.documents) == (1, (), 2)


@pytest.mark.parametrize("name", ["a path", "the end of a path", "an id", "a locator"])
def test_a_document_can_be_named_in_several_ways(filled: Shelf, name: str) -> None:
    names = {
        "a path": str(filled.docs / "a.md"),
        "the end of a path": "a.md",
        "an id": str(doc_id(filled, "a.md")),
        "a locator": str(filled.search("甲").hits[0].locator),
    }
    filled.base.forget(names[name])
    assert filled.found("甲") == []
    filled.base.unforget(names[name])
    assert filled.found("甲") == ["a.md"]


def test_a_folder_means_all_that_is_indexed_below_it(filled: Shelf) -> None:
    assert len(filled.base.forget(str(filled.docs / "sub")).done) == 2
    assert filled.found("水泵") == ["a.md"]
    again = filled.base.forget(str(filled.docs))
    assert ([each.source.path for each in again.done], len(again.already)) == (["a.md"], 2)
    assert len(filled.base.unforget(str(filled.docs)).done) == 3
    assert len(filled.found("水泵")) == 3


def test_later_runs_leave_a_forgotten_file_alone_also_under_another_name(filled: Shelf) -> None:
    filled.base.forget("a.md")
    filled.write("a.md", "水泵 甲 改")
    assert filled.index(check=True).forgotten == 1
    filled.write("sub/b.md", "x")
    filled.base.forget("sub/b.md")
    filled.index()
    (filled.docs / "sub/c.md").rename(filled.docs / "d.md")
    filled.base.forget(str(doc_id(filled, "sub/c.md")))
    assert filled.index().moved == 1
    assert filled.found("水泵") == []
    assert filled.base.rebuild().report[0].report.forgotten == 3
    assert filled.found("水泵") == []


def test_unforgetting_restores_what_a_prune_hides_no_further(filled: Shelf) -> None:
    (filled.docs / "a.md").unlink()
    filled.index(prune=True)
    filled.base.forget("a.md")
    (document,) = filled.base.unforget("a.md").done
    assert set(document.hidden_by) == {"pruned", "forgotten"}
    assert filled.found("甲") == []
    filled.write("a.md", "水泵 甲")
    filled.index()
    assert filled.found("甲") == ["a.md"]


def test_scores_are_as_before_once_it_is_undone(filled: Shelf) -> None:
    def scores() -> list[tuple[str, float]]:
        return [(hit.path, hit.score) for hit in filled.search("水泵 乙")]

    before = scores()
    filled.base.forget("a.md")
    assert scores() != before
    filled.base.unforget("a.md")
    assert scores() == before


def test_a_locator_means_the_document_of_its_own_base_that_still_says_so(filled: Shelf) -> None:
    filled.index(filled.docs / "sub", name="other")
    locator = str(filled.search("丙", source="c.md").hits[0].locator)
    other = next(str(hit.locator) for hit in filled.search("丙") if hit.base == "other")
    for wrong in (
        other,
        locator.replace("default", "elsewhere"),
        locator.replace("doc=", "doc=9").replace("c.md", "x.md"),
    ):
        with pytest.raises((UsageError, NotFound)):
            filled.base.forget(wrong)
    filled.base.forget(locator)
    assert [hit.base for hit in filled.search("丙")] == ["other"]


@pytest.mark.parametrize("name", ["none.md", "999", "/elsewhere", "", " "])
def test_what_is_not_indexed_cannot_be_forgotten_and_nothing_is_done(filled: Shelf, name: str) -> None:
    with pytest.raises((NotFound, UsageError)):
        filled.base.forget("a.md", name)
    assert len(filled.found("水泵")) == 3
