"""Whole results of whole documents: whatever changes in one shows in a diff (`pytest --update-golden` writes them)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from samples import GOLDEN, RESULT, parse
from zhiku.chunkers.structure import StructureChunker
from zhiku.model import ParsedDocument

DOCUMENTS = sorted(path for path in GOLDEN.glob("*/*") if path.suffix != RESULT)


def result_of(document: ParsedDocument) -> str:
    """Return what was read: what the document says of itself, its blocks, and how they are cut."""
    about = {"title": document.title, "metadata": dict(document.metadata), "encoding": document.encoding}
    told = [json.dumps(about | {"warnings": document.warnings}, ensure_ascii=False)]
    told += [f"link L{link.line} {link.target} ({link.alias})" for link in document.links]
    return "\n".join([*told, *_blocks(document), "", *_chunks(document), ""])


def _blocks(document: ParsedDocument) -> Iterator[str]:
    for block in document.blocks:
        kind = f"{block.kind} {block.level}" if block.level else block.kind
        yield f"\n[{' › '.join([kind, *block.section])}]"
        first = document.text.count("\n", 0, block.char_start)
        for number, line in enumerate(document.text[block.char_start : block.char_end].split("\n"), first):
            yield f"{document.line_numbers[number] if document.line_numbers else number + 1:>4} {line}".rstrip()


def _chunks(document: ParsedDocument) -> Iterator[str]:
    for chunk in StructureChunker().chunk(document):
        yield f"chunk L{chunk.line_start}-{chunk.line_end} {' › '.join(chunk.section)}".rstrip()


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_a_document_gives_its_golden_result(path: Path, request: pytest.FixtureRequest) -> None:
    place = path.with_name(path.name + RESULT)
    result = result_of(parse(path.name, path.read_bytes()))
    if request.config.getoption("--update-golden"):
        place.write_text(result, "utf-8", newline="\n")

    assert result == place.read_text("utf-8")


def test_every_result_belongs_to_a_document() -> None:
    assert {path.with_suffix("") for path in GOLDEN.glob(f"*/*{RESULT}")} <= set(DOCUMENTS)
