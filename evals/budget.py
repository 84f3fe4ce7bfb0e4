"""Measure what a question costs an agent: tokens shown for each question answered, by budget and by fixed top-k.

usage: budget.py [SETS] [--only NAME]... [--limit N] [--vectors DIR] [--write]

SETS is a folder or .tar.xz with one folder a set (default: the environment's ZHIKU_EVAL_SETS). Long documents are
made of them: the files of chunk-eval, whose questions name the spans that answer them; and articles, each from all
paragraphs of one title, whose questions name a paragraph. A question counts as answered where what is shown holds nine
tenths of the words of its spans in their order, or half of those of its paragraph. Tokens are those of passages and
their places, as `zhiku.text.measure` estimates them for chat models. --write keeps the figures in results/budget.json.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bases import CachedEmbedder, make_base
from words import HERE, unpacked

import zhiku
from zhiku.answer import Answer, Query
from zhiku.retrieve.search import search
from zhiku.service.base import Base
from zhiku.text.analyze import Analyzer
from zhiku.text.measure import estimate_chat_tokens

RESULTS = HERE / "results/budget.json"
ARTICLES = ("cmrc2018", "drcd-dev", "squadshifts-new-wiki", "xquad-zh")
CHUNK_EVAL = "chunk-eval"
TOP_KS = (1, 3, 5, 10)
BUDGETS = (500, 1_000, 2_000, 4_000)
BUDGET_TOP_K = 100
RUN_TOKENS = 3


@dataclass(frozen=True)
class Question:
    """A question with the texts that answer it, and how much of them must be shown."""

    text: str
    gold: tuple[str, ...]
    share: float


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    for line in path.read_text("utf-8").splitlines():
        yield json.loads(line)


def spans(folder: Path, files: Path) -> list[Question]:
    """Write the files of chunk-eval and return its questions."""
    texts = {path.name: path.read_bytes().decode() for path in (folder / "files").iterdir()}
    files.mkdir()
    for name, text in texts.items():
        (files / name).write_text(text, "utf-8")
    return [
        Question(row["text"], tuple(texts[row["file"]][start:end] for start, end in row["spans"]), 0.9)
        for row in _lines(folder / "questions.jsonl")
    ]


def articles(folder: Path, files: Path) -> list[Question]:
    """Write an article for each title of a set and return its questions."""
    passages = {row["_id"]: row for row in _lines(folder / "corpus.jsonl")}
    by_title: dict[str, list[str]] = {}
    for row in passages.values():
        by_title.setdefault(row.get("title", ""), []).append(row["text"])
    files.mkdir()
    for number, (title, texts) in enumerate(by_title.items()):
        (files / f"{number:04}.md").write_text(f"# {title}\n\n" + "\n\n".join(texts) + "\n", "utf-8")
    judged = [line.split("\t") for line in (folder / "qrels.tsv").read_text("utf-8").splitlines()[1:]]
    gold = {query: passages[passage]["text"] for query, passage, score in judged if int(score) > 0}
    return [
        Question(row["text"], (gold[row["_id"]],), 0.5)
        for row in _lines(folder / "queries.jsonl")
        if row["text"].strip() and row["_id"] in gold
    ]


class Judge:
    """Tells whether an answer answers, and what it costs."""

    def __init__(self) -> None:
        self._analyzer = Analyzer()

    def is_answered(self, question: Question, answer: Answer) -> bool:
        """Return whether enough of every text that answers is shown."""
        shown = set().union(*(self._runs(hit.text) for hit in answer)) if answer.hits else set()
        return all(len(runs & shown) >= question.share * len(runs) for runs in map(self._runs, question.gold) if runs)

    def _runs(self, text: str) -> set[tuple[str, ...]]:
        tokens = self._analyzer.tokens(text)
        return set(zip(*(tokens[i:] for i in range(RUN_TOKENS)), strict=False))


def cost(answer: Answer) -> int:
    """Return about how many tokens an answer takes: its passages and their places."""
    return sum(
        estimate_chat_tokens(hit.text) + estimate_chat_tokens(" ".join((hit.path, *hit.section))) + 8 for hit in answer
    )


def measure(folder: Path, embedder: CachedEmbedder, limit: int) -> dict[str, Any]:
    """Return the figures of one set."""
    with tempfile.TemporaryDirectory() as work:
        files = Path(work) / "files"
        questions = (spans if folder.name == CHUNK_EVAL else articles)(folder, files)
        questions = questions[:: max(1, len(questions) // limit)][:limit]
        base = make_base(files, Path(work) / "home", embedder)
        figures = dict(_figures(base, questions))
        embedder.save()
        chunks = base.status(look=False).totals.chunks
        base.close()
    return {"chunks": chunks, "questions": len(questions), **figures}


def _figures(base: Base, questions: Sequence[Question]) -> Iterator[tuple[str, dict[str, float]]]:
    judge, analyzer = Judge(), Analyzer()
    ways: dict[str, dict[str, int]] = {f"top {k}": {"top_k": k} for k in TOP_KS}
    ways |= {f"{tokens} tokens": {"top_k": BUDGET_TOP_K, "max_tokens": tokens} for tokens in BUDGETS}
    with base.reading() as session:
        meanings = {base.name: base.meaning(session)}
        for way, limits in ways.items():
            answered = tokens = 0
            for question in questions:
                answer = search({base.name: session}, Query(text=question.text, **limits), analyzer, meanings)
                answered += judge.is_answered(question, answer)
                tokens += cost(answer)
            yield (
                way,
                {
                    "answered": round(answered / len(questions), 4),
                    "tokens": round(tokens / len(questions), 1),
                    "tokens_per_answered": round(tokens / max(1, answered), 1),
                },
            )


def main() -> int:
    """Run the sets; return the exit code."""
    parser = argparse.ArgumentParser(description="Measure tokens per answered question.")
    parser.add_argument("sets", nargs="?", type=Path, default=os.environ.get("ZHIKU_EVAL_SETS"))
    parser.add_argument("--only", action="append", default=[], metavar="NAME")
    parser.add_argument("--limit", type=int, default=300, metavar="N")
    parser.add_argument("--vectors", type=Path, metavar="DIR")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    if options.sets is None or not Path(options.sets).exists():
        print(f"skipped: there are no retrieval sets at {options.sets}; name them, or set ZHIKU_EVAL_SETS")
        return 0
    embedder = CachedEmbedder(options.vectors)
    results: dict[str, Any] = {}
    with unpacked(Path(options.sets)) as root:
        for name in options.only or [CHUNK_EVAL, *ARTICLES]:
            results[name] = measure(root / name, embedder, options.limit)
            _show(name, results[name])
    if options.write:
        RESULTS.write_text(json.dumps({"zhiku": zhiku.__version__, "sets": results}, indent=1) + "\n", "utf-8")
    return 0


def _show(name: str, figures: Mapping[str, Any]) -> None:
    print(f"{name}: {figures['chunks']} chunks, {figures['questions']} questions")
    for way, row in figures.items():
        if isinstance(row, dict):
            print(
                f"  {way:12} answered {row['answered']:.3f}  tokens {row['tokens']:7.1f}"
                f"  per answered {row['tokens_per_answered']:7.1f}",
                flush=True,
            )


if __name__ == "__main__":
    sys.exit(main())
