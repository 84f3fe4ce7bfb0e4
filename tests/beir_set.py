"""A small retrieval set in BEIR layout, for tests that rate one."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

PASSAGES = [
    {"_id": "p1", "title": "Pumps", "text": "The seal of the pump is greased every spring."},
    {"_id": "p2", "title": "", "text": "水泵的密封圈每年春天上一次油。"},
    {"_id": "docs/.valves/a.md", "text": "Close the valve before the frost."},
]
QUERIES = [
    {"_id": "q1", "text": "when is the pump seal greased"},
    {"_id": "q2", "text": "密封圈 上油"},
    {"_id": "q3", "text": "valve"},
    {"_id": "q4", "text": "nobody judged this"},
]
QRELS = "query-id\tcorpus-id\tscore\nq1\tp1\t1\nq2\tp2\t1\nq3\tdocs/.valves/a.md\t2\nq3\tp1\t0\nq9\tp1\t1\n"


def write_rows(file: Path, rows: Iterable[object]) -> None:
    """Write objects as JSON, one a line."""
    file.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")


def write_set(folder: Path, qrels: str = "qrels.tsv") -> Path:
    """Write the set into a folder, its judgements into the file `qrels`, and return the folder."""
    (folder / qrels).parent.mkdir(parents=True)
    write_rows(folder / "corpus.jsonl", PASSAGES)
    write_rows(folder / "queries.jsonl", QUERIES)
    (folder / qrels).write_text(QRELS, "utf-8")
    return folder
