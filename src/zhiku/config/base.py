"""A base's own settings, `base.toml`, and what its name may be."""

from __future__ import annotations

import unicodedata
from dataclasses import field, fields
from pathlib import Path

from zhiku.config.files import read_toml, values_of
from zhiku.errors import ConfigError
from zhiku.frozen import frozen
from zhiku.paths import write_private

BASE_FILE = "base.toml"
DEFAULT_BASE = "default"
MAX_NAME_CHARS = 64


@frozen
class BaseSettings:
    """One base's settings. `roots` are absolute; `include` and `exclude` are gitignore patterns."""

    roots: tuple[str, ...] = ()
    intro: str = ""
    chunker: str = "structure"
    """`structure`: sections and paragraphs; `lines`: windows of lines."""
    chunk_lines: int = 10
    """How many lines that are not blank a window has."""
    overlap_lines: int = field(default=2, metadata={"least": 0})
    """How many of them the next window repeats."""
    embedder: str = ""
    """Empty for the best one installed; `none` for a base that is searched by words only."""
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    hidden_sheets: bool = False
    """Whether sheets of a spreadsheet that are hidden are read."""
    glossary: str = ""
    """The absolute path of a file of terms and aliases, besides those that lie in their places."""
    ocr: bool = False
    """Whether text in images, and on pages of a PDF that are images, is recognised."""


def load_base_settings(folder: Path) -> BaseSettings:
    """Return the settings of the base in `folder`."""
    path = folder / BASE_FILE
    settings: BaseSettings = values_of(BaseSettings, read_toml(path), path)
    return settings


def save_base_settings(folder: Path, settings: BaseSettings) -> None:
    """Write a base's settings; comments that the user put into the file are kept."""
    import tomlkit  # only a run that adds a root writes settings

    path = folder / BASE_FILE
    document = tomlkit.parse(path.read_text("utf-8")) if path.exists() else tomlkit.document()
    for item in fields(BaseSettings):
        value = getattr(settings, item.name)
        if item.name in document or value != item.default:
            document[item.name] = list(value) if isinstance(value, tuple) else value
    write_private(path, tomlkit.dumps(document))


def check_base_name(name: str) -> str:
    """Return a base's name in NFC. Raises `ConfigError` unless it is letters, digits, `_` and `-`, at most 64."""
    name = unicodedata.normalize("NFC", name)
    allowed = name and len(name) <= MAX_NAME_CHARS and all(c.isalnum() or c in "_-" for c in name)
    if not allowed or name.startswith("-"):
        raise ConfigError(
            "{name!r} cannot be the name of a base.",
            name=name,
            hint="use letters, digits, _ and -, at most 64 characters",
        )
    return name


def base_key(name: str) -> str:
    """Return what is equal for names that mean the same base: any case, any normal form."""
    return unicodedata.normalize("NFC", name).casefold()
