"""How evaluations look."""

from __future__ import annotations

import io
import re

import pytest

from zhiku.answer import Mode
from zhiku.cli.columns import width
from zhiku.cli.figures import case_lines, rating_lines
from zhiku.cli.screen import Screen
from zhiku.i18n import Language
from zhiku.service.evaluate import Case, CaseReport, CaseResult
from zhiku.service.measures import Runs
from zhiku.service.rating import Rating, compare

RIGHT, WRONG = {"q1": ["a"], "q2": ["b"]}, {"q1": ["x"], "q2": ["b"]}
ALL: dict[Mode, Runs] = {"lexical": WRONG, "semantic": RIGHT, "hybrid": RIGHT}
WORDS: dict[Mode, Runs] = {"lexical": WRONG}


def screen(language: Language = "en") -> Screen:
    return Screen(language, io.StringIO(), {})


def rating(runs: dict[Mode, Runs], indexed: int = 4) -> Rating:
    modes, differences = compare(runs, {"q1": {"a": 1}, "q2": {"b": 1}})
    return Rating(
        name="small", passages=4, indexed=indexed, chunks=5, questions=2, modes=modes, differences=differences
    )


def result(rank: int | None, *, query: str = "seal", first_path: str = "a.md") -> CaseResult:
    case = Case(line_no=1, query=query, expect="greased\nyearly", source="pumps.md")
    return CaseResult(case=case, rank=rank, first_path=first_path, mode="hybrid", degraded=(), elapsed_ms=2)


def test_every_mode_has_a_column_and_fusing_is_compared_with_each_leg() -> None:
    lines = list(rating_lines(rating(ALL), screen()))

    assert lines[2].split() == ["words", "meaning", "hybrid"]
    assert lines[3].startswith("nDCG@10     0.500 [0.000, 1.000]  1.000 [1.000, 1.000]  1.000 [1.000, 1.000]")
    assert re.split(" {2,}", lines[8].strip()) == ["hybrid - words", "hybrid - meaning"]
    assert lines[9].startswith("nDCG@10     +0.500 [+0.000, +1.000]  +0.000 [+0.000, +0.000]")
    assert not any("Not measured" in line or "not in the index" in line for line in lines)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_figures_fit_into_a_usual_terminal(language: Language) -> None:
    tables = [line for line in rating_lines(rating(ALL), screen(language)) if "@" in line]

    assert max(map(width, tables)) < 80


def test_what_could_not_be_measured_is_said() -> None:
    text = "\n".join(rating_lines(rating(WORDS, indexed=3), screen()))

    assert "Not measured: meaning, hybrid; the passages have no vectors." in text
    assert "Passages that are not in the index, for they hold no text or could not be read: 1" in text
    assert "+" not in text


def test_a_case_that_fails_says_what_was_expected_and_what_came() -> None:
    report = CaseReport(
        bases=("notes",),
        mode="hybrid",
        top_k=3,
        results=(result(2, query="a\x1b[31m"), result(None), result(None, first_path="")),
    )

    lines = list(case_lines(report, screen()))

    assert lines[:6] == [
        "PASS  2  a[31m",
        "FAIL  -  seal",
        "         expected: greased yearly  (pumps.md)",
        "         first hit: a.md",
        "FAIL  -  seal",
        "         expected: greased yearly  (pumps.md)",
    ]
    assert lines[6] == "         nothing found"
    assert lines[8:] == [
        "notes: 3 cases, by hybrid",
        "  passed    1 of 3",
        "  recall@3  0.333",
        "  Top-1     0.000",
        "  MRR       0.167",
        "  time      p50 2.0 ms, p95 2.0 ms",
    ]
