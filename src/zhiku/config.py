"""Settings: the user's `config.toml`, a base's `base.toml`, and the environment, each checked where it enters."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from zhiku.environ import environment as environment  # what a caller of `home_from` needs
from zhiku.environ import language_from as language_from
from zhiku.errors import ConfigError
from zhiku.paths import write_private

CONFIG_FILE = "config.toml"
BASE_FILE = "base.toml"
DEFAULT_BASE = "default"
MAX_NAME_CHARS = 64


@dataclass(frozen=True, kw_only=True)
class IndexSettings:
    """`[index]`: size caps in bytes; a larger file is reported and skipped."""

    max_text_bytes: int = 20_000_000
    max_pdf_bytes: int = 200_000_000
    max_other_bytes: int = 100_000_000


@dataclass(frozen=True, kw_only=True)
class SearchSettings:
    """`[search]`: what a search does unless told otherwise."""

    top_k: int = 10


@dataclass(frozen=True, kw_only=True)
class SnapshotSettings:
    """`[snapshots]`: how many copies of a base's index are kept, and how many bytes of them; the newest always is."""

    keep: int = 10
    max_bytes: int = 5_000_000_000


@dataclass(frozen=True, kw_only=True)
class LibrarySettings:
    """`[library]`: the folders whose first-level folders are each a base; a leading `~` is the user's home."""

    roots: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class WatchSettings:
    """`[watch]`: how bases are kept up to date while their files change."""

    auto_scan: bool = True
    """For programs that run on and do other things, too; who asks for watching is not asked again."""
    auto_embed: bool = True
    scan_interval: int = 60
    """Seconds between two looks at all files."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The user's settings."""

    index: IndexSettings = field(default_factory=IndexSettings)
    search: SearchSettings = field(default_factory=SearchSettings)
    snapshots: SnapshotSettings = field(default_factory=SnapshotSettings)
    library: LibrarySettings = field(default_factory=LibrarySettings)
    watch: WatchSettings = field(default_factory=WatchSettings)


@dataclass(frozen=True, kw_only=True)
class BaseSettings:
    """One base's settings. `roots` are absolute; `include` and `exclude` are gitignore patterns."""

    roots: tuple[str, ...] = ()
    intro: str = ""
    chunker: str = "structure"
    embedder: str = ""
    """Empty for the best one installed; `none` for a base that is searched by words only."""
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    hidden_sheets: bool = False
    """Whether sheets of a spreadsheet that are hidden are read."""
    ocr: bool = False
    """Whether text in images, and on pages of a PDF that are images, is recognised."""


def home_from(environ: Mapping[str, str]) -> Path:
    """Return the folder that holds zhiku's files: ZHIKU_HOME, else ~/.zhiku."""
    return Path(environ.get("ZHIKU_HOME") or "~/.zhiku").expanduser().absolute()


def load_settings(home: Path) -> Settings:
    """Return the user's settings. Raises `ConfigError` for what is unknown or malformed."""
    path = home / CONFIG_FILE
    table = _read_toml(path)
    _check_keys(table, [f.name for f in fields(Settings)], path)
    return Settings(
        index=_section(IndexSettings, "index", table, path),
        search=_section(SearchSettings, "search", table, path),
        snapshots=_section(SnapshotSettings, "snapshots", table, path),
        library=_section(LibrarySettings, "library", table, path),
        watch=_section(WatchSettings, "watch", table, path),
    )


def load_base_settings(folder: Path) -> BaseSettings:
    """Return the settings of the base in `folder`."""
    path = folder / BASE_FILE
    settings: BaseSettings = _values(BaseSettings, _read_toml(path), path)
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


def _read_toml(path: Path) -> dict[str, Any]:
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
    import tomllib  # most searches read no settings file at all

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(
            "{path} is not valid TOML: {cause}.", path=path, cause=error, hint="mend that line"
        ) from error


def _section(kind: Any, name: str, table: Mapping[str, Any], path: Path) -> Any:
    section = table.get(name, {})
    if not isinstance(section, dict):
        raise ConfigError(
            "{path}: {name} must be a table.", path=path, name=name, hint="write its settings below [{name}]"
        )
    return _values(kind, section, path)


def _values(kind: Any, table: Mapping[str, Any], path: Path) -> Any:
    known = {item.name: item for item in fields(kind)}
    _check_keys(table, list(known), path)
    values = {}
    for key, value in table.items():
        default = known[key].default
        if isinstance(default, tuple) and isinstance(value, list) and all(isinstance(v, str) for v in value):
            value = tuple(value)
        if type(value) is not type(default) or (type(value) is int and value < 1):
            raise ConfigError(
                "{path}: {key} cannot be {value!r}.",
                path=path,
                key=key,
                value=value,
                default=_in_toml(default),
                hint="its default is {default}",
            )
        values[key] = value
    return kind(**values)


def _in_toml(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return repr(list(value) if isinstance(value, tuple) else value)


def _check_keys(table: Mapping[str, Any], known: list[str], path: Path) -> None:
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
