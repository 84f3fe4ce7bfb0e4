"""`zhiku sync` as another program sees it."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest

from zhiku.paths import writer_lock

if TYPE_CHECKING:
    from conftest import Cli


@pytest.fixture
def kb(cli: Cli) -> Cli:
    """Return the command over a library root, `docs`, of three folders, one of which needs another name."""
    cli.write("notes/texts/a.md", "# One\n\nvalve\n")
    cli.write("notes/intro.md", "Field notes.\n")
    cli.write("papers/b.md", "seal\n")
    cli.write("papers/bad.pdf", b"%PDF-1.4 no")
    cli.write("my notes/c.md", "pump\n")
    cli.write("_domains.md", "papers = 论文\n")
    cli.write("_glossary/notes.md", "valve: 阀\n")
    cli.write("README.md", "what is where\n")
    cli.write("loose.md", "nowhere\n")
    return cli


def test_there_is_a_line_for_each_base_and_one_for_each_problem(kb: Cli) -> None:
    done = kb("sync", "docs", "--no-embed")
    assert done.returncode == 3
    assert done.stdout.splitlines() == [
        "notes  1 new, intro from intro.md",
        "论文   1 new, 1 failed",
        "Could not be synced: 1",
        "- folder 'my notes' is left out: 'my notes' cannot be the name of a base; add a line to "
        f"{kb.docs / '_domains.md'}: my notes = my-notes",
        "Could not be read: 1",
        f"- {kb.docs / 'papers'}/bad.pdf is damaged: it is cut off or corrupt; open it in a PDF viewer to check it",
        f"notes: its glossary is {kb.docs / '_glossary' / 'notes.md'}.",
        f"{kb.docs}: files that lie in no folder, and so in no base: 1",
    ]
    assert done.stderr == ""


def test_what_was_done_is_told_in_chinese_too(kb: Cli) -> None:
    done = kb("sync", "docs", env={"ZHIKU_LANG": "zh"})
    assert done.stdout.splitlines() == [
        "notes  新增 1、简介取自 intro.md",
        "论文   新增 1、未能读取 1",
        "未能更新：1",
        "- 文件夹 'my notes' 未纳入：'my notes' 不能用作知识库的名称；在 "
        f"{kb.docs / '_domains.md'} 里加一行：my notes = my-notes",
        "未能读取：1",
        f"- {kb.docs / 'papers'}/bad.pdf 已损坏：文件不完整或已损坏；用 PDF 阅读器打开检查一下",
        f"notes：其术语表是 {kb.docs / '_glossary' / 'notes.md'}。",
        f"{kb.docs}：不在任何文件夹里、因而不属于任何知识库的文件：1",
    ]


def test_a_second_run_says_that_nothing_changed(cli: Cli) -> None:
    cli.write("notes/a.md", "valve\n")
    cli.write("empty/_x", "")
    assert cli("sync", "docs").stdout == "empty  no files\nnotes  1 new\n"
    done = cli("sync", "docs")
    assert (done.returncode, done.stdout) == (0, "empty  no files\nnotes  nothing changed (files: 1)\n")


def test_the_intro_and_the_texts_are_found_where_they_belong(kb: Cli) -> None:
    kb("sync", "docs")
    bases = {base["name"]: base for base in json.loads(kb("list", "--format", "json").stdout)["bases"]}
    assert sorted(bases) == ["notes", "论文"]
    assert (bases["notes"]["intro"], bases["notes"]["documents"]) == ("Field notes.", 1)
    assert kb("search", "valve", "-b", "notes", "--format", "files").stdout == f"{kb.docs}/notes/texts/a.md\n"
    assert "left out by an ignore file or a setting" in kb("index", "--base", "notes").stdout


def test_the_roots_of_the_settings_are_synced_where_none_is_named(kb: Cli) -> None:
    done = kb("sync")
    assert done.returncode == 2
    assert "zhiku sync FOLDER" in done.stderr
    kb.home.mkdir()
    (kb.home / "config.toml").write_text('[library]\nroots = ["~/docs", "~/gone"]\n')
    done = kb("sync", env={"HOME": str(kb.folder), "USERPROFILE": str(kb.folder)})
    assert done.returncode == 3
    assert done.stdout.startswith("notes  1 new")
    assert (
        f"- the library root {kb.folder / 'gone'} is gone; what is indexed of it stays; connect its drive"
        in done.stdout
    )


def test_one_base_alone_is_synced(kb: Cli) -> None:
    done = kb("sync", "docs", "--base", "NOTES")
    assert done.stdout.startswith("notes  1 new")
    assert not (kb.home / "bases" / "论文").exists()
    done = kb("sync", "docs", "--base", "note")
    assert done.returncode == 2
    assert done.stderr == (
        "Error: no folder of the library roots belongs to base 'note'.\nHint: did you mean 'notes'?\n"
    )


def test_a_base_that_is_being_written_is_told_and_the_others_go_on(cli: Cli) -> None:
    for name in ("a", "b"):
        cli.write(f"{name}/x.md", "valve\n")
    assert cli("sync", "docs").returncode == 0
    cli.write("b/y.md", "seal\n")
    with writer_lock(cli.home / "bases" / "a"):
        done = cli("sync", "docs")
    assert done.returncode == 7
    assert done.stdout.startswith(
        "a  not brought up to date\nb  1 new, 1 unchanged\nCould not be synced: 1\n- a: another run"
    )


def test_a_folder_that_is_gone_is_told_with_what_to_do(cli: Cli) -> None:
    cli.write("my notes/a.md", "valve\n")
    cli.write("work/b.md", "seal\n")
    cli.write("_domains.md", "my notes = notes\n")
    cli("sync", "docs")
    shutil.rmtree(cli.docs / "my notes")
    done = cli("sync", "docs")
    assert done.returncode == 3
    gone = cli.docs / "my notes"
    assert f"notes: {gone} is gone; its documents (1) are still found. Connect its drive, or" in done.stdout
    assert f"take them out of search: zhiku forget '{gone}' --base notes\n" in done.stdout
    assert cli("search", "valve", "-b", "notes").returncode == 0


def test_the_json_is_the_same_in_both_languages(kb: Cli) -> None:
    kb("sync", "docs")
    found = [kb("sync", "docs", "--format", "json", env={"ZHIKU_LANG": language}) for language in ("en", "zh")]
    assert found[0].stdout == found[1].stdout
    assert found[0].returncode == 3
    said = json.loads(found[0].stdout)
    assert [(base["name"], base["new"], base["unchanged"]) for base in said["bases"]] == [
        ("notes", 0, 1),
        ("论文", 0, 1),
    ]
    assert said["roots"][0]["problems"][0]["hint"].endswith("my notes = my-notes")
    assert said["bases"][0]["glossaries"] == [f"{kb.docs / '_glossary' / 'notes.md'}"]


def test_a_folder_without_folders_holds_no_base(cli: Cli) -> None:
    done = cli("sync", "docs")
    assert (done.returncode, done.stdout) == (0, f"{cli.docs} holds no folder that could be a base.\n")
