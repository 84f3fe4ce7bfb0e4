"""The same text in each format that zhiku reads: small writers, so that formats can be measured side by side.

A PDF made here has neither pictures nor fonts of its own; every character has a place on its page all the same.
"""

from __future__ import annotations

import html
import io
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, TypeVar

T = TypeVar("T")
Piece = tuple[int, str]
"""The level of a heading, 0 for a paragraph, and its text."""

_WORD: Final = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_OFFICE: Final = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE: Final = "http://schemas.openxmlformats.org/package/2006/relationships"
_PAGE_LINES, _LINE_UNITS, _LINE_PT = 44, 86, 16
_SIZES: Final = {0: 10, 1: 18, 2: 14}


def pieces(note: str) -> list[Piece]:
    """Return the headings and paragraphs of a note by `corpus.write_notes`."""
    found = []
    for block in filter(None, note.split("\n\n")):
        marks, _, text = block.partition(" ")
        is_heading = marks in ("#", "##")
        found.append((len(marks), text) if is_heading else (0, block))
    return [(level, " ".join(text.split())) for level, text in found]


def markdown(content: Iterable[Piece]) -> bytes:
    """Return the text as Markdown."""
    return "\n\n".join(f"{'#' * level} {text}".lstrip() for level, text in content).encode()


def plain(content: Iterable[Piece]) -> bytes:
    """Return the text with an empty line between paragraphs."""
    return "\n\n".join(text for _, text in content).encode()


def web_page(content: Iterable[Piece]) -> bytes:
    """Return the text as HTML."""
    tags = {0: "p", 1: "h1", 2: "h2"}
    body = "\n".join(f"<{tags[level]}>{html.escape(text)}</{tags[level]}>" for level, text in content)
    return f"<!doctype html>\n<html><head><meta charset=utf-8></head><body>\n{body}\n</body></html>\n".encode()


def docx(content: Iterable[Piece]) -> bytes:
    """Return the text as a Word document, with headings by their styles."""
    styles = "".join(
        f'<w:style w:type="paragraph" w:styleId="H{level}"><w:name w:val="heading {level}"/></w:style>'
        for level in (1, 2)
    )
    named = {0: "", 1: '<w:pStyle w:val="H1"/>', 2: '<w:pStyle w:val="H2"/>'}
    body = "".join(
        f'<w:p><w:pPr>{named[level]}</w:pPr><w:r><w:t xml:space="preserve">{html.escape(text)}</w:t></w:r></w:p>'
        for level, text in content
    )
    return _zipped(
        {
            "_rels/.rels": _relation("officeDocument", "word/document.xml"),
            "word/_rels/document.xml.rels": _relation("styles", "styles.xml"),
            "word/styles.xml": f'<w:styles xmlns:w="{_WORD}">{styles}</w:styles>',
            "word/document.xml": f'<w:document xmlns:w="{_WORD}"><w:body>{body}</w:body></w:document>',
        }
    )


def _relation(kind: str, target: str) -> str:
    one = f'<Relationship Id="r1" Type="{_OFFICE}/{kind}" Target="{target}"/>'
    return f'<Relationships xmlns="{_PACKAGE}">{one}</Relationships>'


def _zipped(files: Mapping[str, str]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return buffer.getvalue()


def pdf(content: Iterable[Piece]) -> bytes:
    """Return the text as a PDF: wrapped lines, headings in larger type, paragraphs apart from each other."""
    pages = _portions(list(_lines(content)), _PAGE_LINES)
    kids = " ".join(f"{6 + 2 * number} 0 R" for number in range(len(pages)))
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        f"<</Type/Pages/Kids[{kids}]/Count {len(pages)}>>".encode(),
        b"<</Type/Font/Subtype/Type0/BaseFont/Song/Encoding/Identity-H/DescendantFonts[4 0 R]/ToUnicode 5 0 R>>",
        # Codes are UTF-16; Han and full-width forms are twice as wide as all else.
        b"<</Type/Font/Subtype/CIDFontType2/BaseFont/Song/DW 500/W[12288 65439 1000]/CIDToGIDMap/Identity"
        b"/CIDSystemInfo<</Registry(Adobe)/Ordering(Identity)/Supplement 0>>/FontDescriptor<</Type/FontDescriptor"
        b"/FontName/Song/Flags 4/Ascent 880/Descent -120/FontBBox[0 -120 1000 880]/ItalicAngle 0/CapHeight 880"
        b"/StemV 80>>>>",
        _stream(_TO_UNICODE.encode()),
    ]
    for number, lines in enumerate(pages):
        objects.append(
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Resources<</Font<</F 3 0 R>>>>/Contents %d 0 R>>"
            % (7 + 2 * number)
        )
        objects.append(_stream(_page(lines)))
    return _numbered(objects)


def _lines(content: Iterable[Piece]) -> Iterator[tuple[int, str]]:
    """Yield the lines of a text with the size of their type; an empty one after each paragraph."""
    for level, text in content:
        size = _SIZES[level]
        line, units = "", 0.0
        for character in text:
            line += character
            units += (2 if 0x3000 <= ord(character) <= 0xFF9F else 1) * size / _SIZES[0]
            if units >= _LINE_UNITS and (character == " " or ord(character) >= 0x3000):
                yield size, line.rstrip()
                line, units = "", 0.0
        yield size, line
        yield size, ""


def _portions(items: list[T], size: int) -> list[list[T]]:
    return [items[start : start + size] for start in range(0, len(items), size)]


def _page(lines: Iterable[tuple[int, str]]) -> bytes:
    shown = []
    for number, (size, line) in enumerate(lines):
        codes = line.encode("utf-16-be").hex()
        shown.append(f"BT /F {size} Tf 60 {770 - number * _LINE_PT} Td <{codes}> Tj ET" if line else "")
    return "\n".join(shown).encode()


def _to_unicode() -> str:
    ranges = [f"<{high:02x}00><{high:02x}ff><{high:02x}00>" for high in range(256)]
    blocks = "\n".join("\n".join([f"{len(some)} beginbfrange", *some, "endbfrange"]) for some in _portions(ranges, 100))
    return (
        "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapType 2 def\n"
        f"1 begincodespacerange <0000><ffff> endcodespacerange\n{blocks}\nendcmap end end"
    )


_TO_UNICODE: Final = _to_unicode()


def _stream(content: bytes) -> bytes:
    packed = zlib.compress(content)
    return b"<</Length %d/Filter/FlateDecode>>stream\n%s\nendstream" % (len(packed), packed)


def _numbered(objects: Iterable[bytes]) -> bytes:
    data = bytearray(b"%PDF-1.4\n")
    places = []
    for number, content in enumerate(objects, 1):
        places.append(len(data))
        data += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    start, size = len(data), len(places) + 1
    data += f"xref\n0 {size}\n0000000000 65535 f \n{table}trailer<</Size {size}/Root 1 0 R>>\n".encode()
    return bytes(data + b"startxref\n%d\n%%%%EOF\n" % start)


WRITERS: Final[Mapping[str, tuple[str, Callable[[Iterable[Piece]], bytes]]]] = {
    "plain text": (".txt", plain),
    "Markdown": (".md", markdown),
    "HTML": (".html", web_page),
    "Word": (".docx", docx),
    "PDF": (".pdf", pdf),
}
"""Suffix and writer of each format."""
