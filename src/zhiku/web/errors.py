"""Errors as clients of OpenAI's interface expect them: a status, and a body that says what was wrong."""

from __future__ import annotations

import logging

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from zhiku.errors import ZhikuError

log = logging.getLogger(__name__)


class Refused(Exception):
    """A request that cannot be served as it is; the message says why, and quotes nothing that was sent as text."""

    def __init__(self, status: int, message: str, *, param: str | None = None, code: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.param = param
        self.code = code


def refusal(status: int, message: str, *, param: str | None = None, code: str | None = None) -> JSONResponse:
    """Return an error as OpenAI's interface has it."""
    kind = "invalid_request_error" if status < 500 else "server_error"
    return JSONResponse({"error": {"message": message, "type": kind, "param": param, "code": code}}, status)


def add_error_handlers(app: FastAPI) -> None:
    """Let every error of an app be answered in this shape."""

    @app.exception_handler(Refused)
    async def on_refused(_: Request, error: Refused) -> Response:
        return refusal(error.status, error.message, param=error.param, code=error.code)

    @app.exception_handler(RequestValidationError)
    async def on_invalid(_: Request, error: RequestValidationError) -> Response:
        return _invalid(error)

    @app.exception_handler(HTTPException)
    async def on_http_error(request: Request, error: HTTPException) -> Response:
        if error.status_code == 404:
            return refusal(404, f"there is nothing at {request.url.path}")
        if error.status_code == 405:
            return refusal(405, f"{request.url.path} does not take {request.method}")
        return refusal(error.status_code, error.detail)

    @app.exception_handler(ZhikuError)
    async def on_failure(_: Request, error: ZhikuError) -> Response:
        log.error("%s", error)
        return refusal(500, str(error), code=error.code)

    @app.exception_handler(Exception)
    async def on_bug(_: Request, error: Exception) -> Response:
        # The top of an interface; what was sent is in no traceback.
        log.error("a request failed: %s", type(error).__name__, exc_info=error)
        return refusal(500, "a bug in zhiku; what happened stands in logs/errors.log of its home")


def _invalid(error: RequestValidationError) -> Response:
    first = error.errors()[0]
    if first["type"] == "json_invalid":
        return refusal(400, "the body is no JSON")
    place = ".".join(map(str, first["loc"][1:]))
    if not place:
        return refusal(422, "the body must be a JSON object, sent as application/json")
    return refusal(422, f"{place}: {first['msg']}", param=str(first["loc"][1]))
