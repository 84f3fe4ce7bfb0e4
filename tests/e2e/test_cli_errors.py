"""What the command says when it cannot do what was asked: sentence, next command, exit code, language."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import zhiku

if TYPE_CHECKING:
    from conftest import Cli


@pytest.mark.parametrize(
    ("args", "message", "hint"),
    [
        (["serch", "x"], "no command 'serch'", "did you mean search?"),
        (["search", "x", "--frmat", "json"], "no option --frmat", "did you mean --format?"),
        (["search", "x", "--format", "jsn"], "--format cannot be 'jsn'", "choose one of: text, json, md, files"),
        (["search", "x", "-k", "0"], "--top-k must be a whole number from 1 on", "zhiku search --help"),
        (["search", "x", "-k"], "-k needs a value", "zhiku search --help"),
        (["search", "x", "--explain=1"], "--explain takes no value", "zhiku search --help"),
        (["search"], "QUERY is missing", "zhiku search --help"),
        (["search", "-foo"], "no option -f", "write -- before it"),
        (["search", "x", "--home", "y"], "--home stands before the command", "zhiku --home"),
        (["search", " "], "the query is empty", "zhiku search WORDS"),
        (["search", "x", "-b", "notse"], "no base named 'notse'", "did you mean 'notes'?"),
        (["grep", ""], "the keyword is empty", "zhiku grep KEYWORD"),
        (["read", "pumps.md", "more"], "zhiku read takes no 'more'", "zhiku read --help"),
        (["read", "pump.md"], "no document 'pump.md'", "did you mean 'notes/pumps.md'?"),
        (["read", "pumps.md", "--lines", "9-7"], "--lines cannot be '9-7'", "--lines 10-40"),
        (["read", "pumps.md", "--lines", "99"], "has no line 99", "zhiku read notes/pumps.md --lines 13-"),
        (["read", "pumps.md", "--page", "2"], "has no pages", "--lines 10-40"),
        (["read", "pumps.md", "--page", "2", "--lines", "1"], "name two places", "leave one of them out"),
        (["read", "zhiku://x"], "is not a locator", "zhiku://BASE/PATH"),
        (["delete", "nots", "--yes"], "no base named 'nots'", "did you mean 'notes'?"),
        (["index", "docs", "--base", "a/b"], "cannot be the name of a base", "letters, digits"),
    ],
)
def test_a_usage_error_says_what_and_what_next(notes: Cli, args: list[str], message: str, hint: str) -> None:
    done = notes(*args)
    assert done.returncode == 2
    assert done.stdout == ""
    error, _, advice = done.stderr.rstrip().rpartition("\nHint: ")
    assert message in error
    assert hint in advice


def test_several_bases_without_a_name_are_listed(cli: Cli) -> None:
    cli.write("a.md", "valve\n")
    for name in ("one", "two"):
        cli("index", "docs", "-b", name)
    done = cli("search", "valve")
    assert done.returncode == 2
    assert "one, two" in done.stderr
    assert cli("search", "valve", "-b", "one", "-b", "two").stdout.count("valve") == 2


def test_an_unknown_setting_suggests_the_nearest(cli: Cli) -> None:
    cli.home.mkdir()
    (cli.home / "config.toml").write_text("[serch]\ntop_k = 3\n")
    done = cli("list")
    assert done.returncode == 2
    assert "unknown setting 'serch'" in done.stderr
    assert "did you mean 'search'?" in done.stderr


def test_texts_are_chinese_for_a_chinese_reader(notes: Cli) -> None:
    for env in ({"ZHIKU_LANG": "zh"}, {"ZHIKU_LANG": "", "LC_ALL": "zh_CN.UTF-8"}):
        done = notes("search", "x", "-b", "notse", env=env)
        assert done.stderr == "错误：没有名为 'notse' 的知识库。\n提示：您是不是指 'notes'？\n"
    assert "用法：zhiku search" in notes("search", "--help", env={"ZHIKU_LANG": "zh"}).stdout


def test_failed_files_are_told_in_chinese_too(cli: Cli) -> None:
    cli.write("bad.pdf", b"%PDF-1.4 no")
    cli.write("b.dat", bytes(range(256)) * 4)
    cli.write("b.txt", bytes(range(256)) * 4)
    done = cli("index", "docs", env={"ZHIKU_LANG": "zh"})
    assert "- bad.pdf 已损坏：文件不完整或已损坏；用 PDF 阅读器打开检查一下\n" in done.stdout
    assert "- b.txt 是二进制文件，不是文本；" in done.stdout
    assert "1 不是文本" in done.stdout


def test_output_is_utf8_whatever_the_locale(notes: Cli) -> None:
    done = notes("search", "雨量筒", env={"LC_ALL": "POSIX", "PYTHONIOENCODING": "ascii"})
    assert done.returncode == 0
    assert "雨量筒校准完毕" in done.stdout


@pytest.mark.skipif(sys.platform != "linux", reason="names that are not UTF-8")
def test_a_name_that_is_not_utf8_prints_and_reads(cli: Cli) -> None:
    name = b"na\xffme.md"
    (cli.docs / name.decode("utf-8", "surrogateescape")).write_text("valve\n")
    cli("index", "docs")
    assert "na\\udcffme.md" in cli("search", "valve").stdout
    paths = cli("search", "valve", "--format", "files").stdout
    assert paths.encode("utf-8", "surrogateescape").endswith(name + b"\n")
    assert cli("read", name).stdout == "valve\n"


def test_control_characters_of_a_document_never_get_out(cli: Cli) -> None:
    cli.write("a.md", "# ti\x1b]0;owned\x07tle\n\nvalve \x1b[2J wiped \x9b31m red \u202c\n")
    cli("index", "docs")
    for form in ("text", "md", "json"):
        shown = cli("search", "valve", "--format", form).stdout
        assert "valve" in shown
        assert not {c for c in shown if c < " " or "\x7f" <= c <= "\x9f"} - {"\n"}
    assert "\x1b" not in cli("grep", "valve").stdout


def test_a_bug_is_one_sentence_and_a_private_traceback(cli: Cli) -> None:
    code = (
        "import sys, zhiku.service.library as library\n"
        "library.Library.resolve = lambda *_: 1 / 0\n"
        "from zhiku.cli.main import run\n"
        "sys.exit(run(['search', 'valve']))\n"
    )
    done = cli.python(code)
    assert done.returncode == 70
    log = cli.home / "logs" / "errors.log"
    assert done.stderr == f"This is a bug in zhiku (ZeroDivisionError); what happened stands in {log}.\n"
    assert "Traceback" in log.read_text()
    if sys.platform != "win32":
        assert stat.S_IMODE(log.stat().st_mode) == 0o600


@pytest.mark.skipif(sys.platform != "linux", reason="a device that is always full")
def test_results_that_cannot_be_written_are_no_bug(notes: Cli) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "zhiku", "list"],
            stdout=full,
            stderr=subprocess.PIPE,
            env=notes.environ(),
            check=False,
        )
    assert done.returncode == 74
    assert done.stderr == b"The results could not be written: No space left on device.\n"


def test_the_version_is_told(cli: Cli) -> None:
    assert cli("--version").stdout == f"zhiku {zhiku.__version__}\n"


def test_another_home_is_used_where_told(cli: Cli) -> None:
    cli.write("a.md", "valve\n")
    cli("--home", "other", "index", "docs")
    assert (cli.folder / "other" / "bases" / "default").is_dir()
    assert not cli.home.exists()


def test_log_lines_are_json_where_told(cli: Cli) -> None:
    cli.write("a.md", "valve\n")
    done = cli("-vv", "--log-format", "json", "index", "docs")
    assert done.returncode == 0
    assert all(json.loads(line)["level"] for line in done.stderr.splitlines())
