"""E-books become their chapters in reading order, under the headings of their contents."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from docx_files import docx, packed_as_zip
from epub_files import SAMPLE, encryption, epub, point, xhtml
from zhiku.errors import ParseFailed, PasswordNeeded, TooLarge
from zhiku.model import ParsedDocument, Source
from zhiku.parsers import char_budget
from zhiku.parsers.epub import EpubParser

SOURCE = Source(root="/r", path="book.epub", size_bytes=0, mtime_ns=0, sha256="")
ENCRYPTION = "META-INF/encryption.xml"


def parse(data: bytes) -> ParsedDocument:
    return EpubParser().parse(SOURCE, data)


def headings(document: ParsedDocument) -> list[tuple[int, str]]:
    return [(block.level, block.title) for block in document.blocks if block.kind == "heading"]


def test_a_whole_book() -> None:
    document = parse(SAMPLE)

    assert (document.title, document.metadata) == ("雾河", {"author": "林小满", "language": "zh"})
    assert document.text.split("\n\n") == [
        "序",
        "序言没有标题。",
        "上卷",
        "第一章 起源",
        "有一座泵站。",
        "水源",
        "山里的雾。",
        "第二章 归途",
        "The end — “fin”.",
        "注：见附录。",
    ]
    assert headings(document) == [(1, "序"), (1, "上卷"), (2, "第一章 起源"), (3, "水源"), (2, "第二章 归途")]
    assert document.line_numbers[::2] == tuple(range(1, 11))
    assert document.warnings == ()


def test_chapters_come_in_the_order_of_the_spine_and_each_once() -> None:
    data = epub({"a.xhtml": "<p>一</p>", "b.xhtml": "<p>二</p>"}, spine=("b.xhtml", "a.xhtml", "b.xhtml"))
    assert parse(data).text == "二\n\n一"


def test_the_list_of_an_epub_3_gives_the_headings() -> None:
    nav = (
        '<ol><li><span>卷一</span><ol><li><a href="a.xhtml"><span>第一</span>章</a></li></ol></li>'
        '<li><a href="b.xhtml">附录</a></li></ol>'
    )
    data = epub(
        {"a.xhtml": "<h3>第一章</h3><p>甲</p>", "b.xhtml": "<p>乙</p>"}, nav=nav, contents=point("x", "a.xhtml")
    )
    assert headings(parse(data)) == [(1, "卷一"), (2, "第一章"), (1, "附录")]


def test_the_page_of_contents_is_no_chapter() -> None:
    nav = '<ol><li><a href="a.xhtml">一</a></li></ol>'
    assert parse(epub({"a.xhtml": "<p>甲</p>"}, nav=nav, spine=("nav", "a.xhtml"))).text == "一\n\n甲"


def test_a_heading_in_other_words_than_the_contents_has_its_level() -> None:
    contents = point("上", "a.xhtml", point("起源", "b.xhtml", point("水", "b.xhtml#w")))
    data = epub({"a.xhtml": "<h1>上卷</h1>", "b.xhtml": "<h1>1. 起源</h1><p>甲</p><h2>1.1 水</h2>"}, contents=contents)
    assert headings(parse(data)) == [(1, "上卷"), (2, "1. 起源"), (3, "1.1 水")]


def test_a_line_of_a_list_within_a_chapter_is_no_heading_where_one_is_marked() -> None:
    contents = point("一", "a.xhtml", point("水", "a.xhtml#w"))
    data = epub({"a.xhtml": "<h1>一</h1><p>水</p><p>甲</p><h2>水</h2><p>乙</p>"}, contents=contents)
    assert [block.kind for block in parse(data).blocks] == ["heading", "paragraph", "paragraph", "heading", "paragraph"]


def test_a_book_without_contents_has_the_headings_of_its_markup() -> None:
    assert headings(parse(epub({"a.xhtml": "<h1>一</h1><h2>二</h2>", "b.xhtml": "<h1>三</h1>"}))) == [
        (1, "一"),
        (2, "二"),
        (1, "三"),
    ]


def test_nothing_of_a_chapter_is_left_out_as_a_web_page_s_surroundings_would_be() -> None:
    body = '<div class="nav"><p><a href="x">链接</a></p></div><footer>脚注</footer><form>表</form><p hidden="">藏</p>'
    assert parse(epub({"a.xhtml": f"<main>正文</main>{body}"})).text.split("\n\n") == [
        "正文",
        "链接",
        "脚注",
        "表",
        "藏",
    ]


def test_elements_that_end_where_they_begin_hold_nothing() -> None:
    body = '<script src="x.js"/><p>一<a id="x"/>二<br/>三</p><textarea/><p>四</p>'
    assert parse(epub({"a.xhtml": body})).text == "一二\n三\n\n四"


@pytest.mark.parametrize("algorithm", ["http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC"])
def test_obfuscated_fonts_are_no_protection(algorithm: str) -> None:
    files = {ENCRYPTION: encryption(algorithm, "OEBPS/font.otf", "OEBPS/a.xhtml")}
    assert parse(epub({"a.xhtml": "<p>一</p>"}, files=files)).text == "一"


@pytest.mark.parametrize("algorithm", ["", "http://www.w3.org/2001/04/xmlenc#aes128-cbc"])
@pytest.mark.parametrize(
    ("file", "scheme"), [("META-INF/rights.xml", "Adobe DRM"), ("META-INF/license.lcpl", "Readium LCP"), ("x", "DRM")]
)
def test_a_protected_book_names_its_protection(algorithm: str, file: str, scheme: str) -> None:
    files = {ENCRYPTION: encryption(algorithm, "OEBPS/a%2Exhtml"), file: b""}
    with pytest.raises(PasswordNeeded, match=f"protected by {scheme}: its text is encrypted"):
        parse(epub({"a.xhtml": "\x80"}, files=files))


def test_an_encrypted_chapter_is_left_out_with_a_warning() -> None:
    files = {ENCRYPTION: encryption("x", "OEBPS/a.xhtml")}
    document = parse(epub({"a.xhtml": "<p>密</p>", "b.xhtml": "<p>明</p>"}, files=files))
    assert document.text == "明"
    assert document.warnings == ("Chapters that are encrypted and were left out: oebps/a.xhtml",)


@pytest.mark.parametrize(
    "href", ["../../../etc/passwd.xhtml", "..\\..\\x.html", "%2e%2e/%2e%2e/x.html", "http://x/y.html"]
)
def test_what_lies_outside_of_the_book_is_not_looked_for(href: str) -> None:
    evil = {"../../../etc/passwd.xhtml": xhtml("<p>evil</p>").encode(), "x.html": xhtml("<p>evil</p>").encode()}
    document = parse(epub({href: "<p>evil</p>", "b.xhtml": "<p>好</p>"}, files=evil))
    assert document.text == "好"
    assert document.warnings == ("Chapters outside of the book, which were not looked for: 1",)


def test_missing_and_damaged_chapters_are_warnings() -> None:
    data = epub(
        {"a.xhtml": "<p>一</p>"},
        metadata='</metadata><manifest><item id="z" href="z.xhtml" media-type="text/html"/></manifest><metadata>',
        spine=("z", "a.xhtml"),
    )
    assert parse(data).warnings == ("Chapters that are missing from the file: oebps/z.xhtml",)
    damaged = epub({"a.xhtml": "<p>一</p>", "b.xhtml": ""}, files={"OEBPS/b.xhtml": b"\0\x81\xff" * 99})
    assert parse(damaged).warnings == ("Parts of the file that are damaged and were left out: oebps/b.xhtml",)


def test_a_book_of_pictures_holds_no_text() -> None:
    document = parse(epub({"a.xhtml": '<img src="x.png"/>'}))
    assert (document.text, document.warnings) == ("", ("The book holds no text",))


def test_a_book_that_lies_in_a_folder_of_its_archive_is_read() -> None:
    opf = (
        b'<package xmlns="http://www.idpf.org/2007/opf"><manifest>'
        b'<item id="a" href="a.html" media-type="text/html"/></manifest></package>'
    )
    assert parse(packed_as_zip({"book/x.opf": opf, "book/a.html": b"<p>x</p>"})).text == "x"


@pytest.mark.parametrize("data", [b"", b"%PDF-1.7", docx("<w:p/>"), packed_as_zip({"a.txt": b"x"})])
def test_something_else_is_no_book(data: bytes) -> None:
    with pytest.raises(ParseFailed, match="not an e-book"):
        parse(data)


def test_a_book_that_is_cut_off_or_has_no_readable_chapter_is_damaged() -> None:
    with pytest.raises(ParseFailed, match="damaged"):
        parse(SAMPLE[: len(SAMPLE) // 2])
    with pytest.raises(ParseFailed, match="none of its chapters"):
        parse(epub({"a.xhtml": ""}, files={"OEBPS/a.xhtml": b"\0\x81\xff" * 99}))


def test_entities_that_a_contents_file_declares_are_not_read() -> None:
    bomb = b'<!DOCTYPE ncx [<!ENTITY a "aaaa">]><ncx xmlns="http://www.daisy.org/z3986/2005/ncx/">&a;</ncx>'
    document = parse(epub({"a.xhtml": "<p>一</p>"}, contents=point("x", "a.xhtml"), files={"OEBPS/toc.ncx": bomb}))
    assert document.text == "一"
    assert document.warnings == ("Parts of the file that are damaged and were left out: oebps/toc.ncx",)


def test_too_much_text_and_a_bomb_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(TooLarge):
        parse(epub({"a.xhtml": "<p/>" * 1_000_000}))
    monkeypatch.setattr(char_budget, "MAX_CHARS", 100)
    with pytest.raises(TooLarge, match="too much text"):
        parse(epub({"a.xhtml": "x" * 60, "b.xhtml": "x" * 60}))


PIECES = [
    *("<p>", "</p>", "<h1>", "<h2>", "</h2>", "<br/>", "<title/>", "<script/>", '<a href="', "'/>", "<pre>", "<li>"),
    *("甲", "水", "\n", "<", "/>", "<table>", "<td>", "<!--", "&lt;"),
]


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=30).map("".join))
def test_chapters_of_any_markup_are_no_fault(body: str) -> None:
    contents = point("甲", "a.xhtml", point("水", "a.xhtml#x"))
    document = parse(epub({"a.xhtml": body, "b.xhtml": "<p>last</p>"}, contents=contents))
    assert document.text.endswith("last")
    assert list(document.line_numbers) == sorted(document.line_numbers)
