"""Pages become blocks of visible text, each line with its line in the source."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zhiku.model import ParsedDocument, Source
from zhiku.parsers.html import HtmlParser

SOURCE = Source(root="/r", path="page.html", size_bytes=0, mtime_ns=0, sha256="")


def _parse(page: str | bytes) -> ParsedDocument:
    return HtmlParser().parse(SOURCE, page.encode() if isinstance(page, str) else page)


def _shown(page: str) -> list[tuple[str, str]]:
    document = _parse(page)
    return [(block.kind, document.text[block.char_start : block.char_end]) for block in document.blocks]


def test_every_kind_of_block_is_found() -> None:
    page = (
        "<h2>二 <a aria-hidden=true>#</a></h2><p>一 <b>粗</b>体 &amp; 余<br>新行<p>段"
        "<ul><li>甲<li>乙<ul><li>丙</ul></ul><table><tr><th>a<th>b<tr><td>1<td></td><td>3</table>"
        "<pre>\nif x &lt; 1:\n    y\n</pre>"
    )
    assert _shown(page) == [
        ("heading", "二"),
        ("paragraph", "一 粗体 & 余\n新行"),
        ("paragraph", "段"),
        ("list", "- 甲\n- 乙\n  - 丙"),
        ("table", "a | b\n1 |  | 3"),
        ("fence", "if x < 1:\n    y"),
    ]


def test_each_line_names_the_source_line_where_it_begins() -> None:
    document = _parse("<html>\n<body>\n\n<p>\n  一\n  续\n</p>\n<pre>\na\n\nb</pre>\n<p>x<br>\n\ny\n")
    lines = dict(zip(document.text.split("\n"), document.line_numbers, strict=True))
    assert {text: lines[text] for text in ("一续", "a", "b", "x", "y")} == {
        "一续": 5,
        "a": 9,
        "b": 11,
        "x": 12,
        "y": 14,
    }


def test_blocks_are_separated_by_one_blank_line() -> None:
    assert _parse("<div><p>一</p>\n\n\n<p>二</p></div>").text == "一\n\n二"


def test_the_title_comes_from_the_head_or_else_the_first_heading() -> None:
    assert _parse("<title>甲 &amp;\n乙</title><h1>丙</h1>").title == "甲 & 乙"
    assert _parse("<h2>一</h2><h1>丙</h1>").title == "丙"


def test_keywords_and_description_are_metadata() -> None:
    document = _parse('<meta name="keywords" content="甲, 乙，丙"><META NAME=Description content="说明"><p>文')
    assert document.metadata == {"tags": ["甲", "乙", "丙"], "description": "说明"}


def test_what_a_reader_does_not_see_is_left_out() -> None:
    page = (
        "<head><style>p{}</style><script>var a = '<p>无</p>';</script></head><nav>菜单</nav>"
        "<div hidden>藏</div><div role=navigation>航</div>"
        "<p>正文正文正文<noscript>无</noscript><svg><text>图</text></svg>"
        "<template>模</template></p><!-- 注 --><footer>底</footer><aside>旁</aside><form>表</form>"
    )
    assert _shown(page) == [("paragraph", "正文正文正文")]


BODY = "<h1>题</h1><p>" + "正文说的是水泵的安装和检修。" * 6 + "</p>"
LINKS = "<ul><li><a href=a>首页</a></li><li><a href=b>目录</a></li></ul>"


def _lines(page: str) -> list[str]:
    return [text for _, text in _shown(page)]


@pytest.mark.parametrize(
    "page",
    [
        "{links}<main>{body}</main><div>相关文章</div>",
        "{links}<div role=main>{body}</div><div>相关文章</div>",
        "<div>{links}</div><article>{body}</article><section>评论</section>",
        "{links}<div id='content'>{body}</div><div>相关文章</div>",
        "{links}<div itemprop='articleBody'>{body}</div><div>相关文章</div>",
        "{links}<header>{h1}</header><main>{rest}</main>",
    ],
)
def test_the_content_is_read_where_the_page_tells_it(page: str) -> None:
    h1, rest = BODY[:10], BODY[10:]
    assert h1 == "<h1>题</h1>"
    assert _lines(page.format(links=LINKS, body=BODY, h1=h1, rest=rest)) == ["题", "正文说的是水泵的安装和检修。" * 6]


def test_every_article_of_a_page_is_content() -> None:
    page = f"{LINKS}<article>{BODY}<article>评论</article></article><article>又一篇</article>"
    assert _lines(page)[2:] == ["评论", "又一篇"]


def test_a_teaser_is_not_the_content() -> None:
    assert "评论" not in _lines(f"<article>评论</article>{BODY}")[-1]
    assert len(_lines(f"<article>评论</article>{BODY}")) == 3


@pytest.mark.parametrize(
    "name", ["class=nav", "class='x site-footer'", "id=sidebar", "class=breadcrumbs", "class='Main-Menu'"]
)
def test_a_menu_is_what_is_called_one_and_is_made_of_links(name: str) -> None:
    assert _lines(f"<div {name}>{LINKS}</div>{BODY}") == ["题", "正文说的是水泵的安装和检修。" * 6]
    assert _lines(f"<div {name}>例汤、时蔬、米饭</div>{BODY}")[0] == "例汤、时蔬、米饭"


def test_a_form_that_holds_most_of_the_page_is_read() -> None:
    page = f"<form>{BODY}</form>" + "<p>页脚的话说得也不短，但是还没有表单里的一半长。</p>" * 3
    assert "正文说的是水泵的安装和检修。" * 6 in _lines(page)


def test_surroundings_stay_where_there_is_little_else() -> None:
    page = "<body><form><h1>标题</h1><p>整页都在一个表单里，这是正文。</p></form><p>注</p></body>"
    assert "整页都在一个表单里" in _parse(page).text


def test_an_unclosed_menu_ends_with_its_parent() -> None:
    assert _shown("<div><nav>菜单</div><p>正文") == [("paragraph", "正文")]


def test_a_heading_without_end_does_not_swallow_the_page() -> None:
    assert _shown("<h1>题<p>一</p><p>二</p>") == [("heading", "题"), ("paragraph", "一"), ("paragraph", "二")]


def test_tables_for_layout_become_paragraphs() -> None:
    page = "<table><tr><td><p>一</p><p>二</p><h2>节</h2><p>三</p><p>四</p></td></tr></table>"
    assert [kind for kind, _ in _shown(page)] == [
        "paragraph",
        "paragraph",
        "heading",
        "paragraph",
        "paragraph",
    ]


def test_a_line_end_between_two_han_characters_is_no_space() -> None:
    assert _parse("<p>知识\n  库 and\nmore").text == "知识库 and more"


@pytest.mark.parametrize(
    "head", ['<meta charset="gbk">', '<meta http-equiv=Content-Type content="text/html; charset=gb2312">', ""]
)
def test_a_declared_encoding_is_used(head: str) -> None:
    document = _parse(f"<html><head>{head}</head><p>这一页是用国标编码保存的中文网页。</p>".encode("gbk"))
    assert document.text == "这一页是用国标编码保存的中文网页。"
    assert document.encoding == "gb18030"


def test_a_false_declaration_is_not_believed() -> None:
    page = '<meta charset="utf-8"><p>声明是统一码，其实是国标编码。</p>'.encode("gbk")
    assert _parse(page).text == "声明是统一码，其实是国标编码。"


def test_a_page_without_text_is_a_warning() -> None:
    document = _parse("<html><body><img src=x></body></html>")
    assert (document.text, document.blocks, document.line_numbers) == ("", (), ())
    assert document.warnings == ("The page holds no text",)


@pytest.mark.parametrize("name", ["div", "table", "ul", "li", "b", "h1", "pre", "nav"])
def test_deep_nesting_is_read_in_linear_time(name: str) -> None:
    begin = time.process_time()
    document = _parse(f"<{name}>" * 200_000 + "底")
    assert time.process_time() - begin < 30
    assert document.text.strip("- ") == "底"


@pytest.mark.parametrize("name", ["div class=nav", "main", "article", "form", "a href=x", "div id=content"])
def test_deep_nesting_of_parts_is_read_in_linear_time(name: str) -> None:
    begin = time.process_time()
    document = _parse(f"<{name}>字" * 50_000)
    assert time.process_time() - begin < 30
    assert document.text.count("字") >= 24_000  # the outer half of forms within forms holds most of the text


@pytest.mark.parametrize("unit", ["<!--", "<![", "<!a", "<a ", "</", "&#", '<a b="', "<td>", "<br>"])
def test_a_megabyte_of_broken_markup_is_read_in_bounded_time(unit: str) -> None:
    begin = time.process_time()
    _parse("<p>文</p>" + unit * (1_000_000 // len(unit)))
    assert time.process_time() - begin < 30


PIECES = """<p> </p> <h1> </h1> <ul> <li> </ul> <table> <tr> <td> </td> </table> <pre> </pre> <br>
<nav> </nav> <div> </div> 文 a &lt; < >"""


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from([*PIECES.split(), "\n"]), max_size=40).map("".join))
def test_lines_have_numbers_and_blocks_cover_the_text(page: str) -> None:
    document = _parse(page)
    assert len(document.line_numbers) == (document.text.count("\n") + 1 if document.text else 0)
    assert all(1 <= number <= page.count("\n") + 1 for number in document.line_numbers)
    rest = list(document.text)
    for block in document.blocks:
        assert block.char_start < block.char_end
        rest[block.char_start : block.char_end] = [" "] * (block.char_end - block.char_start)
    assert not "".join(rest).strip()
    assert all(before.char_end <= after.char_start for before, after in pairwise(document.blocks))
    assert document.text.count("文") == page.count("文") or "nav" in page
