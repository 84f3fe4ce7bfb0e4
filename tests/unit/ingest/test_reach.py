"""Which parts of a root are looked at for what changed in it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from zhiku.ingest.folders import NameRules
from zhiku.ingest.reach import MAX_PARTS, parts_to_update

needs_links = pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege on Windows")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path.resolve() / "root"
    folder.mkdir()
    return folder


def make(root: Path, *paths: str) -> None:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("x")


def parts(root: Path, *changed: str, names: NameRules | None = None) -> list[str]:
    found = parts_to_update(root, [f"{root}/{path}" for path in changed], names or NameRules())
    return [part.relative_to(root).as_posix() for part in found]


def test_a_file_or_folder_that_changed_is_its_own_part(root: Path) -> None:
    make(root, "a.md", "sub/b.md", "sub/deep/c.md")
    assert parts(root, "a.md", "sub/deep") == ["a.md", "sub/deep"]
    assert parts(root, "") == ["."]


def test_a_part_holds_no_other(root: Path) -> None:
    make(root, "sub/b.md", "sub/deep/c.md")
    assert parts(root, "sub/b.md", "sub", "sub/deep/c.md") == ["sub"]


def test_of_what_is_gone_the_nearest_folder_that_is_left_is_looked_at(root: Path) -> None:
    make(root, "sub/b.md")
    assert parts(root, "sub/gone.md") == ["sub"]
    assert parts(root, "sub/gone/deeper/c.md") == ["sub"]
    assert parts(root, "gone.md") == ["."]


def test_nothing_is_looked_at_where_the_root_is_gone(root: Path) -> None:
    root.rmdir()
    assert parts(root, "a.md", "") == []


@pytest.mark.parametrize(
    "path",
    [
        ".git/index",
        "sub/node_modules/pkg/readme.md",
        ".obsidian/workspace.json",
        "_drafts/a.md",
        "sub/~$plan.docx",
        "code/build/out.txt",
        "env/lib/readme.md",
        "ruled/secret/a.md",
        "ruled/secret.md",
        "code/.git/gone.lock",
        "ruled/cache/gone.md",
    ],
)
def test_what_a_walk_does_not_see_needs_no_look(root: Path, path: str) -> None:
    make(root, "code/package.json", "env/pyvenv.cfg", "ruled/a.md")
    (root / "ruled" / ".gitignore").write_text("secret*\ncache/\n")
    if "gone" not in path:
        make(root, path)
    assert parts(root, path) == []


def test_the_rules_of_a_base_hold_as_in_a_walk(root: Path) -> None:
    make(root, "_templates/a.md", "drafts/b.md")
    names = NameRules(include=["_templates/"], exclude=["drafts/"])
    assert parts(root, "_templates/a.md", "drafts/b.md", names=names) == ["_templates/a.md"]


def test_an_ignore_file_rules_its_folder_which_is_looked_at(root: Path) -> None:
    make(root, "sub/.gitignore", ".zhikuignore", ".git/.gitignore")
    assert parts(root, "sub/.gitignore") == ["sub"]
    assert parts(root, ".zhikuignore") == ["."]
    assert parts(root, ".git/.gitignore") == []


@needs_links
def test_a_link_is_looked_at_from_the_folder_that_holds_it(root: Path) -> None:
    outside = root.parent / "outside"
    make(outside, "a.md")
    make(root, "sub/b.md")
    (root / "sub" / "link").symlink_to(outside)
    (root / "sub" / "broken").symlink_to(outside / "nowhere")
    assert parts(root, "sub/link") == ["sub"]
    assert parts(root, "sub/link/a.md") == ["sub"]
    assert parts(root, "sub/broken") == ["sub"]


def test_many_parts_become_the_folder_around_them(root: Path) -> None:
    paths = [f"sub/{n}/a.md" for n in range(MAX_PARTS + 1)]
    make(root, "b.md", *paths)
    assert parts(root, *paths[:-1]) == paths[:-1]
    assert parts(root, *paths) == ["sub"]
    assert parts(root, *paths, "b.md") == ["."]


def test_of_a_root_that_is_a_file_its_neighbours_do_not_count(root: Path) -> None:
    make(root, "a.md", "b.md")
    file = root / "a.md"
    changed = [str(file), str(root / "b.md"), str(root / ".gitignore")]
    assert parts_to_update(file, changed, NameRules()) == [file]
    assert parts_to_update(file, changed[1:], NameRules()) == []
