"""Decode what mail writes in ASCII: words of headers (RFC 2047), and the bodies of parts with their lines."""

from __future__ import annotations

import binascii
import re
from bisect import bisect_right
from itertools import accumulate
from typing import Final

from zhiku.errors import ParseFailed
from zhiku.text.decode import decode

_WORD: Final = re.compile(r"=\?([^?\s*]{1,60})(?:\*[^?\s]{0,20})?\?([bq])\?([^?\n]*)\?=", re.IGNORECASE)
_NOT_BASE64: Final = re.compile(rb"[^A-Za-z0-9+/]")


def decode_words(value: str) -> str:
    """Return a header's value as it is to be read. A word in no known encoding stays as it is written."""
    if "=?" not in value:
        return value
    parts: list[str] = []
    run: list[bytes] = []  # words in a row of one encoding: programs cut characters in two between them
    charset, run_start, done = "", 0, 0

    def flush() -> None:
        if run:
            parts.append(_decoded(b"".join(run), charset) or value[run_start:done])
            run.clear()

    for match in _WORD.finditer(value):
        between = value[done : match.start()]
        if not run or between.strip() or match[1].lower() != charset:
            flush()
            if between.strip() or not done:
                parts.append(between)
            charset, run_start = match[1].lower(), match.start()
        run.append(_word_bytes(match[2].lower(), match[3].encode("utf-8", "surrogateescape")))
        done = match.end()
    flush()
    return "".join(parts) + value[done:]


def _decoded(data: bytes, charset: str) -> str:
    try:
        return decode(data, charset).text
    except ParseFailed:
        return ""


def _word_bytes(kind: str, written: bytes) -> bytes:
    return binascii.a2b_qp(written, header=True) if kind == "q" else from_base64(written)


def from_base64(written: bytes) -> bytes:
    """Return the bytes that base64 stands for, whatever lies between its letters; a cut end is left out."""
    letters = _NOT_BASE64.sub(b"", written.partition(b"=")[0])
    letters = letters[: len(letters) - (len(letters) % 4 == 1)]
    return binascii.a2b_base64(letters + b"=" * (-len(letters) % 4))


def decode_body(written: bytes, transfer_encoding: str, first: int) -> tuple[bytes, list[int]]:
    """Return the bytes of a body that begins on line `first`, and for each of their lines the line of the file."""
    if transfer_encoding == "quoted-printable":
        return _from_quoted(written, first)
    if transfer_encoding == "base64":
        return _from_base64_lines(written, first)
    return written, list(range(first, first + written.count(b"\n") + 1))


def _from_quoted(written: bytes, first: int) -> tuple[bytes, list[int]]:
    parts: list[bytes] = []
    numbers = [first]
    is_whole = True
    for number, line in enumerate(written.split(b"\n"), first):
        if is_whole:
            numbers[-1] = number
        line = line.rstrip(b" \t\r")
        is_whole = not line.endswith(b"=")
        part = binascii.a2b_qp(line.removesuffix(b"=")) + (b"\n" if is_whole else b"")
        numbers += [number] * part.count(b"\n")
        parts.append(part)
    return b"".join(parts)[:-1] if is_whole else b"".join(parts), numbers[:-1] if is_whole else numbers


def _from_base64_lines(written: bytes, first: int) -> tuple[bytes, list[int]]:
    lines = written.split(b"\n")
    ends = list(accumulate(len(_NOT_BASE64.sub(b"", line)) for line in lines))
    data = from_base64(written)
    begins = [0]
    while (at := data.find(b"\n", begins[-1])) >= 0:
        begins.append(at + 1)
    last = len(lines) - 1
    return data, [first + min(bisect_right(ends, begin * 4 // 3), last) for begin in begins]
