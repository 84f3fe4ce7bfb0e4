"""`zhiku search`, `grep` and `read` as another program sees them."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Cli

HIT_KEYS = {
    "rank", "score", "relevance", "base", "doc_id", "path", "file", "title", "section", "page", "page_end",
    "line_start", "line_end", "ocr", "ocr_confidence", "hidden_text", "text", "locator", "file_state", "rerank_score",
    "why",
}  # fmt: skip


def test_a_hit_shows_title_place_and_text(notes: Cli) -> None:
    done = notes("search", "密封圈")
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert lines[0].startswith("1. Pumps")
    assert lines[1].startswith("   notes/pumps.md › Pumps › 水泵  L1")
    assert "   水泵的密封圈每年春天上一次油。" in lines
    assert "\x1b" not in done.stdout
    assert done.stderr == ""


def test_several_words_are_one_query(notes: Cli) -> None:
    answer = json.loads(notes("search", "seal", "pump", "--format", "json").stdout)
    assert answer["query"] == "seal pump"


def test_the_query_may_come_from_standard_input(notes: Cli) -> None:
    done = notes("search", "-", "--format", "files", stdin="雨量筒\n".encode())
    assert done.stdout == f"{notes.docs / 'notes' / '记录.txt'}\n"


def test_json_is_the_answer_and_nothing_else(notes: Cli) -> None:
    answer = json.loads(notes("search", "frost valve", "--format", "json", "-k", "1").stdout)
    assert set(answer) == {"query", "bases", "mode", "hits", "budget", "health"}
    (hit,) = answer["hits"]
    assert set(hit) == HIT_KEYS
    assert (hit["base"], hit["path"], hit["title"], hit["file_state"]) == (
        "notes",
        "manuals/Valve.html",
        "Valve manual",
        "unchanged",
    )
    assert answer["health"]["legs"]["lexical"]["ran"] is True


def test_markdown_quotes_each_hit_under_its_place(notes: Cli) -> None:
    done = notes("search", "闸门检查", "--format", "md")
    assert done.stdout.startswith("### 1. ")
    assert "`notes/记录.txt` · L1-2\n<zhiku://notes/" in done.stdout
    assert "> 第一行：闸门检查。\n" in done.stdout


def test_nothing_found_is_exit_1_and_a_sentence_on_stderr(notes: Cli) -> None:
    done = notes("search", "xylophone", "--source", "*.md")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "Nothing found for 'xylophone' in notes, in files that match '*.md'.\n"


def test_a_query_without_words_says_so(notes: Cli) -> None:
    done = notes("search", "。。。")
    assert done.returncode == 1
    assert "no letter, digit or Han character" in done.stderr


def test_limits_are_kept(notes: Cli) -> None:
    hits = json.loads(notes("search", "水泵 pump", "--max-chars-per-hit", "12", "--format", "json").stdout)["hits"]
    assert hits
    assert all(len(hit["text"]) <= 12 for hit in hits)


def test_explain_says_what_was_looked_for_and_why(notes: Cli) -> None:
    done = notes("search", "水泵 pump", "--explain", "-k", "1")
    assert "Words: " in done.stderr
    assert "why: words in the text" in done.stdout
    assert "zhiku://notes/notes/pumps.md" in done.stdout


def test_bytes_that_are_no_text_in_a_query_are_no_fault(notes: Cli) -> None:
    assert notes("search", b"pump \xff").returncode == 0


def test_a_reader_that_goes_away_ends_the_command_in_silence(notes: Cli) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "zhiku", "search", "pump"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=notes.environ(),
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    with process.stderr:
        assert process.stderr.read() == b""
    assert process.wait(timeout=60) == 141


def test_grep_gives_path_line_and_text(notes: Cli) -> None:
    done = notes("grep", "GATE-sync")
    assert done.stdout == "notes/pumps.md:9: The seal of the gate-sync pump is greased every spring.\n"
    assert notes("grep", "GATE-sync", "-s").returncode == 1


def test_grep_gives_json_with_its_limits(notes: Cli) -> None:
    answer = json.loads(notes("grep", "行", "--max-lines", "1", "--format", "json").stdout)
    assert (answer["keyword"], answer["bases"], answer["count"], answer["truncated"]) == ("行", ["notes"], 1, True)
    (item,) = answer["items"]
    assert (item["path"], item["line"], item["page"]) == ("notes/记录.txt", 1, None)


def test_grep_says_that_there_is_more(notes: Cli) -> None:
    done = notes("grep", "行", "--max-lines", "1")
    assert done.returncode == 0
    assert "More lines match" in done.stderr


def test_read_gives_the_text_alone_on_stdout(notes: Cli) -> None:
    done = notes("read", "记录.txt", "--lines", "2")
    assert (done.stdout, done.stderr) == ("第二行：雨量筒校准完毕。\n", "notes/记录.txt  L2\n")


@pytest.mark.parametrize(("lines", "numbers"), [("9", (9, 9)), ("11-", (11, 13)), ("-5", (1, 5)), ("7-9", (7, 9))])
def test_read_takes_lines_in_every_form(notes: Cli, lines: str, numbers: tuple[int, int]) -> None:
    found = json.loads(notes("read", "pumps.md", "--lines", lines, "--format", "json").stdout)
    assert (found["line_start"], found["line_end"]) == numbers


def test_a_locator_opens_the_very_words_of_its_hit(notes: Cli) -> None:
    hit = json.loads(notes("search", "密封圈", "--format", "json").stdout)["hits"][0]
    assert notes("read", hit["locator"]).stdout == hit["text"] + "\n"


def test_a_stale_hit_is_marked_and_told(cli: Cli) -> None:
    file = cli.write("a.md", "# Frost\n\nClose the valve.\n")
    cli("index", "docs")
    file.write_text("# Frost\n\nOpen the valve at once.\n")
    done = cli("search", "valve")
    assert "(changed since it was indexed)" in done.stdout
    assert "zhiku index --base default" in done.stderr
    assert "(changed since it was indexed)" in cli("read", "a.md").stderr


def test_what_could_not_be_searched_is_told(cli: Cli) -> None:
    cli.write("a.md", "valve\n")
    cli.write("bad.pdf", b"%PDF-1.4 no")
    cli.write("empty.md", "")
    cli("index", "docs")
    assert "1 files that could not be read, 1 without text; see: zhiku status" in cli("search", "valve").stderr


def test_a_locale_without_utf8_costs_no_answer(cli: Cli) -> None:
    cli.write("阀门/记录.md", "valve\n")
    cli("index", "docs")
    ascii_only = {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = cli("search", "valve", "--format", "files", env=ascii_only)
    assert (done.returncode, done.stdout) == (0, f"{cli.docs}/阀门/记录.md\n")
    assert cli("read", "阀门/记录.md", env=ascii_only).stdout == "valve\n"


def test_a_pasted_page_that_nothing_matches_is_not_printed_again(notes: Cli) -> None:
    done = notes("search", "-", stdin=b"zzz " * 10_000)
    assert done.returncode == 1
    assert len(done.stderr) < 300


def test_passages_for_a_number_of_tokens_say_how_much_more_there_is(notes: Cli) -> None:
    done = notes("search", "pump seal valve frost", "--max-tokens", "30")
    assert done.returncode == 0
    assert "tokens of 30." in done.stderr
    assert "More that may answer: " in done.stderr
    answer = json.loads(notes("search", "pump seal", "--format", "json", "--max-tokens", "5000").stdout)
    assert answer["budget"]["max_tokens"] == 5000
    assert answer["budget"]["more_passages"] == 0
    assert notes("search", "pump", "--max-tokens", "0").returncode == 2
