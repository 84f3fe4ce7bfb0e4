"""The user's settings as `zhiku config` shows and changes them: by dotted names, never a key in clear."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zhiku.config.files import read_toml
from zhiku.config.models import EmbeddingSettings
from zhiku.config.user import CONFIG_FILE, Settings, load_settings, settings_in
from zhiku.errors import ConfigError
from zhiku.paths import make_private_dir, write_private

if TYPE_CHECKING:
    from tomlkit import TOMLDocument

HIDDEN = "********"
"""What is shown of a key that stands in the settings."""

Value = str | int | float | bool | tuple[str, ...]


def setting(home: Path, name: str) -> Value:
    """Return the value that holds for a setting such as `search.top_k`; of a key, whether there is one."""
    known = dict(all_settings(load_settings(home)))
    if name not in known:
        raise _unknown(name, known)
    return known[name]


def all_settings(settings: Settings) -> Iterator[tuple[str, Value]]:
    """Yield every setting by its dotted name with the value that holds."""
    for section in fields(settings):
        if section.name != "models":
            yield from _named(section.name, getattr(settings, section.name))
    models = settings.models
    yield from _named("models.embedding", models.embedding)
    for name, each in models.named.items():
        yield from _named(f"models.embedding.{name}", each)
    yield from _named("models.rerank", models.rerank)
    yield from _named("models.chat", models.chat)


def change(home: Path, name: str, text: str) -> None:
    """Set one setting in `config.toml`, whose comments and order stay; nothing is written where it would be wrong.

    `text` is read as TOML where the setting is no text, and a list may also be given as its only item.
    """
    import tomlkit

    path = home / CONFIG_FILE
    read_toml(path)  # says what is wrong with a file that is no TOML
    document = tomlkit.parse(path.read_text("utf-8")) if path.exists() else tomlkit.document()
    *sections, key = name.split(".")
    default = _default(home, name)
    _put(document, sections, key, _read(text, default))
    changed = tomlkit.dumps(document)
    settings_in(tomllib.loads(changed), path)
    write_private(make_private_dir(home) / CONFIG_FILE, changed)


def _named(prefix: str, values: Any) -> Iterator[tuple[str, Value]]:
    assert is_dataclass(values)
    for item in fields(values):
        value: Value = getattr(values, item.name)
        yield f"{prefix}.{item.name}", value if item.repr else _hidden(str(value))


def _hidden(key: str) -> str:
    """Return where a key is to be found, which is no secret, or that there is one."""
    return key if not key or key.startswith(("env:", "file:")) else HIDDEN


def _default(home: Path, name: str) -> Value:
    """Return the default of a setting; that of an endpoint that has no section yet, too."""
    known: dict[str, Value] = dict(all_settings(Settings()))
    if name in known:
        return known[name]
    sections, _, key = name.rpartition(".")
    named = dict(_named("", EmbeddingSettings()))
    if sections.count(".") == 2 and sections.startswith("models.embedding.") and f".{key}" in named:
        return named[f".{key}"]
    raise _unknown(name, known | dict(all_settings(load_settings(home))))


def _read(text: str, default: Value) -> Any:
    if isinstance(default, str):
        return text
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        value = text
    return [value] if isinstance(default, tuple) and isinstance(value, str) else value


def _put(document: TOMLDocument, sections: list[str], key: str, value: Any) -> None:
    import tomlkit

    table: Any = document
    for i, section in enumerate(sections):
        if section not in table:
            table[section] = tomlkit.table(is_super_table=i + 1 < len(sections))
        table = table[section]
        if not isinstance(table, dict):
            raise ConfigError(
                "{path}: {name} must be a table.",
                path=CONFIG_FILE,
                name=section,
                hint="write its settings below [{name}]",
            )
    table[key] = value


def _unknown(name: str, known: dict[str, Value]) -> ConfigError:
    import difflib  # only a mistake pays for it

    close = difflib.get_close_matches(name, list(known), n=1)
    hint = "did you mean {close!r}?" if close else "see all settings: zhiku config show"
    return ConfigError("there is no setting {name!r}.", name=name, close=close[0] if close else "", hint=hint)
