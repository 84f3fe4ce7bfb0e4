"""The sample documents: what is shipped is what would be built, and its search cases have their answers."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import zhiku
from zhiku.model import Source
from zhiku.registry import PARSERS, format_of, load

ROOT = Path(__file__).parents[2]
SAMPLES = ROOT / "src" / "zhiku" / "samples"
CASES = [
    json.loads(line)
    for line in (SAMPLES / "cases.jsonl").read_text("utf-8").splitlines()
    if line and not line.startswith("#")
]


def text_of(path: str) -> str:
    data = (SAMPLES / path).read_bytes()
    source = Source(root=str(SAMPLES), path=path, size_bytes=len(data), mtime_ns=0, sha256="")
    parsed = load(PARSERS, format_of(path))().parse(source, data)
    assert isinstance(parsed.text, str)
    return parsed.text


def test_the_shipped_samples_are_what_their_sources_give() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "make_samples.py", "--check"], capture_output=True, text=True, check=False
    )

    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["query"])
def test_the_answer_of_a_case_stands_in_its_source(case: dict[str, str]) -> None:
    assert case["expect"].casefold() in text_of(case["source"]).casefold()


def test_the_cases_are_not_among_the_documents(tmp_path: Path) -> None:
    zhiku.index(SAMPLES, home=tmp_path)

    paths = {document.source.path for document in zhiku.open(home=tmp_path).documents()}

    assert {case["source"] for case in CASES} <= paths
    assert paths.isdisjoint({"README.md", "cases.jsonl"})
