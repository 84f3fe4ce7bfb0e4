from pathlib import Path

import pytest

from shelf import Shelf
from zhiku.errors import NotFound, UsageError
from zhiku.service.evaluate import Case, CaseReport, load_cases, run_cases


@pytest.fixture
def filled(shelf: Shelf) -> Shelf:
    shelf.write("pumps.md", "# Pumps\n\nThe seal is greased\nevery Spring.\n")
    shelf.write("notes/水泵.md", "# 水泵\n\n密封圈每年春天\n上一次油。\n")
    shelf.index()
    return shelf


def case(query: str, expect: str, source: str | None = None) -> Case:
    return Case(line_no=1, query=query, expect=expect, source=source)


def run(shelf: Shelf, *cases: Case, top_k: int = 5) -> CaseReport:
    return run_cases(shelf.library, cases, top_k=top_k, mode="lexical")


def ranks(report: CaseReport) -> list[int | None]:
    return [result.rank for result in report.results]


def test_a_case_passes_where_a_hit_holds_the_text_in_any_case(filled: Shelf) -> None:
    report = run(filled, case("seal", "the SEAL is"), case("seal", "the valve is"), case("xylophone", "seal"))

    assert ranks(report) == [1, None, None]
    assert [result.first_path for result in report.results] == ["pumps.md", "pumps.md", ""]


def test_where_a_file_breaks_its_lines_makes_no_difference(filled: Shelf) -> None:
    report = run(filled, case("seal", "greased every spring"), case("密封圈", "每年春天上一次油"))

    assert ranks(report) == [1, 1]


def test_the_hit_must_be_from_the_source_if_one_is_named(filled: Shelf) -> None:
    report = run(
        filled,
        case("seal", "seal", "pumps.md"),
        case("seal", "seal", "PUMPS"),
        case("seal", "seal", "*.md"),
        case("seal", "seal", "notes/"),
        case("seal", "seal", "nowhere.md"),
    )

    assert ranks(report) == [1, 1, 1, None, None]


def test_only_the_first_hits_are_looked_at(filled: Shelf) -> None:
    filled.write("more.md", "# Pumps\n\nPumps: pumps, pumps and pumps.\n")
    filled.index()

    wanted = case("pumps", "greased")

    assert ranks(run(filled, wanted)) == [2]
    assert ranks(run(filled, wanted, top_k=1)) == [None]


def test_the_figures_are_those_of_the_ranks(filled: Shelf) -> None:
    filled.write("more.md", "# Pumps\n\nPumps: pumps, pumps and pumps.\n")
    filled.index()

    report = run(filled, case("pumps", "greased"), case("密封圈", "上一次油"), case("x", "y"), case("z", "y"))

    assert (report.passed, report.recall, report.top_1, report.mrr) == (2, 0.5, 0.25, 0.375)
    assert 0 < report.latency_ms(0.5) <= report.latency_ms(0.95)
    assert report.bases == ("default",)
    assert report.ran == ("lexical",)
    assert report.to_dict()["items"][1]["passed"] is True


def test_cases_may_ask_several_bases_at_once(filled: Shelf, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "valve.md").write_text("Close the valve.\n")
    filled.library.index([other], "other")

    report = run_cases(
        filled.library, [case("valve", "close", "valve.md"), case("seal", "seal")], ["default", "other"], mode="lexical"
    )

    assert ranks(report) == [1, 1]
    assert report.bases == ("default", "other")


def test_cases_over_nothing_are_refused(shelf: Shelf) -> None:
    with pytest.raises(NotFound, match="no base yet"):
        run(shelf, case("a", "b"))


def load(folder: Path, text: str) -> list[Case]:
    (folder / "cases.jsonl").write_text(text, "utf-8")
    return load_cases(folder / "cases.jsonl")


def test_cases_know_their_lines(tmp_path: Path) -> None:
    cases = load(
        tmp_path,
        '# seals\n{"query": "密封圈", "expect": "春天"}\n\n{"query": "a", "expect": "b", "source": "c"}\n',
    )

    assert cases == [
        Case(line_no=2, query="密封圈", expect="春天"),
        Case(line_no=4, query="a", expect="b", source="c"),
    ]


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        ('{"query": "a"}', "'expect' is missing"),
        ('{"expect": "a"}', "'query' is missing"),
        ('{"query": " ", "expect": "a"}', "'query' is empty"),
        ('{"query": "a", "expect": ""}', "'expect' is empty"),
        ('{"query": "a", "expect": ["b"]}', "'expect' must be text"),
        ('{"query": "a", "expect": "b", "source": 1}', "'source' must be text"),
        ('{"query": "a", "expect": "b", "source": ""}', "'source' is empty"),
        ('{"query": "a", "expect": "b", "sorce": "c"}', "unknown key 'sorce'"),
    ],
)
def test_a_line_that_is_no_case_is_named(tmp_path: Path, line: str, cause: str) -> None:
    with pytest.raises(UsageError, match=rf"cases\.jsonl, line 2: {cause}"):
        load(tmp_path, f"# a comment\n{line}\n")


def test_a_file_without_cases_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="holds no case"):
        load(tmp_path, "# nothing\n\n")
