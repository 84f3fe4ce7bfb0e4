"""The process's environment, and the reader's language in it; light, for every start-up pays for it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zhiku.i18n import Language


def environment() -> Mapping[str, str]:
    """Return the process's environment; nothing else in the package reads it."""
    return os.environ


def language_from(environ: Mapping[str, str]) -> Language:
    """Return the language for texts: ZHIKU_LANG, else the first locale variable that says something."""
    for name in ("ZHIKU_LANG", "LC_ALL", "LC_MESSAGES", "LANG"):
        value = environ.get(name, "")
        if value and value not in ("C", "POSIX", "C.UTF-8"):
            return "zh" if value.lower().startswith("zh") else "en"
    return "en"
