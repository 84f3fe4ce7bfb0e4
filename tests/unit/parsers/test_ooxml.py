"""Packages are opened within limits, and what is hostile, damaged or something else is named as such."""

from __future__ import annotations

import io
import time
import tracemalloc
import zipfile
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from docx_files import SAMPLE, docx, item, level, numbering, p, packed_as_zip, root, style
from zhiku.errors import ParseFailed, PasswordNeeded, SourceError, TooLarge, UnsupportedFormat
from zhiku.model import ParsedDocument, Source
from zhiku.parsers import char_budget
from zhiku.parsers.docx import DocxParser
from zhiku.parsers.docx_body import BodyReader
from zhiku.parsers.docx_numbering import Numberings
from zhiku.parsers.docx_styles import Styles
from zhiku.parsers.ooxml import Package

SOURCE = Source(root="/r", path="plan.docx", size_bytes=0, mtime_ns=0, sha256="")
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504)


def parse(data: bytes) -> ParsedDocument:
    return DocxParser().parse(SOURCE, data)


def as_ole(name: str) -> bytes:
    return OLE + name.encode("utf-16-le") + bytes(400)


def with_prolog(prolog: str, body: str) -> bytes:
    return packed_as_zip({"word/document.xml": (prolog + root("document", f"<w:body>{body}</w:body>")).encode()})


# What it is


def test_an_encrypted_document_needs_a_password() -> None:
    with pytest.raises(PasswordNeeded):
        parse(as_ole("EncryptedPackage"))


def test_an_encrypted_entry_needs_a_password() -> None:
    data = bytearray(docx(p("x")))
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = -1
        while (at := data.find(mark, at + 1)) >= 0:
            data[at + offset] |= 1
    with pytest.raises(PasswordNeeded):
        parse(bytes(data))


def test_a_document_of_old_word_says_how_to_save_it() -> None:
    with pytest.raises(UnsupportedFormat, match="docx"):
        parse(as_ole("WordDocument"))


@pytest.mark.parametrize("data", [b"", b"{\\rtf1 x}", b"<html></html>", OLE, b"%PDF-1.7"])
def test_something_else_is_no_office_document(data: bytes) -> None:
    with pytest.raises(ParseFailed, match="not an Office document"):
        parse(data)


def test_a_file_that_is_cut_off_is_damaged() -> None:
    with pytest.raises(ParseFailed, match="damaged"):
        parse(SAMPLE[: len(SAMPLE) // 2])


def test_a_part_that_does_not_unpack_is_damaged() -> None:
    data = bytearray(docx("".join(p(str(n)) for n in range(500))))
    with zipfile.ZipFile(io.BytesIO(bytes(data))) as archive:
        data[archive.getinfo("word/document.xml").header_offset + 200] ^= 0xFF
    with pytest.raises(ParseFailed, match="damaged"):
        parse(bytes(data))


def test_names_of_parts_are_found_whatever_their_case_and_slashes() -> None:
    document = root("document", f"<w:body>{p('x')}</w:body>").encode()
    assert parse(packed_as_zip({"Word\\Document.XML": document})).text == "x"


def test_what_lies_outside_the_package_is_not_looked_for() -> None:
    relations = (
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        '<Relationship Id="a" Type="x/styles" Target="../../../../etc/passwd"/>'
        '<Relationship Id="b" Type="x/numbering" Target="http://example.com/x" TargetMode="External"/></Relationships>'
    )
    package = Package(packed_as_zip({"word/_rels/document.xml.rels": relations.encode()}), "a.docx")
    assert {name: found.part for name, found in package.relationships("word/document.xml").items()} == {
        "a": "etc/passwd"
    }


# What is hostile


@pytest.mark.parametrize(
    "prolog",
    [
        "<!DOCTYPE w:document>",
        '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>',
        '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/hostname">]>',
        '<!DOCTYPE x SYSTEM "http://example.com/x.dtd">',
    ],
)
def test_a_document_type_is_refused(prolog: str) -> None:
    with pytest.raises(ParseFailed, match="document type"):
        parse(with_prolog(prolog, p("&lt;")))


def test_a_document_type_in_any_part_is_refused() -> None:
    with zipfile.ZipFile(io.BytesIO(SAMPLE)) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    with pytest.raises(ParseFailed, match="document type"):
        parse(packed_as_zip({**files, "word/styles.xml": b"<!DOCTYPE x><x/>"}))


@pytest.mark.parametrize("size", [70 << 20, 3 << 20])
def test_a_zip_bomb_is_refused_at_once(size: int) -> None:
    data = docx("<w:p/>" * (size // 6))
    tracemalloc.start()
    began = time.process_time()
    with pytest.raises(TooLarge):
        parse(data)
    took, (_, peak) = time.process_time() - began, tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert took < 1
    assert peak < 20 << 20


def test_a_zip_file_of_too_many_entries_is_refused_before_they_are_listed() -> None:
    with pytest.raises(TooLarge, match="entries"):
        parse(b"PK\x03\x04" + b"PK\x01\x02" * 20_001)


def test_elements_that_are_never_closed_are_refused() -> None:
    with pytest.raises(TooLarge, match="nested"):
        parse(docx("<w:p>" * 30_000))


def test_too_much_text_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(char_budget, "MAX_CHARS", 1_000)
    label = numbering(level(0, "decimal", "%1" + "." * 90))
    assert len(parse(docx(p("x" * 1_000))).text) == 1_000
    for body in (p("x" * 1_001), item("x") * 100):
        with pytest.raises(TooLarge, match="too much text"):
            parse(docx(body, parts={"numbering": label}))


def test_long_chains_of_styles_are_followed_in_linear_time() -> None:
    count = 20_000
    styles = "".join(style(f"s{n}", "x", based_on=f"s{n + 1}") for n in range(count))
    began = time.process_time()
    document = parse(docx("".join(p("x", style=f"s{n}") for n in range(0, count, 100)), parts={"styles": styles}))
    assert len(document.blocks) == count // 100
    assert time.process_time() - began < 5


NAMES = sorted(BodyReader("x", Styles(), Numberings(Styles())).handlers().starts)
ATTRIBUTES = [
    "",
    ' w:val="1"',
    ' w:val="-3"',
    ' w:val="x"',
    ' w:id="1"',
    ' w:fldCharType="begin"',
    ' w:fldCharType="end"',
]


@st.composite
def markup(draw: st.DrawFn) -> str:
    """Return elements of a document in any order and nesting."""
    parts, open_names = [], []
    for _ in range(draw(st.integers(1, 40))):
        if open_names and draw(st.booleans()):
            parts.append(f"</{open_names.pop()}>")
        else:
            open_names.append(draw(st.sampled_from(NAMES)))
            parts.append(f"<{open_names[-1]}{draw(st.sampled_from(ATTRIBUTES))}>{draw(st.sampled_from(['', '文 x']))}")
    return "".join(parts) + "".join(f"</{name}>" for name in reversed(open_names))


@settings(max_examples=150, deadline=None)
@given(markup())
def test_elements_in_any_order_are_no_fault(body: str) -> None:
    parts = {
        "numbering": numbering(level(0, "decimal", "%1.")),
        "footnotes": f'<w:footnote w:id="1">{p("n")}</w:footnote>',
    }
    document = parse(docx(p("before") + body + p("after"), parts=parts))
    assert document.text.startswith("before")
    assert "after" in document.text


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(st.integers(0, len(SAMPLE) - 1), st.integers(0, 255)), min_size=1, max_size=6))
def test_flipped_bytes_are_a_source_error_or_a_document(changes: list[tuple[int, int]]) -> None:
    data = bytearray(SAMPLE)
    for at, byte in changes:
        data[at] = byte
    with suppress(SourceError):
        assert parse(bytes(data)).text
