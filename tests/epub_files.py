"""Small e-books, made part by part for the tests that need them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from docx_files import packed_as_zip

_CONTAINER: Final = (
    '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
    '<rootfile full-path="OEBPS/book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>'
)


def epub(
    chapters: Mapping[str, str],
    *,
    contents: str = "",
    nav: str = "",
    metadata: str = "",
    spine: Sequence[str] = (),
    files: Mapping[str, bytes] | None = None,
) -> bytes:
    """Return a book of chapters by file name, bodies of XHTML.

    `contents` are the `navPoint` elements of EPUB 2, `nav` is the list of EPUB 3; `spine` names the chapters in the
    order in which they are read; `files` are put in as they are.
    """
    items = "".join(f'<item id="{name}" href="{name}" media-type="application/xhtml+xml"/>' for name in chapters)
    items += '<item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/>' if contents else ""
    items += '<item id="nav" href="nav.xhtml" properties="nav" media-type="application/xhtml+xml"/>' if nav else ""
    order = "".join(f'<itemref idref="{name}"/>' for name in spine or chapters)
    packed = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": _CONTAINER,
        "OEBPS/book.opf": (
            '<package xmlns="http://www.idpf.org/2007/opf" version="3.0">'
            f'<metadata xmlns:dc="http://purl.org/dc/elements/1.1/">{metadata}</metadata>'
            f'<manifest>{items}</manifest><spine toc="ncx">{order}</spine></package>'
        ),
        **{f"OEBPS/{name}": xhtml(body) for name, body in chapters.items()},
    }
    if contents:
        packed["OEBPS/toc.ncx"] = (
            '<!DOCTYPE ncx PUBLIC "-//NISO//DTD ncx 2005-1//EN" "http://www.daisy.org/z3986/2005/ncx-2005-1.dtd">'
            f'<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/"><navMap>{contents}</navMap></ncx>'
        )
    if nav:
        packed["OEBPS/nav.xhtml"] = xhtml(f'<nav epub:type="toc">{nav}</nav><nav epub:type="landmarks">{nav}</nav>')
    return packed_as_zip({name: text.encode() for name, text in packed.items()} | dict(files or {}))


def xhtml(body: str) -> str:
    """Return a page."""
    return (
        '<?xml version="1.0" encoding="utf-8"?><!DOCTYPE html><html xmlns="http://www.w3.org/1999/xhtml"'
        f' xmlns:epub="http://www.idpf.org/2007/ops"><head><title/></head><body>{body}</body></html>'
    )


def point(title: str, target: str, inside: str = "") -> str:
    """Return an entry of the contents, and those below it."""
    return f'<navPoint><navLabel><text>{title}</text></navLabel><content src="{target}"/>{inside}</navPoint>'


def encryption(algorithm: str, *parts: str) -> bytes:
    """Return what says that parts are encrypted."""
    method = f'<EncryptionMethod Algorithm="{algorithm}"/>' if algorithm else ""
    each = "".join(
        f'<EncryptedData xmlns="http://www.w3.org/2001/04/xmlenc#">{method}<CipherData>'
        f'<CipherReference URI="{part}"/></CipherData></EncryptedData>'
        for part in parts
    )
    return f'<encryption xmlns="urn:oasis:names:tc:opendocument:xmlns:container">{each}</encryption>'.encode()


SAMPLE: Final = epub(
    {
        "b.xhtml": "<h1>第一章 起源</h1><p>有一座<ruby>泵<rt>bèng</rt></ruby>站。</p><h2>水源</h2><p>山里的雾。</p>",
        "a.xhtml": "<p>序言没有标题。</p>",
        "c.xhtml": '<p class="t">第二章 归途</p><p>The end — “fin”.</p><aside>注：见附录。</aside>',
    },
    contents=point("序", "a.xhtml")
    + point("上卷", "b.xhtml", point("第一章 起源", "b.xhtml#x") + point("第二章 归途", "c.xhtml")),
    metadata="<dc:title>雾河</dc:title><dc:creator>林小满</dc:creator><dc:language>zh</dc:language>",
    spine=("a.xhtml", "b.xhtml", "c.xhtml"),
)
"""A book with something of most kinds."""
