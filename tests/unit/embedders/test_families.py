"""Models of known families get the instructions they were trained with."""

from __future__ import annotations

import pytest

from zhiku.embedders.families import family_of


@pytest.mark.parametrize(
    ("model", "query", "document"),
    [
        ("Qwen/Qwen3-Embedding-0.6B", "Instruct: ", ""),
        ("qwen3-embedding:8b", "Instruct: ", ""),
        ("BAAI/bge-m3", "", ""),
        ("bge-small-zh-v1.5", "为这个句子", ""),
        ("BAAI/bge-large-en-v1.5", "Represent this sentence", ""),
        ("intfloat/multilingual-e5-small", "query: ", "passage: "),
        ("multilingual_e5_small", "query: ", "passage: "),
        ("intfloat/multilingual-e5-large-instruct", "Instruct: ", ""),
        ("hkunlp/instructor-large", "Represent the question", "Represent the document"),
        ("text-embedding-3-small", "", ""),
        ("m1", "", ""),
        ("some5-model", "", ""),
    ],
)
def test_a_family_is_known_by_its_name(model: str, query: str, document: str) -> None:
    family = family_of(model)
    assert family.query_instruction.startswith(query)
    assert family.document_instruction.startswith(document)
    assert bool(family.query_instruction) == bool(query)
    assert bool(family.document_instruction) == bool(document)
