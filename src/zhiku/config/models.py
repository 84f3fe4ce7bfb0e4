"""`[models…]` of the user's settings: endpoints with models of the user's own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import Any

from zhiku.config.files import check_keys, section_of, values_of
from zhiku.errors import ConfigError
from zhiku.frozen import frozen

ENDPOINT = "endpoint"
"""The name, as an embedder, of what stands in `[models.embedding]` itself; as a reranker, of `[models.rerank]`."""

AUTO = "auto"
"""Stands for the instruction that a model of its family was trained with (`zhiku.embedders.families`)."""

OPENAI, ONNX = "openai", "onnx"
_CHOICES = {"kind": (OPENAI, ONNX), "pooling": (AUTO, "cls", "mean", "last")}

TAKEN_NAMES = frozenset({ENDPOINT, "builtin", "fallback", "none"})


@frozen
class EmbeddingSettings:
    """`[models.embedding]` or `[models.embedding.NAME]`: an endpoint, or a model in a folder, that embeds."""

    kind: str = OPENAI
    """`openai` for an endpoint, `onnx` for a folder with model.onnx and tokenizer.json."""
    path: str = ""
    """That folder; a leading `~` is the user's home."""
    pooling: str = AUTO
    """How it makes a vector of a text: `cls`, `mean` or `last`; `auto` for its own way, else `mean`."""
    api_url: str = ""
    """With or without a version, or whole; empty for none."""
    api_key: str = field(default="", repr=False)
    """The key itself, `env:NAME` or `file:PATH`."""
    model_name: str = ""
    dimensions: int = 0
    """What the model is asked for; 0 for its own."""
    query_instruction: str = AUTO
    """Put before questions."""
    document_instruction: str = AUTO
    """Put before passages."""
    batch_size: int = 64
    """Texts a request, at most."""
    queue_interval_seconds: float = 0.0
    """Between two requests."""
    timeout: float = 60.0
    """Seconds for one try of a request."""
    max_input_tokens: int = 8192
    """About so many tokens of a text are sent, at most."""


@frozen
class RerankSettings:
    """`[models.rerank]`: an endpoint that scores hits anew."""

    api_url: str = ""
    api_key: str = field(default="", repr=False)
    model_name: str = ""
    """Empty where the server has but one."""
    queue_interval_seconds: float = 0.0
    query_instruction: str = ""
    """Put before questions."""


@frozen
class ChatSettings:
    """`[models.chat]`: an endpoint that talks."""

    api_url: str = ""
    api_key: str = field(default="", repr=False)
    model_name: str = ""
    context_window: int = 8192
    """In tokens."""


@frozen
class ModelSettings:
    """`[models]`: all endpoints."""

    embedding: EmbeddingSettings = field(default_factory=EmbeddingSettings)
    """For new bases."""
    named: Mapping[str, EmbeddingSettings] = field(default_factory=dict)
    """For bases whose settings name them."""
    rerank: RerankSettings = field(default_factory=RerankSettings)
    chat: ChatSettings = field(default_factory=ChatSettings)

    def embedding_of(self, name: str) -> EmbeddingSettings | None:
        """Return the section of an embedder's name; None where there is none."""
        return self.embedding if name == ENDPOINT else self.named.get(name)


def models_in(table: Any, path: Path) -> ModelSettings:
    """Return what `[models]` says. Raises `ConfigError` for what is unknown or malformed."""
    if not isinstance(table, dict):
        raise ConfigError(
            "{path}: {name} must be a table.", path=path, name="models", hint="write its settings below [{name}]"
        )
    check_keys(table, ["embedding", "rerank", "chat"], path)
    embedding = table.get("embedding", {})
    named: dict[str, Any] = {}
    if isinstance(embedding, dict):
        named = {name: value for name, value in embedding.items() if isinstance(value, dict)}
        table = {**table, "embedding": {name: value for name, value in embedding.items() if name not in named}}
    _check_names(named, path)
    for section in (table.get("embedding", {}), *named.values()):
        _check_choices(section, path)
    return ModelSettings(
        embedding=section_of(EmbeddingSettings, "embedding", table, path),
        named={name: values_of(EmbeddingSettings, value, path) for name, value in named.items()},
        rerank=section_of(RerankSettings, "rerank", table, path),
        chat=section_of(ChatSettings, "chat", table, path),
    )


def _check_names(named: Mapping[str, Any], path: Path) -> None:
    for name in named:
        if name in TAKEN_NAMES or not name.replace("-", "_").isidentifier():
            raise ConfigError(
                "{path}: an endpoint cannot be named {name!r}.",
                path=path,
                name=name,
                taken=", ".join(sorted(TAKEN_NAMES)),
                hint="use letters, digits, _ and -; these mean other embedders: {taken}",
            )


def _check_choices(section: Any, path: Path) -> None:
    """Raise for a word that is none of those to choose from; any other mistake is found where values are read."""
    for key, words in _CHOICES.items():
        if isinstance(section, dict) and isinstance(value := section.get(key, words[0]), str) and value not in words:
            raise ConfigError(
                "{path}: {key} cannot be {value!r}.",
                path=path,
                key=key,
                value=value,
                words=", ".join(words),
                hint="choose one of: {words}",
            )
