"""Cases: questions with the text that a right hit holds, asked of one's own bases."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zhiku.answer import Answer, Hit, Mode, Query
from zhiku.errors import UsageError, ZhikuError
from zhiku.service.jsonl import HINT, Row, iter_rows
from zhiku.service.library import Library
from zhiku.service.measures import mean, percentile

DEFAULT_CASES_TOP_K = 5
KEYS = ("query", "expect", "source")


@dataclass(frozen=True, kw_only=True)
class Case:
    """A question, and what a right hit holds."""

    line_no: int
    query: str
    expect: str
    """Text of the hit; case, blanks and line breaks make no difference."""
    source: str | None = None
    """A part of the path of the document that the hit must be from, or a glob over it."""


@dataclass(frozen=True, kw_only=True)
class CaseResult:
    """What came of a case."""

    case: Case
    rank: int | None
    """Of the first right hit; None if there is none among those looked at."""
    first_path: str
    """Of the first hit, right or wrong; empty if nothing was found."""
    mode: Mode
    """How it was really searched."""
    degraded: tuple[ZhikuError, ...]
    elapsed_ms: float


@dataclass(frozen=True, kw_only=True)
class CaseReport:
    """The results of all cases, in their order. Shares are 0 to 1, times are milliseconds."""

    bases: tuple[str, ...]
    mode: Mode
    """How it was to be searched."""
    top_k: int
    results: tuple[CaseResult, ...]

    @property
    def passed(self) -> int:
        """Return how many cases have a right hit."""
        return sum(result.rank is not None for result in self.results)

    @property
    def recall(self) -> float:
        """Return the share of cases that pass."""
        return self.passed / len(self.results)

    @property
    def top_1(self) -> float:
        """Return the share of cases whose first hit is right."""
        return mean([float(result.rank == 1) for result in self.results])

    @property
    def mrr(self) -> float:
        """Return the mean reciprocal rank of the right hit; a case that fails counts 0."""
        return mean([1 / result.rank if result.rank else 0.0 for result in self.results])

    @property
    def ran(self) -> tuple[Mode, ...]:
        """Return how it was really searched; more than one where questions differ."""
        return tuple(dict.fromkeys(result.mode for result in self.results))

    @property
    def degraded(self) -> tuple[ZhikuError, ...]:
        """Return what was left out of any of the searches, each sentence once."""
        return tuple({str(error): error for result in self.results for error in result.degraded}.values())

    def latency_ms(self, share: float) -> float:
        """Return the time that `share` of the searches did not exceed."""
        return percentile([result.elapsed_ms for result in self.results], share)

    def to_dict(self) -> dict[str, Any]:
        """Return the report as JSON has it (docs/json.md)."""
        return {
            "bases": list(self.bases),
            "mode": self.mode,
            "ran": list(self.ran),
            "top_k": self.top_k,
            "cases": len(self.results),
            "passed": self.passed,
            "recall": round(self.recall, 4),
            "top_1": round(self.top_1, 4),
            "mrr": round(self.mrr, 4),
            "p50_ms": round(self.latency_ms(0.5), 2),
            "p95_ms": round(self.latency_ms(0.95), 2),
            "degraded": [str(error) for error in self.degraded],
            "items": [_item(result) for result in self.results],
        }


def _item(result: CaseResult) -> dict[str, Any]:
    case = result.case
    return {
        "line": case.line_no,
        "query": case.query,
        "expect": case.expect,
        "source": case.source,
        "passed": result.rank is not None,
        "rank": result.rank,
        "first_path": result.first_path or None,
        "elapsed_ms": round(result.elapsed_ms, 2),
    }


def load_cases(path: Path) -> list[Case]:
    """Return the cases of a file. Raises `UsageError` where there is none, or with the line of what is wrong."""
    cases = [_case(row) for row in iter_rows(path)]
    if not cases:
        raise UsageError("{path} holds no case.", path=path, hint=HINT)
    return cases


def _case(row: Row) -> Case:
    for key in row.values:
        if key not in KEYS:
            raise UsageError(
                "{path}, line {line}: unknown key {key!r}.",
                path=row.path,
                line=row.line_no,
                key=key,
                known=", ".join(KEYS),
                hint="known are: {known}",
            )
    source = row.words("source") if row.values.get("source") is not None else None
    return Case(line_no=row.line_no, query=row.words("query"), expect=row.words("expect"), source=source)


def run_cases(
    library: Library,
    cases: Sequence[Case],
    names: Sequence[str] = (),
    *,
    top_k: int = DEFAULT_CASES_TOP_K,
    mode: Mode = "hybrid",
) -> CaseReport:
    """Ask the bases that `names` mean every case, and see whether a right hit is among the first `top_k`.

    The first question is asked once more before, so that no time includes opening a base or loading a model.
    """
    bases = library.resolve(names)
    names = [base.name for base in bases]
    with ExitStack() as stack:
        sessions = {base.name: stack.enter_context(base.reading()) for base in bases}
        library.search(Query(text=cases[0].query, top_k=top_k, mode=mode), names)
        results = []
        for case in cases:
            began = time.perf_counter()
            answer = library.search(Query(text=case.query, top_k=top_k, mode=mode), names)
            elapsed_ms = (time.perf_counter() - began) * 1000
            wanted = None
            if case.source is not None:
                found = {name: session.select(case.source) for name, session in sessions.items()}
                wanted = frozenset((name, doc_id) for name, doc_ids in found.items() for doc_id in doc_ids)
            results.append(_judge(case, answer, wanted, elapsed_ms))
    return CaseReport(bases=tuple(names), mode=mode, top_k=top_k, results=tuple(results))


def _judge(case: Case, answer: Answer, wanted: frozenset[tuple[str, int]] | None, elapsed_ms: float) -> CaseResult:
    """Return the result of a case; `wanted` are the documents that the hit may be from, all if it is None."""
    expected = _bare(case.expect)

    def is_right(hit: Hit) -> bool:
        return expected in _bare(hit.text) and (wanted is None or (hit.base, hit.doc_id) in wanted)

    return CaseResult(
        case=case,
        rank=next((hit.rank for hit in answer.hits if is_right(hit)), None),
        first_path=answer.hits[0].path if answer.hits else "",
        mode=answer.mode,
        degraded=answer.health.degraded,
        elapsed_ms=elapsed_ms,
    )


def _bare(text: str) -> str:
    # Where a file breaks its lines is no part of what it says, and between Han characters there is no blank either.
    return "".join(text.split()).casefold()
