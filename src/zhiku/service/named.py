"""Files that somebody names by hand: whether anything here can read them, before a base or a root is made of one."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from zhiku.errors import UnsupportedFormat
from zhiku.ingest.regular import read_head
from zhiku.ingest.rules import HEAD_BYTES, UNSUPPORTED_ENDINGS
from zhiku.parsers.plain import ENDINGS as PLAIN_ENDINGS
from zhiku.registry import FORMAT_ENDINGS
from zhiku.text.decode import looks_like_text


def check_named_files(paths: Iterable[Path]) -> None:
    """Raise `UnsupportedFormat` for the first of the paths that is a file of a kind that nothing here reads.

    In a folder such a file is left out, and counted; who names it wants it read.
    """
    formats = frozenset().union(*FORMAT_ENDINGS.values())
    for path in paths:
        ending = path.suffix.lower()
        if ending in formats or ending in PLAIN_ENDINGS or not path.is_file():
            continue
        documents = formats - FORMAT_ENDINGS["code"]
        known = {"path": path, "known": " ".join(sorted(documents))}
        if ending in UNSUPPORTED_ENDINGS:
            raise UnsupportedFormat(
                "{path}: files that end in {ending} are not read.",
                ending=ending,
                hint="save it as text, or as one of these: {known}",
                **known,
            )
        if not _may_be_text(path):
            raise UnsupportedFormat(
                "{path} is not text, nor of a format that is read.",
                hint="save it as text, or as one of these: {known}",
                **known,
            )


def _may_be_text(path: Path) -> bool:
    with suppress(OSError):  # what keeps it from being read is said of every file in the same words, later
        return looks_like_text(read_head(str(path), HEAD_BYTES))
    return True
