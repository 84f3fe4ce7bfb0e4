"""Write small PDFs for tests: Latin text in Helvetica, Chinese text in a font that is not embedded."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

PAGE_WIDTH, PAGE_HEIGHT = 400, 600
CATALOG, PAGES, LATIN, HAN, HAN_CID, INFO = 1, 2, 3, 4, 5, 6
IMAGE = b"q 400 0 0 600 0 0 cm BI /W 1 /H 1 /CS /G /BPC 8 ID \x80 EI Q"


@dataclass
class PdfWriter:
    """A PDF in the making. Outline entries are (title, page); fields are (label, value) of a form on the first page."""

    title: str = ""
    outline: list[tuple[str, int]] = field(default_factory=list)
    fields: list[tuple[str, str]] = field(default_factory=list)
    pages: list[bytes] = field(default_factory=list)
    entries: list[str] = field(default_factory=list)
    """What stands in each page's dictionary besides."""

    def page(
        self, *lines: str, image: bool = False, left: int = 50, top: int = 500, size: int = 12, entries: str = ""
    ) -> PdfWriter:
        """Add a page with these lines one below the other; no line where one is empty."""
        self.pages.append(IMAGE if image else b"")
        self.entries.append(entries)
        return self.write(*lines, left=left, top=top, size=size)

    def write(self, *lines: str, left: int = 50, top: int = 500, size: int = 12, before: str = "") -> PdfWriter:
        """Add lines to the last page, each with some operators before it."""
        for number, line in enumerate(lines):
            font = "F1" if line.isascii() else "F2"
            shown = f"({line})" if line.isascii() else f"<{line.encode('utf-16-be').hex()}>"
            baseline = top - number * (size + 2)
            self.pages[-1] += f"\nBT {before} /{font} {size} Tf {left} {baseline} Td {shown} Tj ET".encode()
        return self

    def data(self, trailer: str = "", extra: tuple[bytes, ...] = ()) -> bytes:
        """Return the file."""
        first_page = INFO + 1
        kids = " ".join(f"{first_page + 2 * n} 0 R" for n in range(len(self.pages)))
        first_entry = first_page + 2 * len(self.pages)
        outline = self._outline_objects(first_page, first_entry)
        first_field = first_entry + len(outline)
        widgets = " ".join(f"{first_field + n} 0 R" for n in range(len(self.fields)))
        catalog = f"<</Type/Catalog/Pages {PAGES} 0 R"
        catalog += f"/Outlines {first_entry} 0 R" if self.outline else ""
        catalog += f"/AcroForm<</Fields[{widgets}]/DA(/F1 0 Tf)>>" if self.fields else ""
        objects = [
            f"{catalog}>>".encode(),
            f"<</Type/Pages/Kids[{kids}]/Count {len(self.pages)}>>".encode(),
            b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
            b"<</Type/Font/Subtype/Type0/BaseFont/STSong-Light/Encoding/UniGB-UCS2-H"
            b"/DescendantFonts[%d 0 R]>>" % HAN_CID,
            b"<</Type/Font/Subtype/CIDFontType0/BaseFont/STSong-Light/DW 1000"
            b"/CIDSystemInfo<</Registry(Adobe)/Ordering(GB1)/Supplement 2>>/FontDescriptor"
            b"<</Type/FontDescriptor/FontName/STSong-Light/Flags 4/Ascent 880/Descent -120"
            b"/FontBBox[0 -120 1000 880]/ItalicAngle 0/CapHeight 880/StemV 80>>>>",
            f"<</Title {utf16(self.title)}>>".encode(),
        ]
        for number, (content, entries) in enumerate(zip(self.pages, self.entries, strict=True)):
            annotations = f"/Annots[{widgets}]" if self.fields and number == 0 else ""
            objects.append(
                f"<</Type/Page/Parent {PAGES} 0 R/MediaBox[0 0 {PAGE_WIDTH} {PAGE_HEIGHT}]/Resources"
                f"<</Font<</F1 {LATIN} 0 R/F2 {HAN} 0 R>>>>{annotations}{entries}"
                f"/Contents {first_page + 2 * number + 1} 0 R>>".encode()
            )
            objects.append(b"<</Length %d>>stream\n%s\nendstream" % (len(content), content))
        objects += outline
        objects += [
            f"<</Type/Annot/Subtype/Widget/FT/Tx/Rect[50 50 90 70]/T {utf16(label)}/V {utf16(value)}>>".encode()
            for label, value in self.fields
        ]
        return _write(objects + list(extra), trailer)

    def _outline_objects(self, first_page: int, first_entry: int) -> list[bytes]:
        if not self.outline:
            return []
        count = len(self.outline)
        objects = [f"<</First {first_entry + 1} 0 R/Last {first_entry + count} 0 R/Count {count}>>".encode()]
        for number, (title, page_no) in enumerate(self.outline, 1):
            following = f"/Next {first_entry + number + 1} 0 R" if number < count else ""
            objects.append(
                f"<</Title {utf16(title)}/Parent {first_entry} 0 R{following}"
                f"/Dest[{first_page + 2 * (page_no - 1)} 0 R/Fit]>>".encode()
            )
        return objects


def utf16(text: str) -> str:
    """Return a text as a PDF string."""
    return f"<feff{text.encode('utf-16-be').hex()}>"


def annotation(kind: str, text: str, entries: str = "") -> str:
    """Return the page's entry for an annotation."""
    return f"/Annots[<</Type/Annot/Subtype/{kind}/Rect[0 0 9 9]/Contents {utf16(text)}{entries}>>]"


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


def encryption() -> tuple[str, bytes]:
    """Return trailer and object of the standard handler for a PDF of one page (ISO 32000-1, 7.6.3, revision 2)."""
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
