from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from users import as_normal_user, common_folder
from zhiku.errors import ParseFailed, SourceError, TooLarge, Unreadable
from zhiku.service.library_root import MAX_INTRO_CHARS, LibraryRoot, read_intro, read_library_root


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "kb").mkdir()
    return tmp_path.resolve() / "kb"


def make(root: Path, *folders: str) -> None:
    for name in folders:
        (root / name).mkdir(parents=True)


def bases(read: LibraryRoot) -> dict[str, str]:
    return {folder.path.relative_to(read.path).as_posix(): folder.base for folder in read.folders}


def test_each_first_level_folder_is_a_base(root: Path) -> None:
    make(root, "notes/texts", "论文", "Work-2024")
    read = read_library_root(root)
    assert bases(read) == {"Work-2024": "Work-2024", "notes": "notes", "论文": "论文"}
    assert read == LibraryRoot(path=root, folders=read.folders)


def test_hidden_folders_and_those_of_tools_are_no_bases(root: Path) -> None:
    make(root, "_drafts", ".git", "_glossary", "node_modules", "readme notes")
    read = read_library_root(root)
    assert read.folders == ()
    assert [problem.params["folder"] for problem in read.problems] == ["readme notes"]


def test_a_folder_is_called_as_domains_says(root: Path) -> None:
    make(root, "my notes", "C# book")
    (root / "_domains.md").write_bytes("\ufeff# names\r\n- my notes = 笔记\r\nC# book = csharp\r\n".encode())
    assert bases(read_library_root(root)) == {"C# book": "csharp", "my notes": "笔记"}


def test_domains_may_be_in_the_encoding_of_the_system(root: Path) -> None:
    make(root, "我的 笔记")
    (root / "_domains.md").write_bytes("# 文件夹与知识库的对应关系\n我的 笔记 = 笔记\n".encode("gb18030"))
    assert bases(read_library_root(root)) == {"我的 笔记": "笔记"}


@pytest.mark.parametrize(
    ("folder", "line"),
    [("my notes", "my notes = my-notes"), ("#1!", "- #1! = 1"), ("?!", "?! = NAME"), ("📚 书", "📚 书 = 书")],
)
@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not allow such names")
def test_a_folder_that_cannot_give_its_name_is_left_out_with_the_line_to_add(
    root: Path, folder: str, line: str
) -> None:
    make(root, folder, "good")
    read = read_library_root(root)
    assert bases(read) == {"good": "good"}
    (problem,) = read.problems
    assert problem.message == f"folder {folder!r} is left out: {folder!r} cannot be the name of a base."
    assert problem.hint == f"add a line to {root / '_domains.md'}: {line}"
    (root / "_domains.md").write_text(line, "utf-8")
    assert len(read_library_root(root).folders) == 2


def test_a_name_in_domains_that_no_base_can_have_is_told_with_its_line(root: Path) -> None:
    make(root, "n")
    (root / "_domains.md").write_text("# x\nn = my notes\n")
    (problem,) = read_library_root(root).problems
    assert problem.hint == f"write in line 2 of {root / '_domains.md'}: n = my-notes"


def test_lines_about_folders_that_are_not_there_are_told(root: Path) -> None:
    make(root, "_private")
    (root / "_domains.md").write_text("gone = x\n_private = y\n")
    assert [(line.line, line.folder) for line in read_library_root(root).unused] == [(1, "gone"), (2, "_private")]


def test_files_in_the_root_itself_are_counted_but_for_its_own(root: Path) -> None:
    for name in ("a.md", "b.pdf", "README.zh.md", "_domains.md", ".DS_Store", "Thumbs.db"):
        (root / name).write_text("")
    assert read_library_root(root).loose_files == 2


def test_a_glossary_belongs_to_its_base_in_any_case(root: Path) -> None:
    make(root, "Notes", "other", "_glossary")
    (root / "_glossary" / "notes.md").write_text("")
    glossaries = {folder.base: folder.glossary for folder in read_library_root(root).folders}
    assert glossaries == {"Notes": root / "_glossary" / "notes.md", "other": None}


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege on Windows")
def test_links_are_followed_to_what_is_in_the_root_and_found_no_other_way(root: Path) -> None:
    make(root, "notes/sub", "_store/x", "../out")
    for name, target in {
        "away": "../out",
        "up": "..",
        "self": ".",
        "dup": "notes",
        "deep": "notes/sub",
        "x": "_store/x",
        "broken": "nowhere",
        "loop": "loop",
    }.items():
        (root / name).symlink_to(target)
    read = read_library_root(root)
    assert bases(read) == {"notes": "notes", "_store/x": "x"}
    assert {(each.path, each.reason) for each in read.skipped} == {
        ("away", "link_outside"),
        ("up", "link_outside"),
        ("self", "link_loop"),
        ("dup", "link_duplicate"),
        ("deep", "link_duplicate"),
        ("broken", "link_broken"),
        ("loop", "link_broken"),
    }


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege on Windows")
def test_nothing_outside_the_root_is_read_through_links(root: Path) -> None:
    make(root, "notes", "../out")
    (root / "../out/secret.md").write_text("notes = stolen\n")
    (root / "../out/notes.md").write_text("")
    (root / "_glossary").symlink_to("../out")
    (root / "notes/intro.md").symlink_to("../../out/secret.md")
    (folder,) = read_library_root(root).folders
    assert folder.glossary is None
    with pytest.raises(Unreadable, match="link out of its root"):
        read_intro(folder.path)
    (root / "_domains.md").symlink_to("../out/secret.md")
    read = read_library_root(root)
    assert (read.folders, read.is_readable) == ((), False)
    assert "link out of its root" in read.problems[0].message


@pytest.mark.parametrize("data", [b"a = b\0\1\2" * 50, b"a" * 1_000_001])
def test_domains_that_cannot_be_read_leave_no_folder_with_a_wrong_name(root: Path, data: bytes) -> None:
    make(root, "notes")
    (root / "_domains.md").write_bytes(data)
    read = read_library_root(root)
    assert (read.folders, read.is_readable) == ((), False)
    assert isinstance(read.problems[0], ParseFailed | TooLarge)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no POSIX permissions")
def test_a_root_that_may_not_be_listed_is_a_problem() -> None:
    with common_folder() as folder:
        root = folder / "kb"
        make(root, "notes")
        with as_normal_user(folder):
            root.chmod(0)
            read = read_library_root(root)
    (problem,) = read.problems
    assert problem.message == f"{root} cannot be read: Permission denied."


@pytest.mark.parametrize(
    ("data", "intro"),
    [
        (b"Field notes.\n", "Field notes."),
        (b"---\ntitle: x\n---\n\n# Notes\r\n\r\nMore.\n\n", "# Notes\n\nMore."),
        ("气象站的值班记录与仪器手册。\n".encode("gb18030"), "气象站的值班记录与仪器手册。"),
        (b"\n \n", ""),
        (b"x" * MAX_INTRO_CHARS + b"y", "x" * MAX_INTRO_CHARS),
        (b"x" * (MAX_INTRO_CHARS - 1) + b" y", "x" * (MAX_INTRO_CHARS - 1)),
    ],
)
def test_an_intro_is_the_text_behind_the_frontmatter(root: Path, data: bytes, intro: str) -> None:
    (root / "intro.md").write_bytes(data)
    assert read_intro(root) == intro


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no FIFOs")
def test_an_intro_that_is_no_file_is_not_waited_for(root: Path) -> None:
    os.mkfifo(root / "intro.md")
    with pytest.raises(SourceError, match="cannot be read"):
        read_intro(root)
