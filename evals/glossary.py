"""Measure what a glossary does for questions that hold one of its words, by words and merged with meaning.

usage: glossary.py [SETS] [--only NAME]... [--vectors DIR] [--weight W]... [--write]

SETS is a folder or .tar.xz with one folder a set in BEIR layout (default: the environment's ZHIKU_EVAL_SETS). The
glossaries of glossaries/ were written for the sets below without a look at their questions. Of each set the questions
with a term are ranked without the glossary, with it, and with aliases at other weights where --weight names some. The
interval is a paired bootstrap's. Floor: no set may lose by words or merged (its interval must reach 0).
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bases import CachedEmbedder, make_base
from words import HERE, unpacked

import zhiku
from zhiku.answer import Mode, Query
from zhiku.retrieve import expand, joint, present
from zhiku.retrieve.search import rank
from zhiku.service.base import Base
from zhiku.service.beir import RetrievalSet, load_set
from zhiku.service.glossaries import read_glossary
from zhiku.service.measures import Bootstrap, Runs, mean, scores
from zhiku.text.analyze import Analyzer
from zhiku.text.glossary import Glossary

RESULTS = HERE / "results/glossary.json"
GLOSSARIES = {
    "encyclopedia": ("xq-zhq-pool", "xq-enq-pool", "xquad-zhq-enp", "xquad-enq-zhp", "xquad-zh"),
    "software": ("par-zhq-pool", "par-enq-pool", "parallel-dev-zhq-end", "parallel-dev-enq-zhd"),
}
MODES: tuple[Mode, ...] = ("lexical", "hybrid")


def run(base: Base, data: RetrievalSet, ids: Sequence[str], mode: Mode, glossary: Glossary | None) -> Runs:
    """Return the ranked passages of some questions, with a glossary or without."""
    analyzer = Analyzer()
    glossaries = {base.name: glossary} if glossary else {}
    with base.reading() as session:
        meanings = {base.name: base.meaning(session)} if mode == "hybrid" else {}
        passages = {document.doc_id: data.files[document.source.path] for document in session.documents()}
        found = {}
        for query_id in ids:
            query = Query(text=data.queries[query_id], mode=mode)
            ranking = rank({base.name: session}, query, analyzer, meanings, glossaries)
            found[query_id] = list(dict.fromkeys(passages[chunk.doc_id] for chunk in ranking.chunks))
    return found


def measure(folder: Path, glossary: Glossary, embedder: CachedEmbedder, weights: Sequence[float]) -> dict[str, Any]:
    """Return the figures of one set."""
    with tempfile.TemporaryDirectory() as work:
        data = load_set(folder, Path(work) / "files")
        base = make_base(Path(work) / "files", Path(work) / "home", embedder)
        analyzer = Analyzer()
        ids = [i for i, text in data.queries.items() if expand.expand(text, {base.name: glossary}, analyzer)]
        qrels = {query_id: data.qrels[query_id] for query_id in ids}
        figures: dict[str, Any] = {"queries": len(data.queries), "with a term": len(ids)}
        for mode in MODES:
            plain = scores(run(base, data, ids, mode, None), qrels, "ndcg@10")
            figures[mode] = {"without": round(mean(plain), 4)}
            for weight in weights:
                for module in (joint, present):
                    vars(module)["ALIAS_WEIGHT"] = weight
                with_it = scores(run(base, data, ids, mode, glossary), qrels, "ndcg@10")
                gain = Bootstrap([plain, with_it]).difference(1, 0).to_dict()
                figures[mode][str(weight)] = {"with": round(mean(with_it), 4), "gain": gain}
        base.close()
    embedder.save()
    return figures


def shown(name: str, figures: dict[str, Any]) -> str:
    """Return the line of a set."""
    parts = [f"{name:22} {figures['queries']:5} {figures['with a term']:5}"]
    for mode in MODES:
        told = dict(figures[mode])
        parts.append(f"{mode} {100 * told.pop('without'):5.1f}")
        for weight, each in told.items():
            low, high = 100 * each["gain"]["low"], 100 * each["gain"]["high"]
            parts.append(f"{weight}: {100 * each['with']:5.1f} [{low:+.1f}, {high:+.1f}]")
    return "  ".join(parts)


def main() -> int:
    """Run the sets; return the exit code."""
    parser = argparse.ArgumentParser(description="Measure what glossaries do.")
    parser.add_argument("sets", nargs="?", type=Path, default=os.environ.get("ZHIKU_EVAL_SETS"))
    parser.add_argument("--only", action="append", default=[], metavar="NAME")
    parser.add_argument("--vectors", type=Path, metavar="DIR")
    parser.add_argument("--weight", type=float, action="append", default=[], dest="weights")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    if options.sets is None or not Path(options.sets).exists():
        print(f"skipped: there are no retrieval sets at {options.sets}; name them, or set ZHIKU_EVAL_SETS")
        return 0
    embedder = CachedEmbedder(options.vectors)
    weights = options.weights or [expand.ALIAS_WEIGHT]
    results: dict[str, Any] = {}
    with unpacked(Path(options.sets)) as root:
        for topic, names in GLOSSARIES.items():
            glossary = read_glossary(HERE / "glossaries" / f"{topic}.md")
            for name in (name for name in names if name in options.only or not options.only):
                results[name] = measure(root / name, glossary, embedder, weights)
                print(shown(name, results[name]), flush=True)
    if options.write:
        RESULTS.write_text(json.dumps({"zhiku": zhiku.__version__, "sets": results}, indent=2) + "\n", "utf-8")
    losses = [
        f"{name} {mode}"
        for name, figures in results.items()
        for mode in MODES
        for weight in map(str, weights)
        if figures[mode][weight]["gain"]["high"] < 0
    ]
    print(f"loses: {', '.join(losses)}" if losses else "no set loses")
    return 1 if losses else 0


if __name__ == "__main__":
    sys.exit(main())
