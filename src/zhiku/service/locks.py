"""What makes the vectors of a base by a model of the user's own: from settings, and from the base's manifest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from zhiku.config import ENDPOINT, EmbeddingSettings
from zhiku.config.models import AUTO, ONNX
from zhiku.errors import ConfigError

if TYPE_CHECKING:
    from zhiku.embedders.lock import Lock
    from zhiku.remote import Endpoint

LOCK = "embedder_lock"
"""Key of the manifest: what makes the vectors, as JSON."""

PATH = "embeddings"


@runtime_checkable
class Locked(Protocol):
    """An embedder over a model of the user's own, besides what every embedder has."""

    @property
    def lock(self) -> Lock:
        """Return what makes the vectors."""
        ...


@runtime_checkable
class BehindEndpoint(Locked, Protocol):
    """The same, behind an endpoint."""

    @property
    def endpoint(self) -> Endpoint:
        """Return where texts are sent."""
        ...


def lock_in(manifest: Mapping[str, str]) -> Lock | None:
    """Return what made the vectors of a base by a model of the user's own; None for any other base."""
    if not manifest.get(LOCK):
        return None
    from zhiku.embedders.lock import Lock

    return Lock.from_json(manifest[LOCK])


def looked_up(built: Lock, hashes: Path | None = None) -> Lock:
    """Return what makes vectors now where `built` did: a folder may hold another model. Raises `ConfigError`."""
    if built.provider != ONNX:
        return built
    from zhiku.embedders.onnx_files import model_digest

    return replace(built, model=model_digest(Path(built.path), hashes))


def is_set(settings: EmbeddingSettings) -> bool:
    """Return whether a section says where its model is."""
    return bool(settings.path if settings.kind == ONNX else settings.api_url)


def lock_of(name: str, settings: EmbeddingSettings, hashes: Path | None = None) -> Lock:
    """Return what the model of a section makes vectors by; `hashes` is a file that remembers those of models.

    Raises `ConfigError` where it is not said, or not to be found.
    """
    section = section_of(name)
    if not is_set(settings) and settings.kind == ONNX:
        raise ConfigError(
            "no folder is set for the embedder {name!r}.",
            name=name,
            section=section,
            hint="set one: zhiku config set {section}.path FOLDER",
        )
    if not is_set(settings):
        raise ConfigError(
            "no endpoint is set for the embedder {name!r}.",
            name=name,
            section=section,
            hint="set one: zhiku config set {section}.api_url http://localhost:11434/v1",
        )
    return _lock_of_folder(settings, hashes) if settings.kind == ONNX else _lock_of_endpoint(section, settings)


def family_name(settings: EmbeddingSettings) -> str:
    """Return the name by which a model's family is known; that of its folder where none is set."""
    return settings.model_name or (Path(settings.path).name if settings.kind == ONNX else "")


def section_of(name: str) -> str:
    """Return the section of the settings in which an embedder of this name stands."""
    return "models.embedding" if name == ENDPOINT else f"models.embedding.{name}"


def _lock_of_folder(settings: EmbeddingSettings, hashes: Path | None) -> Lock:
    from zhiku.embedders.lock import Lock
    from zhiku.embedders.onnx_files import model_digest

    folder = Path(settings.path).expanduser()
    if not folder.is_absolute():
        raise ConfigError(
            "the path of a model, {path!r}, is not absolute.",
            path=settings.path,
            hint="write all of it; ~ is your own folder",
        )
    made = Lock(provider=ONNX, model=model_digest(folder, hashes), path=str(folder), pooling=settings.pooling)
    return _with_texts(made, settings)


def _lock_of_endpoint(section: str, settings: EmbeddingSettings) -> Lock:
    from zhiku.embedders.lock import Lock
    from zhiku.remote import address_of

    address = address_of(settings.api_url, PATH)
    if not settings.model_name:
        raise ConfigError(
            "no model is named for the endpoint {url}.",
            url=address,
            section=section,
            hint="name one: zhiku config set {section}.model_name MODEL",
        )
    made = Lock(address=address, model=settings.model_name, dims=settings.dimensions, asked_dims=settings.dimensions)
    return _with_texts(made, settings)


def _with_texts(lock: Lock, settings: EmbeddingSettings) -> Lock:
    """Return a lock with what is put before texts, and where they are cut."""
    from zhiku.embedders.families import family_of
    from zhiku.embedders.lock import UNCUT_TOKENS

    family = family_of(family_name(settings))
    query, document = settings.query_instruction, settings.document_instruction
    return replace(
        lock,
        query_instruction=family.query_instruction if query == AUTO else query,
        document_instruction=family.document_instruction if document == AUTO else document,
        max_input_tokens=settings.max_input_tokens if settings.max_input_tokens < UNCUT_TOKENS else 0,
    )
