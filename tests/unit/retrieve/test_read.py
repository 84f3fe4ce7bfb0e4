"""Documents can be read by path, lines, page and locator."""

from __future__ import annotations

import pytest

from shelf import Shelf
from zhiku.errors import NotFound, QueryError, UsageError
from zhiku.retrieve.read import Excerpt

TEXT = "".join(f"第{n}行\n" for n in range(1, 51))


def read(shelf: Shelf, place: str = "a.txt", **part: object) -> Excerpt:
    return shelf.library.read(place, **part)


@pytest.fixture
def filled(shelf: Shelf) -> Shelf:
    shelf.write("a.txt", TEXT)
    shelf.write("sub/b.md", "---\ntitle: 乙\n---\n\n# 一\n\n正文")
    shelf.write("other/b.md", "别的")
    shelf.index()
    return shelf


def test_a_document_is_read_whole(filled: Shelf) -> None:
    assert read(filled).text == TEXT.rstrip("\n")


@pytest.mark.parametrize("place", ["sub/b.md", "docs/sub/b.md", "SUB/B.md"])
def test_a_path_may_be_given_in_part(filled: Shelf, place: str) -> None:
    assert read(filled, place).document.title == "乙"


def test_a_path_that_means_several_documents_lists_them(filled: Shelf) -> None:
    with pytest.raises(UsageError, match=r"other/b\.md, sub/b\.md"):
        read(filled, "b.md")


def test_a_name_may_hold_the_characters_of_a_glob(filled: Shelf) -> None:
    filled.write("x[1].md", "括号")
    filled.index()
    assert read(filled, "x[1].md").text == "括号"


def test_an_absolute_path_is_a_place(filled: Shelf) -> None:
    assert read(filled, str(filled.docs / "sub/b.md")).document.title == "乙"


@pytest.mark.parametrize(("lines", "numbers"), [((1, 1), [1]), ((10, 12), [10, 11, 12]), ((49, 99), [49, 50])])
def test_lines_are_those_of_the_file(filled: Shelf, lines: tuple[int, int], numbers: list[int]) -> None:
    excerpt = read(filled, lines=lines)
    assert [(line.number, line.text) for line in excerpt.lines] == [(n, f"第{n}行") for n in numbers]


def test_context_adds_lines_on_both_sides(filled: Shelf) -> None:
    assert [line.number for line in read(filled, lines=(2, 3), context=2).lines] == [1, 2, 3, 4, 5]


def test_a_line_beyond_the_end_says_where_that_is(filled: Shelf) -> None:
    with pytest.raises(NotFound, match="ends at line 50"):
        read(filled, lines=(51, 60))


def test_lines_that_hold_only_markup_are_not_beyond_the_end(shelf: Shelf) -> None:
    shelf.write("page.html", "<h1>A</h1>\n\n\n\n<p>B</p>\n")
    shelf.index()
    with pytest.raises(NotFound, match="has no text in lines 2-3") as caught:
        read(shelf, "page.html", lines=(2, 3))
    assert caught.value.hint == "the next text: zhiku read page.html --lines 5-"


def test_lines_of_an_empty_document_are_not_offered(shelf: Shelf) -> None:
    shelf.write("a.txt", "")
    shelf.index()
    with pytest.raises(NotFound, match="holds no text"):
        read(shelf, lines=(1, 2))


def test_a_command_in_a_hint_can_be_run_as_it_stands(shelf: Shelf) -> None:
    shelf.write("two words.txt", "one")
    shelf.index()
    with pytest.raises(NotFound) as caught:
        read(shelf, "two words.txt", lines=(5, 5))
    assert "zhiku read 'two words.txt' --lines 1-" in caught.value.hint


@pytest.mark.parametrize("place", ["", "  "])
def test_an_empty_path_is_refused(filled: Shelf, place: str) -> None:
    with pytest.raises(UsageError, match="the path is empty"):
        read(filled, place)


def test_a_page_of_what_has_none_is_refused(filled: Shelf) -> None:
    with pytest.raises(UsageError, match="has no pages"):
        read(filled, page=1)


def test_an_unknown_path_names_the_nearest(filled: Shelf) -> None:
    with pytest.raises(NotFound) as caught:
        read(filled, "sub/bb.md")
    assert "sub/b.md" in caught.value.hint


def test_a_locator_opens_the_very_characters(filled: Shelf) -> None:
    document = next(d for d in filled.base.documents() if d.source.path == "a.txt")
    place = f"zhiku://default/a.txt?doc={document.doc_id}&chars=1-3#L1"
    assert read(filled, place).text == TEXT[1:3]
    assert read(filled, place, context=1).text == "第1行\n第2行"


def test_a_locator_without_characters_opens_its_lines(filled: Shelf) -> None:
    assert read(filled, "zhiku://default/a.txt#L3-4").text == "第3行\n第4行"


def test_a_locator_finds_its_document_after_a_move(filled: Shelf) -> None:
    place = filled.search("第7行").hits[0].locator
    text = read(filled, place).text
    (filled.docs / "a.txt").rename(filled.docs / "sub/a.txt")
    filled.index()
    assert read(filled, place).text == text


def test_a_locator_of_a_document_that_was_replaced_goes_by_its_path(filled: Shelf) -> None:
    assert read(filled, "zhiku://default/a.txt?doc=999&chars=0-3").text == TEXT[:3]


@pytest.mark.parametrize("place", ["zhiku://default", f"zhiku://default/a.txt?doc={1 << 63}"])
def test_what_is_no_locator_is_refused(filled: Shelf, place: str) -> None:
    with pytest.raises(QueryError, match="not a locator"):
        read(filled, place)


def test_lines_of_a_note_with_frontmatter_keep_their_numbers(filled: Shelf) -> None:
    assert [(line.number, line.text) for line in read(filled, "sub/b.md").lines][4:] == [
        (5, "一"),
        (6, ""),
        (7, "正文"),
    ]


def test_a_long_line_over_several_pieces_is_one_line(shelf: Shelf) -> None:
    text = "甲" * 10_000 + "\n" + "乙" * 10_000
    shelf.write("a.txt", text)
    shelf.index()
    assert [(line.number, line.text) for line in read(shelf).lines] == list(enumerate(text.split("\n"), 1))


def test_an_empty_document_has_no_lines(shelf: Shelf) -> None:
    shelf.write("a.txt", "")
    shelf.index()
    assert read(shelf).lines == ()


def test_the_excerpt_as_json_says_where_it_stands(filled: Shelf) -> None:
    values = read(filled, lines=(3, 4)).to_dict()
    assert (values["path"], values["line_start"], values["line_end"], values["file_state"]) == (
        "a.txt",
        3,
        4,
        "unchanged",
    )


def test_a_locator_opens_the_very_words_that_were_found(filled: Shelf) -> None:
    (hit,) = filled.search("第17行").hits[:1]
    assert read(filled, hit.locator).text == hit.text


def test_a_locator_of_an_edited_document_says_that_it_is_old(filled: Shelf) -> None:
    locator = filled.search("第17行").hits[0].locator
    filled.write("a.txt", "别的话\n" + TEXT)
    filled.index()
    with pytest.raises(NotFound, match="indexed anew"):
        read(filled, locator)


def test_a_locator_never_opens_another_document_in_a_base_made_anew(filled: Shelf) -> None:
    locator = filled.search("别的").hits[0].locator
    filled.library.delete("default")
    filled.write("0.txt", "第一个")
    filled.index()
    assert read(filled, locator).text == "别的"
