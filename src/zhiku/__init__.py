"""zhiku (知库): your own documents, answerable, with the place of every word.

    import zhiku

    zhiku.index("~/notes", "notes")
    for hit in zhiku.open("notes").search("雨量筒多久校准一次"):
        print(hit.path, hit.line_start, hit.text)

Names are imported when first used, so that `import zhiku` costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zhiku.answer import Answer, Health, Hit, Query
    from zhiku.errors import (
        BadModelReply,
        Busy,
        Changing,
        ConfigError,
        Crashed,
        Damaged,
        IndexStateError,
        ManifestMismatch,
        MigrationNeeded,
        MissingExtra,
        ModelError,
        ModelUnavailable,
        NeedsOcr,
        NewerSchema,
        NotFound,
        OutOfMemory,
        ParseFailed,
        PasswordNeeded,
        QueryError,
        SourceError,
        TimedOut,
        TooLarge,
        Unreadable,
        UnsupportedFormat,
        UsageError,
        ZhikuError,
    )
    from zhiku.locator import Locator, parse_locator
    from zhiku.service.api import index_paths as index
    from zhiku.service.api import open_base as open  # noqa: A004 - a base is opened as a file is
    from zhiku.service.api import search_bases as search
    from zhiku.service.api import sync_roots as sync
    from zhiku.service.base import Base
    from zhiku.service.library import Library

__version__ = "0.1.0.dev0"

__all__ = [
    "Answer",
    "BadModelReply",
    "Base",
    "Busy",
    "Changing",
    "ConfigError",
    "Crashed",
    "Damaged",
    "Health",
    "Hit",
    "IndexStateError",
    "Library",
    "Locator",
    "ManifestMismatch",
    "MigrationNeeded",
    "MissingExtra",
    "ModelError",
    "ModelUnavailable",
    "NeedsOcr",
    "NewerSchema",
    "NotFound",
    "OutOfMemory",
    "ParseFailed",
    "PasswordNeeded",
    "Query",
    "QueryError",
    "SourceError",
    "TimedOut",
    "TooLarge",
    "Unreadable",
    "UnsupportedFormat",
    "UsageError",
    "ZhikuError",
    "__version__",
    "index",
    "open",
    "parse_locator",
    "search",
    "sync",
]

# Where a name comes from; every other one is an error.
_HOMES = {
    "Answer": "zhiku.answer:Answer",
    "Health": "zhiku.answer:Health",
    "Hit": "zhiku.answer:Hit",
    "Query": "zhiku.answer:Query",
    "Locator": "zhiku.locator:Locator",
    "parse_locator": "zhiku.locator:parse_locator",
    "Base": "zhiku.service.base:Base",
    "Library": "zhiku.service.library:Library",
    "index": "zhiku.service.api:index_paths",
    "open": "zhiku.service.api:open_base",
    "search": "zhiku.service.api:search_bases",
    "sync": "zhiku.service.api:sync_roots",
}


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'zhiku' has no attribute {name!r}")
    module, _, attribute = _HOMES.get(name, f"zhiku.errors:{name}").partition(":")
    found: object = getattr(import_module(module), attribute)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
