"""One run of the command line: its home, its language and its screens."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from zhiku.cli.screen import Screen
from zhiku.environ import environment, language_from

if TYPE_CHECKING:
    from pathlib import Path

    from zhiku.service.endpoints import EmbedOptions
    from zhiku.service.library import Library

_LEVELS = ("warning", "info", "debug")


class Session:
    """What every command knows; global options change it before a command runs."""

    def __init__(self) -> None:
        environ = environment()
        self.language = language_from(environ)
        self.screen = Screen(self.language, sys.stdout, environ)
        self.errors = Screen(self.language, sys.stderr, environ)
        self.home_option: str | None = None
        self.verbosity = 0
        self.logs_json = False

    @property
    def home(self) -> Path:
        """The folder of zhiku's files: the option's, else the environment's."""
        from zhiku.config import home_from  # help needs no home

        told = {"ZHIKU_HOME": self.home_option} if self.home_option else environment()
        return home_from(told)

    def library(self, endpoint: EmbedOptions | None = None) -> Library:
        """Open the library of this home; `endpoint` is what the options say of one."""
        from zhiku.service.library import Library  # help needs no library

        return Library(self.home, endpoint)

    def set_up_log(self) -> None:
        """Send the log to stderr as the options say, and what should not have happened to a file too."""
        from zhiku.cli.logs import set_up_log  # logging is slow to import, and most commands log nothing

        set_up_log(_LEVELS[min(self.verbosity, 2)], as_json=self.logs_json, home=self.home)
