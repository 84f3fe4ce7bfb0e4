"""The log of a command: lines on stderr, and tracebacks in a file rather than before the reader."""

from __future__ import annotations

import logging
from pathlib import Path

from zhiku import log
from zhiku.cli.bugs import append


class _Tracebacks(logging.Handler):
    """Writes records that carry a traceback to the file of errors."""

    def __init__(self, home: Path) -> None:
        super().__init__(logging.ERROR)
        self._home = home

    def emit(self, record: logging.LogRecord) -> None:
        if record.exc_info:
            append(self.format(record), self._home)


def _without_tracebacks(record: logging.LogRecord) -> bool:
    return not record.exc_info


def set_up_log(level: str, *, as_json: bool, home: Path) -> None:
    """Log to stderr from `level` on; tracebacks go to the file of errors, and to stderr for who asked for more."""
    log.set_up(level, as_json=as_json)
    logger = logging.getLogger("zhiku")
    if level == "warning" and not as_json:
        for handler in logger.handlers:
            handler.addFilter(_without_tracebacks)
    logger.addHandler(_Tracebacks(home))
