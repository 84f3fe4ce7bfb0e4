"""What clients ask of a model: the bodies of requests, checked."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, Field

MAX_TEXTS = 2048
"""In one request, as OpenAI has it."""


def _as_list(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


def _as_text(value: Any) -> Any:
    """Return the text of a document that is written as an object."""
    return value["text"] if isinstance(value, dict) and "text" in value else value


class EmbeddingRequest(BaseModel):
    """`POST /v1/embeddings`. What else a client sends is not looked at."""

    model: str
    input: Annotated[list[str], BeforeValidator(_as_list), Field(min_length=1)]
    encoding_format: Literal["float", "base64"] = "float"
    dimensions: int | None = None


class RerankRequest(BaseModel):
    """`POST /v1/rerank`, in the style of Jina and Cohere."""

    model: str | None = None
    query: str
    documents: Annotated[list[Annotated[str, BeforeValidator(_as_text)]], Field(min_length=1)]
    top_n: Annotated[int, Field(ge=1)] | None = None
    return_documents: bool = False
