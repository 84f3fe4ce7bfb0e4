"""What was found out about a rerank endpoint, remembered for the next process in a private file."""

from __future__ import annotations

import json
import logging
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Literal

from zhiku.errors import IndexStateError
from zhiku.paths import write_private

log = logging.getLogger(__name__)

Style = Literal["documents", "texts"]
"""What the texts are called in a request: by Jina, Cohere, vLLM and most others, or by text-embeddings-inference."""
Scale = Literal["unit", "logit"]
"""What a score is: 0 to 1, or any number whose sigmoid is that."""

MAX_TEXTS = 32
"""Texts a request at most: what text-embeddings-inference takes unless told otherwise."""
MAX_CHARS = 1_000_000


@dataclass(frozen=True, kw_only=True)
class Traits:
    """How an endpoint is asked and what its scores are. They belong to an endpoint and a model, not to a reply."""

    style: Style
    scale: Scale
    max_texts: int = MAX_TEXTS
    """Texts a request, as far as the endpoint took so many."""
    max_chars: int = MAX_CHARS
    """Characters of a text, likewise."""


def load_traits(path: Path | None, key: str) -> Traits | None:
    """Return what is remembered of an endpoint; what is unreadable or of another version says nothing."""
    found = _read(path).get(key)
    if not isinstance(found, dict) or set(found) != {item.name for item in fields(Traits)}:
        return None
    known = Traits(**found)
    is_known = known.style in ("documents", "texts") and known.scale in ("unit", "logit")
    sizes = (known.max_texts, known.max_chars)
    return known if is_known and all(type(size) is int and size > 0 for size in sizes) else None


def save_traits(path: Path | None, key: str, traits: Traits) -> None:
    """Remember what was found out; where that cannot be, as on a read-only disk, the next process finds out anew."""
    if path is None:
        return
    try:
        write_private(path, json.dumps(_read(path) | {key: asdict(traits)}, indent=1))
    except IndexStateError as error:
        log.debug("nothing remembered: %s", error)


def _read(path: Path | None) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text("utf-8")) if path else {}
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
