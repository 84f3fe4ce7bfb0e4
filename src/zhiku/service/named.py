"""Files that somebody names by hand: whether anything here can read them, before a base or a root is made of one."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from zhiku.errors import NeedsOcr, UnsupportedFormat
from zhiku.ingest.regular import read_head
from zhiku.ingest.rules import HEAD_BYTES, UNSUPPORTED_ENDINGS
from zhiku.parsers.plain import ENDINGS as PLAIN_ENDINGS
from zhiku.registry import FORMAT_ENDINGS
from zhiku.text.decode import looks_like_text


def check_named_files(paths: Iterable[Path], *, with_ocr: bool = False) -> None:
    """Raise `UnsupportedFormat` for the first of the paths that is a file of a kind that nothing here reads.

    Raise `NeedsOcr` for one that only OCR reads, unless it is to be read `with_ocr`. In a folder such a file is left
    out, and counted; who names it wants it read.
    """
    pictures = frozenset() if with_ocr else FORMAT_ENDINGS["image"]
    formats = frozenset().union(*FORMAT_ENDINGS.values()) - pictures
    for path in paths:
        ending = path.suffix.lower()
        if ending in pictures and path.is_file():
            raise NeedsOcr(
                "{path} is a picture, which only OCR reads.",
                path=path,
                hint='read it by OCR: zhiku index PATH --ocr (which needs: pip install "zhiku[ocr]")',
            )
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
