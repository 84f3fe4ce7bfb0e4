"""The log of what should not have happened."""

from __future__ import annotations

import os
import traceback
from datetime import UTC, datetime
from pathlib import Path

from zhiku import __version__
from zhiku.errors import ZhikuError
from zhiku.paths import PRIVATE_FILE_MODE, make_private_dir

LOGS_FOLDER = "logs"
ERRORS_FILE = "errors.log"


def errors_path(home: Path) -> Path:
    """Return where tracebacks are written."""
    return home / LOGS_FOLDER / ERRORS_FILE


def record(error: BaseException, home: Path) -> Path | None:
    """Append an error's traceback to the log and return the log's path; None where it cannot be written."""
    lines = "".join(traceback.format_exception(error))
    return append(f"zhiku {__version__}\n{lines}", home)


def append(text: str, home: Path) -> Path | None:
    """Append a dated entry to the log and return the log's path; None where it cannot be written."""
    path = errors_path(home)
    entry = f"{datetime.now(UTC).isoformat(timespec='seconds')} {text.rstrip()}\n\n"
    try:
        make_private_dir(path.parent)
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, PRIVATE_FILE_MODE)
        with os.fdopen(descriptor, "a", encoding="utf-8", errors="backslashreplace") as file:
            file.write(entry)
    except (OSError, ZhikuError):
        return None
    return path
