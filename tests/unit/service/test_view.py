from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from fakes import FakeEmbedder, install
from shelf import Shelf
from zhiku.answer import Query
from zhiku.config import CONFIG_FILE
from zhiku.errors import ConfigError, Damaged, IndexStateError, NotFound, QueryError, UsageError
from zhiku.retrieve.lines import GrepQuery
from zhiku.service.library import Library
from zhiku.service.view import View

WAIT_S = 60


@pytest.fixture
def shelf(shelf: Shelf) -> Shelf:
    """Return three bases: `open` and `other` about pumps, `Secret` too."""
    for name in ("open", "other", "Secret"):
        shelf.write(f"{name}/pump-{name}.md", f"# Pumps\n\nThe pump of {name} is checked in May.\n")
        shelf.index(shelf.docs / name, name=name)
    return shelf


def words(text: str, **limits: Any) -> Query:
    return Query(text=text, **{"mode": "lexical", **limits})


def break_index(shelf: Shelf, name: str) -> None:
    shelf.library.open(name).close()
    (shelf.library.home / "bases" / name / "index.sqlite3").write_bytes(b"no index at all" * 999)


def break_inside(shelf: Shelf, name: str) -> None:
    """Let the index open, and fail where it is searched."""
    import apsw

    with apsw.Connection(str(shelf.library.open(name)._store.path)) as connection:
        connection.execute("DROP TABLE lexical")


def test_without_a_base_all_visible_ones_are_searched_in_one_ranking(shelf: Shelf) -> None:
    everything = View(shelf.library).search(words("pump"))
    assert everything.bases == ("Secret", "open", "other")
    some = View(shelf.library, ["OPEN", "other", "gone"])
    assert some.names() == ["open", "other"]
    assert {hit.base for hit in some.search(words("pump"))} == {"open", "other"}
    assert {hit.base for hit in some.search(words("pump"), "Other")} == {"other"}


ASKED: dict[str, Callable[[View, str], object]] = {
    "search": lambda view, base: view.search(words("pump"), base),
    "grep": lambda view, base: view.grep(GrepQuery(keyword="pump"), base),
    "read": lambda view, base: view.read("pump.md", base),
    "locator": lambda view, base: view.read(f"zhiku://{base}/pump-{base}.md?doc=1#L1-3"),
}


@pytest.mark.parametrize("asked", ASKED)
def test_a_base_that_is_not_visible_does_not_exist(shelf: Shelf, asked: str) -> None:
    view = View(shelf.library, ["open"])
    told = []
    for name in ("secret", "nobody"):
        with pytest.raises(NotFound) as caught:
            ASKED[asked](view, name)
        told.append(str(caught.value).replace(name, "NAME"))
    assert told[0] == told[1]


def test_a_hint_names_no_base_that_is_not_visible(shelf: Shelf) -> None:
    with pytest.raises(NotFound, match="did you mean 'Secret'"):
        View(shelf.library).search(words("pump"), "secre")
    with pytest.raises(NotFound, match="create it with"):
        View(shelf.library, ["open"]).search(words("pump"), "secre")


def test_where_nothing_is_visible_that_is_said(shelf: Shelf) -> None:
    for nothing in ([], ["gone"]):
        with pytest.raises(NotFound, match="no base is visible here"):
            View(shelf.library, nothing).search(words("pump"))
        assert View(shelf.library, nothing).entries() == []
    for name in shelf.library.names():
        shelf.library.delete(name)
    with pytest.raises(NotFound, match="there is no base yet"):
        View(shelf.library).search(words("pump"))


@pytest.mark.parametrize("how", [break_index, break_inside])
def test_a_broken_base_is_told_and_fails_no_other(shelf: Shelf, how: Callable[[Shelf, str], None]) -> None:
    how(shelf, "other")
    view = View(shelf.library, ["open", "other"])
    answer = view.search(words("pump"))
    assert [hit.base for hit in answer] == ["open"]
    assert answer.bases == ("open",)
    assert [type(error) for error in answer.health.degraded] == [Damaged]
    assert "other" in str(answer.health.degraded[0])
    with pytest.raises(Damaged):
        view.search(words("pump"), "other")


def test_lines_are_found_beside_a_broken_base_too(shelf: Shelf) -> None:
    break_index(shelf, "other")
    answer = View(shelf.library, ["open", "other"]).grep(GrepQuery(keyword="May"))
    assert [item.base for item in answer.items] == ["open"]
    assert "other" in answer.to_dict()["degraded"][0]


def test_an_index_that_the_system_does_not_open_is_told(shelf: Shelf) -> None:
    path = shelf.library.open("other")._store.path
    shelf.library.open("other").close()
    for file in path.parent.glob("index*"):
        file.unlink()
    path.symlink_to(path.name)
    answer = View(shelf.library, ["open", "other"]).search(words("pump"))
    assert [hit.base for hit in answer] == ["open"]
    assert [type(error) for error in answer.health.degraded] == [IndexStateError]


def test_settings_of_a_base_that_are_wrong_fail_no_other(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ZHIKU_EMBEDDER")
    install(monkeypatch, FakeEmbedder())
    shelf.library = Library(shelf.library.home)
    (shelf.library.home / "bases" / "open" / "base.toml").write_text('embedder = "fake"\n')
    (shelf.library.home / "bases" / "other" / "base.toml").write_text("embeder = 1\n")
    answer = View(shelf.library, ["open", "other"]).search(words("pump", mode="hybrid"))
    assert [hit.base for hit in answer] == ["open"]
    assert any(isinstance(error, ConfigError) and "embeder" in str(error) for error in answer.health.degraded)


def test_where_every_base_is_broken_the_first_says_why(shelf: Shelf) -> None:
    break_index(shelf, "open")
    break_inside(shelf, "other")
    with pytest.raises(Damaged, match="open"):
        View(shelf.library, ["open", "other"]).search(words("pump"))


def test_a_query_that_is_wrong_is_no_fault_of_a_base(shelf: Shelf) -> None:
    with pytest.raises(QueryError, match="empty"):
        View(shelf.library).search(words(" "))


def test_a_path_is_read_from_the_base_that_has_it(shelf: Shelf) -> None:
    view = View(shelf.library)
    assert view.read("pump-other.md").base == "other"
    shelf.write("other/pump-open.md", "another\n")
    shelf.index(shelf.docs / "other", name="other")
    with pytest.raises(UsageError, match="several bases: open, other"):
        view.read("pump-open.md")
    assert view.read("pump-open.md", "other").text == "another"
    with pytest.raises(NotFound, match="pump-Secret"):
        view.read("pump-secre.md")
    with pytest.raises(NotFound, match="pump-other"):
        View(shelf.library, ["open", "other"]).read("pump-othr.md")


def test_where_a_base_cannot_be_looked_into_it_is_not_said_that_a_document_does_not_exist(shelf: Shelf) -> None:
    break_index(shelf, "other")
    with pytest.raises(Damaged):
        View(shelf.library, ["open", "other"]).read("pump-other.md")


def test_a_locator_opens_what_it_points_at(shelf: Shelf) -> None:
    view = View(shelf.library, ["open", "other"])
    (hit,) = view.search(words("pump"), "other").hits
    assert view.read(hit.locator).text == hit.text


def test_entries_say_what_there_is_and_whether_it_can_answer(shelf: Shelf) -> None:
    shelf.library.open_or_create("empty")
    (shelf.library.home / "bases" / "open" / "base.toml").write_text('intro = "About pumps."\n')
    entries = {entry.name: entry.to_dict() for entry in View(shelf.library, ["open", "empty"]).entries()}
    assert list(entries) == ["empty", "open"]
    assert (entries["open"]["intro"], entries["open"]["documents"], entries["open"]["ready"]) == (
        "About pumps.",
        1,
        True,
    )
    assert entries["open"]["changed_at"].startswith("20")
    assert (entries["empty"]["ready"], entries["empty"]["changed_at"]) == (False, None)
    assert "holds nothing yet" in entries["empty"]["problem"]
    assert [entry.name for entry in View(shelf.library).entries(only_ready=True, name_keyword="O")] == ["open", "other"]


def test_coverage_says_what_cannot_be_seen(shelf: Shelf) -> None:
    shelf.write("open/broken.pdf", b"%PDF-1.4\nno pdf\n")
    shelf.write("open/blank.md", "\n")
    shelf.index(shelf.docs / "open", name="open")
    (shelf.docs / "open").rename(shelf.docs / "elsewhere")
    (base,) = View(shelf.library, ["open"]).coverage().bases
    assert (base.documents, base.failed, base.pending_vectors) == (2, 1, 0)
    assert [root.rpartition("/")[2] for root in base.missing_roots] == ["open"]


def test_coverage_of_a_topic_names_each_document_once(shelf: Shelf) -> None:
    told = View(shelf.library, ["open", "other"]).coverage("pump").to_dict()
    assert {found["path"] for found in told["topic"]["found"]} == {"pump-open.md", "pump-other.md"}
    assert told["topic"]["likely"] is None
    nothing = View(shelf.library, ["open"]).coverage("zebra").topic
    assert nothing is not None
    assert (nothing.found, nothing.likely) == ((), False)


def test_what_others_change_is_seen_without_a_restart(shelf: Shelf) -> None:
    view = View(shelf.library)
    assert view.names() == ["Secret", "open", "other"]
    others = Shelf(shelf.docs.parent)
    others.write("new/a.md", "A valve.\n")
    others.index(others.docs / "new", name="new")
    assert [hit.base for hit in view.search(words("valve"))] == ["new"]
    others.write("new/b.md", "Two valves.\n")
    others.index(others.docs / "new", name="new")
    assert len(view.search(words("valve"))) == 2
    others.library.open("new").rebuild()
    assert len(view.search(words("valve"))) == 2
    others.library.delete("new")
    assert len(view.search(words("valve"))) == 0


def test_settings_that_others_change_are_seen_without_a_restart(shelf: Shelf) -> None:
    view = View(shelf.library)
    settings = shelf.library.home / CONFIG_FILE
    settings.write_text("[search]\ntop_k = 3\n")
    view.entries()
    assert shelf.library.settings.search.top_k == 3
    settings.write_text("[search]\ntop = 3\n")
    for _ in range(2):
        with pytest.raises(ConfigError, match="unknown setting"):
            view.search(words("pump"))
    settings.unlink()
    view.search(words("pump"))
    assert shelf.library.settings.search.top_k == 10


def test_several_threads_may_ask_at_once_while_bases_are_rebuilt(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ZHIKU_EMBEDDER")
    install(monkeypatch, FakeEmbedder())
    shelf.library = Library(shelf.library.home)
    for name in shelf.library.names():
        (shelf.library.home / "bases" / name / "base.toml").write_text(
            f'roots = ["{shelf.docs / name}"]\nembedder = "fake"\n'
        )
        shelf.library.index([], name)
    view = View(shelf.library)

    def ask(_: int) -> int:
        hits = view.search(Query(text="pump of May")).hits
        return len(hits) + len(view.grep(GrepQuery(keyword="pump")).items) + len(view.read(hits[0].locator).text)

    assert view.search(Query(text="pump")).mode == "hybrid"
    expected = ask(0)
    others = Shelf(shelf.docs.parent)
    with ThreadPoolExecutor(8) as pool:
        asked = [pool.submit(ask, number) for number in range(80)]
        for name in shelf.library.names():
            others.library.open(name).rebuild()
        assert {each.result(WAIT_S) for each in asked} == {expected}
