"""The user's settings, `config.toml`, section by section."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, fields
from pathlib import Path
from typing import Any

from zhiku.config.files import check_keys, read_toml, section_of
from zhiku.config.models import ENDPOINT, ModelSettings, models_in
from zhiku.frozen import frozen

CONFIG_FILE = "config.toml"


@frozen
class IndexSettings:
    """`[index]`: size caps in bytes; a larger file is reported and skipped."""

    max_text_bytes: int = 20_000_000
    max_pdf_bytes: int = 200_000_000
    max_other_bytes: int = 100_000_000


@frozen
class SearchSettings:
    """`[search]`: what a search does unless told otherwise."""

    top_k: int = 10
    enable_rerank: bool = False
    """Whether a reranker scores the hits anew, unless a search says otherwise."""
    rerank: str = ENDPOINT
    """Which one: `endpoint` is that of `[models.rerank]`."""
    rerank_top_k: int = 5
    """How many of the hits are kept then."""
    rerank_timeout: float = 3.0
    """Seconds that this may take; then the hits stay as they were."""


@frozen
class SnapshotSettings:
    """`[snapshots]`: how many copies of a base's index are kept, and how many bytes of them; the newest always is."""

    keep: int = 10
    max_bytes: int = 5_000_000_000


@frozen
class LibrarySettings:
    """`[library]`: the folders whose first-level folders are each a base; a leading `~` is the user's home."""

    roots: tuple[str, ...] = ()


@frozen
class WatchSettings:
    """`[watch]`: how bases are kept up to date while their files change."""

    auto_scan: bool = True
    """For programs that run on and do other things, too; who asks for watching is not asked again."""
    auto_embed: bool = True
    scan_interval: int = 60
    """Seconds between two looks at all files."""


@frozen
class Settings:
    """The user's settings."""

    index: IndexSettings = field(default_factory=IndexSettings)
    search: SearchSettings = field(default_factory=SearchSettings)
    snapshots: SnapshotSettings = field(default_factory=SnapshotSettings)
    library: LibrarySettings = field(default_factory=LibrarySettings)
    watch: WatchSettings = field(default_factory=WatchSettings)
    models: ModelSettings = field(default_factory=ModelSettings)


def home_from(environ: Mapping[str, str]) -> Path:
    """Return the folder that holds zhiku's files: ZHIKU_HOME, else ~/.zhiku."""
    return Path(environ.get("ZHIKU_HOME") or "~/.zhiku").expanduser().absolute()


def load_settings(home: Path) -> Settings:
    """Return the user's settings. Raises `ConfigError` for what is unknown or malformed."""
    path = home / CONFIG_FILE
    return settings_in(read_toml(path), path)


def settings_in(table: Mapping[str, Any], path: Path) -> Settings:
    """Return the settings that the table of a file holds; `path` is named where something is wrong."""
    check_keys(table, [f.name for f in fields(Settings)], path)
    return Settings(
        index=section_of(IndexSettings, "index", table, path),
        search=section_of(SearchSettings, "search", table, path),
        snapshots=section_of(SnapshotSettings, "snapshots", table, path),
        library=section_of(LibrarySettings, "library", table, path),
        watch=section_of(WatchSettings, "watch", table, path),
        models=models_in(table.get("models", {}), path),
    )
