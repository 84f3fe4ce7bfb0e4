"""Files of JSON objects, one a line, as users bring them: read with the file and line of what is wrong."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zhiku.errors import UsageError
from zhiku.service.targets import check_paths

HINT = "each line is one JSON object; what it holds: zhiku eval --help"


@dataclass(frozen=True)
class Row:
    """One object, and where it stands."""

    path: Path
    line_no: int
    values: Mapping[str, Any]

    def text(self, key: str, default: str | None = None) -> str:
        """Return the text of a key. Raises `UsageError` where it is no text, or missing without a default."""
        value = self.values.get(key)
        if value is None:
            value = default
        if value is None:
            raise UsageError(
                "{path}, line {line}: {key!r} is missing.", path=self.path, line=self.line_no, key=key, hint=HINT
            )
        if not isinstance(value, str) or any("\ud800" <= char <= "\udfff" for char in value):
            raise UsageError(
                "{path}, line {line}: {key!r} must be text.", path=self.path, line=self.line_no, key=key, hint=HINT
            )
        return value

    def words(self, key: str) -> str:
        """Return the text of a key that may not be blank."""
        value = self.text(key)
        if not value.strip():
            raise UsageError(
                "{path}, line {line}: {key!r} is empty.", path=self.path, line=self.line_no, key=key, hint=HINT
            )
        return value


def iter_rows(path: Path) -> Iterator[Row]:
    """Yield the objects of a UTF-8 file; blank lines and those that begin with # are none.

    Raises `NotFound` where there is no such file, `UsageError` where it cannot be read or a line is no JSON object.
    """
    for line_no, line in iter_lines(path):
        if line.strip() and not line.lstrip().startswith("#"):
            yield Row(path, line_no, _object(path, line_no, line))


def iter_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines of a UTF-8 file with their numbers, from 1."""
    check_paths([path])
    try:
        with path.open("rb") as lines:
            for line_no, line in enumerate(lines, 1):
                yield line_no, _decoded(path, line_no, line)
    except OSError as error:
        raise UsageError(
            "{path} cannot be read: {cause}.", path=path, cause=error.strerror, hint="name a file that you may read"
        ) from error


def _decoded(path: Path, line_no: int, line: bytes) -> str:
    try:
        return line.decode("utf-8-sig" if line_no == 1 else "utf-8").rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise UsageError(
            "{path}, line {line}: this is not UTF-8.", path=path, line=line_no, hint="save it as UTF-8"
        ) from error


def _object(path: Path, line_no: int, line: str) -> Mapping[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise UsageError(
            "{path}, line {line}, column {column}: this is not JSON: {cause}.",
            path=path,
            line=line_no,
            column=getattr(error, "colno", 1),
            cause=getattr(error, "msg", error),
            hint=HINT,
        ) from error
    if not isinstance(value, dict):
        raise UsageError("{path}, line {line}: this is no JSON object.", path=path, line=line_no, hint=HINT)
    return value
