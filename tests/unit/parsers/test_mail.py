"""How mail becomes text with places. (Whole messages and a mailbox: tests/golden/mail.)"""

from __future__ import annotations

import base64
import time

import pytest

from samples import parse
from zhiku.chunkers.structure import StructureChunker
from zhiku.errors import ParseFailed
from zhiku.model import ParsedDocument
from zhiku.parsers.mime import MAX_VALUE_CHARS
from zhiku.parsers.mime_words import decode_words, from_base64


def read(*lines: str | bytes, path: str = "a.eml", end: bytes = b"\n") -> ParsedDocument:
    return parse(path, end.join(line.encode() if isinstance(line, str) else line for line in lines))


def texts(document: ParsedDocument) -> list[str]:
    return [document.text[block.char_start : block.char_end] for block in document.blocks]


def places(document: ParsedDocument) -> list[tuple[int, str]]:
    lines = zip(document.line_numbers, document.text.split("\n"), strict=True)
    return [(number, line) for number, line in lines if line]


def part(kind: str, *body: str, **fields: str) -> list[str]:
    headers = [f"Content-{name.replace('_', '-').title()}: {value}" for name, value in fields.items()]
    return [f"Content-Type: {kind}", *headers, "", *body]


def multipart(kind: str, *parts: list[str], boundary: str = "b") -> list[str]:
    body = [line for each in parts for line in (f"--{boundary}", *each)]
    return [f'Content-Type: multipart/{kind}; boundary="{boundary}"', "", *body, f"--{boundary}--"]


def test_raw_headers_in_gbk_and_labels_that_lie_are_read() -> None:
    document = read(
        "From: 张三 <a@example.com>".encode("gbk"),
        "Subject: 关于项目进度的通知".encode("gbk"),
        "Content-Type: multipart/alternative; boundary=B",
        "",
        "--B",
        "Content-Type: text/plain; charset=gb2312",
        "",
        "项目进度如下：镕基、喆、堃".encode("gb18030"),
        "--B",
        "Content-Type: text/html; charset=x-unknown",
        "",
        "<p>项目</p>".encode("gbk"),
        "--B--",
        end=b"\r\n",
    )
    assert document.title == "关于项目进度的通知"
    assert texts(document) == ["关于项目进度的通知", "From: 张三 <a@example.com>", "项目进度如下：镕基、喆、堃"]
    assert document.encoding == "gb18030"


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("plain", "plain"),
        ("=?utf-8?Q?J=C3=BCrgen_M?= <a@b>", "Jürgen M <a@b>"),
        ("=?gb2312?B?zajWqg==?=", "通知"),
        ("=?utf-8?B?6YCa?= =?utf-8?B?55+l?=", "通知"),
        ("=?utf-8?B?6YA=?=\n =?UTF-8?B?mg==?=", "通"),
        ("a =?utf-8?q?b?= c =?utf-8?q?d?=", "a b c d"),
        ("=?gbk?B?zajWqg==?= =?utf-8?q?x?=", "通知x"),
        ("=?utf-8*zh-CN?B?6YCa?=", "通"),
        ("=?iso-2022-jp?B?GyRCRnxLXBsoQg==?=", "日本"),
        ("=?nonsense?B?6YCa55+l?=", "通知"),
        ("=?utf-8?B?not base64!?=", "¶i\x8a"[:0]),
        ("=?broken?= =?", "=?broken?= =?"),
    ],
)
def test_words_of_headers_are_decoded(written: str, meant: str) -> None:
    assert meant in decode_words(written)


@pytest.mark.parametrize(
    ("written", "data"),
    [(b"YWJj\nZA==", b"abcd"), (b"YWJjZA", b"abcd"), (b"YW-*Jj", b"abc"), (b"YWJjZ", b"abc"), (b"", b""), (b"=", b"")],
)
def test_base64_is_read_however_it_is_broken(written: bytes, data: bytes) -> None:
    assert from_base64(written) == data


def test_headers_are_placed_no_later_than_what_is_read_after_them() -> None:
    document = read("Date: d", "From: f", "Subject: s", "To: t", "", "text")
    assert places(document) == [(1, "s"), (1, "From: f"), (1, "To: t"), (1, "Date: d"), (6, "text")]


def test_lines_of_encoded_bodies_are_placed_where_they_are_written() -> None:
    written = base64.encodebytes("\n".join(f"line {n:02} of the text" for n in range(20)).encode()).decode().split()
    coded = read("Subject: s", *part("text/plain", *written, transfer_encoding="base64"))
    # Lines of 20 bytes from line 5 on; 57 bytes are written in one of 76 letters.
    assert places(coded)[1:] == [(5 + 20 * n // 57, f"line {n:02} of the text") for n in range(20)]
    quoted = read("Subject: s", *part("text/plain", "a=", "b", "c=0Ad", "e", transfer_encoding="quoted-printable"))
    assert places(quoted)[1:] == [(5, "ab"), (7, "c"), (7, "d"), (8, "e")]


def test_of_alternatives_the_plain_one_is_read_and_the_page_where_it_says_nothing() -> None:
    page = part("text/html", "<h1>Page</h1><p>text")
    both = read("Subject: s", *multipart("alternative", part("text/plain", "plain"), page))
    related = multipart(
        "related", page, part("image/png", "x", id="<1>", disposition='inline; filename="1.png"'), boundary="c"
    )
    nested = read("Subject: s", *multipart("alternative", part("text/plain", "plain"), related))
    blank = read("Subject: s", *multipart("alternative", part("text/plain", " ", ""), page))
    assert texts(both) == texts(nested) == ["s", "plain"]
    assert texts(blank) == ["s", "Page", "text"]


def test_a_page_is_read_as_web_pages_are_and_its_headings_are_below_the_subject() -> None:
    document = read("Subject: s", *part("text/html", "<style>x</style>", "<h1>One</h1>", "<p>two"))
    assert [(block.level, block.title) for block in document.blocks if block.level] == [(1, "s"), (2, "One")]
    assert places(document)[1:] == [(5, "One"), (6, "two")]


def test_attachments_are_named_and_not_read() -> None:
    document = read(
        "Subject: s",
        *multipart(
            "mixed",
            part("text/plain", "body", disposition="inline"),
            part("text/csv", "1,2", disposition='attachment; filename="levels.csv"'),
            part("application/pdf; name*0*=utf-8''%E6%8A%A5; name*1*=%E5%91%8A.pdf", "%PDF"),
            part('image/png; name="=?gbk?B?zbw=?=.png"', "x", disposition="attachment"),
            part("application/octet-stream", "no name"),
        ),
    )
    names = ["Attachment: levels.csv", "Attachment: 报告.pdf", "Attachment: 图.png"]
    assert texts(document) == ["s", "body", *names]


def test_flowed_lines_are_joined_and_quotations_kept_apart() -> None:
    flowed = part("text/plain; format=flowed", "> one ", "> two", "three ", " four", "-- ", "name")
    assert texts(read("Subject: s", *flowed))[1:] == ["> one two\nthree four\n--\nname"]
    chinese = part("text/plain; format=flowed; delsp=yes", "中文 ", "续行")
    assert texts(read("Subject: s", *chinese))[1:] == ["中文续行"]


def test_a_message_within_is_a_section_below() -> None:
    inner = ["Subject: inner", *part("text/plain", "inside")]
    document = read("Subject: s", *multipart("mixed", part("text/plain", "a"), part("message/rfc822", *inner)))
    chunks = StructureChunker().chunk(document)
    assert [(chunk.text, chunk.section) for chunk in chunks] == [
        ("s\n\na", ("s",)),
        ("inner\n\ninside", ("s", "inner")),
    ]


def test_a_multipart_without_parts_is_read_as_text() -> None:
    assert texts(read("Subject: s", "Content-Type: multipart/mixed; boundary=b", "", "lost"))[1:] == ["lost"]
    assert texts(read("Subject: s", "Content-Type: multipart/mixed", "", "lost"))[1:] == ["lost"]


def test_a_part_that_is_no_text_is_a_warning() -> None:
    document = read("Subject: s", "Content-Type: text/plain", "", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\xff")
    assert (texts(document), document.warnings) == (["s"], ("The part in line 4 is no text",))


def test_messages_of_a_mailbox_are_sections() -> None:
    document = read(
        "From a@b Mon Nov 30 09:00:00 2026",
        "Subject: one",
        "",
        "text",
        ">From quoted",
        "From here it goes on",
        "",
        "From - Mon Nov 30 10:00:00 2026",
        "From: c@d",
        "",
        "two",
        path="a.mbox",
    )
    assert texts(document) == ["one", "text\nFrom quoted\nFrom here it goes on", "From: c@d", "two"]
    assert (document.title, document.metadata) == ("", {"messages": 2})


def test_a_message_without_the_usual_headers_is_headed_by_what_it_has() -> None:
    assert texts(read("Message-ID: <1@b>", "", "text")) == ["message-id: <1@b>", "text"]


def test_text_begins_without_a_blank_line_where_the_headers_end() -> None:
    assert texts(read("From: a@b", "Subject: s", "Counter to RFC 2822", "more")) == [
        "s",
        "From: a@b",
        "Counter to RFC 2822\nmore",
    ]
    document = read(*multipart("mixed", ["only text", "", "and more"]))
    assert texts(document)[1:] == ["only text", "and more"]


def test_a_header_that_was_cut_without_an_indent_goes_on() -> None:
    assert texts(read("Subject: a", "long subject", "From: a@b", "", "x")) == ["a long subject", "From: a@b", "x"]


def test_text_declared_utf8_stays_so_where_a_byte_of_it_is_broken() -> None:
    body = "Внимание! Вы получили это письмо, поскольку вы есть".encode()
    document = read("Subject: s", "Content-Type: text/plain; charset=utf-8", "", body[:41] + b"f" + body[42:])
    assert texts(document)[1].startswith("Внимание! Вы получили")
    assert document.warnings == ("1 characters could not be decoded and were replaced by U+FFFD",)


def test_what_the_headers_say_is_kept_as_metadata() -> None:
    document = read("From: a@b", "Date: Mon, 30 Nov 2026 09:00:00 +0800", "", "x")
    assert document.metadata == {"author": "a@b", "created": "2026-11-30T09:00:00+08:00"}
    assert read("From: a@b", "Date: some day", "", "x").metadata == {"author": "a@b"}


@pytest.mark.parametrize("data", [b"no header at all\n", b"\n\ntext", b"%PDF-1.7\n%\xff\xfe\0\0"])
@pytest.mark.parametrize("path", ["a.eml", "a.mbox"])
def test_what_is_no_mail_is_refused(path: str, data: bytes) -> None:
    with pytest.raises(ParseFailed, match="no mail"):
        parse(path, data)


def nested(depth: int) -> bytes:
    opened = "".join(f"Content-Type: multipart/mixed; boundary=b{n}\n\n--b{n}\n" for n in range(depth))
    closed = "".join(f"\n--b{n}--\n" for n in reversed(range(depth)))
    return f"Subject: deep\n{opened}Content-Type: text/plain\n\nhi{closed}".encode()


@pytest.mark.parametrize(
    ("data", "last"),
    [
        (nested(300), "hi"),
        (nested(10_000), "hi"),
        (b"Subject: x\nContent-Type: message/rfc822\n\n" * 20_000 + b"Subject: end\n\nhi", "hi"),
        (b"Subject: x\nTo: " + b"=?utf-8?q?a?= " * 40_000 + b"\n\nhi", "hi"),
        (b"Subject: x\nContent-Type: text/plain; " + b'a="; ' * 100_000 + b"\n\nhi", "hi"),
        (b"Subject: x\n" + b"X-A: b\n" * 100_000 + b"\nhi", "hi"),
        (b"Subject: x\nContent-Type: multipart/mixed; boundary=b\n\n" + b"--b\n\nhi\n" * 50_000, "hi"),
    ],
)
def test_mail_nested_or_repeated_without_end_takes_a_time_that_ends(data: bytes, last: str) -> None:
    began = time.process_time()
    document = parse("a.eml", data)
    assert time.process_time() - began < 8
    assert texts(document)[-1] == last
    assert max(block.level for block in document.blocks) <= 6


def test_a_long_list_of_recipients_is_cut() -> None:
    document = read("Subject: s", "To: " + "a@example.com, " * 999, "", "x")
    assert len(texts(document)[1]) < MAX_VALUE_CHARS + 9
