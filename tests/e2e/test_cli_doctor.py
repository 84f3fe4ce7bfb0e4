"""The command doctor: what it prints and how it ends."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import apsw

from zhiku.paths import writer_lock

if TYPE_CHECKING:
    from conftest import Cli


def indexed(cli: Cli, *names: str) -> Cli:
    cli.write("pump.md", "# Pump\n\nThe seal of the pump is greased every spring.\n")
    cli.write("记录.txt", "水泵的密封圈每年春天上一次油。\n")
    for name in names:
        cli("index", "docs", "-b", name)
    return cli


def damage(cli: Cli, name: str, statement: str) -> None:
    connection = apsw.Connection(str(cli.home / "bases" / name / "index.sqlite3"))
    connection.execute(statement)
    connection.close()


def test_a_base_that_is_well_ends_with_0(cli: Cli) -> None:
    done = indexed(cli, "notes")("doctor")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "notes",
        "  by words    ok: finds 2 of 2 sentences",
        "  by meaning  off",
        "  by keyword  ok: finds 2 of 2 sentences",
    ]


def test_all_bases_are_looked_at_and_the_damaged_one_is_named_with_what_mends_it(cli: Cli) -> None:
    indexed(cli, "one", "two")
    damage(cli, "one", "DELETE FROM lexical")
    done = cli("doctor")
    assert done.returncode == 4
    first, second = done.stdout.split("\n\n")
    assert "by words    damaged" in first
    assert "Problem: " in first
    assert first.rstrip().endswith("mend it: zhiku doctor --repair --base one")
    assert second.startswith("two\n  by words    ok")
    assert cli("doctor", "-b", "two").returncode == 0


def test_what_is_found_is_said_in_chinese_too(cli: Cli) -> None:
    damage(indexed(cli, "notes"), "notes", "DELETE FROM lexical")
    printed = cli("doctor", env={"ZHIKU_LANG": "zh"}).stdout
    assert "按词语    已损坏" in printed
    assert "问题：" in printed
    assert "修复：zhiku doctor --repair --base notes" in printed


def test_json_holds_legs_and_findings(cli: Cli) -> None:
    damage(indexed(cli, "notes"), "notes", "DELETE FROM texts")
    done = cli("doctor", "--format", "json")
    (base,) = json.loads(done.stdout)["bases"]
    assert done.returncode == 4
    assert (base["name"], base["documents"], base["chunks"]) == ("notes", 2, 2)
    assert base["legs"]["lexical"] == {"state": "unknown", "found": 0, "asked": 0}
    (finding,) = base["findings"]
    assert (finding["part"], finding["code"]) == ("base", "damaged_index")
    assert finding["hint"].endswith("zhiku rebuild --base notes")


def test_mending_as_told_makes_the_base_well(cli: Cli) -> None:
    damage(indexed(cli, "notes"), "notes", "DELETE FROM lexical")
    assert cli("doctor").returncode == 4
    done = cli("doctor", "--repair")
    assert done.returncode == 0
    assert "words and vectors made anew for 2 chunks" in done.stderr


def test_what_only_the_documents_can_mend_is_rebuilt(cli: Cli) -> None:
    damage(indexed(cli, "notes"), "notes", "DELETE FROM texts")
    done = cli("doctor", "--repair")
    assert done.returncode == 4
    assert "zhiku rebuild --base notes" in done.stderr
    assert cli("rebuild", "--base", "notes").returncode == 0
    assert cli("doctor").returncode == 0


def test_a_base_that_is_being_written_is_not_mended_and_the_exit_code_says_so(cli: Cli) -> None:
    indexed(cli, "notes")
    with writer_lock(cli.home / "bases" / "notes"):
        done = cli("doctor", "--repair")
    assert done.returncode == 7
    assert "another run is writing base 'notes'" in done.stderr
    assert "by words    ok" in done.stdout


def test_files_that_were_not_read_are_counted(cli: Cli) -> None:
    cli.write("broken.pdf", b"%PDF-1.4 nothing more")
    done = indexed(cli, "notes")("doctor")
    assert done.returncode == 0
    assert "not read    1 files; see: zhiku status -b notes" in done.stdout


def test_a_base_that_holds_nothing_and_a_home_without_bases_are_well(cli: Cli) -> None:
    done = cli("doctor")
    assert (done.returncode, done.stdout) == (0, "")
    (cli.home / "bases" / "empty").mkdir(parents=True)
    done = cli("doctor")
    assert done.returncode == 0
    assert "by words    not asked" in done.stdout
    assert "Next: name a folder: zhiku index PATH --base empty" in done.stdout
