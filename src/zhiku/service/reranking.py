"""Which reranker scores the hits of a search anew, if any."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from zhiku.answer import Query
from zhiku.config import ENDPOINT, ChatSettings, EmbeddingSettings, Settings
from zhiku.config.keys import read_key
from zhiku.errors import ConfigError
from zhiku.retrieve.rerank import Reranking
from zhiku.service.endpoints import host_of

if TYPE_CHECKING:
    from zhiku.ports import Reranker
    from zhiku.remote import Endpoint
    from zhiku.service.endpoints import Endpoints
    from zhiku.service.meaning import Embedders

MEMORY_FILE = "rerankers.json"
PATH = "rerank"
LATE_EMBEDDER = "builtin"
"""The embedder whose tokens interact."""


class Rerankers:
    """The reranker of a library, made when a search first asks for it."""

    def __init__(self, home: Path, settings: Settings, endpoints: Endpoints, embedders: Embedders) -> None:
        self._memory = home / MEMORY_FILE
        self._settings = settings
        self._endpoints = endpoints
        self._embedders = embedders
        self._made: Reranker | None = None

    def prepare(self, query: Query) -> tuple[Query, Reranking | None]:
        """Return a query with what the settings say where it says nothing, and how its hits are to be scored anew.

        Where that is not wanted, that is None; where it cannot be done, it says why. Nothing is loaded or sent.
        """
        search = self._settings.search
        wanted = search.enable_rerank if query.rerank is None else query.rerank
        kept = search.rerank_top_k if query.rerank_top_k is None else query.rerank_top_k
        query = replace(query, rerank=wanted, rerank_top_k=kept)
        if not wanted:
            return query, None
        try:
            self._made = self._made or self._make()
        except ConfigError as error:
            return query, Reranking(reason=error, top_k=kept, budget_s=search.rerank_timeout)
        return query, Reranking(reranker=self._made, top_k=kept, budget_s=search.rerank_timeout)

    def _make(self) -> Reranker:
        from zhiku.registry import RERANKERS, load  # only who reranks pays for it

        name = self._settings.search.rerank
        made = load(RERANKERS, name)
        reranker: Reranker
        if name == ENDPOINT:
            instruction = self._settings.models.rerank.query_instruction
            reranker = made(self._endpoint(), self._endpoints.client, memory=self._memory, instruction=instruction)
        else:
            reranker = made(self._embedders.get(LATE_EMBEDDER))
        return reranker

    def _endpoint(self) -> Endpoint:
        from zhiku.remote import Endpoint, address_of

        rerank = self._settings.models.rerank
        if not rerank.api_url:
            raise ConfigError(
                "no reranker is set.",
                hint="set one: zhiku config set models.rerank.api_url http://localhost:8080/rerank; or use the model"
                " that is here: zhiku config set search.rerank late",
            )
        address = address_of(rerank.api_url, PATH)
        return Endpoint(
            url=address,
            model=rerank.model_name,
            key=read_key(self._key_for(address), self._endpoints.environ),
            interval_s=rerank.queue_interval_seconds,
            kind="rerank",
        )

    def _key_for(self, address: str) -> str:
        """Return the key of the section, or of another one for the same server."""
        models = self._settings.models
        others: list[EmbeddingSettings | ChatSettings] = [models.embedding, *models.named.values(), models.chat]
        same = [each.api_key for each in others if each.api_url and host_of(each.api_url) == host_of(address)]
        return models.rerank.api_key or next(filter(None, same), "")


def sent_to(settings: Settings) -> str:
    """Return where questions and the text of hits are sent to be reranked; empty where they stay on this computer.

    Raises `ConfigError` for what is no address.
    """
    from zhiku.remote import Endpoint

    url = settings.models.rerank.api_url
    if not settings.search.enable_rerank or settings.search.rerank != ENDPOINT or not url:
        return ""
    endpoint = Endpoint(url=url, model="", kind="rerank")
    return "" if endpoint.is_loopback else endpoint.address(PATH)
