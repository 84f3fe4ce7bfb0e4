"""What is known of families of models by their names: the instructions they were trained with, and their cosines."""

from __future__ import annotations

import re
from dataclasses import dataclass

from zhiku.model import CosineScale

# Cosines of a model nobody measured. From some vectors on, a base's own take its place (zhiku.retrieve.standing).
UNKNOWN_SCALE = CosineScale(mean=0.35, std=0.1, script_gap=0.05, good=5.0)
E5_SCALE = CosineScale(mean=0.78, std=0.02, script_gap=0.06, good=5.0)
USE_SCALE = CosineScale(mean=0.2, std=0.1, script_gap=0.0, good=6.0)

_TASK = "Given a web search query, retrieve relevant passages that answer the query"


@dataclass(frozen=True, kw_only=True)
class Family:
    """Models that were trained alike."""

    query_instruction: str = ""
    document_instruction: str = ""
    scale: CosineScale = UNKNOWN_SCALE


E5 = Family(query_instruction="query: ", document_instruction="passage: ", scale=E5_SCALE)

# By a part of the name, the first that fits. The instructions are those of the model cards of their makers.
_FAMILIES: tuple[tuple[str, Family], ...] = (
    (r"qwen3[-_.]?embedding", Family(query_instruction=f"Instruct: {_TASK}\nQuery:")),
    (r"bge[-_.]m3", Family()),
    (r"bge[-_.].*zh", Family(query_instruction="为这个句子生成表示以用于检索相关文章：")),
    (r"bge[-_.]", Family(query_instruction="Represent this sentence for searching relevant passages: ")),
    (r"\be5\b.*instruct", Family(query_instruction=f"Instruct: {_TASK}\nQuery: ", scale=E5_SCALE)),
    (r"\be5\b", E5),
    (
        r"instructor[-_.]",
        Family(
            query_instruction="Represent the question for retrieving supporting documents: ",
            document_instruction="Represent the document for retrieval: ",
        ),
    ),
    (r"universal[-_.]sentence[-_.]encoder", Family(scale=USE_SCALE)),
)


def family_of(model: str) -> Family:
    """Return what is known of a model; nothing is put before texts of one that is not known."""
    name = model.lower().replace("_", "-")
    return next((family for pattern, family in _FAMILIES if re.search(pattern, name)), Family())
