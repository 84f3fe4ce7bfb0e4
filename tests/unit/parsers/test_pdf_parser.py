"""PDFs become paragraphs with pages; what cannot be read says why."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

import pytest

from zhiku.errors import NeedsOcr, ParseFailed, PasswordNeeded
from zhiku.model import ParsedDocument, Source
from zhiku.parsers.pdf import PdfParser
from zhiku.text.pdf_layout import (
    PrintedLine,
    PrintedPage,
    build_document,
    clean_characters,
    drop_running_lines,
)

SOURCE = Source(root="/r", path="a.pdf", size_bytes=0, mtime_ns=0, sha256="")
PAGE_WIDTH, PAGE_HEIGHT = 400, 600
CATALOG, PAGES, LATIN, HAN, HAN_CID, INFO = 1, 2, 3, 4, 5, 6
IMAGE = b"q 400 0 0 600 0 0 cm BI /W 1 /H 1 /CS /G /BPC 8 ID \x80 EI Q"


@dataclass
class PdfWriter:
    """Write small PDFs: Latin text in Helvetica, Chinese text in a font that is not embedded."""

    title: str = ""
    outline: list[tuple[str, int]] = field(default_factory=list)
    pages: list[bytes] = field(default_factory=list)

    def page(self, *lines: str, image: bool = False, top: int = 500) -> PdfWriter:
        parts = [IMAGE] if image else []
        for number, line in enumerate(lines):
            is_han = not line.isascii()
            shown = f"<{line.encode('utf-16-be').hex()}>" if is_han else f"({line})"
            font = "F2" if is_han else "F1"
            parts.append(f"BT /{font} 12 Tf 50 {top - number * 14} Td {shown} Tj ET".encode())
        self.pages.append(b"\n".join(parts))
        return self

    def data(self, trailer: str = "", extra: tuple[bytes, ...] = ()) -> bytes:
        first_page = INFO + 1
        kids = " ".join(f"{first_page + 2 * n} 0 R" for n in range(len(self.pages)))
        first_entry = first_page + 2 * len(self.pages)
        catalog = f"<</Type/Catalog/Pages {PAGES} 0 R"
        catalog += f"/Outlines {first_entry} 0 R>>" if self.outline else ">>"
        objects = [
            catalog.encode(),
            f"<</Type/Pages/Kids[{kids}]/Count {len(self.pages)}>>".encode(),
            b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
            b"<</Type/Font/Subtype/Type0/BaseFont/STSong-Light/Encoding/UniGB-UCS2-H"
            b"/DescendantFonts[%d 0 R]>>" % HAN_CID,
            b"<</Type/Font/Subtype/CIDFontType0/BaseFont/STSong-Light/DW 1000"
            b"/CIDSystemInfo<</Registry(Adobe)/Ordering(GB1)/Supplement 2>>/FontDescriptor"
            b"<</Type/FontDescriptor/FontName/STSong-Light/Flags 4/Ascent 880/Descent -120"
            b"/FontBBox[0 -120 1000 880]/ItalicAngle 0/CapHeight 880/StemV 80>>>>",
            f"<</Title <feff{self.title.encode('utf-16-be').hex()}>>>".encode(),
        ]
        for number, content in enumerate(self.pages):
            objects.append(
                f"<</Type/Page/Parent {PAGES} 0 R/MediaBox[0 0 {PAGE_WIDTH} {PAGE_HEIGHT}]/Resources"
                f"<</Font<</F1 {LATIN} 0 R/F2 {HAN} 0 R>>>>"
                f"/Contents {first_page + 2 * number + 1} 0 R>>".encode()
            )
            objects.append(b"<</Length %d>>stream\n%s\nendstream" % (len(content), content))
        objects += self._outline_objects(first_page, first_entry)
        return _write(objects + list(extra), trailer)

    def _outline_objects(self, first_page: int, first_entry: int) -> list[bytes]:
        if not self.outline:
            return []
        count = len(self.outline)
        objects = [f"<</First {first_entry + 1} 0 R/Last {first_entry + count} 0 R/Count {count}>>".encode()]
        for number, (title, page_no) in enumerate(self.outline, 1):
            following = f"/Next {first_entry + number + 1} 0 R" if number < count else ""
            objects.append(
                f"<</Title <feff{title.encode('utf-16-be').hex()}>/Parent {first_entry} 0 R{following}"
                f"/Dest[{first_page + 2 * (page_no - 1)} 0 R/Fit]>>".encode()
            )
        return objects


def _write(objects: list[bytes], trailer: str) -> bytes:
    data = b"%PDF-1.4\n"
    places = []
    for number, content in enumerate(objects, 1):
        places.append(len(data))
        data += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    size = len(objects) + 1
    data += f"xref\n0 {size}\n0000000000 65535 f \n{table}".encode()
    end = f"trailer<</Size {size}/Root {CATALOG} 0 R/Info {INFO} 0 R{trailer}>>\nstartxref\n"
    return data + end.encode() + b"%d\n%%%%EOF" % (data.index(b"xref\n"))


def _encryption() -> tuple[str, bytes]:
    """Return trailer and object of the standard handler (ISO 32000-1, 7.6.3, revision 2)."""
    padding = bytes.fromhex("28bf4e5e4e758a4164004e56fffa01082e2e00b6d0683e802f0ca9fe6453697a")
    password = (b"secret" + padding)[:32]
    owner = _rc4(hashlib.md5(password).digest()[:5], password)
    permissions = (-4).to_bytes(4, "little", signed=True)
    key = hashlib.md5(password + owner + permissions + b"0123456789abcdef").digest()[:5]
    user = _rc4(key, padding)
    entry = f"<</Filter/Standard/V 1/R 2/O<{owner.hex()}>/U<{user.hex()}>/P -4>>".encode()
    return "/Encrypt 9 0 R/ID[(0123456789abcdef)(0123456789abcdef)]", entry


def _rc4(key: bytes, data: bytes) -> bytes:
    state = list(range(256))
    other = 0
    for place in range(256):
        other = (other + state[place] + key[place % len(key)]) % 256
        state[place], state[other] = state[other], state[place]
    result = bytearray()
    one = two = 0
    for byte in data:
        one = (one + 1) % 256
        two = (two + state[one]) % 256
        state[one], state[two] = state[two], state[one]
        result.append(byte ^ state[(state[one] + state[two]) % 256])
    return bytes(result)


def _parse(data: bytes) -> ParsedDocument:
    return PdfParser().parse(SOURCE, data)


def _blocks(document: ParsedDocument) -> list[str]:
    return [document.text[block.char_start : block.char_end] for block in document.blocks]


def test_text_comes_with_its_pages() -> None:
    document = _parse(PdfWriter().page("first page").page().page("third page").data())
    assert document.text == "first page\n\nthird page"
    spans = [(page.page_no, document.text[page.char_start : page.char_end]) for page in document.pages]
    assert spans == [(1, "first page"), (2, ""), (3, "third page")]
    assert document.line_numbers == ()


def test_chinese_lines_are_joined_without_spaces() -> None:
    full = "这一行文字一直写到页面的右边为止所以下一行仍"
    document = _parse(PdfWriter().page(full, "然是同一个自然段。", "第二章 部署", "新的段落。").data())
    assert _blocks(document) == [full + "然是同一个自然段。", "第二章 部署", "新的段落。"]


def test_english_lines_are_joined_with_a_space_and_bullets_start_anew() -> None:
    full = "This line of text goes on and on until it meets the margin"
    document = _parse(PdfWriter().page(full, "and ends here.", "- one", "- two").data())
    assert _blocks(document) == [f"{full} and ends here.", "- one", "- two"]


def test_outline_entries_become_headings_where_their_title_stands() -> None:
    writer = PdfWriter(outline=[("Install", 1), ("部署", 2), ("Absent", 2)])
    document = _parse(writer.page("1. Install", "text one").page("部署", "text two").data())
    headings = [(block.level, block.title) for block in document.blocks if block.kind == "heading"]
    assert headings == [(1, "1. Install"), (1, "部署")]
    assert _blocks(document) == ["1. Install", "text one", "部署", "text two"]


@pytest.mark.parametrize(
    ("stated", "title"),
    [
        ("运维手册", "运维手册"),
        ("Untitled", ""),
        ("report-final.docx", ""),
        ("", ""),
        ("Microsoft Word - a", ""),
    ],
)
def test_a_title_that_is_one_is_kept(stated: str, title: str) -> None:
    assert _parse(PdfWriter(title=stated).page("text").data()).title == title


def test_running_heads_and_page_numbers_are_dropped() -> None:
    writer = PdfWriter()
    for number in range(1, 5):
        writer.page("Manual", *[""] * 6, f"Body of page {number}", top=580)
        writer.pages[-1] += f"\nBT /F1 12 Tf 200 20 Td (- {number} -) Tj ET".encode()
    assert _blocks(_parse(writer.data())) == [f"Body of page {n}" for n in range(1, 5)]


def test_a_scan_needs_ocr() -> None:
    with pytest.raises(NeedsOcr, match=r"a\.pdf has 2 pages but no text layer"):
        _parse(PdfWriter().page(image=True).page(image=True).data())


def test_a_stamp_on_each_scanned_page_is_no_text_layer() -> None:
    writer = PdfWriter()
    for _ in range(4):
        writer.page("Downloaded from example.org for personal use", image=True)
    with pytest.raises(NeedsOcr):
        _parse(writer.data())


def test_a_stamp_alone_is_kept_where_nothing_is_scanned() -> None:
    writer = PdfWriter()
    for _ in range(4):
        writer.page("Certificate of honour", top=590)
    assert _parse(writer.data()).blocks


def test_scanned_pages_in_a_digital_file_are_named() -> None:
    document = _parse(PdfWriter().page("cover").page(image=True).page(image=True).data())
    assert document.text == "cover"
    assert document.warnings == ("Pages without a text layer, which need OCR: 2-3",)


def test_a_damaged_page_does_not_cost_the_others() -> None:
    data = PdfWriter().page("good").page("lost").page("last").data().replace(b" 9 0 R ", b" 99 0 R ")
    document = _parse(data)
    assert document.text == "good\n\nlast"
    assert document.warnings == ("Pages that are damaged: 2",)


def test_a_file_of_damaged_pages_only_has_failed() -> None:
    data = PdfWriter().page("lost").data().replace(b"[7 0 R]", b"[99 0 R]")
    with pytest.raises(ParseFailed, match="none of its pages can be read"):
        _parse(data)


def test_an_encrypted_file_needs_a_password() -> None:
    trailer, entry = _encryption()
    with pytest.raises(PasswordNeeded):
        _parse(PdfWriter().page("secret text").data(trailer, (entry,)))


def test_what_is_no_pdf_is_said_to_be_none() -> None:
    with pytest.raises(ParseFailed, match=r"a\.pdf is not a PDF"):
        _parse(b"<html><body>404</body></html>")


def test_a_cut_off_file_is_damaged() -> None:
    with pytest.raises(ParseFailed, match=r"a\.pdf is damaged"):
        _parse(PdfWriter().page("text").data()[:60])


@pytest.mark.parametrize(
    ("printed", "read"),
    [
        ("⽂⾔⻢", "文言马"),
        ("o\ufb03ce \ufb01le", "office file"),
        ("soft\xadware en\ufffecoding", "software encoding"),
        ("a\x07b\x00c", "abc"),
        ("目 录 总 则", "目录总则"),
        ("①２ 甲 乙丙丁戊己", "①２ 甲 乙丙丁戊己"),
    ],
)
def test_characters_are_what_a_reader_would_type(printed: str, read: str) -> None:
    assert clean_characters(printed) == read


def _printed(page_no: int, *lines: tuple[str, float, float]) -> PrintedPage:
    made = [
        PrintedLine(text=text, left=left, right=right, top=500.0 - 14 * number, bottom=488.0 - 14 * number)
        for number, (text, left, right) in enumerate(lines)
    ]
    return PrintedPage(page_no=page_no, width=400, height=600, lines=tuple(made))


def test_a_paragraph_goes_on_over_a_page_break() -> None:
    pages = [_printed(1, ("一直写到边上的一行", 50, 350)), _printed(2, ("接着写完。", 50, 120))]
    text, blocks, spans = build_document(pages, [])
    assert text == "一直写到边上的一行接着写完。"
    assert len(blocks) == 1
    assert [text[span.char_start : span.char_end] for span in spans] == ["一直写到边上的一行", "接着写完。"]


def test_an_indented_line_starts_a_paragraph() -> None:
    page = _printed(1, ("第一段写到边上", 50, 350), ("缩进的第二段", 74, 350), ("续行。", 50, 90))
    text, _, _ = build_document([page], [])
    assert text == "第一段写到边上\n\n缩进的第二段续行。"


def test_columns_have_margins_of_their_own() -> None:
    left = [("left column text", 50, 190), ("goes on", 50, 120)]
    right = [("right column text", 210, 350), ("too", 210, 240)]
    text, _, _ = build_document([_printed(1, *left, *right)], [])
    assert text == "left column text goes on\n\nright column text too"


def test_a_hyphenated_word_is_joined() -> None:
    text, _, _ = build_document([_printed(1, ("a hyphen\ufffe", 50, 200), ("ated word", 50, 100))], [])
    assert text == "a hyphenated word"


def test_body_lines_that_repeat_are_kept() -> None:
    pages = [_printed(n, ("Total 5", 50, 90)) for n in range(1, 6)]
    assert all(page.lines for page in drop_running_lines(pages))
