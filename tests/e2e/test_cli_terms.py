"""Glossaries at the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conftest import Cli


@pytest.fixture
def terms(cli: Cli) -> Path:
    cli.write("shop.md", "Louis Vuitton 门店营业时间调整。")
    cli.write("other.md", "今天食堂的菜单。")
    path = cli.folder / "terms.md"
    path.write_text("LV = Louis Vuitton\n", "utf-8")
    assert cli("index", str(cli.docs), "--glossary", str(path)).returncode == 0
    return path


def test_a_glossary_is_named_once_and_adds_its_words_to_every_search(cli: Cli, terms: Path) -> None:
    found = cli("search", "LV", "--explain")
    assert "why: other words for it in the glossary" in found.stdout
    assert "Added by the glossary of default: LV = Louis Vuitton" in found.stderr
    plain = cli("search", "LV", "--no-expand", "--explain")
    assert (plain.returncode, plain.stdout) == (1, "")
    assert "Added by" not in plain.stderr


def test_a_glossary_that_is_gone_is_told_beside_the_hits(cli: Cli, terms: Path) -> None:
    terms.unlink()
    found = json.loads(cli("search", "门店", "--format", "json").stdout)
    assert found["hits"][0]["path"] == "shop.md"
    assert found["health"]["degraded"] == [
        f"the glossary {terms} is gone. Hint: put it back, or name another: zhiku index --base default --glossary FILE"
    ]


def test_a_glossary_that_is_not_there_is_refused(cli: Cli, terms: Path) -> None:
    refused = cli("index", "--glossary", "none.md")
    assert refused.returncode == 2
    assert "none.md is no file." in refused.stderr


def test_terms_are_shown_and_checked(cli: Cli, terms: Path) -> None:
    shown = cli("terms")
    assert (shown.returncode, shown.stderr) == (0, "")
    assert shown.stdout.splitlines() == [
        f"{terms}: 1 terms",
        "  LV = Louis Vuitton",
        "Aliases without a line of their own, which find their term all the same: 1",
        "- Louis Vuitton (L1)",
        "In no document: 1",
        "- LV (L1)",
    ]
    terms.write_text("LV = Louis Vuitton\nlv = 门店\nprose\n", "utf-8")
    checked = cli("terms", "--format", "json")
    assert checked.returncode == 4
    told = json.loads(checked.stdout)
    assert [finding["kind"] for finding in told["findings"]] == [
        "duplicate",
        "no_entry",
        "no_entry",
        "not_found",
        "not_found",
    ]
    assert [fault["code"] for fault in told["faults"]] == ["source"]
    assert "line 3" in cli("terms").stderr


def test_a_base_without_terms_says_how_to_name_some(cli: Cli, terms: Path) -> None:
    assert cli("index", "--glossary", "").returncode == 0
    shown = cli("terms")
    assert (shown.returncode, shown.stdout) == (1, "")
    assert "zhiku index --glossary FILE" in shown.stderr


def test_status_and_doctor_count_terms(cli: Cli, terms: Path) -> None:
    assert f"1 terms  {terms}" in cli("status").stdout
    assert "glossary    1 terms" in cli("doctor").stdout


def test_terms_are_suggested_and_never_written_over(cli: Cli) -> None:
    cli.write("boot.md", "硬盘上有主引导记录（Master Boot Record，MBR）。修复主引导记录。\n\n主引导记录很小。")
    assert cli("index", str(cli.docs)).returncode == 0
    shown = cli("terms", "suggest")
    assert shown.stdout.splitlines()[-1] == "主引导记录 = MBR, Master Boot Record"
    written = cli("terms", "suggest", "--output", "new.md")
    assert (written.returncode, written.stdout) == (0, "")
    assert "1 terms are written to new.md. Look through them." in written.stderr
    again = cli("terms", "suggest", "--output", "new.md")
    assert again.returncode == 2
    assert "new.md exists, and nothing is ever written over." in again.stderr
    assert cli("index", "--glossary", "new.md").returncode == 0
    assert cli("terms").returncode == 0
    assert cli("terms", "suggest").returncode == 1
    assert json.loads(cli("terms", "suggest", "--format", "json").stdout) == {"base": "default", "suggestions": []}


@pytest.mark.parametrize("args", [["--output", "x.md"], ["--limit", "3"], ["suggest", "--file", "x.md"]])
def test_an_option_that_means_nothing_here_is_refused(cli: Cli, args: list[str]) -> None:
    refused = cli("terms", *args)
    assert refused.returncode == 2
    assert "means nothing here" in refused.stderr
