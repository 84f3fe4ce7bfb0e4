"""Which embedder a base is searched with, and whether its vectors are that embedder's."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from zhiku.config import BaseSettings
from zhiku.errors import ConfigError, ManifestMismatch, ModelUnavailable
from zhiku.ports import Embedder
from zhiku.registry import EMBEDDERS, default_embedder_name, load
from zhiku.retrieve.meaning import Meaning

NONE = "none"
VERDICTS_FILE = "models.json"

# Keys of the manifest.
EMBEDDER_NAME = "embedder_name"
FINGERPRINT = "embedder"


class Embedders:
    """The embedders of a library, each made once; weights are loaded when they are first used.

    `forced` names the embedder of every base, whatever its settings say (ZHIKU_EMBEDDER).
    """

    def __init__(self, home: Path, forced: str = "") -> None:
        self._verdicts = home / VERDICTS_FILE
        self._forced = forced
        self._made: dict[tuple[str, int], Embedder] = {}

    def get(self, name: str, threads: int = 1) -> Embedder:
        """Return the embedder of this name."""
        key = (name, threads)
        if key not in self._made:
            self._made[key] = load(EMBEDDERS, name)(threads=threads, verdicts=self._verdicts)
        return self._made[key]

    def name_for(self, settings: BaseSettings, manifest: Mapping[str, str]) -> str:
        """Return the name of a base's embedder: the one set, else the one that made its vectors, else the best one.

        One that made vectors and is not known here, as in a base of a newer zhiku, counts as none.
        Raises `ConfigError` where the one set does not exist.
        """
        made_by = manifest.get(EMBEDDER_NAME, "")
        known = made_by if made_by in EMBEDDERS else ""
        name = self._forced or settings.embedder or known or default_embedder_name()
        if name != NONE and name not in EMBEDDERS:
            raise ConfigError(
                "there is no embedder {name!r}.",
                name=name,
                known=", ".join([*EMBEDDERS, NONE]),
                hint="set it to one of: {known} (embedder in base.toml, or ZHIKU_EMBEDDER)",
            )
        return name


def meaning_of(base: str, settings: BaseSettings, manifest: Mapping[str, str], embedders: Embedders) -> Meaning:
    """Return how a base can be searched by meaning; nothing is loaded for it."""
    name = embedders.name_for(settings, manifest)
    if name == NONE:
        return Meaning(reason=_words_only(base))
    built = manifest.get(FINGERPRINT)
    if built is None:
        return Meaning(reason=_nothing_embedded(base), is_fault=True)
    embedder = embedders.get(name)
    if embedder.fingerprint != built:
        return Meaning(reason=made_by_another(base, built, embedder.fingerprint), is_fault=True)
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


def made_by_another(base: str, built: str, known: str) -> ManifestMismatch:
    """Return why vectors and embedder do not fit, with what makes them fit."""
    return ManifestMismatch(
        "the vectors of base {base!r} were made by another embedder ({built}; now there is {known}): it can be"
        " searched by words only.",
        base=base,
        built=built,
        known=known,
        hint="make them anew, while it answers by words: zhiku rebuild -b {base}; or set the old embedder again",
    )
