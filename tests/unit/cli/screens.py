"""Screens as the tests of what is shown need them."""

from __future__ import annotations

import io

from zhiku.cli.screen import Screen
from zhiku.i18n import Language


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def terminal(columns: int = 60) -> Screen:
    """Return a terminal without colours."""
    return Screen("en", _Terminal(), {"COLUMNS": str(columns)})


def pipe(language: Language = "en") -> Screen:
    """Return what is no terminal."""
    return Screen(language, io.StringIO(), {})
