"""Take mail apart (RFC 5322, RFC 2045 to 2047, mbox) in one pass over its lines, however deep it is nested."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from email.message import Message
from functools import cached_property
from typing import Final

from zhiku.errors import ParseFailed
from zhiku.parsers.mime_words import decode_words
from zhiku.text.decode import decode

MAX_VALUE_CHARS: Final = 2_000
"""Of a header; a list of more recipients is cut."""

_FIELD: Final = re.compile(r"([!-9;-~]+)[ \t]*:(.*)", re.DOTALL)
# A separator of messages names a time; "From " also begins sentences.
_FROM: Final = re.compile(rb"From (?:.*\d:\d\d.*)?\s*\Z")
_HEADER_LINE: Final = re.compile(rb"[!-9;-~]+[ \t]*:|[ \t]|>?From ")
# What text hardly begins with.
_USUAL_FIELD: Final = re.compile(rb"(?:from|to|cc|subject|date|received|[a-z]+-[a-z-]+)[ \t]*:", re.IGNORECASE)
_CHARSET: Final = re.compile(rb"""charset\s*=\s*["']?([\w.:-]+)""", re.IGNORECASE)
_IDENTITY: Final = frozenset(("", "7bit", "8bit", "binary"))


@dataclass(frozen=True)
class Header:
    """A field as it is to be read, and its line of the file."""

    name: str
    """In lower case."""
    value: str
    line: int


@dataclass(kw_only=True)
class Part:
    """What has headers of its own: a message, or a part of one that holds no others."""

    headers: tuple[Header, ...]
    depth: int
    """How many messages are around it: 0 for one that lies in the file itself."""
    is_message: bool
    """Whether it begins one; its text is then a part of its own."""
    alternative: int
    """Parts that say the same in other ways have the same number above 0."""
    start: int
    end: int = 0
    """Where its body is, in bytes of the file."""
    line: int
    """On which its body begins."""
    warnings: tuple[str, ...] = ()

    def value(self, name: str) -> str:
        """Return the first field of a name, or an empty string."""
        return next((header.value for header in self.headers if header.name == name), "")

    @cached_property
    def _fields(self) -> Message:
        message = Message()
        for name in ("content-type", "content-disposition", "content-transfer-encoding"):
            if value := self.value(name)[:MAX_VALUE_CHARS]:
                message[name] = value
        return message

    @property
    def content_type(self) -> str:
        """Return its type in lower case; text/plain where it says none, or has no parts although it says so."""
        stated = self._fields.get_content_type()
        return "text/plain" if stated.startswith("multipart/") and self.end else stated

    @property
    def boundary(self) -> bytes:
        """Return what parts the parts of a multipart."""
        return str(self._fields.get_boundary("")).encode("utf-8", "surrogateescape")

    @property
    def disposition(self) -> str:
        """Return `attachment`, `inline` or what else it says."""
        return self._fields.get_content_disposition() or ""

    @property
    def transfer_encoding(self) -> str:
        """Return how its bytes are written."""
        return self.value("content-transfer-encoding").strip().lower()

    @property
    def file_name(self) -> str:
        """Return what it is called as a file, or an empty string."""
        return " ".join(decode_words(self._fields.get_filename("")).split())

    def parameter(self, name: str) -> str:
        """Return a parameter of its type, or an empty string."""
        value = self._fields.get_param(name, "")
        return value[2] if isinstance(value, tuple) else str(value)


@dataclass
class _Multipart:
    boundary: bytes
    alternative: int
    preamble: Part
    """What stands before its first part: nothing to read, unless no part follows."""


@dataclass
class _Splitter:
    """What is open at the present line."""

    data: bytes
    done: list[Part] = field(default_factory=list)
    open: list[_Multipart] = field(default_factory=list)
    places: dict[bytes, list[int]] = field(default_factory=dict)
    """Where in `open` a boundary stands."""
    part: Part | None = None
    headers_at: tuple[int, int] | None = (0, 1)
    """Where the headers that are being read begin, and on which line; None elsewhere."""
    is_message: bool = True
    depth: int = 0
    alternatives: int = 0

    def feed(self, pos: int, end: int, number: int) -> None:
        """Take one line, from `pos` to `end`."""
        line = self.data[pos:end]
        if line.startswith(b"--") and self.open and self._part_ends(line[2:].rstrip(), pos, end, number):
            return
        if self.headers_at is None:
            return
        if not line.strip(b"\r\n"):
            self._end_headers(pos, end, number + 1)
        elif not (_HEADER_LINE.match(line) or _USUAL_FIELD.match(self.data, end)):
            self._end_headers(pos, pos, number)  # the text begins, though no blank line is before it

    def end_message(self, pos: int, end: int, number: int) -> list[Part]:
        """End everything before `pos`, begin a new message at `end`, and return the parts of the old one."""
        if self.headers_at is not None and self.headers_at[0] < pos:
            self._end_headers(pos, pos, number)
        self._end_part(pos)
        done, self.done = self.done, []
        self.open.clear()
        self.places.clear()
        self._begin_headers(end, number + 1, is_message=True, depth=0)
        return done

    def _part_ends(self, mark: bytes, pos: int, end: int, number: int) -> bool:
        is_last = False
        if not self.places.get(mark):
            is_last, mark = mark.endswith(b"--"), mark.removesuffix(b"--")
            if not is_last or not self.places.get(mark):
                return False
        if self.headers_at is not None and self.headers_at[0] < pos:
            self._end_headers(pos, pos, number)
        place = self.places[mark][-1]
        if self.part is self.open[place].preamble:
            self.part = None
        self._end_part(pos)
        while len(self.open) > place + (not is_last):
            self.places[self.open.pop().boundary].pop()
        self.headers_at = None
        if not is_last:
            self._begin_headers(end, number + 1, is_message=False, depth=self.open[place].preamble.depth)
        return True

    def _begin_headers(self, pos: int, number: int, *, is_message: bool, depth: int) -> None:
        self.headers_at, self.is_message, self.depth = (pos, number), is_message, depth

    def _end_headers(self, pos: int, end: int, number: int) -> None:
        assert self.headers_at is not None
        start, first = self.headers_at
        self.headers_at = None
        headers, warnings = read_headers(self.data[start:pos], first)
        part = Part(
            headers=headers,
            depth=self.depth,
            is_message=self.is_message,
            alternative=self.open[-1].alternative if self.open and not self.is_message else 0,
            start=end,
            line=number,
            warnings=warnings,
        )
        if self.is_message:
            # Its text, or what it is made of, is told by the same headers.
            self.done.append(part)
            part = replace(part, is_message=False, warnings=())
        self._open_part(part, end, number)

    def _open_part(self, part: Part, pos: int, number: int) -> None:
        content_type = part.content_type
        if content_type.startswith("multipart/") and (boundary := part.boundary):
            alternative = part.alternative
            if content_type == "multipart/alternative":
                self.alternatives += 1
                alternative = self.alternatives
            self.places.setdefault(boundary, []).append(len(self.open))
            self.open.append(_Multipart(boundary, alternative, preamble=part))
            self.part = part
        elif content_type == "message/rfc822" and part.transfer_encoding in _IDENTITY:
            self._begin_headers(pos, number, is_message=True, depth=part.depth + 1)
        else:
            self.part = part

    def _end_part(self, pos: int) -> None:
        if self.part is not None:
            self.part.end = max(self.part.start, pos)
            self.done.append(self.part)
            self.part = None


def iter_messages(data: bytes, *, is_mbox: bool) -> Iterator[list[Part]]:
    """Yield the parts of each message in the file, in order: the message itself, then what it holds."""
    splitter = _Splitter(data)
    is_after_blank = True
    pos, number = 0, 1
    while pos < len(data):
        end = data.find(b"\n", pos) + 1 or len(data)
        may_part = is_after_blank and data.startswith(b"From ", pos)
        if may_part and (pos == 0 or is_mbox) and _FROM.match(data[pos:end]):
            if parts := splitter.end_message(pos, end, number):
                yield parts
        else:
            splitter.feed(pos, end, number)
        is_after_blank = end - pos <= 2 and not data[pos:end].strip()
        pos, number = end, number + 1
    if parts := splitter.end_message(len(data), len(data), number):
        yield parts


def read_headers(block: bytes, first: int) -> tuple[tuple[Header, ...], tuple[str, ...]]:
    """Return the fields of a run of lines, of which the first has the number `first`, and what was worked around."""
    declared = _CHARSET.search(block)
    block = block.replace(b"\r\n", b"\n").replace(b"\r", b" ")
    warnings: tuple[str, ...] = ()
    try:
        text = decode(block, declared.group(1).decode("ascii") if declared else "").text
    except ParseFailed:
        text = block.decode("ascii", "replace")
        warnings = (f"The headers from line {first} on are in no encoding that is known",)
    fields: list[tuple[int, list[str]]] = []
    for number, line in enumerate(text.split("\n"), first):
        # A line that was cut without being indented goes on as well.
        if fields and (line[:1] in (" ", "\t") or not _FIELD.match(line)):
            fields[-1][1].append(line.strip())
        elif line:
            fields.append((number, [line.rstrip()]))
    headers = []
    for number, lines in fields:
        if match := _FIELD.match(" ".join(lines)):
            headers.append(Header(match[1].lower(), match[2].strip(), number))
    return tuple(headers), warnings


def shown_value(header: Header) -> str:
    """Return a field as a reader sees it."""
    value = " ".join(decode_words(header.value).split())
    return value if len(value) <= MAX_VALUE_CHARS else value[:MAX_VALUE_CHARS] + "…"
