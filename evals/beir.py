"""Retrieval sets in BEIR layout, run through zhiku's own index and search.

A set is a folder with corpus.jsonl (`_id`, `title`, `text`), queries.jsonl (`_id`, `text`) and qrels.tsv. Each
passage becomes a file of its own, so that what is measured is what a user gets: parser, chunker, index, ranking.
"""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

Qrels = dict[str, dict[str, int]]
Runs = dict[str, list[str]]


@dataclass(frozen=True, kw_only=True)
class RetrievalSet:
    """One evaluation set: where its passages lie as files, its questions, and the judged answers."""

    name: str
    files: dict[str, str]
    """File's relative path -> passage id."""
    queries: dict[str, str]
    qrels: Qrels


def load_set(folder: Path, target: Path) -> RetrievalSet:
    """Write the passages of a set as files below `target` and return the set."""
    files = {}
    for number, row in enumerate(_rows(folder / "corpus.jsonl")):
        path, text = _as_file(row, number)
        (target / path).parent.mkdir(parents=True, exist_ok=True)
        (target / path).write_text(text, "utf-8")
        files[path] = row["_id"]
    qrels: Qrels = {}
    with (folder / "qrels.tsv").open(encoding="utf-8") as lines:
        for query_id, doc_id, score in list(csv.reader(lines, delimiter="\t"))[1:]:
            qrels.setdefault(query_id, {})[doc_id] = int(score)
    queries = {row["_id"]: row["text"] for row in _rows(folder / "queries.jsonl") if row["_id"] in qrels}
    return RetrievalSet(name=folder.name, files=files, queries=queries, qrels=qrels)


def _rows(path: Path) -> Iterable[dict[str, str]]:
    with path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def _as_file(row: dict[str, str], number: int) -> tuple[str, str]:
    """Return the path and content of a passage: Markdown under its title, or plain text where it has none."""
    doc_id, title, text = row["_id"], row.get("title", ""), row["text"]
    if "/" in doc_id:  # the id is the path of a Markdown file
        parts = [part.lstrip("._") or "x" for part in doc_id.replace(":", "/").removesuffix(".md").split("/") if part]
        return "/".join(parts) + f".{number}.md", text
    if not title or title.startswith("doc_"):
        return f"{number}.txt", text
    return f"{number}.md", f"# {title}\n\n{text}\n"


def run_queries(search: Callable[[str], Sequence[str]], data: RetrievalSet) -> Runs:
    """Return the ranked passage ids of every question; `search` gives file paths, best first."""
    runs = {}
    for query_id, text in data.queries.items():
        runs[query_id] = list(dict.fromkeys(data.files[path] for path in search(text)))
    return runs


def ndcg(ranked: Sequence[str], judged: dict[str, int], k: int = 10) -> float:
    """Return nDCG at k with linear gains (as trec_eval and BEIR compute it)."""
    gains = [judged.get(doc_id, 0) for doc_id in ranked[:k]]
    ideal = sorted(judged.values(), reverse=True)[:k]
    best = sum(gain / math.log2(i + 2) for i, gain in enumerate(ideal))
    return sum(gain / math.log2(i + 2) for i, gain in enumerate(gains)) / best if best else 0.0


def mean_ndcg(runs: Runs, qrels: Qrels, k: int = 10) -> float:
    """Return the mean nDCG at k over all judged questions."""
    return sum(ndcg(runs.get(q, []), judged, k) for q, judged in qrels.items()) / len(qrels)


def mean_recall(runs: Runs, qrels: Qrels, k: int) -> float:
    """Return the mean share of right answers among the first k."""
    total = 0.0
    for query_id, judged in qrels.items():
        right = {doc_id for doc_id, score in judged.items() if score > 0}
        total += len(right & set(runs.get(query_id, [])[:k])) / len(right) if right else 0.0
    return total / len(qrels)
