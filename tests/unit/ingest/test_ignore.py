"""Ignore patterns mean what they mean to git."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from zhiku.ingest.ignore import MAX_IGNORE_BYTES, PatternList, find_deciding, load_patterns, parse_patterns


def is_ignored(path: str, *lines: str, is_folder: bool = False) -> bool:
    patterns = PatternList(parse_patterns(lines))
    return find_deciding([patterns], path, path.rsplit("/", 1)[-1], is_folder) is not None


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("a.log", "*.log"),
        ("deep/down/a.log", "*.log"),
        ("a.log", "/*.log"),
        ("docs/a.md", "docs/*.md"),
        ("docs/x/y/a.md", "docs/**/a.md"),
        ("docs/a.md", "docs/**/a.md"),
        ("x/y/docs/a.md", "**/docs/a.md"),
        ("docs/x/y", "docs/**"),
        ("x/a/y/b/z/c", "**/a/**/b/**/c"),
        ("笔记/草稿.md", "草稿*"),
        ("a b", "a b   "),
        ("a ", "a\\ "),
        ("#a", "\\#a"),
        ("!a", "\\!a"),
        ("a*", "a\\*"),
        ("a]", "a[]]"),
        ("a-", "a[b-]"),
        ("b7", "b[0-9]"),
        ("x/y", "**/*/**"),
        ("ax", "a[!0-9]"),
        ("ax", "a[^0-9]"),
        ("a.log", "*.log\r"),
        ("line\nbreak.md", "line*.md"),
        ("\udcffx", "\udcff*"),
    ],
)
def test_a_pattern_ignores_what_it_matches(path: str, line: str) -> None:
    assert is_ignored(path, line)


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("deep/a.log", "/*.log"),
        ("x/docs/a.md", "docs/*.md"),
        ("docs/x/a.md", "docs/*.md"),
        ("docs", "docs/**"),
        ("docs", "docs/"),
        ("a", "#a"),
        ("a", ""),
        ("a", "/"),
        ("a", "!"),
        ("a", "a\\"),
        ("ab", "a[b"),
        ("a/b", "a?b"),
        ("a/b", "a[/]b"),
        ("a/b", "a//b"),
        ("A.LOG", "*.log"),
    ],
)
def test_a_pattern_ignores_nothing_else(path: str, line: str) -> None:
    assert not is_ignored(path, line)


def test_a_pattern_with_a_closing_slash_ignores_folders_only() -> None:
    for line, path in (("docs/", "docs"), ("*/", "docs"), ("**/", "docs"), ("docs/**/", "docs/x")):
        assert is_ignored(path, line, is_folder=True)
        assert not is_ignored(path, line)


def test_a_pattern_does_not_match_what_lies_in_a_folder_that_it_matches() -> None:
    assert is_ignored("docs/a", "docs", "!docs/*") is False
    assert is_ignored("docs/a", "docs/*", "!docs")


def test_a_negated_set_does_not_match_the_end_of_a_name() -> None:
    assert not is_ignored("a", "a[!x]", is_folder=True)


@pytest.mark.parametrize("line", ["[z-a]", "[[:alpha:]]*", "[a--b]", "[a&&b]", "a\\", "!", "a\\/b", "*a*b*c*d*e"])
def test_a_line_that_cannot_be_used_is_left_out_with_a_warning(line: str, caplog: pytest.LogCaptureFixture) -> None:
    assert [pattern.text for pattern in parse_patterns(["*.log", line, "*.tmp"], ".gitignore")] == [
        "*.log",
        "*.tmp",
    ]
    assert [record.args for record in caplog.records] == [(".gitignore", 1, line)]


def test_patterns_with_groups_of_the_same_name_can_be_joined() -> None:
    assert is_ignored("b", "a", "b", "c/d", "e/f/")


def test_the_last_matching_line_decides() -> None:
    assert not is_ignored("keep.md", "*.md", "!keep.md")
    assert is_ignored("keep.md", "!keep.md", "*.md")
    assert is_ignored("other.md", "*.md", "!keep.md")


def test_folders_stay_open_under_a_list_that_names_what_to_keep() -> None:
    lines = ("*", "!*/", "!*.md")
    assert not is_ignored("notes", *lines, is_folder=True)
    assert not is_ignored("notes/a.md", *lines)
    assert is_ignored("notes/a.txt", *lines)


def test_the_nearest_folder_decides() -> None:
    outer = PatternList(parse_patterns(["*.md"]))
    inner = PatternList(parse_patterns(["!/a.md"]), "docs/")
    assert find_deciding([inner, outer], "docs/a.md", "a.md", False) is None
    assert find_deciding([inner, outer], "docs/x/a.md", "a.md", False) is not None


def test_a_verdict_names_the_line_and_its_file() -> None:
    patterns = PatternList(parse_patterns(["*.tmp", "*.log"], "docs/.gitignore"))
    found = patterns.find("docs/a.log", "a.log", False)
    assert found is not None
    assert (found.origin, found.text) == ("docs/.gitignore", "*.log")


@pytest.mark.parametrize(
    "pattern", ["*a" * 40 + "*b", "**/a*/" * 12 + "b", "[a-z]*" * 30 + "!", "?*" * 60 + "!", "**/*a" * 30]
)
def test_a_hostile_pattern_does_not_hang(pattern: str) -> None:
    began = time.process_time()
    is_ignored("a" * 250, pattern)
    is_ignored("/".join(["a" * 20] * 60), pattern)
    assert time.process_time() - began < 2


@pytest.mark.parametrize(
    "data",
    [
        b"*.log\n",
        b"\xef\xbb\xbf*.log\r\n",
        "*.log\r\n".encode("utf-16"),
        b"\xff\xfe\xfa[\n[z-a\n*.log",
        b"\x00\x01\n*.log\n",
    ],
)
def test_an_ignore_file_is_read_in_any_encoding_and_state(tmp_path: Path, data: bytes) -> None:
    file = tmp_path / ".gitignore"
    file.write_bytes(data)
    if data.startswith(b"\xff\xfe\xfa"):
        assert load_patterns(str(file), "") is not None
        return
    patterns = PatternList(load_patterns(str(file), ".gitignore"))
    assert patterns.find("a.log", "a.log", False) is not None


def test_an_ignore_file_that_is_far_too_large_is_refused(tmp_path: Path) -> None:
    file = tmp_path / ".gitignore"
    file.write_bytes(b"x" * (MAX_IGNORE_BYTES + 1))
    with pytest.raises(ValueError, match="larger than"):
        load_patterns(str(file), "")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no FIFOs on this system")
def test_an_ignore_file_that_is_a_fifo_does_not_block(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / ".gitignore")
    with pytest.raises(OSError, match="regular"):
        load_patterns(str(tmp_path / ".gitignore"), "")


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("git") is None:
        pytest.skip("git is not installed: nothing to compare with")
    folder = tmp_path_factory.mktemp("repository")
    subprocess.run(["git", "init", "-q", folder], check=True)
    return folder


# Without what the module says it takes in another way than git.
CHARACTERS = st.sampled_from(["a", "b", "-", "!", "#", ".", "?", "*", "[ab]", "[]b-]", "\\*", "\\!"])
SETS = st.sampled_from(["[!a]", "[^b-]"])
SEGMENTS = st.just("**") | st.lists(CHARACTERS, min_size=1, max_size=4).map("".join).filter(
    lambda segment: "**" not in segment
)
GLOBS = st.lists(SEGMENTS, min_size=1, max_size=4).map("/".join) | st.lists(
    CHARACTERS | SETS, min_size=1, max_size=4
).map("".join)
LINES = st.tuples(st.sampled_from(["", "", "!", "/", "!/"]), GLOBS, st.sampled_from(["", "", "/", "  ", "/ "])).map(
    "".join
)


def is_understood_alike(line: str) -> bool:
    """Answer whether no slash was added to a negated set."""
    return not ("/" in line.rstrip(" /") and ("[!" in line or "[^" in line))


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    lines=st.lists(LINES.filter(is_understood_alike) | st.sampled_from(["*", "!*/", "#a", ""]), max_size=6),
    paths=st.lists(st.lists(st.text("ab-!]", min_size=1, max_size=3), min_size=1, max_size=4), max_size=8),
)
def test_a_single_list_agrees_with_git_check_ignore(repository: Path, lines: list[str], paths: list[list[str]]) -> None:
    (repository / ".gitignore").write_bytes("\n".join(lines).encode())
    names = ["/".join(parts) for parts in paths]
    reply = subprocess.run(
        ["git", "-C", repository, "check-ignore", "--no-index", "--stdin", "-z", "-v", "-n"],
        input="\0".join(names).encode(),
        capture_output=True,
        check=False,
    )
    fields = reply.stdout.decode().split("\0")
    theirs = {fields[at + 3]: fields[at + 2] for at in range(0, len(fields) - 1, 4)}
    patterns = PatternList(parse_patterns(lines))
    for name in names:
        parts = name.split("/")
        above = ["/".join(parts[:count]) for count in range(1, len(parts))]
        ours = any(find_deciding([patterns], path, path.rsplit("/")[-1], True) for path in above) or bool(
            find_deciding([patterns], name, parts[-1], False)
        )
        git = theirs[name]
        assert ours == (bool(git) and not git.startswith("!")), (name, git)
