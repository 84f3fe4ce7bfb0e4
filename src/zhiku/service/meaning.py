"""Which embedder a base is searched with, and whether its vectors are that embedder's."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from zhiku.config import ENDPOINT, BaseSettings, ModelSettings
from zhiku.errors import ConfigError, ManifestMismatch, ModelError, ModelUnavailable, UsageError
from zhiku.ports import Embedder
from zhiku.registry import EMBEDDERS, default_embedder_name, load
from zhiku.retrieve.meaning import Meaning
from zhiku.service.endpoints import EmbedOptions, Endpoints
from zhiku.service.locks import Locked, lock_in

if TYPE_CHECKING:
    from zhiku.embedders.lock import Lock

NONE = "none"
VERDICTS_FILE = "models.json"

# Keys of the manifest.
EMBEDDER_NAME = "embedder_name"
FINGERPRINT = "embedder"

_OLD_EMBEDDER = "make them anew, while it answers by words: zhiku rebuild -b {base}; or set the old embedder again"
_OLD_ENDPOINT = (
    "make them anew, while it answers by words: zhiku rebuild -b {base}; or set the old endpoint again, if you like"
    " under a name of its own: [models.embedding.NAME]"
)


class Embedders:
    """The embedders of a library, each made once; what is slow to load is loaded when it is first used.

    Safe to use from several threads.

    `forced` names the embedder of every base, whatever its settings say (ZHIKU_EMBEDDER).
    """

    def __init__(self, home: Path, forced: str = "", endpoints: Endpoints | None = None) -> None:
        self._verdicts = home / VERDICTS_FILE
        self._forced = forced
        self._endpoints = endpoints or Endpoints(ModelSettings(), {}, EmbedOptions())
        self._made: dict[tuple[str, int], Embedder] = {}
        self._own: dict[tuple[str, str, int], Embedder] = {}
        self._lock = threading.Lock()  # over what was made

    def use(self, endpoints: Endpoints) -> None:
        """Take other endpoints, for the settings have changed."""
        with self._lock:
            self._endpoints = endpoints
            self._own.clear()

    def get(self, name: str, threads: int = 1, manifest: Mapping[str, str] | None = None) -> Embedder:
        """Return the embedder of this name; one behind an endpoint as a base's manifest knows it.

        Raises `ConfigError` where it is not said which endpoint that is.
        """
        if name not in EMBEDDERS:
            return self._own_model(name, threads, lock_in(manifest or {}))
        key = (name, threads)
        with self._lock:
            if key not in self._made:
                self._made[key] = load(EMBEDDERS, name)(threads=threads, verdicts=self._verdicts)
            return self._made[key]

    def _own_model(self, name: str, threads: int, built: Lock | None) -> Embedder:
        with self._lock:
            lock = self._endpoints.wanted(name, built)
            key = (name, lock.fingerprint, 0 if lock.address else threads)  # a server has threads of its own
            if key not in self._own:
                self._own[key] = self._endpoints.embedder(name, lock, threads)
            return self._own[key]

    def key_is_passing(self, name: str, address: str) -> bool:
        """Return whether an endpoint's key was given as an option and stands nowhere where later runs look."""
        return self._endpoints.key_is_passing(name, address)

    def name_for(self, settings: BaseSettings, manifest: Mapping[str, str]) -> str:
        """Return the name of a base's embedder: the one set, else the one that made its vectors, else that of new ones.

        New bases have the endpoint, where one is set, else the best one installed. The endpoint that made vectors is
        known by what it is, also where it has another name now. An embedder that made vectors and is not known here, as
        in a base of a newer zhiku, counts as none. Raises `ConfigError` where the one set does not exist.
        """
        known = manifest.get(EMBEDDER_NAME, "")
        if known not in EMBEDDERS:
            built = lock_in(manifest)
            known = self._endpoints.name_of(built, known) if built else ""
        new = ENDPOINT if self._endpoints.is_default else default_embedder_name()
        is_settled = bool(self._forced or settings.embedder) or FINGERPRINT in manifest
        named = self._endpoints.named_by_options(is_settled=is_settled)
        name = self._forced or settings.embedder or named or known or new
        if named not in ("", name):
            raise UsageError(
                "the options name an endpoint, but the embedder is set to {name!r}.",
                name=name,
                hint="leave these options out, or remove embedder from the base's base.toml and unset ZHIKU_EMBEDDER",
            )
        if name not in (NONE, known) and name not in EMBEDDERS and name not in self._endpoints.names():
            raise ConfigError(
                "there is no embedder {name!r}.",
                name=name,
                known=", ".join([*EMBEDDERS, *self._endpoints.names(), NONE]),
                hint="set it to one of: {known} (embedder in base.toml, or ZHIKU_EMBEDDER)",
            )
        return name


def meaning_of(
    base: str, settings: BaseSettings, manifest: Mapping[str, str], embedders: Embedders, *, ask: bool = False
) -> Meaning:
    """Return how a base can be searched by meaning; nothing is loaded for it.

    With `ask`, an endpoint that is not the one that made the vectors is asked for the size of its own, to be told.
    """
    name = embedders.name_for(settings, manifest)
    if name == NONE:
        return Meaning(reason=_words_only(base))
    built = manifest.get(FINGERPRINT)
    if built is None:
        return Meaning(reason=_nothing_embedded(base), is_fault=True)
    try:
        embedder = embedders.get(name, manifest=manifest)
    except ConfigError as error:
        return Meaning(reason=error, is_fault=True)
    if embedder.fingerprint != built:
        return Meaning(reason=made_by_another(base, manifest, embedder, ask=ask), is_fault=True)
    return Meaning(embedder=embedder)


def _words_only(base: str) -> ModelUnavailable:
    return ModelUnavailable(
        "base {base!r} has no embedder: it can be searched by words only.",
        base=base,
        hint="unset ZHIKU_EMBEDDER, or remove embedder from its base.toml, then: zhiku index -b {base}",
    )


def _nothing_embedded(base: str) -> ModelUnavailable:
    return ModelUnavailable(
        "nothing in base {base!r} has been embedded yet: it can be searched by words only.",
        base=base,
        hint="search it by meaning too, after: zhiku index -b {base}",
    )


def made_by_another(base: str, manifest: Mapping[str, str], embedder: Embedder, *, ask: bool) -> ManifestMismatch:
    """Return why vectors and embedder do not fit, with what makes them fit; see `meaning_of` for `ask`."""
    if ask and embedder.is_remote and not embedder.dims:
        with suppress(ModelError):  # it is told without its size then
            embedder.embed_queries([""])
    built = lock_in(manifest)
    known = embedder.lock if isinstance(embedder, Locked) else None
    return ManifestMismatch(
        "the vectors of base {base!r} were made by another embedder ({built}; now there is {known}): it can be"
        " searched by words only.",
        base=base,
        built=built.described(known) if built else manifest[FINGERPRINT],
        known=known.described(built) if known else embedder.fingerprint,
        hint=_OLD_ENDPOINT if built else _OLD_EMBEDDER,
    )
