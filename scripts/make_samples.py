"""Build the binary sample documents: a PDF in two languages and a text file in GB18030.

Run `python scripts/make_samples.py` to write them, or with `--check` to compare what is shipped with what
would be written. The same sources give the same bytes on every machine: the PDF holds no date, no random
identifier and no compressed stream (compressors differ in their output), and embeds no font.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

SOURCES = Path(__file__).parent / "samples_src"
SAMPLES = Path(__file__).parent.parent / "src" / "zhiku" / "samples"

# Page geometry in points (1/72 inch): ISO B5, which keeps a page near one idea and the file at six pages.
PAGE_WIDTH, PAGE_HEIGHT = 499, 709
LEFT, RIGHT, TOP, BOTTOM = 62.0, 437.0, 640.0, 66.0
TITLE, AUTHOR = "青崖岭雾水收集试验 / Fog water on Qingya Ridge", "Qiyun Station"

# Advance widths of U+0020 to U+007E in 1/1000 em, from Adobe's metrics of Helvetica and of the Latin part of
# STSong-Light (CIDs 1 to 95 of Adobe-GB1). Every Han character is one em wide.
HELVETICA_WIDTHS = """
    278 278 355 556 556 889 667 191 333 333 389 584 278 333 278 278 556 556 556 556 556 556 556 556 556
    556 278 278 584 584 584 556 1015 667 667 722 722 667 611 778 722 278 500 667 556 833 722 778 667 778
    722 667 611 722 667 944 667 667 611 278 278 278 469 556 333 556 556 500 556 556 278 556 556 222 222
    500 222 833 556 556 556 556 333 500 278 556 500 722 500 500 500 334 260 334 584
"""
SONG_WIDTHS = """
    207 270 342 467 462 797 710 239 374 374 423 605 238 375 238 334 462 462 462 462 462 462 462 462 462
    462 238 238 605 605 605 344 748 684 560 695 739 563 511 729 793 318 312 666 526 896 758 772 544 772
    628 465 607 753 711 972 647 620 607 374 333 374 606 500 239 417 503 427 529 415 264 444 518 241 230
    495 228 793 527 524 524 504 338 336 277 517 450 652 466 452 407 370 258 370 605
"""
HAN_WIDTH = 1000
NEVER_FIRST = "，。、；：？！）》”’％·—"
NEVER_LAST = "（《“‘"


@dataclass(frozen=True, kw_only=True)
class Style:
    """How one kind of line is set: sizes and distances in points."""

    size: float
    leading: float
    space_before: float
    outline_level: int | None = None


BODY_STYLE = Style(size=10.5, leading=16.5, space_before=3)
ROW_STYLE = Style(size=9.5, leading=14, space_before=0)
MARKED_STYLES = {
    "#": Style(size=16, leading=24, space_before=0, outline_level=0),
    "##": Style(size=12.5, leading=20, space_before=9, outline_level=1),
    "###": Style(size=11, leading=18, space_before=5, outline_level=2),
    "^": Style(size=9.5, leading=16, space_before=8),
    "|": ROW_STYLE,
}


@dataclass(frozen=True)
class OutlineEntry:
    """A heading with its 0-based page and its height on that page in points."""

    title: str
    level: int
    page: int
    top: float


@dataclass
class Layout:
    """Pages under construction; `y` is the height of the next line, in points from the bottom."""

    pages: list[list[str]] = field(default_factory=list)
    outline: list[OutlineEntry] = field(default_factory=list)
    y: float = TOP

    def start_page(self) -> None:
        self.pages.append([])
        self.y = TOP

    def add_line(self, text: str, x: float, size: float) -> None:
        self.pages[-1].append(text_operators(text, x, self.y, size))


def is_latin(char: str) -> bool:
    """Tell whether Helvetica sets this character."""
    return " " <= char <= "~"


def text_width(text: str, size: float) -> float:
    """Return the width of a line in points."""
    widths = (HELVETICA_WIDTHS if all(map(is_latin, text)) else SONG_WIDTHS).split()
    units = sum(int(widths[ord(char) - 32]) if is_latin(char) else HAN_WIDTH for char in text)
    return units * size / 1000


def text_operators(text: str, x: float, y: float, size: float) -> str:
    """Return the content operators that show one line.

    A line with Han characters is set wholly in the Song face: PDFium drops a run of one Han character when
    the machine has no Chinese font, so that changing the font inside a line would lose text.
    """
    if all(map(is_latin, text)):
        escaped = text.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")
        shown = f"/F1 {size:g} Tf {x:.2f} {y:.2f} Td ({escaped}) Tj"
    else:
        shown = f"/F2 {size:g} Tf {x:.2f} {y:.2f} Td <{text.encode('utf-16-be').hex().upper()}> Tj"
    return f"BT {shown} ET"


def split_pieces(text: str) -> list[str]:
    """Split a paragraph where a line may end: after a space, or between Han characters."""
    pieces: list[str] = []
    for char in text:
        previous = pieces[-1][-1:] if pieces else ""
        in_word = bool(previous) and is_latin(char) and is_latin(previous) and previous != " "
        if previous and (in_word or char == " " or char in NEVER_FIRST or previous in NEVER_LAST):
            pieces[-1] += char
        else:
            pieces.append(char)
    return pieces


def iter_lines(text: str, style: Style, indent: float) -> Iterator[str]:
    """Yield the lines of a paragraph, filled to the width between the margins."""
    line, room = "", RIGHT - LEFT - indent
    for piece in split_pieces(text):
        if line and text_width(line + piece.rstrip(), style.size) > room:
            yield line.rstrip()
            line, room = "", RIGHT - LEFT
        line += piece
    yield line.rstrip()


def place_row(layout: Layout, cells: list[str]) -> None:
    step = (RIGHT - LEFT) / len(cells)
    for column, cell in enumerate(cells):
        layout.add_line(cell, LEFT + column * step, ROW_STYLE.size)
    layout.y -= ROW_STYLE.leading


def place_block(layout: Layout, text: str, style: Style) -> None:
    indent = 2 * style.size if style is BODY_STYLE and not is_latin(text[0]) else 0.0
    layout.y -= style.space_before
    keep_with_next = 2 if style.outline_level is not None else 0
    for number, line in enumerate(iter_lines(text, style, indent)):
        if layout.y - keep_with_next * style.leading < BOTTOM:
            layout.start_page()
        if number == 0 and style.outline_level is not None:
            top = layout.y + style.size
            layout.outline.append(OutlineEntry(text, style.outline_level, len(layout.pages) - 1, top))
        layout.add_line(line, LEFT + (indent if number == 0 else 0.0), style.size)
        layout.y -= style.leading


def lay_out(source: str) -> Layout:
    """Set a marked-up source (one block a line) into pages with running heads and page numbers."""
    layout = Layout()
    layout.start_page()
    for block in filter(None, source.splitlines()):
        mark, _, rest = block.partition(" ")
        style = MARKED_STYLES.get(mark, BODY_STYLE)
        if block == "%page":
            layout.start_page()
        elif style is ROW_STYLE:
            place_row(layout, [cell.strip() for cell in rest.split("|")])
        else:
            place_block(layout, block if style is BODY_STYLE else rest, style)
    for number, page in enumerate(layout.pages, start=1):
        page.insert(0, text_operators(TITLE, LEFT, 672, 8.5))
        label = f"- {number} -"
        page.append(text_operators(label, (PAGE_WIDTH - text_width(label, 8.5)) / 2, 40, 8.5))
    return layout


def pdf_string(text: str) -> str:
    """Return a PDF text string: UTF-16 with a byte order mark, in hexadecimal."""
    return f"<FEFF{text.encode('utf-16-be').hex().upper()}>"


FONTS = (
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    "<< /Type /Font /Subtype /Type0 /BaseFont /STSong-Light-UniGB-UCS2-H /Encoding /UniGB-UCS2-H"
    " /DescendantFonts [5 0 R] >>",
    "<< /Type /Font /Subtype /CIDFontType0 /BaseFont /STSong-Light /DW 1000 /FontDescriptor 6 0 R"
    f" /W [1 [{' '.join(SONG_WIDTHS.split())}]]"
    " /CIDSystemInfo << /Registry (Adobe) /Ordering (GB1) /Supplement 2 >> >>",
    "<< /Type /FontDescriptor /FontName /STSong-Light /Flags 6 /FontBBox [-25 -254 1000 880]"
    " /ItalicAngle 0 /Ascent 880 /Descent -120 /CapHeight 880 /StemV 93 >>",
)
FIRST_PAGE_OBJECT = 8  # 1 catalogue, 2 page tree, 3 to 6 fonts, 7 information


def page_objects(pages: list[list[str]]) -> Iterator[str]:
    """Yield each page's dictionary and, right after it, its content stream."""
    for index, operators in enumerate(pages):
        number = FIRST_PAGE_OBJECT + 2 * index
        yield (
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {PAGE_WIDTH} {PAGE_HEIGHT}]"
            f" /Resources << /Font << /F1 3 0 R /F2 4 0 R >> >> /Contents {number + 1} 0 R >>"
        )
        content = "\n".join(operators)
        yield f"<< /Length {len(content)} >>\nstream\n{content}\nendstream"


def parent_index(outline: list[OutlineEntry], index: int) -> int:
    """Return the nearest earlier entry of a lower level, or -1 for the root."""
    above = (i for i in range(index - 1, -1, -1) if outline[i].level < outline[index].level)
    return next(above, -1)


def outline_objects(outline: list[OutlineEntry], first: int) -> Iterator[str]:
    """Yield the outline's root, which becomes object `first`, and its entries in reading order."""
    parents = [parent_index(outline, index) for index in range(len(outline))]

    def links(index: int) -> str:
        children = [i for i, parent in enumerate(parents) if parent == index]
        if not children:
            return ""
        ends = f" /First {first + 1 + children[0]} 0 R /Last {first + 1 + children[-1]} 0 R"
        return f"{ends} /Count {len(children) if index < 0 else -len(children)}"

    yield f"<< /Type /Outlines{links(-1)} >>"
    for index, entry in enumerate(outline):
        siblings = [i for i, parent in enumerate(parents) if parent == parents[index]]
        place = siblings.index(index)
        around = f" /Prev {first + 1 + siblings[place - 1]} 0 R" if place else ""
        if place + 1 < len(siblings):
            around += f" /Next {first + 1 + siblings[place + 1]} 0 R"
        page = FIRST_PAGE_OBJECT + 2 * entry.page
        yield (
            f"<< /Title {pdf_string(entry.title)} /Parent {first + 1 + parents[index]} 0 R{around}"
            f"{links(index)} /Dest [{page} 0 R /XYZ {LEFT:g} {entry.top:.2f} null] >>"
        )


def build_pdf(source: str) -> bytes:
    """Return the bytes of a PDF 1.4 file that shows the source."""
    layout = lay_out(source)
    outline_root = FIRST_PAGE_OBJECT + 2 * len(layout.pages)
    kids = " ".join(f"{FIRST_PAGE_OBJECT + 2 * index} 0 R" for index in range(len(layout.pages)))
    objects = [
        f"<< /Type /Catalog /Pages 2 0 R /Outlines {outline_root} 0 R /PageMode /UseOutlines >>",
        f"<< /Type /Pages /Count {len(layout.pages)} /Kids [{kids}] >>",
        *FONTS,
        f"<< /Title {pdf_string(TITLE)} /Author {pdf_string(AUTHOR)} >>",
        *page_objects(layout.pages),
        *outline_objects(layout.outline, outline_root),
    ]
    return serialize(objects)


def serialize(objects: list[str]) -> bytes:
    """Return a PDF file of these objects, numbered from 1: the catalogue first, the information seventh."""
    body, offsets = b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n", []
    for number, content in enumerate(objects, start=1):
        offsets.append(len(body))
        body += f"{number} 0 obj\n{content}\nendobj\n".encode("ascii")
    table = "".join(f"{offset:010d} 00000 n \n" for offset in offsets)
    size = len(objects) + 1
    tail = f"xref\n0 {size}\n0000000000 65535 f \n{table}trailer\n<< /Size {size} /Root 1 0 R /Info 7 0 R >>\n"
    return body + f"{tail}startxref\n{len(body)}\n%%EOF\n".encode("ascii")


def build_all() -> dict[Path, bytes]:
    """Return the generated samples by their path."""
    study = (SOURCES / "fog-water-study.txt").read_text(encoding="utf-8")
    agreement = (SOURCES / "用地与保管协议.txt").read_text(encoding="utf-8")
    return {
        SAMPLES / "papers" / "fog-water-study.pdf": build_pdf(study),
        SAMPLES / "manuals" / "用地与保管协议.txt": agreement.encode("gb18030"),
    }


def main() -> int:
    """Write the samples, or with `--check` return 1 when a shipped one differs."""
    parser = argparse.ArgumentParser(description="Build the binary sample documents.")
    parser.add_argument("--check", action="store_true", help="compare only, write nothing")
    check_only = parser.parse_args().check
    built = build_all().items()
    stale = {path: data for path, data in built if not path.is_file() or path.read_bytes() != data}
    for path, data in stale.items():
        if not check_only:
            path.write_bytes(data)
        print(f"{'differs' if check_only else 'written'}: {path.relative_to(SAMPLES)}")
    return 1 if check_only and stale else 0


if __name__ == "__main__":
    sys.exit(main())
