"""What an evaluation found, as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from zhiku.cli.bases import table
from zhiku.cli.columns import clean_line
from zhiku.cli.reports import aligned
from zhiku.cli.screen import Screen

if TYPE_CHECKING:
    from zhiku.service.evaluate import CaseReport, CaseResult
    from zhiku.service.measures import Estimate
    from zhiku.service.rating import Figures, Rating

MODES = {"lexical": "words", "semantic": "meaning", "hybrid": "hybrid"}
MEASURES = {"ndcg@10": "nDCG@10", "recall@10": "recall@10", "recall@100": "recall@100", "mrr@10": "MRR@10"}
"""Names of measures; as they are in every language."""


def case_lines(report: CaseReport, screen: Screen) -> Iterator[str]:
    """Yield a line for each case, more where it failed, and then the figures of all."""
    for result in report.results:
        yield from _case(result, screen)
    yield ""
    yield from screen.folded(_head(report, screen))
    yield from aligned(_case_figures(report, screen))


def _case(result: CaseResult, screen: Screen) -> Iterator[str]:
    # The two words are looked for by other programs: they are the same in every language.
    case = result.case
    if result.rank is not None:
        yield from screen.folded([f"PASS  {result.rank}  {clean_line(case.query)}"])
        return
    yield from screen.folded([f"FAIL  -  {clean_line(case.query)}"])
    source = f"  ({case.source})" if case.source else ""
    first = screen.tr("first hit: {path}", path=result.first_path) if result.first_path else screen.tr("nothing found")
    for line in (screen.tr("expected: {text}", text=case.expect) + clean_line(source), first):
        yield from screen.folded([f"         {clean_line(line)}"])


def _head(report: CaseReport, screen: Screen) -> Iterator[str]:
    yield screen.tr(
        "{bases}: {count} cases, by {mode}",
        bases=", ".join(report.bases),
        count=len(report.results),
        mode=screen.tr(", ").join(screen.tr(MODES[mode]) for mode in report.ran),
    )


def _case_figures(report: CaseReport, screen: Screen) -> Iterator[tuple[str, str]]:
    yield screen.tr("passed"), screen.tr("{passed} of {count}", passed=report.passed, count=len(report.results))
    yield f"recall@{report.top_k}", f"{report.recall:.3f}"
    yield "Top-1", f"{report.top_1:.3f}"
    yield "MRR", f"{report.mrr:.3f}"
    yield screen.tr("time"), f"p50 {report.latency_ms(0.5):.1f} ms, p95 {report.latency_ms(0.95):.1f} ms"


def rating_lines(rating: Rating, screen: Screen) -> Iterator[str]:
    """Yield the figures of each way of searching, what fusing adds, and what could not be measured."""
    yield from screen.folded(_set(rating, screen))
    yield ""
    heads = [screen.tr(MODES[mode]) for mode in rating.modes]
    yield from _figures(heads, list(rating.modes.values()), "{:.3f}")
    if rating.differences:
        yield ""
        heads = [f"{screen.tr(MODES[mode])} - {screen.tr(MODES[other])}" for mode, other in rating.differences]
        yield from _figures(heads, list(rating.differences.values()), "{:+.3f}")
    yield ""
    yield from screen.folded(_remarks(rating, screen))


def _set(rating: Rating, screen: Screen) -> Iterator[str]:
    yield screen.tr(
        "{name}: {passages:,} passages in {chunks:,} chunks, {questions:,} questions",
        name=rating.name,
        passages=rating.passages,
        chunks=rating.chunks,
        questions=rating.questions,
    )


def _figures(heads: Sequence[str], columns: Sequence[Figures], form: str) -> Iterator[str]:
    rows = [[label, *(_cell(column[name], form) for column in columns)] for name, label in MEASURES.items()]
    return table([["", *heads], *rows])


def _cell(estimate: Estimate, form: str) -> str:
    value, low, high = (form.format(number) for number in (estimate.mean, estimate.low, estimate.high))
    return f"{value} [{low}, {high}]"


def _remarks(rating: Rating, screen: Screen) -> Iterator[str]:
    yield screen.tr("In brackets: 95 % intervals over the questions, by bootstrap; those of differences are paired.")
    if rating.left_out:
        yield screen.tr(
            "Not measured: {modes}; the passages have no vectors.",
            modes=screen.tr(", ").join(screen.tr(MODES[mode]) for mode in rating.left_out),
        )
    if rating.indexed < rating.passages:
        yield screen.tr(
            "Passages that are not in the index, for they hold no text or could not be read: {count}",
            count=rating.passages - rating.indexed,
        )
