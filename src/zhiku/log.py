"""Logging: stderr only, as lines for people or as JSON lines."""

from __future__ import annotations

import json
import logging
import sys


class _JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": self.formatTime(record),
            "level": record.levelname,
            "name": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False)


def set_up(level: str = "warning", *, as_json: bool = False) -> None:
    """Send zhiku's log to stderr from `level` on; for programs, never called by the library."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_JsonLines() if as_json else logging.Formatter("%(levelname)s %(name)s: %(message)s"))
    logger = logging.getLogger("zhiku")
    logger.handlers[:] = [handler]
    logger.setLevel(level.upper())
