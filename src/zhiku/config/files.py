"""TOML files as dataclasses: every key is checked, none is ignored."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import Field, fields
from pathlib import Path
from typing import Any

from zhiku.errors import ConfigError


def read_toml(path: Path) -> dict[str, Any]:
    """Return what a TOML file holds; nothing where there is none. Raises `ConfigError`."""
    try:
        text = path.read_text("utf-8")
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise ConfigError(
            "{path} cannot be read: {cause}.",
            path=path,
            cause=error.strerror,
            hint="check its permissions, or name another home in ZHIKU_HOME",
        ) from error
    except UnicodeDecodeError as error:
        raise ConfigError("{path} is not UTF-8.", path=path, hint="save it as UTF-8") from error
    return parse_toml(text, path)


def parse_toml(text: str, path: Path) -> dict[str, Any]:
    """Return what TOML says; `path` is named where it is none."""
    import tomllib  # most searches read no settings file at all

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(
            "{path} is not valid TOML: {cause}.", path=path, cause=error, hint="mend that line"
        ) from error


def section_of(kind: Any, name: str, table: Mapping[str, Any], path: Path) -> Any:
    """Return one table of a file as a dataclass of `kind`; its defaults where the file does not have it."""
    section = table.get(name, {})
    if not isinstance(section, dict):
        raise ConfigError(
            "{path}: {name} must be a table.", path=path, name=name, hint="write its settings below [{name}]"
        )
    return values_of(kind, section, path)


def values_of(kind: Any, table: Mapping[str, Any], path: Path) -> Any:
    """Return a table as a dataclass of `kind`. Raises `ConfigError` for a key or value that is wrong."""
    known = {item.name: item for item in fields(kind)}
    check_keys(table, list(known), path)
    values = {}
    for key, value in table.items():
        default = known[key].default
        value = _as_kind_of(default, value)
        if type(value) is not type(default) or not _is_in_range(value, known[key]):
            raise ConfigError(
                "{path}: {key} cannot be {value!r}.",
                path=path,
                key=key,
                value=value if known[key].repr else "…",
                default=in_toml(default),
                hint="its default is {default}",
            )
        values[key] = value
    return kind(**values)


def _as_kind_of(default: object, value: Any) -> Any:
    """Return a value of a file as a setting has it: lists as tuples, whole numbers as floats where these are meant."""
    if isinstance(default, tuple) and isinstance(value, list) and all(isinstance(v, str) for v in value):
        return tuple(value)
    if isinstance(default, float) and type(value) is int:
        return float(value)
    return value


def _is_in_range(value: object, item: Field[Any]) -> bool:
    """Answer whether a number is positive, or at least not negative where its default is 0 or a field says so."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return True
    least = item.metadata.get("least", item.default)
    return math.isfinite(value) and (value > 0 or value == least == 0)


def in_toml(value: object) -> str:
    """Return a value as TOML has it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        import json  # few commands show settings

        return json.dumps(value, ensure_ascii=False)
    return f"[{', '.join(map(in_toml, value))}]" if isinstance(value, tuple) else repr(value)


def check_keys(table: Mapping[str, Any], known: list[str], path: Path) -> None:
    """Raise `ConfigError` for a key that is not known, with the nearest that is."""
    for key in table:
        if key not in known:
            import difflib  # only a mistake pays for it

            close = difflib.get_close_matches(key, known, n=1)
            hint = "did you mean {close!r}?" if close else "known are: {known}"
            raise ConfigError(
                "{path}: unknown setting {key!r}.",
                path=path,
                key=key,
                close=close[0] if close else "",
                known=", ".join(known),
                hint=hint,
            )
