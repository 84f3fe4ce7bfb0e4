"""What passes between zhiku and a worker: frames of JSON; what comes back is checked, for it may be an attacker's."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import IO, Any, Final, get_args

from zhiku.errors import (
    NeedsOcr,
    OutOfMemory,
    ParseFailed,
    PasswordNeeded,
    SourceError,
    TooLarge,
    Unreadable,
    UnsupportedFormat,
)
from zhiku.model import Block, BlockKind, Link, Page, ParsedDocument, Source
from zhiku.text.hidden import KEY as HIDDEN_SPANS
from zhiku.text.hidden import MAX_SPANS

MAX_MESSAGE_CHARS: Final = 4_000
MAX_LEVEL: Final = 6
SPENT: Final = b"spent"
"""Behind a reply: the worker is to be replaced."""

_SIZES: Final = struct.Struct("!QQ")
_KINDS: Final = frozenset(get_args(BlockKind))
_ERRORS: Final = {
    kind.code: kind
    for kind in (NeedsOcr, OutOfMemory, ParseFailed, PasswordNeeded, TooLarge, Unreadable, UnsupportedFormat)
}


class ParserBug(Exception):
    """A parser failed in a way that it should not; the notes hold its traceback."""


@dataclass(frozen=True, kw_only=True)
class Request:
    """A file to parse, by the parser at `target` (`module:class`) that is made with `options`."""

    target: str
    options: Mapping[str, Any]
    source: Source
    processor_s: int
    max_chars: int
    max_reply_bytes: int


def write_frame(stream: IO[bytes], head: bytes, body: bytes = b"") -> None:
    """Write two runs of bytes, each with its length, and flush."""
    stream.write(_SIZES.pack(len(head), len(body)))
    stream.write(head)
    stream.write(body)
    stream.flush()


def read_frame(stream: IO[bytes], max_bytes: int) -> tuple[bytes, bytes]:
    """Return what `write_frame` wrote. Raises EOFError at the end, ValueError if it is larger than `max_bytes`."""
    sizes = _SIZES.unpack(_read_exactly(stream, _SIZES.size))
    if sum(sizes) > max_bytes:
        raise ValueError("the frame is too large")
    return _read_exactly(stream, sizes[0]), _read_exactly(stream, sizes[1])


def _read_exactly(stream: IO[bytes], size: int) -> bytes:
    data = stream.read(size)
    if len(data) < size:
        raise EOFError
    return data


def dump_request(request: Request) -> bytes:
    """Return a request as bytes."""
    return json.dumps(asdict(request)).encode()


def load_request(raw: bytes) -> Request:
    """Return a request from its bytes."""
    values = json.loads(raw)
    return Request(**{**values, "source": Source(**values["source"])})


def dump_document(document: ParsedDocument) -> bytes:
    """Return a document as the bytes of a reply."""
    values = {
        "text": document.text,
        "blocks": [[b.kind, b.char_start, b.char_end, b.level, b.title, b.section] for b in document.blocks],
        "title": document.title,
        "metadata": document.metadata,
        "links": [[link.target, link.anchor, link.alias, link.embed, link.line] for link in document.links],
        "pages": [[page.page_no, page.char_start, page.char_end] for page in document.pages],
        "line_numbers": document.line_numbers,
        "encoding": document.encoding,
        "warnings": document.warnings,
    }
    return json.dumps({"document": values}, ensure_ascii=False).encode("utf-8", "surrogatepass")


def dump_error(error: SourceError) -> bytes:
    """Return an error as the bytes of a reply: its code, message and hint."""
    return json.dumps({"error": [error.code, error.message, error.hint]}).encode()


def dump_bug(message: str, trace: str) -> bytes:
    """Return what a parser raised and should not have raised, as the bytes of a reply."""
    return json.dumps({"bug": [message, trace]}).encode()


def load_reply(raw: bytes, max_chars: int) -> ParsedDocument:
    """Return the document of a reply.

    Raises the SourceError or the ParserBug that it holds, and ValueError if it is no honest reply.
    """
    try:
        reply = json.loads(raw)
        if "error" in reply:
            raise _error(*reply["error"])
        if "bug" in reply:
            raise _bug(*reply["bug"])
        return _document(max_chars, **reply["document"])
    except (TypeError, KeyError, RecursionError, UnicodeError) as error:
        raise ValueError(f"no reply of a worker: {type(error).__name__}") from error


def _error(code: str, message: str, hint: str) -> SourceError:
    if code not in _ERRORS:
        raise ValueError("no such error")
    return _ERRORS[code](_as_template(message), hint=_as_template(hint))


def _as_template(text: str) -> str:
    return _text(text)[:MAX_MESSAGE_CHARS].replace("{", "{{").replace("}", "}}")


def _bug(message: str, trace: str) -> ParserBug:
    bug = ParserBug(_text(message)[:MAX_MESSAGE_CHARS])
    bug.add_note(_text(trace)[-MAX_MESSAGE_CHARS:])
    return bug


def _document(
    max_chars: int,
    *,
    text: str,
    blocks: Sequence[Sequence[Any]],
    title: str,
    metadata: dict[str, Any],
    links: Sequence[Sequence[Any]],
    pages: Sequence[Sequence[Any]],
    line_numbers: Sequence[int],
    encoding: str,
    warnings: Sequence[str],
) -> ParsedDocument:
    _text(text).encode()  # raises what is no character at all
    _check(len(text) <= max_chars and "\0" not in text)
    _check(isinstance(metadata, dict))
    _check(not pages or _are_spans(metadata.get(HIDDEN_SPANS, []), len(text)))
    _check(len(line_numbers) in (0, text.count("\n") + 1))
    return ParsedDocument(
        text=text,
        blocks=tuple(_blocks(blocks, len(text))),
        title=_text(title),
        metadata=metadata,
        links=tuple(
            Link(target=_text(target), anchor=_text(anchor), alias=_text(alias), embed=bool(embed), line=_number(line))
            for target, anchor, alias, embed, line in links
        ),
        pages=tuple(_pages(pages, len(text))),
        line_numbers=tuple(_ascending(line_numbers, sum(kind == "heading" for kind, *_ in blocks))),
        encoding=_text(encoding),
        warnings=tuple(_text(warning) for warning in warnings),
    )


def _blocks(blocks: Iterable[Sequence[Any]], chars: int) -> Iterable[Block]:
    done = 0
    for kind, start, end, level, title, section in blocks:
        _check(kind in _KINDS and done <= _number(start) < _number(end) <= chars)
        _check(_number(level) <= MAX_LEVEL)
        names = tuple(_text(name) for name in section)
        yield Block(kind=kind, char_start=start, char_end=end, level=level, title=_text(title), section=names)
        done = end


def _pages(pages: Iterable[Sequence[Any]], chars: int) -> Iterable[Page]:
    done = 0
    for page_no, start, end in pages:
        _check(done <= _number(start) <= _number(end) <= chars)
        yield Page(page_no=_number(page_no), char_start=start, char_end=end)
        done = end


def _are_spans(spans: Sequence[Sequence[int]], chars: int) -> bool:
    return len(spans) <= MAX_SPANS and all(_number(start) < _number(end) <= chars for start, end in spans)


def _ascending(numbers: Sequence[int], headings: int) -> Sequence[int]:
    """Check that numbers ascend; they may begin anew as often as there are headings, as the rows of sheets do."""
    _check(all(_number(number) for number in numbers) and sum(a > b for a, b in pairwise(numbers)) < max(1, headings))
    return numbers


def _text(value: str) -> str:
    _check(type(value) is str)
    return value


def _number(value: int) -> int:
    _check(type(value) is int and value >= 0)
    return value


def _check(holds: bool) -> None:
    if not holds:
        raise ValueError("no document that a parser makes")
