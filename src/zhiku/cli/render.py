"""Everything that is printed goes through here: results to stdout, all else to stderr."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from zhiku.cli.columns import clean
from zhiku.i18n import hint_of, message_of, translate

if TYPE_CHECKING:
    from zhiku.errors import ZhikuError
    from zhiku.i18n import Language


YES = frozenset({"y", "yes", "是", "好"})
"""What agrees to a question, in lower case."""


class OutputLost(Exception):
    """What was printed could not be written: a full disk, for one."""


def prepare_streams() -> None:
    """Make the standard streams UTF-8 whatever the locale; what UTF-8 cannot hold is escaped, never a crash."""
    if sys.stdout is None or sys.stderr is None:  # closed by whoever started us
        nowhere = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115 - open as long as the process lives
        sys.stdout, sys.stderr = sys.stdout or nowhere, sys.stderr or nowhere
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8", errors="backslashreplace")  # type: ignore[union-attr] # real streams
    if sys.stdin is not None:
        sys.stdin.reconfigure(encoding="utf-8", errors="surrogateescape")  # type: ignore[union-attr] # likewise


@contextmanager
def _told() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        silence()
        raise OutputLost(error.strerror) from error


def out(text: str) -> None:
    """Print a result, which must be safe for a terminal already, and end its line."""
    with _told():
        sys.stdout.write(text if text.endswith("\n") else text + "\n")


def out_lines(lines: Iterable[str]) -> None:
    """Print a result line by line, as it comes."""
    with _told():
        for line in lines:
            sys.stdout.write(line + "\n")


def out_paths(paths: Iterable[str]) -> None:
    """Print paths, one a line: with their very bytes for another program, without control characters for a reader."""
    if sys.stdout.isatty():
        out_lines(map(clean, paths))
        return
    with _told():
        sys.stdout.flush()
        for path in paths:
            sys.stdout.buffer.write(_name_bytes(path) + b"\n")


def _name_bytes(path: str) -> bytes:
    try:
        return os.fsencode(path)
    except UnicodeEncodeError:  # indexed where names are UTF-8, and read in a locale that has other ones
        return path.encode("utf-8", "surrogateescape")


def out_json(value: object) -> None:
    """Print one JSON value. Control characters that JSON would let through are escaped too."""
    import json  # few commands print JSON
    import re

    text = json.dumps(value, ensure_ascii=False, indent=2)
    out(re.sub("[\x7f-\x9f]", lambda match: f"\\u{ord(match[0]):04x}", text))


def note(text: str) -> None:
    """Tell the reader something that is no result."""
    with _told():
        sys.stdout.flush()
    sys.stderr.write(clean(text) + "\n")


def error(problem: ZhikuError, language: Language) -> None:
    """Print what failed, and the next command to run."""
    note(translate("Error: {message}", language, message=message_of(problem, language)))
    if hint := hint_of(problem, language):
        note(translate("Hint: {hint}", language, hint=hint))


def draw(line: str) -> None:
    """Draw a line of progress over the one before; an empty one wipes it."""
    sys.stderr.write(f"\r\x1b[K{clean(line)}")
    sys.stderr.flush()


def ask(question: str) -> str:
    """Ask the reader on the terminal and return the answer."""
    sys.stdout.flush()
    sys.stderr.write(clean(question) + " ")
    sys.stderr.flush()
    return sys.stdin.readline().strip()


def flush() -> None:
    """Write out what is buffered, so that a reader that is gone shows itself now."""
    with _told():
        sys.stdout.flush()
    sys.stderr.flush()


def silence() -> None:
    """Send what is still buffered for a reader that is gone nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
