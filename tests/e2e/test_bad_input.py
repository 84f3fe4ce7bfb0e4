"""What is wrong outside of zhiku is an error that says so, and costs nothing that was there before."""

from __future__ import annotations

import os
import random
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from samples import SAMPLES
from shelf import Shelf
from users import as_normal_user, common_folder
from zhiku.config import CONFIG_FILE
from zhiku.errors import IndexStateError, NotFound, ZhikuError
from zhiku.service.library import Library

needs_posix = pytest.mark.skipif(sys.platform == "win32", reason="modes are POSIX")
WORD = "水泵"


@pytest.fixture
def filled(shelf: Shelf) -> Shelf:
    for n in range(6):
        shelf.write(f"{n}.md", f"# 标题{n}\n\n" + f"{WORD}和阀门要检查，gate-sync opens. " * 60)
    shelf.index()
    shelf.base.close()
    return shelf


@pytest.fixture
def common() -> Iterator[Shelf]:
    """A shelf where a user without privileges can work, too."""
    with common_folder() as folder:
        yield Shelf(folder)


def test_a_missing_path_is_named_with_a_next_step(shelf: Shelf) -> None:
    with pytest.raises(NotFound, match="nowhere does not exist") as caught:
        shelf.index(shelf.docs / "nowhere")
    assert str(shelf.docs) in caught.value.hint
    assert not shelf.library.home.exists()


@needs_posix
def test_an_unreadable_file_is_reported_and_the_others_go_on(common: Shelf) -> None:
    common.write("locked.md", WORD).chmod(0)
    common.write("open.md", WORD)
    common.library.home.mkdir()
    with as_normal_user(common.docs.parent):
        report = common.index()
        assert common.found(WORD) == ["open.md"]
    assert [(entry.path, entry.code) for entry in report.failed] == [("locked.md", "unreadable")]


@needs_posix
def test_a_folder_that_became_unreadable_loses_nothing(common: Shelf) -> None:
    common.write("shut/a.md", WORD)
    common.write("open.md", WORD)
    common.library.home.mkdir()
    with as_normal_user(common.docs.parent):
        common.index()
        (common.docs / "shut").chmod(0)
        report = common.index()
        (common.docs / "shut").chmod(0o700)
        assert sorted(common.found(WORD)) == ["open.md", "shut/a.md"]
    assert (report.missing, [entry.path for entry in report.failed]) == (0, ["shut"])


@needs_posix
def test_a_home_that_cannot_be_written_is_an_error_and_still_answers(common: Shelf) -> None:
    common.write("a.md", WORD)
    common.library.home.mkdir()
    with as_normal_user(common.docs.parent):
        common.index()
        folder = common.base.folder
        common.base.close()
        for path in folder.iterdir():
            path.chmod(0o400)
        folder.chmod(0o500)
        common.library = Library(common.library.home)
        common.write("b.md", "阀门")
        with pytest.raises(ZhikuError, match="cannot be written: Permission denied"):
            common.index()
        assert common.found(WORD) == ["a.md"]


@needs_posix
def test_an_index_that_may_not_be_read_is_not_called_damaged(common: Shelf) -> None:
    common.write("a.md", WORD)
    common.library.home.mkdir()
    with as_normal_user(common.docs.parent):
        common.index()
        common.base.close()
        common.index_file.chmod(0)
        with pytest.raises(IndexStateError, match="cannot be opened") as caught:
            Library(common.library.home).open("default").search(WORD)
    assert "delete" not in caught.value.hint


def test_a_nul_byte_costs_nothing_around_it(shelf: Shelf) -> None:
    shelf.write("a.md", f"前段 alpha\0beta 后段\n\n{WORD}")
    report = shelf.index()

    assert report.warnings == [("a.md", "1 NUL characters")]
    assert [hit.line_start for hit in shelf.search(WORD)] == [3]
    assert shelf.found("alpha") == shelf.found("beta") == ["a.md"]


@pytest.mark.parametrize("cut", [20, 200, 600])
def test_a_damaged_pdf_fails_alone(shelf: Shelf, cut: int) -> None:
    data = SAMPLES["pdf"]["a.pdf"]
    shelf.write("cut.pdf", data[:cut])
    shelf.write("whole.pdf", data)
    report = shelf.index()

    assert [entry.path for entry in report.failed] == ["cut.pdf"]
    assert report.added == 1


def test_one_very_long_line_is_indexed_up_to_the_cap(shelf: Shelf) -> None:
    shelf.library.home.mkdir()
    (shelf.library.home / CONFIG_FILE).write_text("[index]\nmax_text_bytes = 300_000\n")
    shelf.library = Library(shelf.library.home)
    shelf.write("line.txt", "字" * 50_000 + WORD + "x" * 100_000)
    shelf.write("longer.txt", "x" * 300_001)
    report = shelf.index()

    assert [(entry.path, entry.code) for entry in report.failed] == [("longer.txt", "too_large")]
    assert set(shelf.found(WORD)) == {"line.txt"}
    assert [line for _, line, _ in shelf.grep(WORD)] == [1]


def _random_middle(data: bytes) -> bytes:
    quarter = len(data) // 4
    return data[:quarter] + random.Random(1).randbytes(2 * quarter) + data[3 * quarter :]


def _another_database(_: bytes) -> bytes:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE TABLE t (x)")
        return connection.serialize()


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "random bytes in the middle": _random_middle,
    "only its first half": lambda data: data[: len(data) // 2],
    "only its first page": lambda data: data[:8_192],
    "less than a header": lambda data: data[:50],
    "no database": lambda _: b"these are notes\n" * 1_000,
    "another database": _another_database,
    "zeros": lambda data: bytes(len(data)),
}


def ask(shelf: Shelf) -> dict[str, Callable[[], object]]:
    return {
        "search": lambda: shelf.found(f"{WORD} gate"),
        "grep": lambda: shelf.grep(WORD),
        "read": lambda: shelf.library.read("3.md"),
        "status": lambda: shelf.base.status(),
        "documents": lambda: shelf.base.documents(),
    }


def damage(shelf: Shelf, data: bytes) -> None:
    shelf.base.close()
    for path in shelf.base.folder.glob("index.sqlite3*"):
        path.unlink()
    shelf.index_file.write_bytes(data)
    shelf.library = Library(shelf.library.home)


@pytest.mark.parametrize("name", DAMAGES)
def test_a_damaged_index_says_so_and_names_the_way_out(filled: Shelf, name: str) -> None:
    data = DAMAGES[name](filled.index_file.read_bytes())
    damage(filled, data)
    errors: list[IndexStateError] = []
    for call in ask(filled).values():
        try:
            call()
        except IndexStateError as error:
            errors.append(error)

    assert errors
    ways_out = ("zhiku doctor --repair --base default", "zhiku rebuild --base default")
    for error in errors:
        assert str(filled.index_file) in error.message
        assert error.hint.endswith(ways_out)
    assert filled.index_file.read_bytes() == data
    filled.base.rebuild()
    assert set(filled.found(WORD)) == {document.source.path for document in filled.base.documents()} != set()


def test_an_empty_index_as_a_killed_first_run_leaves_it_holds_nothing_yet(filled: Shelf) -> None:
    damage(filled, b"")
    with pytest.raises(NotFound, match="holds nothing yet"):
        filled.found(WORD)
    filled.index()
    assert set(filled.found(WORD)) == {document.source.path for document in filled.base.documents()} != set()


@pytest.mark.parametrize("seed", range(40))
def test_damage_anywhere_is_never_taken_for_a_bug(filled: Shelf, seed: int) -> None:
    chance = random.Random(seed)
    data = bytearray(filled.index_file.read_bytes())
    for _ in range(chance.choice([1, 8, 200])):
        at = chance.randrange(len(data))
        data[at : at + chance.choice([1, 64])] = chance.randbytes(1)
    damage(filled, bytes(data))
    for call in ask(filled).values():
        with suppress(IndexStateError):
            call()
    filled.write("3.md", "新的内容")
    with suppress(IndexStateError):
        filled.index()


def test_another_database_is_not_written_into(filled: Shelf) -> None:
    data = _another_database(b"")
    damage(filled, data)
    with pytest.raises(IndexStateError, match="is not the index of a zhiku base"):
        filled.index()
    assert filled.index_file.read_bytes() == data


def test_a_damaged_index_can_be_deleted_and_made_anew(filled: Shelf) -> None:
    damage(filled, b"these are notes\n" * 1_000)
    filled.index_file.unlink()
    assert filled.index().added == 6
    assert len(set(filled.found(WORD))) == 6


def test_a_damaged_base_can_be_removed(filled: Shelf) -> None:
    damage(filled, b"")
    filled.library.delete("default")
    assert filled.library.names() == []


@pytest.mark.skipif(os.name == "nt", reason="names are text on Windows")
def test_a_name_that_is_not_utf8_is_indexed_and_opened(shelf: Shelf) -> None:
    file = os.fsencode(shelf.docs) + b"/\xb1\xb8\xb7\xdd.md"
    try:
        Path(os.fsdecode(file)).write_text(WORD)
    except OSError:
        pytest.skip("this file system holds UTF-8 names only")
    shelf.index()
    (hit,) = shelf.search(WORD)

    assert Path(hit.file).read_text() == WORD
    assert hit.file_state == "unchanged"
    assert shelf.library.read(hit.locator).text == WORD
