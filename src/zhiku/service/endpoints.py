"""Which model of the user's own embeds a base: from options, settings, the environment and the base's manifest."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from zhiku.config import ENDPOINT, EmbeddingSettings, ModelSettings
from zhiku.config.keys import read_key
from zhiku.config.models import ONNX, OPENAI
from zhiku.errors import ConfigError
from zhiku.frozen import frozen
from zhiku.ports import Embedder
from zhiku.service.locks import family_name, is_set, lock_of, looked_up

if TYPE_CHECKING:
    from datetime import date

    from zhiku.embedders.lock import Lock
    from zhiku.remote import Client, Usage

USAGE_FILE = "usage.sqlite3"
"""Beside the bases: what requests cost."""
HASHES_FILE = "hashes.json"
"""Likewise: what the files of models in folders were found to be."""

OPENAI_HOST = "api.openai.com"


@frozen
class EmbedOptions:
    """What the options of a command say of an endpoint, for this run; empty where they do not."""

    base_url: str = ""
    model: str = ""
    api_key: str = field(default="", repr=False)
    for_new: bool = False
    """Whether they are for bases without vectors alone, as those of a command over many bases are."""

    def __bool__(self) -> bool:
        """Return whether they name an endpoint or a model; a key alone does not."""
        return bool(self.base_url or self.model)


class Endpoints:
    """Makes the embedders behind endpoints, and those over models in folders."""

    def __init__(
        self, models: ModelSettings, environ: Mapping[str, str], options: EmbedOptions, home: Path | None = None
    ) -> None:
        """Take where it may be said which endpoint embeds, the first of which to say something counts, and the folder
        where requests are counted and hashes remembered; none where they are not.
        """
        self._models = models
        self._environ = environ
        self._options = options
        self._usage = home / USAGE_FILE if home else None
        self._hashes = home / HASHES_FILE if home else None

    @cached_property
    def client(self) -> Client:
        """Return what sends all requests to endpoints, of any kind, and has them counted."""
        from zhiku.remote import Client
        from zhiku.stores.sqlite.usage import UsageLog

        return Client(UsageLog(self._usage) if self._usage else None)

    @property
    def environ(self) -> Mapping[str, str]:
        """Return the environment, where keys may stand."""
        return self._environ

    @property
    def is_default(self) -> bool:
        """Return whether new bases are embedded by `[models.embedding]`, or what says the same."""
        return is_set(self.settings_of(ENDPOINT))

    def named_by_options(self, *, is_settled: bool) -> str:
        """Return the embedder's name that the options mean for a base; empty where they mean none.

        `is_settled` says that the base has vectors, or an embedder that is set.
        """
        return ENDPOINT if self._options and not (self._options.for_new and is_settled) else ""

    def names(self) -> list[str]:
        """Return the names, as embedders, of all endpoints."""
        return [ENDPOINT, *self._models.named]

    def settings_of(self, name: str, built: Lock | None = None) -> EmbeddingSettings:
        """Return what holds for an endpoint, and a base of these vectors; without an address where nothing says one."""
        found = self._models.embedding_of(name) or EmbeddingSettings()
        options = EmbedOptions() if built and self._options.for_new else self._options
        if name != ENDPOINT or (found.kind == ONNX and not options):
            return found
        environ = self._environ
        url = found.api_url or environ.get("ZHIKU_EMBED_BASE_URL", "")
        model = found.model_name or environ.get("ZHIKU_EMBED_MODEL", "")
        return replace(found, kind=OPENAI, api_url=options.base_url or url, model_name=options.model or model)

    def name_of(self, built: Lock, made_by: str) -> str:
        """Return the endpoint that makes the vectors of `built`, under which name ever it stands in the settings now;
        the one that made them (`made_by`) where none does.
        """
        for name in (made_by, *self.names()):
            settings = self.settings_of(name, built)
            if is_set(settings) and settings.kind == built.provider:
                with suppress(ConfigError):  # of a section that is not this base's
                    if lock_of(name, settings, self._hashes).fits(built):
                        return name
        return made_by

    def wanted(self, name: str, built: Lock | None) -> Lock:
        """Return what should make the vectors of a base; where nothing here says so, what made them (`built`).

        Raises `ConfigError` where that is nowhere said.
        """
        settings = self.settings_of(name, built)
        if not is_set(settings) and built is not None and (self._options.for_new or not self._options):
            return looked_up(built, self._hashes)
        lock = lock_of(name, settings, self._hashes)
        return replace(built, path=lock.path) if built is not None and lock.fits(built) else lock

    def embedder(self, name: str, lock: Lock, threads: int = 1) -> Embedder:
        """Return the embedder that makes the vectors of `lock`. Raises `ConfigError` for a key that is not there."""
        from zhiku.registry import ENDPOINT_EMBEDDERS, FOLDER_EMBEDDERS, load

        settings = self.settings_of(name)
        if lock.provider in FOLDER_EMBEDDERS:
            over: Embedder = load(FOLDER_EMBEDDERS, lock.provider)(lock, family=family_name(settings), threads=threads)
            return over
        from zhiku.embedders.openai import Options
        from zhiku.remote import Endpoint

        endpoint = Endpoint(
            url=lock.address,
            model=lock.model,
            key=self.key_for(name, lock.address),
            timeout_s=settings.timeout,
            interval_s=settings.queue_interval_seconds,
        )
        options = Options(batch_size=settings.batch_size, max_input_tokens=settings.max_input_tokens)
        made: Embedder = load(ENDPOINT_EMBEDDERS, lock.provider)(endpoint, lock, self.client, options)
        return made

    def key_for(self, name: str, address: str) -> str:
        """Return the key for an address, empty for none: the option's, that of its section, `ZHIKU_EMBED_API_KEY`,
        that of `[models.chat]`, and for OpenAI's own address `OPENAI_API_KEY`.

        A key that stands beside an address is for that server alone.
        """
        if self._has_key_for(address):
            return read_key(self._options.api_key, self._environ)
        if key := self._lasting_key(name, address):
            return read_key(key, self._environ)
        return ""

    def key_is_passing(self, name: str, address: str) -> bool:
        """Return whether the key was given as an option and stands nowhere where later runs look."""
        return self._has_key_for(address) and not self._lasting_key(name, address)

    def _has_key_for(self, address: str) -> bool:
        """Answer whether the options have a key for an address: over many bases, not for every server of theirs."""
        is_meant = not self._options.for_new or _is_at(self.settings_of(ENDPOINT).api_url, address)
        return bool(self._options.api_key) and is_meant

    def _lasting_key(self, name: str, address: str) -> str:
        """Return the same as it is written down, without the option's: what later commands find."""
        section, chat = self._models.embedding_of(name), self._models.chat
        if section is not None and section.api_key and _is_at(section.api_url, address):
            return section.api_key
        if key := self._environ.get("ZHIKU_EMBED_API_KEY", ""):
            return key
        if chat.api_key and _is_at(chat.api_url, address):
            return chat.api_key
        return self._environ.get("OPENAI_API_KEY", "") if host_of(address) == OPENAI_HOST else ""


def usage_of(home: Path, since: date | None = None) -> list[Usage]:
    """Return what requests cost from a day on, by kind, model and address. Raises `IndexStateError`."""
    from zhiku.stores.sqlite.usage import read_usage

    return read_usage(home / USAGE_FILE, since)


def _is_at(url: str, address: str) -> bool:
    """Return whether a section's URL is of the server of an address; a section without one is for any."""
    return not url or host_of(url) == host_of(address)


def host_of(url: str) -> str:
    """Return the host of a URL, in small letters; empty where it names none."""
    from urllib.parse import urlsplit

    return (urlsplit(url.strip()).hostname or "").lower()
