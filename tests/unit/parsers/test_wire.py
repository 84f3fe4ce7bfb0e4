"""What passes between zhiku and a worker."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from zhiku.errors import PasswordNeeded
from zhiku.model import Block, Link, Page, ParsedDocument, Source
from zhiku.parsers.wire import (
    Request,
    dump_document,
    dump_error,
    dump_request,
    load_reply,
    load_request,
    read_frame,
    write_frame,
)

DOCUMENT = ParsedDocument(
    text="标题\n\ntext “fin”",
    blocks=(
        Block(kind="heading", char_start=0, char_end=2, level=1, title="标题"),
        Block(kind="paragraph", char_start=4, char_end=14, section=("Class", "method")),
    ),
    title="标题",
    metadata={"tags": ["a", 1, None], "deep": {"x": 1.5}},
    links=(Link(target="a", anchor="b", alias="c", embed=True, line=3),),
    pages=(Page(page_no=1, char_start=0, char_end=2), Page(page_no=2, char_start=4, char_end=14)),
    line_numbers=(1, 1, 7),
    encoding="gb18030",
    warnings=("bad \udcff name",),
)


def reply(**changes: Any) -> bytes:
    values = json.loads(dump_document(DOCUMENT))
    values["document"].update(changes)
    return json.dumps(values).encode()


def test_a_document_comes_back_as_it_was() -> None:
    assert load_reply(dump_document(DOCUMENT), 100) == DOCUMENT


def test_a_request_comes_back_as_it_was() -> None:
    source = Source(root="/r", path="\udcff.pdf", size_bytes=1, mtime_ns=2, sha256="3")
    request = Request(target="a:B", options={"c": True}, source=source, processor_s=4, max_chars=5, max_reply_bytes=6)
    assert load_request(dump_request(request)) == request


def test_line_numbers_may_begin_anew_at_a_heading_but_the_first() -> None:
    blocks = [["heading", 0, 2, 1, "标题", []], ["heading", 4, 14, 1, "text", []]]
    assert load_reply(reply(line_numbers=[5, 7, 1], blocks=blocks), 100).line_numbers == (5, 7, 1)
    with pytest.raises(ValueError, match="no document"):
        load_reply(reply(line_numbers=[7, 5, 1], blocks=blocks), 100)


def test_an_error_comes_back_with_its_kind_message_and_hint() -> None:
    error = PasswordNeeded("{path} is {{locked}}", path="{0}.pdf", hint="ask {who}", who="{mei}")
    with pytest.raises(PasswordNeeded) as caught:
        load_reply(dump_error(error), 100)
    assert str(caught.value) == str(error) == "{0}.pdf is {locked} Hint: ask {mei}"


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\xff" * 9,
        b"[]",
        b"null",
        b"{}",
        b'{"document": {}}',
        b'{"document": []}',
        b"[" * 100_000,
        b'{"error": ["usage", "a", "b"]}',
        b'{"error": ["damaged", 1, "b"]}',
        b'{"error": ["damaged"]}',
        b'{"error": 5}',
        b'{"bug": [{}, []]}',
        reply(text=5),
        reply(text="\ud800"),
        reply(text="a\0\n\n" + "b" * 30),
        reply(text="x" * 101),
        reply(metadata=[]),
        reply(line_numbers=[1, 2]),
        reply(line_numbers=[2, 1, 3]),
        reply(line_numbers=[1, 2, "3"]),
        reply(line_numbers=[0, 1, 2]),
        reply(blocks=[["heading", 0, 99, 1, "", []]]),
        reply(blocks=[["heading", -1, 2, 1, "", []]]),
        reply(blocks=[["paragraph", 4, 14, 0, "", []], ["paragraph", 0, 2, 0, "", []]]),
        reply(blocks=[["paragraph", 2, 2, 0, "", []]]),
        reply(blocks=[["paragraph", True, 2, 0, "", []]]),
        reply(blocks=[["script", 0, 2, 0, "", []]]),
        reply(blocks=[[["heading"], 0, 2, 1, "", []]]),
        reply(blocks=[["paragraph", 0, 2, 0, "", [5]]]),
        reply(blocks=[["paragraph", 0, 2, 0, "", None]]),
        reply(blocks=[["heading", 0, 2, 7, "", []]]),
        reply(blocks=[["heading", 0, 2, 1, None, []]]),
        reply(blocks=[["heading", 0, 2]]),
        reply(blocks=5),
        reply(pages=[[1, 0, 99]]),
        reply(links=[["a", "b", "c", True, -1]]),
        reply(warnings=[1]),
        reply(warnings="ab", title=None),
        reply(encoding=8),
        reply(surprise=1),
    ],
)
def test_what_no_parser_would_say_is_refused(raw: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - every kind of it
        load_reply(raw, 100)


def test_frames_hold_what_was_written_and_end_with_the_stream() -> None:
    stream = io.BytesIO()
    write_frame(stream, b"head", b"body")
    write_frame(stream, b"")
    stream.seek(0)
    assert read_frame(stream, 8) == (b"head", b"body")
    assert read_frame(stream, 0) == (b"", b"")
    with pytest.raises(EOFError):
        read_frame(stream, 8)


@pytest.mark.parametrize("data", [b"\xff" * 16, b"\0" * 15, b"\0" * 7 + b"\4" + b"\0" * 8 + b"abc"])
def test_frames_that_are_too_large_or_cut_off_are_refused(data: bytes) -> None:
    with pytest.raises((EOFError, ValueError)):
        read_frame(io.BytesIO(data), 1_000)
