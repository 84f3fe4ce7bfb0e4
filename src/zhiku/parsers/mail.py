"""Read mail: a section for each message with what its headers say, its text, and the names of what is attached."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from itertools import accumulate
from pathlib import PurePosixPath
from typing import Any, Final

from zhiku.errors import ParseFailed
from zhiku.model import ParsedDocument, Source
from zhiku.parsers.html import declared_charset, read_page
from zhiku.parsers.lines import Line, assemble
from zhiku.parsers.mime import Header, Part, iter_messages, shown_value
from zhiku.parsers.mime_words import decode_body
from zhiku.text.decode import decode

MAX_LEVEL: Final = 6
MAILBOX_ENDING: Final = ".mbox"

_SHOWN: Final = ("from", "to", "cc", "date")
_PLAIN, _HTML, _OTHER = range(3)


class MailParser:
    """The Parser of messages and mailboxes: each line of the text knows its line of the file."""

    def parse(self, source: Source, data: bytes) -> ParsedDocument:
        """Return the messages in order; raise ParseFailed if the file holds none."""
        is_mbox = PurePosixPath(source.path).suffix.lower() == MAILBOX_ENDING
        reader = _Reader(data, is_mbox)
        is_mail = False
        for parts in iter_messages(data, is_mbox=is_mbox):
            is_mail = is_mail or bool(parts[0].headers)
            reader.add_message(parts)
        if not is_mail and data.strip():
            raise ParseFailed(
                "{path} is no mail: it begins with no header",
                path=source.path,
                hint="give the file the ending of what it is",
            )
        text, blocks, numbers = assemble(_placed(reader.lines))
        is_single = reader.count == 1 and not is_mbox
        return ParsedDocument(
            text=text,
            blocks=tuple(blocks),
            title=reader.subject if is_single else "",
            metadata=reader.metadata if is_single else {"messages": reader.count},
            line_numbers=tuple(numbers),
            encoding=reader.encoding,
            warnings=(*dict.fromkeys(reader.warnings), *(() if blocks else ("The mail holds no text",))),
        )


def _placed(lines: Sequence[Line]) -> list[Line]:
    """Return the lines so that none is placed before the one above it, as Windows' and Unix' line ends mixed may do."""
    numbers = accumulate((line.number for line in lines), max)
    return [line._replace(number=number) for line, number in zip(lines, numbers, strict=True)]


@dataclass
class _Reader:
    """The lines of the text so far, and what the first message says of itself."""

    data: bytes
    is_mbox: bool
    lines: list[Line] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    metadata: dict[str, Any] = field(default_factory=dict)
    subject: str = ""
    encoding: str = ""
    count: int = 0
    """Of messages, those within others aside."""
    _group: int = 0

    def add_message(self, parts: Sequence[Part]) -> None:
        """Add a message and what it holds."""
        best = self._best_of_alternatives(parts)
        for part in parts:
            self.warnings += part.warnings
            if part.is_message:
                self._add_headers(part)
                self.count += part.depth == 0
            elif _is_attached(part):
                self._add_name(part)
            elif not part.alternative or best.get(part.alternative, _OTHER) == _kind_of(part):
                self._add_text(part)

    def _best_of_alternatives(self, parts: Sequence[Part]) -> dict[int, int]:
        """Return for each set of alternatives the best kind that says something."""
        best: dict[int, int] = {}
        for part in parts:
            if part.alternative and not part.is_message and not _is_attached(part):
                kind = _kind_of(part)
                if kind < best.get(part.alternative, _OTHER) and self.data[part.start : part.end].strip():
                    best[part.alternative] = kind
        return best

    def _add_headers(self, part: Part) -> None:
        named = {header.name: header for header in reversed(part.headers)}
        subject = named.get("subject")
        title = shown_value(subject) if subject else ""
        shown = [(subject, title)] if subject and title else []
        for name in _SHOWN:
            if (header := named.get(name)) and (value := shown_value(header)):
                shown.append((header, f"{name.capitalize()}: {value}"))
        if not shown and part.headers:
            shown = [(part.headers[0], f"{part.headers[0].name}: {shown_value(part.headers[0])}")]
        # In the order of reading; none may be placed behind what is read after it.
        numbers = list(accumulate((header.line for header, _ in reversed(shown)), min))[::-1]
        texts = [text for _, text in shown]
        if texts:
            self._add_lines("heading", texts[:1], numbers[:1], level=min(part.depth + 1, MAX_LEVEL))
            self._add_lines("paragraph", texts[1:], numbers[1:])
        if not self.count:
            self.subject = title
            self.metadata = _metadata(named)

    def _add_name(self, part: Part) -> None:
        line = next((header.line for header in part.headers if header.name.startswith("content-")), part.line)
        self._add_lines("paragraph", [f"Attachment: {part.file_name}"], [line])

    def _add_text(self, part: Part) -> None:
        if not part.content_type.startswith("text/"):
            return
        data, numbers = decode_body(self.data[part.start : part.end], part.transfer_encoding, part.line)
        if self.is_mbox:  # as mailboxes keep apart what begins a line and what begins a message
            data = data.replace(b"\n>From ", b"\nFrom ")
        is_html = _kind_of(part) == _HTML
        declared = part.parameter("charset") or (declared_charset(data) if is_html else "")
        try:
            decoded = decode(data, declared)
        except ParseFailed:
            self.warnings.append(f"The part in line {part.line} is no text")
            return
        self.warnings += decoded.warnings
        if decoded.encoding != "utf-8":
            self.encoding = self.encoding or decoded.encoding
        lines = decoded.text.split("\n")
        if len(lines) != len(numbers):  # its characters do not tell where its lines are written
            numbers = [part.line] * len(lines)
        if is_html:
            self._add_page(decoded.text, numbers, part.depth + 1)
        else:
            self._add_paragraphs(*_unfolded(lines, numbers, part))

    def _add_page(self, text: str, numbers: Sequence[int], above: int) -> None:
        first = self._group + 1
        for line in read_page(text).builder.lines:
            self._group = max(self._group, first + line.group)
            number = numbers[min(line.number, len(numbers)) - 1]
            level = min(line.level + above, MAX_LEVEL) if line.level else 0  # below the subject
            self.lines.append(line._replace(group=first + line.group, number=number, level=level))

    def _add_paragraphs(self, lines: Sequence[str], numbers: Sequence[int]) -> None:
        self._group += 1
        for line, number in zip(lines, numbers, strict=True):
            if line.strip():
                self.lines.append(Line("paragraph", self._group, line.rstrip(), number))
            else:
                self._group += 1

    def _add_lines(self, kind: Any, texts: Sequence[str], numbers: Sequence[int], level: int = 0) -> None:
        self._group += 1
        self.lines += [Line(kind, self._group, text, n, level) for text, n in zip(texts, numbers, strict=True)]


def _is_attached(part: Part) -> bool:
    if not part.file_name:
        return False
    # A picture that the text shows has a name too, and an address in the message; so may the text itself.
    is_shown = part.content_type.startswith("text/") or bool(part.value("content-id"))
    return part.disposition == "attachment" or not is_shown


def _kind_of(part: Part) -> int:
    return {"text/plain": _PLAIN, "text/html": _HTML}.get(part.content_type, _OTHER)


def _metadata(named: dict[str, Header]) -> dict[str, Any]:
    found = {name: shown_value(named[key]) for name, key in (("author", "from"), ("to", "to")) if key in named}
    if "date" in named:
        with suppress(ValueError):  # written in a way of its own; it stands in the text
            found["created"] = parsedate_to_datetime(named["date"].value).isoformat()
    return {name: value for name, value in found.items() if value}


def _unfolded(lines: Sequence[str], numbers: Sequence[int], part: Part) -> tuple[list[str], list[int]]:
    """Return the lines as they were before they were made short for sending (RFC 3676)."""
    if part.parameter("format").lower() != "flowed":
        return list(lines), list(numbers)
    joined: list[tuple[list[str], int, int]] = []  # parts of a line, its number, how deep it is quoted
    is_soft = False
    for line, number in zip(lines, numbers, strict=True):
        quoted = len(line) - len(line.lstrip(">"))
        text = line[quoted:].removeprefix(" ")
        goes_on = is_soft and quoted == joined[-1][2] and text != "-- "
        if goes_on:
            joined[-1][0].append(text)
        else:
            joined.append(([f"{'>' * quoted} {text}" if quoted else text], number, quoted))
        is_soft = text.endswith(" ") and text != "-- "
        if is_soft and part.parameter("delsp").lower() == "yes":
            joined[-1][0][-1] = joined[-1][0][-1][:-1]
    return ["".join(parts) for parts, _, _ in joined], [number for _, number, _ in joined]
