"""A walk finds what is wanted, once, and says of all else why it is not."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zhiku.errors import UsageError
from zhiku.ingest.discover import DiscoverRules, Found, Skipped, discover

CASES = Path(__file__).parents[2] / "cases"
ON_WINDOWS = sys.platform == "win32"
needs_links = pytest.mark.skipif(ON_WINDOWS, reason="links need a privilege on Windows")
needs_posix = pytest.mark.skipif(ON_WINDOWS, reason="Windows has no FIFOs and no such permissions")


def rules(**changes: Any) -> DiscoverRules:
    values: dict[str, Any] = {
        "endings": frozenset({".md", ".txt", ".pdf", ".html"}),
        "text_endings": frozenset({".md", ".txt"}),
        "looks_like_text": lambda head: b"\0" not in head,
    }
    return DiscoverRules(**{**values, **changes})


def write(root: Path, *paths: str, data: bytes = b"text") -> None:
    for path in paths:
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)


def walk(root: Path, within: Path | None = None, **changes: Any) -> list[Found | Skipped]:
    return list(discover(root, within, rules=rules(**changes)))


def found(root: Path, within: Path | None = None, **changes: Any) -> list[str]:
    return [item.path for item in walk(root, within, **changes) if isinstance(item, Found)]


def skipped(root: Path, within: Path | None = None, **changes: Any) -> dict[str, str]:
    return {item.path: item.reason for item in walk(root, within, **changes) if isinstance(item, Skipped)}


# What is found, and in which order


def test_files_come_before_what_the_folders_beside_them_hold(tmp_path: Path) -> None:
    write(tmp_path, "b/x.md", "b/a/y.md", "a/z.md", "c.md", "a.md")
    assert found(tmp_path) == ["a.md", "c.md", "a/z.md", "b/x.md", "b/a/y.md"]


def test_a_file_is_found_with_its_size_and_times(tmp_path: Path) -> None:
    write(tmp_path, "docs/a.md")
    status = (tmp_path / "docs/a.md").stat()
    assert walk(tmp_path) == [Found("docs/a.md", 4, status.st_mtime_ns, status.st_ctime_ns)]


def test_a_root_may_be_a_file_whatever_its_name(tmp_path: Path) -> None:
    write(tmp_path, ".draft.md", "photo.png")
    assert found(tmp_path / ".draft.md") == [""]
    assert skipped(tmp_path / "photo.png") == {"": "unsupported"}


def test_the_name_of_the_root_itself_is_not_judged(tmp_path: Path) -> None:
    write(tmp_path, ".notes/node_modules/a.md")
    assert found(tmp_path / ".notes" / "node_modules") == ["a.md"]


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="the file system changes or refuses such names")
def test_names_are_kept_as_they_are_on_disk(tmp_path: Path) -> None:
    names = [unicodedata.normalize(form, "café.md") for form in ("NFC", "NFD")]
    names += [os.fsdecode(b"\xd6\xd0\xce\xc4.md"), "line\nbreak.md", "笔记 %23.md"]
    write(tmp_path, *names)
    assert found(tmp_path) == sorted(names)
    assert all(Path(tmp_path, path).read_bytes() == b"text" for path in found(tmp_path))


def test_a_tree_deeper_than_the_recursion_limit_is_walked(tmp_path: Path) -> None:
    depth = 40 if ON_WINDOWS else sys.getrecursionlimit() + 200
    folders = [tmp_path]
    for _ in range(depth):
        folders.append(folders[-1] / "d")
        folders[-1].mkdir()
    write(folders[-1], "a.md")
    assert found(tmp_path) == ["d/" * depth + "a.md"]
    (folders[-1] / "a.md").unlink()  # what clears up after tests may recurse
    for folder in reversed(folders[1:]):
        folder.rmdir()


def test_a_root_that_is_gone_is_a_failure_and_not_an_empty_folder(tmp_path: Path) -> None:
    [item] = walk(tmp_path / "unplugged")
    assert isinstance(item, Skipped)
    assert (item.path, item.reason, item.failed) == ("", "unreadable", True)
    assert item.detail


# By content and size


def test_a_file_of_unknown_ending_is_judged_by_its_content(tmp_path: Path) -> None:
    write(tmp_path, "README", "a.xyz", "docs.md/NOTES")
    write(tmp_path, "core", "b.xyz", data=b"\x7fELF\0")
    assert found(tmp_path) == ["README", "a.xyz", "docs.md/NOTES"]
    assert skipped(tmp_path) == {"b.xyz": "binary", "core": "binary"}


def test_only_the_head_of_a_file_of_unknown_ending_is_read(tmp_path: Path) -> None:
    write(tmp_path, "big.xyz", "known.md", "scan.png", data=b"x" * 100_000)
    heads: list[int] = []
    walk(tmp_path, looks_like_text=lambda head: heads.append(len(head)) is None)
    assert heads == [8192]


def test_a_document_without_a_parser_is_unsupported_and_one_with_a_parser_is_found(tmp_path: Path) -> None:
    write(tmp_path, "a.ODT", "b.mobi")
    assert skipped(tmp_path) == {"a.ODT": "unsupported", "b.mobi": "unsupported"}
    assert found(tmp_path, endings=frozenset({".odt"})) == ["a.ODT"]


def test_each_kind_of_file_has_its_own_limit(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "b.PDF", "c.html", "d.xyz", data=b"123456")
    limits = {"max_text_bytes": 5, "max_pdf_bytes": 5, "max_other_bytes": 5}
    assert set(skipped(tmp_path, **limits).values()) == {"too_large"}
    assert found(tmp_path, **{**limits, "max_text_bytes": 6}) == ["a.md", "d.xyz"]
    assert found(tmp_path, **{**limits, "max_pdf_bytes": 6}) == ["b.PDF"]
    assert found(tmp_path, **{**limits, "max_other_bytes": 6}) == ["c.html"]


# By name


def test_hidden_names_are_left_out_as_whole_folders(tmp_path: Path) -> None:
    write(tmp_path, ".obsidian/a.md", "_private/b.md", ".c.md", "_d.md", "e.md")
    assert found(tmp_path) == ["e.md"]
    assert skipped(tmp_path) == dict.fromkeys([".c.md", ".obsidian", "_d.md", "_private"], "hidden")


def test_what_systems_and_office_programs_leave_behind_is_hidden(tmp_path: Path) -> None:
    write(tmp_path, "~$plan.docx", ".DS_Store", "Thumbs.db", "desktop.ini", "Thumbs.db.md", "~plan.md")
    assert found(tmp_path) == ["Thumbs.db.md", "~plan.md"]
    assert set(skipped(tmp_path).values()) == {"hidden"}


def test_folders_of_tools_are_left_out(tmp_path: Path) -> None:
    names = [".git", "node_modules", "__pycache__", ".tox", "site-packages"]
    write(tmp_path, *(f"{name}/a.md" for name in names), "py/pyvenv.cfg", "py/lib/a.md")
    assert found(tmp_path) == []
    assert skipped(tmp_path) == dict.fromkeys([*names, "py"], "vcs_or_build")


@pytest.mark.parametrize("name", ["build", "dist", "target", "out", "bin", "vendor"])
def test_a_folder_named_like_a_build_is_one_only_beside_a_project_file(tmp_path: Path, name: str) -> None:
    write(tmp_path, f"{name}/a.md", f"project/{name}/b.md", "project/package.json")
    assert f"{name}/a.md" in found(tmp_path)
    assert skipped(tmp_path)[f"project/{name}"] == "vcs_or_build"


# By ignore files and settings


def test_ignore_files_hold_from_their_folder_down(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "docs/a.md", "docs/b.md", "docs/deep/a.md", "docs/deep/keep.md")
    write(tmp_path, "docs/.gitignore", data=b"a.md\n/keep.md\n")
    assert found(tmp_path) == ["a.md", "docs/b.md", "docs/deep/keep.md"]


def test_the_own_ignore_file_has_the_last_word_in_its_folder(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "b.md")
    write(tmp_path, ".gitignore", data=b"a.md\n")
    write(tmp_path, ".zhikuignore", data=b"!a.md\nb.md\n")
    assert found(tmp_path) == ["a.md"]


def test_an_ignore_file_above_the_root_says_nothing(tmp_path: Path) -> None:
    write(tmp_path, "root/a.md")
    write(tmp_path, ".gitignore", data=b"*\n")
    assert found(tmp_path / "root") == ["a.md"]


def test_a_skip_names_the_pattern_and_an_ignored_folder_is_one_skip(tmp_path: Path) -> None:
    write(tmp_path, "docs/tmp/a.md", "docs/tmp/b.md")
    write(tmp_path, "docs/.gitignore", data=b"tmp/\n")
    assert Skipped("docs/tmp", "ignored", "docs/.gitignore: tmp/") in walk(tmp_path)
    assert "docs/tmp/a.md" not in skipped(tmp_path)


def test_an_unusable_ignore_file_is_a_reported_failure_and_the_run_goes_on(tmp_path: Path) -> None:
    write(tmp_path, "a.md")
    write(tmp_path, ".gitignore", data=b"x" * 200_000)
    assert found(tmp_path) == ["a.md"]
    assert [item.path for item in walk(tmp_path) if isinstance(item, Skipped) and item.failed] == [".gitignore"]


def test_a_line_of_an_ignore_file_that_cannot_be_used_leaves_the_others_as_they_are(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "b.md")
    write(tmp_path, ".gitignore", data=b"[z-a]\na.md\n[[:alpha:]]*\n")
    assert found(tmp_path) == ["b.md"]
    assert found(tmp_path, exclude=("[z-a]", "b.md")) == []


def test_without_patterns_the_library_for_them_is_not_imported(tmp_path: Path) -> None:
    write(tmp_path, "a.md")
    program = (
        "import sys; from pathlib import Path; from zhiku.ingest.discover import DiscoverRules, discover;"
        "rules = DiscoverRules(endings=frozenset(), text_endings=frozenset(), looks_like_text=bool);"
        "print(len(list(discover(Path(sys.argv[1]), rules=rules))), 'pathspec' in sys.modules)"
    )
    reply = subprocess.run([sys.executable, "-c", program, tmp_path], check=True, capture_output=True)
    assert reply.stdout.split() == [b"1", b"False"]


def test_the_settings_of_the_base_outrank_what_the_folders_say(tmp_path: Path) -> None:
    write(tmp_path, "_posts/a.md", "log/b.md", "c.md")
    write(tmp_path, ".gitignore", data=b"log/\n")
    changes = {"include": ("_posts/", "log/"), "exclude": ("c.md",)}
    assert found(tmp_path, **changes) == ["_posts/a.md", "log/b.md"]
    assert skipped(tmp_path, **changes)["c.md"] == "ignored"


# A part of the root


def test_only_the_part_that_is_asked_for_is_walked(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "docs/b.md", "docs/deep/c.md", "docs2/d.md")
    assert found(tmp_path, tmp_path / "docs") == ["docs/b.md", "docs/deep/c.md"]
    assert found(tmp_path, tmp_path / "docs" / "b.md") == ["docs/b.md"]
    assert found(tmp_path, tmp_path) == found(tmp_path)


def test_a_part_is_judged_by_what_lies_above_it(tmp_path: Path) -> None:
    write(tmp_path, "docs/a.md", "docs/b.md", "docs/deep/a.md", "_x/deep/c.md")
    write(tmp_path, ".gitignore", data=b"/docs/**/a.md\n")
    assert found(tmp_path, tmp_path / "docs") == ["docs/b.md"]
    assert skipped(tmp_path, tmp_path / "docs" / "a.md") == {"docs/a.md": "ignored"}
    assert skipped(tmp_path, tmp_path / "_x" / "deep") == {"_x": "hidden"}


def test_a_part_that_is_gone_is_a_failure(tmp_path: Path) -> None:
    [item] = walk(tmp_path, tmp_path / "docs" / "a.md")
    assert isinstance(item, Skipped)
    assert (item.path, item.reason, item.failed) == ("docs/a.md", "unreadable", True)


def test_a_part_outside_the_root_is_refused(tmp_path: Path) -> None:
    (tmp_path / "root").mkdir()
    with pytest.raises(UsageError, match="not below"):
        walk(tmp_path / "root", tmp_path / "root" / ".." / "other")


@needs_links
def test_a_part_may_be_spelled_through_a_link_to_the_root(tmp_path: Path) -> None:
    write(tmp_path, "real/docs/a.md")
    (tmp_path / "alias").symlink_to("real")
    assert found(tmp_path / "alias", tmp_path / "real" / "docs") == ["docs/a.md"]
    assert found(tmp_path / "real", tmp_path / "alias" / "docs") == ["docs/a.md"]


# Links


@needs_links
def test_case_b31_links_end_and_nothing_outside_is_read(tmp_path: Path) -> None:
    shutil.copytree(CASES / "B31", tmp_path, dirs_exist_ok=True)
    subprocess.run(["sh", "setup.sh"], cwd=tmp_path, check=True)
    assert found(tmp_path / "kb") == ["real.md"]
    assert skipped(tmp_path / "kb") == {
        "alias.md": "link_duplicate",
        "dead": "link_broken",
        "dead1": "link_loop",
        "dead2": "link_loop",
        "ext": "link_outside",
        "loop": "link_loop",
        "up": "link_outside",
    }


@needs_links
def test_a_link_makes_visible_what_a_hidden_folder_holds_but_once(tmp_path: Path) -> None:
    write(tmp_path, ".vault/notes/a.md", ".vault/notes/sub/b.md", ".vault/c.md")
    links = {
        "a-b.md": ".vault/notes/sub/b.md",
        "m": ".vault/notes",
        "n": ".vault/notes",
        "o.md": ".vault/c.md",
    }
    for name, target in links.items():
        (tmp_path / name).symlink_to(target)
    assert found(tmp_path) == ["a-b.md", "o.md", "m/a.md"]
    assert skipped(tmp_path) == {".vault": "hidden", "n": "link_duplicate", "m/sub/b.md": "link_duplicate"}


@needs_links
def test_links_among_hidden_folders_end(tmp_path: Path) -> None:
    write(tmp_path, ".v/x/a.md", ".v/y/b.md", "seen/c.md")
    (tmp_path / "in").symlink_to(".v/x")
    (tmp_path / ".v/x/y").symlink_to("../y")
    (tmp_path / ".v/y/x").symlink_to("../x")
    (tmp_path / ".v/y/up").symlink_to("..")
    (tmp_path / ".v/y/seen").symlink_to("../../seen")
    assert found(tmp_path) == ["in/a.md", "in/y/b.md", "seen/c.md"]
    reasons = skipped(tmp_path)
    assert reasons["in/y/x"] == "link_duplicate"
    assert reasons["in/y/up"] == "link_loop"
    assert reasons["in/y/seen"] == "link_duplicate"


@needs_links
def test_a_link_is_a_duplicate_even_if_only_its_part_is_walked(tmp_path: Path) -> None:
    write(tmp_path, "notes/a.md", "other/b.md")
    (tmp_path / "other/alias.md").symlink_to("../notes/a.md")
    assert found(tmp_path, tmp_path / "other") == ["other/b.md"]
    assert skipped(tmp_path, tmp_path / "other") == {"other/alias.md": "link_duplicate"}


@needs_links
def test_a_link_does_not_bring_back_folders_of_tools(tmp_path: Path) -> None:
    write(tmp_path, "node_modules/x/a.md")
    (tmp_path / "x").symlink_to("node_modules/x")
    assert skipped(tmp_path) == dict.fromkeys(["node_modules", "x"], "vcs_or_build")


@needs_links
def test_a_root_that_is_a_link_is_walked(tmp_path: Path) -> None:
    write(tmp_path, "real/a.md")
    (tmp_path / "root").symlink_to("real")
    assert found(tmp_path / "root") == ["a.md"]


@needs_posix
def test_hard_links_are_found_under_each_name(tmp_path: Path) -> None:
    write(tmp_path, "a.md")
    (tmp_path / "b.md").hardlink_to(tmp_path / "a.md")
    assert found(tmp_path) == ["a.md", "b.md"]


# What cannot be read


@contextmanager
def _ordinary_user(root: Path) -> Iterator[None]:
    """Permissions do not bind root: be someone else for a while."""
    if os.geteuid() != 0:
        yield
        return
    for folder, _, names in os.walk(root):
        os.chown(folder, 65534, 65534)
        for name in names:
            os.chown(Path(folder, name), 65534, 65534)
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@needs_posix
def test_case_b34_what_cannot_be_read_is_reported_and_nothing_blocks() -> None:
    with tempfile.TemporaryDirectory() as name:
        root = Path(name, "case")
        shutil.copytree(CASES / "B34", root)
        with _ordinary_user(Path(name)):
            subprocess.run(["sh", "setup.sh"], cwd=root, check=True)
            items = walk(root / "kb")
            (root / "kb/shut").chmod(0o700)
    paths = [item.path for item in items if isinstance(item, Found)]
    assert paths == ["empty.md", "locked.md", "ok.md"]  # locked.md shows itself when it is opened
    reasons = {item.path: (item.reason, item.failed) for item in items if isinstance(item, Skipped)}
    assert reasons == {"pipe.md": ("not_regular", False), "shut": ("unreadable", True)}


@needs_posix
def test_an_unreadable_file_of_unknown_ending_is_a_failure() -> None:
    with tempfile.TemporaryDirectory() as name:
        write(Path(name), "NOTES", "a.md")
        with _ordinary_user(Path(name)):
            Path(name, "NOTES").chmod(0)
            items = walk(Path(name))
    assert [item.path for item in items if isinstance(item, Skipped) and item.failed] == ["NOTES"]


@needs_posix
def test_fifos_and_sockets_are_never_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    server = socket.socket(socket.AF_UNIX)
    here = Path.cwd()
    os.chdir(tmp_path)  # a socket's path may hold about 100 characters
    try:
        server.bind("socket.md")
    finally:
        os.chdir(here)
        server.close()
    assert skipped(tmp_path) == {"pipe": "not_regular", "socket.md": "not_regular"}
    assert skipped(tmp_path / "pipe") == {"": "not_regular"}


# The same as git

NAMES = st.sampled_from(["a", "b", "c.md", "d.md", "e.txt", "_f.md", "草稿.md"])
PATHS = st.lists(NAMES, min_size=1, max_size=4).map("/".join)
LINES = st.lists(
    st.sampled_from(
        [
            "*.md",
            "!c.md",
            "/a",
            "a/",
            "b/",
            "!b/",
            "a/**",
            "**/d.md",
            "a/b/",
            "/b/*",
            "*",
            "!*/",
            "!*.md",
            "草*",
            "[c-d]*",
        ]
    ),
    max_size=4,
)


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed: nothing to compare with")
@settings(max_examples=60, deadline=None)
@given(
    paths=st.lists(PATHS, min_size=1, max_size=12),
    ignores=st.dictionaries(st.sampled_from(["", "a/", "b/", "a/b/"]), LINES),
)
def test_the_files_found_are_those_that_git_does_not_ignore(paths: list[str], ignores: dict[str, list[str]]) -> None:
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        for path in paths:
            try:
                write(root, path)
            except OSError:  # an earlier path made a file of what this one needs as a folder, or the reverse
                continue
        for folder, lines in ignores.items():
            if (root / folder).is_dir():
                write(root, f"{folder}.gitignore", data="\n".join(lines).encode())
        theirs = _files_not_ignored_by_git(root)
        assert sorted(found(root)) == sorted(path for path in theirs if not _has_hidden_part(path))


def _files_not_ignored_by_git(root: Path) -> list[str]:
    subprocess.run(["git", "init", "-q", root], check=True)
    command = ["git", "-c", "core.excludesFile=", "ls-files", "--others", "--exclude-standard", "-z"]
    reply = subprocess.run(command, cwd=root, check=True, capture_output=True)
    return [path for path in reply.stdout.decode().split("\0") if path]


def _has_hidden_part(path: str) -> bool:
    return any(part[0] in "._" for part in path.split("/"))
