"""An endpoint: where a model of the user's answers, and the address that a request to it goes to."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import SplitResult, urlsplit

from zhiku.errors import ConfigError

Kind = Literal["embedding", "rerank", "chat"]

_DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """Where a model answers. `url` is as the user wrote it: with or without a version, or whole."""

    url: str
    model: str
    key: str = field(default="", repr=False)
    """Sent as a bearer token; never in a message, a log or a representation."""
    timeout_s: float = 60.0
    """For one try, from the connection to the last byte."""
    interval_s: float = 0.0
    """Between the end of one request and the beginning of the next."""
    kind: Kind = "embedding"

    def address(self, path: str) -> str:
        """Return the whole address of a path such as `embeddings`. Raises `ConfigError`."""
        return address_of(self.url, path)

    @property
    def is_loopback(self) -> bool:
        """Return whether what is sent stays on this computer. Raises `ConfigError`."""
        return _is_loopback(_split(self.url).hostname or "")


def address_of(url: str, path: str) -> str:
    """Return the whole address of `path` (`embeddings`, `rerank`, `chat/completions`) at an endpoint.

    A URL without a path gets `/v1`; one that ends with `path` is whole already; any other path is kept. So all
    spellings of one endpoint have one address. Raises `ConfigError` for what is no address.
    """
    parts = _split(url)
    base = re.sub(r"/{2,}", "/", parts.path).rstrip("/")
    base = re.sub(r"(/v\d+)\1+$", r"\1", base)
    if base != f"/{path}" and not base.endswith(f"/{path}"):
        base = f"{base or '/v1'}/{path}"
    return f"{parts.scheme}://{_authority(parts)}{base}"


def _split(url: str) -> SplitResult:
    try:
        parts = urlsplit(url.strip())
        usable = parts.scheme in _DEFAULT_PORTS and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port or an IPv6 address that is none
        usable = False
    if not usable:
        raise ConfigError(
            "{url!r} is not the address of an endpoint.",
            url=_without_secrets(url),
            hint="write it like http://localhost:11434/v1",
        )
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise ConfigError(
            "the address {url!r} holds more than an address.",
            url=_without_secrets(url),
            hint="leave out user, password and what follows ? or #; a key belongs into api_key",
        )
    return parts


def _without_secrets(url: str) -> str:
    return re.sub(r"//[^/?#]*@", "//", re.split(r"[?#]", url)[0])


def _authority(parts: SplitResult) -> str:
    host = parts.hostname or ""
    host = f"[{host}]" if ":" in host else host
    is_default = parts.port in (None, _DEFAULT_PORTS[parts.scheme])
    return host if is_default else f"{host}:{parts.port}"


def _is_loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
