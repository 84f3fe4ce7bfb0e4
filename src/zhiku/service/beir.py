"""Retrieval sets in BEIR layout: their passages as files, their questions and judged answers, and a run over them.

A set is a folder with corpus.jsonl (`_id`, `title`, `text`), queries.jsonl (`_id`, `text`), and qrels.tsv or
qrels/test.tsv (question, passage, grade). Each passage becomes a file of its own, so that what is measured is what a
user gets: parser, chunker, index, ranking.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from zhiku.answer import Mode, Query
from zhiku.errors import IndexStateError, NotFound, UsageError
from zhiku.retrieve.search import rank
from zhiku.service.base import Base
from zhiku.service.jsonl import Row, iter_lines, iter_rows
from zhiku.service.measures import Qrels, Runs
from zhiku.text.analyze import Analyzer

Asked = Callable[[int, int], None]
"""Called with questions asked and questions in all."""

QRELS_FILES = ("qrels.tsv", "qrels/test.tsv")

MAX_PART_CHARS = 60
"""Of a part of a path: at four bytes a character, common file systems still take it."""

_NOT_IN_NAMES = re.compile(r'[<>"|?*\\\x00-\x1f]')


@dataclass(frozen=True, kw_only=True)
class RetrievalSet:
    """One evaluation set: where its passages lie as files, its questions, and the judged answers."""

    name: str
    files: dict[str, str]
    """File's relative path -> passage id."""
    queries: dict[str, str]
    qrels: Qrels
    """Of the questions of `queries`, in their order."""


def load_set(folder: Path, target: Path, *, limit: int | None = None) -> RetrievalSet:
    """Write the passages of a set as files below `target`, and return the set.

    With `limit` only so many questions are kept: those with the smallest SHA-1 of their id, which is a sample that
    stays the same. Raises `UsageError` for what is no such set, before anything is written if it is the questions.
    """
    judged = _judged(folder)
    queries = {}
    for row in iter_rows(folder / "queries.jsonl"):
        if (query_id := row.text("_id")) in judged:
            queries[query_id] = row.text("text")
    if not queries:
        raise UsageError(
            "{path} holds no question that is judged.",
            path=folder / "queries.jsonl",
            hint="the ids in it and those in the first column of the qrels must be the same",
        )
    sample = _sample(queries, limit)
    kept = [query_id for query_id in queries if query_id in sample]
    return RetrievalSet(
        name=folder.resolve().name,
        files=_write_passages(folder / "corpus.jsonl", target),
        queries={query_id: queries[query_id] for query_id in kept},
        qrels={query_id: judged[query_id] for query_id in kept},
    )


def _sample(queries: dict[str, str], limit: int | None) -> frozenset[str]:
    by_hash = sorted(queries, key=lambda each: hashlib.sha1(each.encode(), usedforsecurity=False).digest())
    return frozenset(by_hash[:limit])


def _judged(folder: Path) -> dict[str, dict[str, int]]:
    path = next((folder / name for name in QRELS_FILES if (folder / name).is_file()), None)
    if path is None:
        raise NotFound(
            "{folder} holds neither qrels.tsv nor qrels/test.tsv.",
            folder=folder,
            hint="name the folder of a set in BEIR layout: corpus.jsonl, queries.jsonl and qrels",
        )
    judged: dict[str, dict[str, int]] = {}
    for line_no, line in iter_lines(path):
        if not line.strip():
            continue
        try:
            query_id, doc_id, grade = line.split("\t")
            judged.setdefault(query_id, {})[doc_id] = int(grade)
        except ValueError as error:
            if line_no == 1:  # the names of the columns
                continue
            raise UsageError(
                "{path}, line {line}: this is no judgement.",
                path=path,
                line=line_no,
                hint="write three columns with tabs between them: question, passage, grade as a whole number",
            ) from error
    return judged


def _write_passages(corpus: Path, target: Path) -> dict[str, str]:
    files = {}
    for number, row in enumerate(iter_rows(corpus)):
        path, text = _as_file(row, number)
        try:
            (target / path).parent.mkdir(parents=True, exist_ok=True)
            (target / path).write_text(text, "utf-8")
        except OSError as error:
            raise IndexStateError(
                "the passages cannot be written to {path}: {cause}.",
                path=target,
                cause=error.strerror,
                hint="free some space, or name another folder in TMPDIR",
            ) from error
        files[path] = row.text("_id")
    if not files:
        raise UsageError(
            "{path} holds no passage.",
            path=corpus,
            hint="each line is one passage: a JSON object with _id, title and text",
        )
    return files


def _as_file(row: Row, number: int) -> tuple[str, str]:
    """Return the path and content of a passage: Markdown under its title, or plain text where it has none."""
    doc_id, title, text = row.text("_id"), row.text("title", ""), row.text("text")
    if "/" in doc_id:  # the id is the path of a Markdown file
        parts = [_as_name(part) for part in doc_id.replace(":", "/").removesuffix(".md").split("/") if part]
        return "/".join(parts or ["x"]) + f".{number}.md", text
    if not title or title.startswith("doc_"):
        return f"{number}.txt", text
    return f"{number}.md", f"# {title}\n\n{text}\n"


def _as_name(part: str) -> str:
    # A name with . or _ in front would be left out, and one with . or a blank at its end is none on Windows.
    return _NOT_IN_NAMES.sub("-", part)[:MAX_PART_CHARS].lstrip("._").rstrip(". ") or "x"


def run_set(base: Base, data: RetrievalSet, mode: Mode, asked: Asked | None = None) -> Runs:
    """Return how a search of `base`, which holds the files of a set, ranks the passages for every question.

    A passage counts where its best chunk stands, among the candidates that a search chooses its hits from.
    """
    analyzer = Analyzer()
    with base.reading() as session:
        paths = {document.doc_id: document.source.path for document in session.documents()}
        meanings = {} if mode == "lexical" else {base.name: base.meaning(session)}

        def search(text: str) -> list[str]:
            ranking = rank({base.name: session}, Query(text=text, mode=mode), analyzer, meanings)
            return [paths[chunk.doc_id] for chunk in ranking.chunks]

        return run_queries(search, data, asked)


def run_queries(search: Callable[[str], Sequence[str]], data: RetrievalSet, asked: Asked | None = None) -> Runs:
    """Return the ranked passage ids of every question; `search` gives file paths, best first.

    An empty question, which a search refuses, finds nothing: published sets have some.
    """
    runs = {}
    for done, (query_id, text) in enumerate(data.queries.items()):
        if asked:
            asked(done, len(data.queries))
        found = search(text) if text.strip() else []
        runs[query_id] = list(dict.fromkeys(data.files[path] for path in found))
    return runs
