"""What came back from an endpoint, as an answer or as an error that says what to do."""

from __future__ import annotations

import json
from email.utils import parsedate_to_datetime
from time import time
from typing import TYPE_CHECKING, Any

from zhiku.errors import BadModelReply, ModelError, ModelUnavailable
from zhiku.remote.line import NoReply, Reply

if TYPE_CHECKING:
    from zhiku.remote.endpoint import Endpoint, Kind

FIRST_PAUSE_S = 0.5
LONGEST_PAUSE_S = 8.0
MAX_DETAIL_CHARS = 300

_AGAIN = frozenset({408, 425, 429, 500, 502, 503, 504, 529})
"""Statuses after which another try may succeed; 529 is what some services say for "overloaded"."""


class Again(Exception):
    """A try failed, and another one may not; `error` is what to raise if there is none."""

    def __init__(self, error: ModelError, cause: str, retry_after: str = "") -> None:
        super().__init__(cause)
        self.error = error
        self.cause = cause
        self._retry_after = retry_after

    def pause_s(self, number: int) -> float:
        """Return how long to wait after the `number`-th try: what the server asks for, else twice as long each time."""
        asked = _seconds(self._retry_after)
        return min(FIRST_PAUSE_S * 2 ** (number - 1), LONGEST_PAUSE_S) if asked is None else asked


def status_of(error: ModelError) -> int | None:
    """Return the status that an endpoint answered with; None where it did not answer, or not with an error."""
    status = error.params.get("status")
    return status if isinstance(status, int) else None


def detail_of(error: ModelError) -> str:
    """Return what an endpoint said of an error. It may quote what was sent: it is never shown where texts were."""
    return str(error.params.get("detail", ""))


def answer_in(reply: Reply, endpoint: Endpoint, address: str) -> object:
    """Return the JSON of a reply. Raises `Again` or `BadModelReply`."""
    if reply.status in _AGAIN:
        raise Again(_failing(reply, endpoint, address), str(reply.status), reply.retry_after)
    if reply.status != 200:
        raise _refused(reply, endpoint, address)
    try:
        answer: Any = json.loads(reply.body)
    except (ValueError, RecursionError) as error:
        raise BadModelReply(
            "{address} answers with something that is not JSON.",
            address=address,
            hint="check that the address is that of an OpenAI-compatible endpoint",
        ) from error
    if isinstance(answer, dict) and answer.get("error"):
        raise BadModelReply(
            "{address} reports an error, though with status 200.",
            address=address,
            detail=_detail(reply.body, endpoint.key),
            hint="look into the log of that server",
        )
    return answer


def no_turn(address: str) -> ModelError:
    """Return the error for a request that had to wait too long for others."""
    return ModelUnavailable(
        "{address} is still busy with other requests.",
        address=address,
        hint="try again later, or lower queue_interval_seconds in config.toml",
    )


def no_reply(failure: NoReply, kind: Kind, address: str, timeout_s: float) -> Again | ModelError:
    """Return the error for what brought no reply."""
    if failure.cause == "size":
        return BadModelReply(
            "{address} answers with more than can be taken.", address=address, hint="lower batch_size in config.toml"
        )
    if failure.cause == "tls":
        return ModelUnavailable(
            "no secure connection to {address}: {cause}.",
            address=address,
            cause=failure.detail,
            hint="check the address, and the certificate of that server",
        )
    if failure.cause == "timeout":
        error = ModelUnavailable(
            "{address} did not answer within {seconds:g} s.",
            address=address,
            seconds=round(timeout_s, 1),
            hint="check that server, or raise rerank_timeout in config.toml"
            if kind == "rerank"
            else "check that server, or raise timeout in config.toml",
        )
    else:
        error = ModelUnavailable(
            "{address} cannot be reached: {cause}.",
            address=address,
            cause=failure.detail,
            hint="start that server, or check api_url in config.toml",
        )
    return Again(error, failure.cause)


def _failing(reply: Reply, endpoint: Endpoint, address: str) -> ModelUnavailable:
    if reply.status == 429:
        return ModelUnavailable(
            "{address} takes no more requests now (HTTP {status}).",
            address=address,
            status=reply.status,
            detail=_detail(reply.body, endpoint.key),
            hint="try again later, or space requests with queue_interval_seconds in config.toml",
        )
    return ModelUnavailable(
        "{address} fails (HTTP {status}).",
        address=address,
        status=reply.status,
        detail=_detail(reply.body, endpoint.key),
        hint="look into the log of that server, then run the same command again",
    )


def _refused(reply: Reply, endpoint: Endpoint, address: str) -> BadModelReply:
    told: dict[str, Any] = {
        "address": address,
        "status": reply.status,
        "model": endpoint.model,
        "detail": _detail(reply.body, endpoint.key),
    }
    if reply.status in (401, 403):
        return BadModelReply(
            "{address} refuses the key (HTTP {status}).",
            **told,
            hint="check api_key in config.toml"
            if endpoint.kind == "rerank"
            else "check api_key in config.toml, or ZHIKU_EMBED_API_KEY",
        )
    if reply.status == 404:
        return BadModelReply(
            "{address} does not exist there, or has no model {model!r} (HTTP {status}).",
            **told,
            hint="check api_url and model_name in config.toml",
        )
    if 300 <= reply.status < 400:
        return BadModelReply(
            "{address} points to another address (HTTP {status}), which is not followed.",
            **told,
            hint="write the other address into api_url in config.toml",
        )
    return BadModelReply(
        "{address} refuses what was sent (HTTP {status}).",
        **told,
        hint="look into the log of that server",
    )


def _detail(body: bytes, key: str) -> str:
    """Return what an error's body says, in one line, without the key, which some servers repeat."""
    text = body[: 20 * MAX_DETAIL_CHARS].decode("utf-8", "replace")
    try:
        found: Any = json.loads(text)
    except ValueError:
        found = text
    for name in ("error", "message", "detail"):
        if isinstance(found, dict) and name in found:
            found = found[name]
    told = " ".join(str(found).split())
    return (told.replace(key, "********") if key else told)[:MAX_DETAIL_CHARS]


def _seconds(retry_after: str) -> float | None:
    """Return the seconds that a Retry-After asks for (RFC 9110, 10.2.3); None where it does not."""
    try:
        return max(0.0, float(retry_after))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(retry_after).timestamp() - time())
    except (ValueError, OverflowError):
        return None
