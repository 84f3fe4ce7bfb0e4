"""The command eval: cases of one's own, or a retrieval set."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from zhiku.cli import options, render
from zhiku.cli.command import Command, session_of
from zhiku.cli.session import Session
from zhiku.cli.usage import SEE_HELP
from zhiku.cli.values import OneOf, Share, Whole
from zhiku.errors import UsageError, ZhikuError

if TYPE_CHECKING:
    from zhiku.answer import Mode

BELOW_THE_FLOOR = 1

_EXAMPLES = """\
zhiku eval --cases cases.jsonl -b notes
zhiku eval --cases cases.jsonl -k 3 --min-recall 0.9
zhiku eval --beir scifact --limit 500 --format json

a line of cases.jsonl:
  {"query": "when is the valve closed", "expect": "before the first frost", "source": "pumps.md"}"""

_OF_CASES = {"names": "--base", "top_k": "--top-k", "mode": "--mode", "min_recall": "--min-recall"}
_OF_SETS = {"limit": "--limit"}


@click.command(
    "eval",
    cls=Command,
    epilog=_EXAMPLES,
    help="Measure how well questions find their answers: with cases of your own on your bases, or with a retrieval set"
    " on a base that is made for it and removed again. A case passes when one of the first hits holds the text it"
    " expects.",
)
@click.option("--cases", metavar="FILE", help="Cases: a JSON object a line with query, expect and, if wanted, source.")
@options.bases
@click.option("-k", "--top-k", type=Whole(), help="How many hits of a case are looked at; 5, unless named.")
@click.option("--mode", type=OneOf("hybrid", "lexical", "semantic"), help="How to search; hybrid, unless named.")
@click.option("--min-recall", type=Share(), help="End with exit code 1 where a smaller share of the cases passes.")
@click.option(
    "--beir",
    metavar="DIR",
    help="A retrieval set, to measure every mode: corpus.jsonl (_id, title, text), queries.jsonl (_id, text), and"
    " qrels.tsv or qrels/test.tsv.",
)
@click.option("--limit", type=Whole(), help="Ask at most this many questions of the set.")
@options.formats("text", "json")
@click.pass_context
def evaluate(ctx: click.Context, /, cases: str | None, beir: str | None, form: str, **limits: Any) -> int:
    if bool(cases) == bool(beir):
        raise UsageError("name one of --cases FILE and --beir DIR.", command=ctx.command_path, hint=SEE_HELP)
    session = session_of(ctx)
    if cases:
        _refuse(limits, _OF_SETS, "--beir")
        return _evaluate_cases(session, Path(cases), form, limits)
    _refuse(limits, _OF_CASES, "--cases")
    return _rate_set(session, Path(str(beir)), form, limits["limit"])


def _refuse(limits: Mapping[str, Any], foreign: Mapping[str, str], other: str) -> None:
    for name, option in foreign.items():
        if limits[name] not in (None, ()):
            raise UsageError("{option} goes with {other} only.", option=option, other=other, hint="leave it out")


def _evaluate_cases(session: Session, path: Path, form: str, limits: Mapping[str, Any]) -> int:
    from zhiku.cli.figures import case_lines
    from zhiku.service.evaluate import DEFAULT_CASES_TOP_K, load_cases, run_cases

    report = run_cases(
        session.library(),
        load_cases(path),
        limits["names"],
        top_k=limits["top_k"] or DEFAULT_CASES_TOP_K,
        mode=limits["mode"] or "hybrid",
    )
    if form == "json":
        render.out_json(report.to_dict())
    else:
        render.out_lines(case_lines(report, session.screen))
    for error in report.degraded:
        _note(session, error)
    floor = limits["min_recall"]
    if floor is None or report.recall >= floor:
        return 0
    render.note(
        session.errors.tr("Recall is {recall:.3f}, below the {floor} asked for.", recall=report.recall, floor=floor)
    )
    return BELOW_THE_FLOOR


def _rate_set(session: Session, folder: Path, form: str, limit: int | None) -> int:
    from zhiku.cli.figures import MODES, rating_lines
    from zhiku.cli.progress import ProgressLine
    from zhiku.service.rating import rate_set

    session.set_up_log()
    with ProgressLine(session.errors) as progress:

        def asked(done: int, total: int, mode: Mode) -> None:
            progress(done, total, session.errors.tr(MODES[mode]))

        def embedding(done: int, total: int) -> None:
            progress(done, total, session.errors.tr("embedding"))

        rating = rate_set(folder, limit=limit, progress=progress, embed_progress=embedding, asked=asked)
    if form == "json":
        render.out_json(rating.to_dict())
    else:
        render.out_lines(rating_lines(rating, session.screen))
    if rating.failure:
        _note(session, rating.failure)
    return 0


def _note(session: Session, error: ZhikuError) -> None:
    from zhiku.cli.health import told

    for line in told(error, session.errors):
        render.note(line)
