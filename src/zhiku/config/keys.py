"""Keys of endpoints: written as they are, or as where they are to be found. They are read when they are needed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from zhiku.errors import ConfigError


def read_key(value: str, environ: Mapping[str, str]) -> str:
    """Return the key that a setting means: itself, that of `env:NAME`, or that in the file of `file:PATH`.

    Raises `ConfigError` where it is not there; no message holds a key.
    """
    kind, _, place = value.strip().partition(":")
    if kind == "env" and place:
        if not (key := environ.get(place, "").strip()):
            raise ConfigError(
                "the variable {name}, which should hold a key, is not set.",
                name=place,
                hint="set it, or write another api_key into config.toml",
            )
        return _checked(key, f"env:{place}")
    if kind == "file" and place:
        path = Path(place).expanduser()
        try:
            return _checked(path.read_text("utf-8").strip(), f"file:{place}")
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(
                "the file {path}, which should hold a key, cannot be read: {cause}.",
                path=path,
                cause=getattr(error, "strerror", None) or "UTF-8",
                hint="check that file, or write another api_key into config.toml",
            ) from error
    return _checked(value.strip(), "api_key")


def _checked(key: str, place: str) -> str:
    """Return a key that can stand in a header: one line of ASCII."""
    if not key.isascii() or not key.isprintable():
        raise ConfigError(
            "what {place} holds is no key: a key is one line of plain letters, digits and marks.",
            place=place,
            hint="write it again",
        )
    return key
