import pytest

from shelf import Shelf
from zhiku.errors import ConfigError, NotFound, UsageError


def test_a_missing_path_makes_no_base(shelf: Shelf) -> None:
    with pytest.raises(NotFound, match="does not exist"):
        shelf.library.index([shelf.docs / "nowhere"], "new")
    assert shelf.library.names() == []


def test_a_base_without_paths_is_not_made(shelf: Shelf) -> None:
    with pytest.raises(NotFound, match="no base named 'new'"):
        shelf.library.index([], "new")
    with pytest.raises(ConfigError, match="cannot be the name"):
        shelf.library.index([shelf.docs], "../x")
    assert shelf.library.names() == []


def test_a_name_means_the_base_in_any_case_and_normal_form(shelf: Shelf) -> None:
    shelf.write("a.md", "valve\n")
    shelf.index(name="Café")
    shelf.index(name="CAFE\u0301")
    assert shelf.library.names() == ["Café"]
    assert shelf.library.find("cafe\u0301") == "Café"


def test_paths_within_each_other_become_one_root(shelf: Shelf) -> None:
    shelf.write("sub/a.md", "valve\n")
    reports = shelf.library.index([shelf.docs / "sub", shelf.docs, shelf.docs / "sub" / "a.md"])
    assert [report.target.root for report in reports] == [shelf.docs.resolve()]
    with pytest.raises(UsageError, match="has as a root already"):
        shelf.library.index([shelf.docs.parent])


def test_a_root_that_is_gone_fails_alone_and_loses_nothing(shelf: Shelf) -> None:
    gone = shelf.write("one/a.md", "valve\n")
    shelf.write("two/b.md", "pump\n")
    shelf.index(shelf.docs / "one", shelf.docs / "two")
    gone.unlink()
    gone.parent.rmdir()
    first, second = shelf.library.index([])
    assert [entry.code for entry in first.report.failed] == ["root_missing"]
    assert (second.report.unchanged, second.report.failed) == (1, [])
    status = shelf.base.status()
    assert status.losses.missing_roots == (str(gone.parent.resolve()),)
    assert (status.totals.documents, status.ledger) == (2, ())


def test_a_base_that_holds_nothing_yet_has_a_status(shelf: Shelf) -> None:
    base = shelf.library.open_or_create("empty")
    assert not base.exists()
    status = base.status().to_dict()
    assert (status["documents"], status["changed_at"], status["failed"]) == (0, None, [])


def test_a_document_is_read_by_any_way_to_its_path(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    file = shelf.write("sub/a[1].md", "valve\n")
    shelf.index()
    monkeypatch.chdir(file.parent)
    for place in ("a[1].md", "./a[1].md", "../sub/a[1].md", str(file), "sub/a[1].md"):
        assert shelf.library.read(place).text == "valve"


def test_a_locator_names_its_own_base(shelf: Shelf) -> None:
    shelf.write("a.md", "valve\n")
    for name in ("one", "two"):
        shelf.index(name=name)
    assert shelf.library.read("zhiku://two/a.md#L1").base == "two"
    with pytest.raises(UsageError, match="several bases"):
        shelf.library.read("a.md")


def test_an_empty_path_is_refused_before_a_base_is_made(shelf: Shelf) -> None:
    with pytest.raises(UsageError, match="empty"):
        shelf.library.index([""], "new")
    assert shelf.library.names() == []


def test_a_link_to_nowhere_is_no_root(shelf: Shelf) -> None:
    (shelf.docs / "gone").symlink_to(shelf.docs / "nowhere")
    with pytest.raises(NotFound, match="does not exist"):
        shelf.library.index([shelf.docs / "gone"], "new")
    assert shelf.library.names() == []
