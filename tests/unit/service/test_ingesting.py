"""What agents may change: bases below roots that the user has configured, and nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from shelf import Shelf
from zhiku.errors import ConfigError, NotFound, UsageError
from zhiku.service.ingesting import check_ingest, forget_in, writable_roots
from zhiku.service.tasks import Monitor


@pytest.fixture
def shelf(shelf: Shelf) -> Shelf:
    """Return the base `notes`, and a library root with folders for `works` and `papers` that nothing is read of yet."""
    shelf.write("notes/sub/a.md", "A pump.\n")
    shelf.write("notes/b.md", "A valve.\n")
    shelf.write("outside/secret.md", "zebra\n")
    shelf.write("library/works/c.md", "A crane.\n")
    shelf.write("library/works/intro.md", "About cranes.\n")
    shelf.write("library/papers/d.md", "A paper.\n")
    shelf.write("library/_glossary/works.md", "crane = 起重机\n")
    shelf.index(shelf.docs / "notes", name="notes")
    (shelf.library.home / "config.toml").write_text(f'[library]\nroots = ["{(shelf.docs / "library").as_posix()}"]\n')
    return shelf


def ingest(shelf: Shelf, base: str, source: str | Path, **options: Any) -> dict[str, Any]:
    wanted = check_ingest(shelf.library, base, str(source), **options)
    return dict(wanted.run(shelf.library, Monitor(lambda **_: None)))


def test_new_files_below_a_root_are_read(shelf: Shelf) -> None:
    shelf.write("notes/sub/new.md", "A bolt.\n")
    shelf.write("notes/other.md", "A nut.\n")
    done = ingest(shelf, "NOTES", shelf.docs / "notes" / "sub")
    assert (done["new"], done["unchanged"], done["failed"], done["note"]) == (1, 1, 0, "")
    assert shelf.found("bolt") == ["sub/new.md"]
    assert shelf.found("nut") == []
    assert ingest(shelf, "notes", "other.md")["new"] == 1


def test_everything_is_read_anew_if_asked(shelf: Shelf) -> None:
    done = ingest(shelf, "notes", shelf.docs / "notes", mode="rebuild")
    assert done["chunks"] == 2
    assert shelf.library.open("notes").snapshots()


def test_files_that_cannot_be_read_are_told(shelf: Shelf) -> None:
    shelf.write("notes/bad.pdf", b"%PDF-1.4 no\n")
    done = ingest(shelf, "notes", shelf.docs / "notes")
    assert done["failed"] == 1
    assert [(each["path"], each["code"]) for each in done["failures"]] == [("bad.pdf", "damaged")]


def test_a_folder_of_a_library_root_becomes_its_base(shelf: Shelf) -> None:
    done = ingest(shelf, "works", shelf.docs / "library" / "works" / "c.md")
    assert done["new"] == 1
    base = shelf.library.open("works")
    assert [document.source.path for document in base.documents()] == ["c.md"]
    assert base.status().intro == "About cranes."
    assert writable_roots(shelf.library, "works") == [shelf.docs / "library" / "works"]


@pytest.mark.parametrize(
    ("base", "source"),
    [
        ("notes", "outside"),
        ("notes", "outside/secret.md"),
        ("notes", "notes/../outside"),
        ("notes", ""),
        ("notes", "library"),
        ("notes", "library/works"),
        ("papers", "library/works"),
        ("works", "library"),
        ("works", "notes"),
    ],
)
def test_nothing_else_is_read(shelf: Shelf, base: str, source: str) -> None:
    before = shelf.library.names()
    with pytest.raises(UsageError, match="is not below a root"):
        check_ingest(shelf.library, base, str(shelf.docs / source))
    assert shelf.library.names() == before


def test_a_link_that_leads_out_is_not_followed(shelf: Shelf) -> None:
    (shelf.docs / "notes" / "link").symlink_to(shelf.docs / "outside", target_is_directory=True)
    (shelf.docs / "notes" / "link.md").symlink_to(shelf.docs / "outside" / "secret.md")
    for name in ("link", "link.md", "link/secret.md"):
        for source in (name, str(shelf.docs / "notes" / name)):
            with pytest.raises(UsageError, match="is not below a root"):
                check_ingest(shelf.library, "notes", source)


def test_what_does_not_exist_is_told(shelf: Shelf) -> None:
    with pytest.raises(NotFound, match="does not exist"):
        check_ingest(shelf.library, "notes", "nothing.md")
    with pytest.raises(NotFound, match="no root is configured"):
        check_ingest(shelf.library, "nobody", str(shelf.docs / "notes"))
    with pytest.raises(ConfigError, match="cannot be the name"):
        check_ingest(shelf.library, "../x", str(shelf.docs / "notes"))


def test_a_glossary_must_lie_below_the_same_roots(shelf: Shelf) -> None:
    shelf.write("notes/terms.md", "armature = valve\n")
    shelf.write("outside/terms.md", "armature = valve\n")
    ingest(shelf, "notes", "b.md", glossary="terms.md")
    assert shelf.found("armature") == ["b.md"]
    works = shelf.docs / "library" / "_glossary" / "works.md"
    assert check_ingest(shelf.library, "works", "c.md", glossary=str(works)).glossary == works
    with pytest.raises(UsageError, match="is not below a root"):
        check_ingest(shelf.library, "notes", "b.md", glossary=str(shelf.docs / "outside" / "terms.md"))


def test_documents_are_forgotten_by_path_folder_or_number(shelf: Shelf) -> None:
    base = shelf.library.open("notes")
    assert [each.source.path for each in forget_in(shelf.library, base, rel_path="b.md").done] == ["b.md"]
    assert shelf.found("valve") == []
    assert [each.source.path for each in forget_in(shelf.library, base, rel_path="sub").done] == ["sub/a.md"]
    again = forget_in(shelf.library, base, doc_id=1)
    assert (len(again.done), len(again.already)) == (0, 1)
    assert (shelf.docs / "notes" / "b.md").exists()


@pytest.mark.parametrize("rel_path", [".", "..", "../notes/b.md", "sub/../b.md"])
def test_a_path_that_is_not_within_a_root_forgets_nothing(shelf: Shelf, rel_path: str) -> None:
    base = shelf.library.open("notes")
    for name in (rel_path, str(shelf.docs / "notes" / "b.md")):
        with pytest.raises(UsageError, match="no path within a root"):
            forget_in(shelf.library, base, rel_path=name)
    with pytest.raises(NotFound):
        forget_in(shelf.library, base, rel_path="nothing.md")
    assert shelf.found("valve") == ["b.md"]


def test_documents_of_a_root_that_is_none_any_more_are_not_forgotten(shelf: Shelf) -> None:
    base = shelf.library.open("notes")
    (base.folder / "base.toml").write_text(f'roots = ["{(shelf.docs / "notes" / "sub").as_posix()}"]\n')
    with pytest.raises(UsageError, match="is not below a root"):
        forget_in(shelf.library, base, rel_path="b.md")
