"""What is odd about a glossary is told, and nothing else."""

from __future__ import annotations

import pytest

from zhiku.text.analyze import Analyzer
from zhiku.text.glossary_check import check_entries
from zhiku.text.glossary_lines import parse_glossary


def found(text: str, kind: str) -> list[tuple[tuple[str, ...], list[int]]]:
    findings = check_entries(parse_glossary(text, "g.md").entries, Analyzer())
    return [(each.words, [entry.line for entry in each.entries]) for each in findings if each.kind == kind]


def test_a_word_that_stands_twice_is_told_with_its_lines() -> None:
    assert found("LV = Louis Vuitton\nlv = 路易威登", "duplicate") == [(("LV",), [1, 2])]
    assert found("低压 = LV\n路易威登 = LV", "duplicate") == [(("LV",), [1, 2])]
    assert found("LV = Louis Vuitton, lv", "duplicate") == [(("lv",), [1])]
    assert found("network = 网络, networks", "duplicate") == [(("networks",), [1])]


def test_an_alias_that_is_a_term_elsewhere_is_no_duplicate() -> None:
    assert found("A1 = B1\nB1 = C1\nD1 = B1", "duplicate") == []


@pytest.mark.parametrize(
    ("text", "circles"),
    [
        ("A1 = B1\nB1 = A1", [(("A1", "B1"), [1, 2])]),
        ("A1 = B1\nx1 = y1\nB1 = C1\nC1 = z1, A1", [(("A1", "B1", "C1"), [1, 3, 4])]),
        ("A1 = B1\nB1 = C1", []),
        ("A1 = A1s", []),
        ("A1 = B1\nB1 = A1\nC1 = D1\nD1 = C1", [(("A1", "B1"), [1, 2]), (("C1", "D1"), [3, 4])]),
        ("p1 = A1\nA1 = B1\nB1 = A1", [(("A1", "B1"), [2, 3])]),
    ],
)
def test_terms_that_lead_back_to_themselves_are_a_circle(
    text: str, circles: list[tuple[tuple[str, ...], list[int]]]
) -> None:
    assert found(text, "circle") == circles


def test_an_alias_without_a_line_of_its_own_is_told_once() -> None:
    text = "门禁 = ACS, gate\n系统 = system\nGate = 门"
    assert found(text, "no_entry") == [(("ACS",), [1]), (("system",), [2]), (("门",), [3])]
    assert found("A1 = C1\nB1 = C1", "no_entry") == [(("C1",), [1, 2])]


def test_only_what_should_be_changed_is_a_fault() -> None:
    findings = check_entries(parse_glossary("A1 = B1\nB1 = A1\nA1 = C1", "g.md").entries, Analyzer())
    assert {each.kind: each.is_fault for each in findings} == {"duplicate": True, "circle": True, "no_entry": False}
