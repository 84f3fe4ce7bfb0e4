"""`zhiku sync --dry-run` and `--prune` as another program sees them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Cli


@pytest.fixture
def kb(cli: Cli) -> Cli:
    """Return the command over a library root of two bases, after one of three files of a base was removed."""
    for name in ("a", "b", "c"):
        cli.write(f"notes/{name}.md", f"{name} valve\n")
    cli.write("papers/p.md", "pump\n")
    assert cli("sync", "docs").returncode == 0
    (cli.docs / "notes" / "b.md").unlink()
    return cli


def files_of(cli: Cli) -> dict[str, bytes]:
    """Return every file of the home; SQLite's notes on who reads an index (-shm, and an empty log) say nothing."""
    found = {str(path): path.read_bytes() if path.is_file() else b"" for path in cli.home.rglob("*")}
    return {path: data for path, data in found.items() if not path.endswith("-shm") and (data or path[-4:] != "-wal")}


def test_a_dry_run_makes_no_home(cli: Cli) -> None:
    cli.write("notes/a.md", "valve\n")
    cli.write("notes/intro.md", "About valves.\n")
    done = cli("sync", "docs", "--dry-run")
    assert done.returncode == 0
    assert done.stdout == "Nothing was written; this is what would be done:\nnotes  1 new, intro from intro.md\n"
    assert not cli.home.exists()


def test_a_dry_run_leaves_the_home_as_it_was(kb: Cli) -> None:
    kb.write("papers/q.md", "seal\n")
    before = files_of(kb)
    done = kb("sync", "docs", "--dry-run", "--prune", env={"ZHIKU_LANG": "zh"})
    assert done.returncode == 0
    assert done.stdout.splitlines()[:3] == [
        "什么都没有写入；真正运行时会是这样：",
        "notes   不在了 1、未变化 2",
        "papers  新增 1、未变化 1",
    ]
    assert done.stderr == (f"知识库 notes：文件已不在或已被排除、将退出检索的文档：1\n- {kb.docs / 'notes' / 'b.md'}\n")
    assert files_of(kb) == before
    assert json.loads(kb("sync", "docs", "--dry-run", "--format", "json").stdout)["dry_run"] is True


def test_what_is_gone_stays_until_it_is_pruned(kb: Cli) -> None:
    done = kb("sync", "docs")
    assert done.returncode == 0
    assert done.stdout == (
        "notes   1 gone, 2 unchanged\n"
        "papers  nothing changed (files: 1)\n"
        "Gone from disk: 1; what is indexed of them stays. Take it out of search: add --prune\n"
    )
    assert "notes/b.md" in kb("search", "valve", "-b", "notes", "--format", "files").stdout
    done = kb("sync", "docs", "--prune")
    assert done.returncode == 0
    assert done.stdout == "notes   1 pruned, 2 unchanged\npapers  nothing changed (files: 1)\n"
    assert done.stderr == (
        "Base notes: to be taken out of search, for their files are gone or left out now: 1\n"
        f"- {kb.docs / 'notes' / 'b.md'}\n"
    )
    assert "notes/b.md" not in kb("search", "valve", "-b", "notes", "--format", "files").stdout
    assert kb("sync", "docs", "--prune").stdout.startswith("notes   nothing changed (files: 2)\n")


def test_a_file_that_returns_is_searched_again(kb: Cli) -> None:
    kb("sync", "docs", "--prune")
    kb.write("notes/b.md", "b valve\n")
    assert kb("sync", "docs").stdout.startswith("notes   1 back, ")
    assert "notes/b.md" in kb("search", "valve", "-b", "notes", "--format", "files").stdout
