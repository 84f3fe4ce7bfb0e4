"""Settings: the user's `config.toml`, a base's `base.toml`, and the environment, each checked where it enters."""

from zhiku.config.base import (
    BASE_FILE,
    DEFAULT_BASE,
    MAX_NAME_CHARS,
    BaseSettings,
    base_key,
    check_base_name,
    load_base_settings,
    save_base_settings,
)
from zhiku.config.models import ENDPOINT, ChatSettings, EmbeddingSettings, ModelSettings, RerankSettings
from zhiku.config.user import (
    CONFIG_FILE,
    IndexSettings,
    LibrarySettings,
    SearchSettings,
    Settings,
    SnapshotSettings,
    WatchSettings,
    home_from,
    load_settings,
    settings_in,
)
from zhiku.environ import environment, language_from

__all__ = [
    "BASE_FILE",
    "CONFIG_FILE",
    "DEFAULT_BASE",
    "ENDPOINT",
    "MAX_NAME_CHARS",
    "BaseSettings",
    "ChatSettings",
    "EmbeddingSettings",
    "IndexSettings",
    "LibrarySettings",
    "ModelSettings",
    "RerankSettings",
    "SearchSettings",
    "Settings",
    "SnapshotSettings",
    "WatchSettings",
    "base_key",
    "check_base_name",
    "environment",
    "home_from",
    "language_from",
    "load_base_settings",
    "load_settings",
    "save_base_settings",
    "settings_in",
]
