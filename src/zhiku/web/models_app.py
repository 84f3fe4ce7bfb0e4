"""The built-in model as OpenAI's and Jina's interfaces have it: embeddings, reranking, and what there is."""

from __future__ import annotations

import base64
import json
import logging
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse

from zhiku import __version__
from zhiku.service.local_model import LocalModel
from zhiku.text.measure import estimate_tokens
from zhiku.web.errors import Refused, add_error_handlers
from zhiku.web.guard import Guard
from zhiku.web.requests import MAX_TEXTS, EmbeddingRequest, RerankRequest

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

log = logging.getLogger(__name__)

MAX_BODY_BYTES = 16_000_000
"""As many texts as a request may hold, with some 8,000 bytes each: far more than the model sees of one."""
PORTION_TOKENS = 512
"""What the model takes without a break: some tenth of a second, for which Ctrl-C and other requests wait."""
CLIENT_GONE = 499
"""What nginx logs for it; nobody reads the answer."""

Made = TypeVar("Made")


class _Desk:
    """Gives the model to one request at a time, for some texts each: a question need not wait for a long list."""

    def __init__(self, model: LocalModel) -> None:
        self.model = model
        self._turn = CapacityLimiter(1)

    async def each(
        self, request: Request, texts: Sequence[str], work: Callable[[Sequence[str]], tuple[Sequence[Made], int]]
    ) -> tuple[list[Made], int]:
        """Return what `work` makes of all texts, and the tokens that it saw. Raises `Refused` where nobody waits."""
        made: list[Made] = []
        tokens = 0
        for some in portions(texts, self.model.embedder.max_tokens):
            if await request.is_disconnected():
                raise Refused(CLIENT_GONE, "the client is gone")
            found, seen = await run_sync(work, some, limiter=self._turn)
            made += found
            tokens += seen
        return made, tokens


def portions(texts: Sequence[str], max_tokens: int) -> Iterator[Sequence[str]]:
    """Yield the texts in order, some at a time: of about `PORTION_TOKENS`, of which a text has `max_tokens` at most."""
    start = tokens = 0
    for i, text in enumerate(texts):
        size = min(estimate_tokens(text), max_tokens)
        if i > start and tokens + size > PORTION_TOKENS:
            yield texts[start:i]
            start, tokens = i, 0
        tokens += size
    yield texts[start:]


def models_app(model: LocalModel) -> FastAPI:
    """Return the application that serves a model. It is for this computer only: see `zhiku.web.guard`."""
    app = FastAPI(
        title="zhiku serve-models",
        version=__version__,
        docs_url=None,  # these pages would load scripts from the network
        redoc_url=None,
        telemetry={"tracing": False, "metrics": False, "logs": False, "auto_configure": False},
    )
    add_error_handlers(app)
    app.add_middleware(Guard, max_body_bytes=MAX_BODY_BYTES)
    _add_listing(app, model)
    _add_work(app, _Desk(model))
    return app


def _add_listing(app: FastAPI, model: LocalModel) -> None:
    @app.get("/health")
    async def health() -> Response:
        return JSONResponse({"status": "ok", "model": model.embedder.model})

    @app.get("/v1/models")
    async def models() -> Response:
        return JSONResponse({"object": "list", "data": [_card(model)]})

    @app.get("/v1/models/{name:path}")
    async def one_model(name: str) -> Response:
        _check_model(name, model)
        return JSONResponse(_card(model))


def _add_work(app: FastAPI, desk: _Desk) -> None:
    model = desk.model

    @app.post("/v1/embeddings")
    async def embeddings(request: Request, body: EmbeddingRequest) -> Response:
        _check_model(body.model, model)
        _check_count(body.input, "input")
        _check_dimensions(body.dimensions, model)
        began = time.monotonic()
        vectors, tokens = await desk.each(request, body.input, lambda some: _rows(model.embedder.embed_as_given(some)))
        _log("embeddings", len(body.input), tokens, began)
        return _json(
            {
                "object": "list",
                "data": [
                    {"object": "embedding", "index": i, "embedding": _encoded(vector, body.encoding_format)}
                    for i, vector in enumerate(vectors)
                ],
                "model": model.embedder.model,
                "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
            }
        )

    @app.post("/v1/rerank")
    async def rerank(request: Request, body: RerankRequest) -> Response:
        if body.model is not None:
            _check_model(body.model, model)
        _check_count(body.documents, "documents")
        began = time.monotonic()
        scores, tokens = await desk.each(request, body.documents, lambda some: model.relevance(body.query, some))
        _log("rerank", len(body.documents), tokens, began)
        best = sorted(range(len(scores)), key=lambda i: (-scores[i], i))[: body.top_n]
        results: list[dict[str, Any]] = [{"index": i, "relevance_score": scores[i]} for i in best]
        if body.return_documents:
            results = [{**each, "document": {"text": body.documents[each["index"]]}} for each in results]
        return _json({"model": model.embedder.model, "results": results, "usage": {"total_tokens": tokens}})


def _rows(made: tuple[NDArray[np.float32], int]) -> tuple[list[NDArray[np.float32]], int]:
    return list(made[0]), made[1]


def _encoded(vector: NDArray[np.float32], encoding: str) -> str | list[float]:
    if encoding == "base64":
        return base64.b64encode(vector.astype("<f4").tobytes()).decode("ascii")
    numbers: list[float] = vector.tolist()
    return numbers


def _json(value: object) -> Response:
    """Return an answer; half of a surrogate, which has no UTF-8, is escaped like everything beyond ASCII."""
    return Response(json.dumps(value, separators=(",", ":")), media_type="application/json")


def _card(model: LocalModel) -> dict[str, Any]:
    """Return what there is to know of a model."""
    return {
        "id": model.embedder.model,
        "object": "model",
        "created": 0,
        "owned_by": "zhiku",
        "dimensions": model.embedder.dims,
        "max_tokens": model.embedder.max_tokens,
        "is_fallback": model.is_fallback,
    }


def _check_model(name: str, model: LocalModel) -> None:
    if name != model.embedder.model:
        raise Refused(
            404,
            f"there is no model of this name here; there is: {model.embedder.model}",
            param="model",
            code="model_not_found",
        )


def _check_count(texts: Sequence[str], param: str) -> None:
    if len(texts) > MAX_TEXTS:
        raise Refused(413, f"{len(texts):,} texts are more than a request may hold: {MAX_TEXTS:,}", param=param)


def _check_dimensions(wanted: int | None, model: LocalModel) -> None:
    if wanted not in (None, model.embedder.dims):
        raise Refused(
            400,
            f"the vectors of this model have {model.embedder.dims} dimensions, and no others",
            param="dimensions",
        )


def _log(what: str, texts: int, tokens: int, began: float) -> None:
    log.info("%s: %d texts, %d tokens, %.2f s", what, texts, tokens, time.monotonic() - began)
