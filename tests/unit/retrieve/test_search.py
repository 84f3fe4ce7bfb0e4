"""Ranked hits with their places, and the health of the answer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from shelf import Shelf
from zhiku.errors import QueryError
from zhiku.locator import parse_locator


def test_a_hit_says_where_its_text_stands(shelf: Shelf) -> None:
    shelf.write("手册/泵.md", "# 水泵\n\n## 安装\n\n先断电。\n再拆盖板。\n")
    shelf.index()
    (hit,) = shelf.search("盖板")

    assert (hit.rank, hit.base, hit.path, hit.title) == (1, "default", "手册/泵.md", "水泵")
    assert (hit.section, hit.line_start, hit.line_end, hit.page) == (("水泵", "安装"), 5, 6, None)
    assert (hit.file, hit.file_state, hit.relevance, hit.ocr) == (
        str(shelf.docs / "手册/泵.md"),
        "unchanged",
        None,
        False,
    )
    assert hit.text == "先断电。\n再拆盖板。"


def test_the_locator_of_a_hit_opens_its_text(shelf: Shelf) -> None:
    shelf.write("a.md", "# 一\n\n前段\n\n再拆盖板。\n\n后段")
    shelf.index()
    (hit,) = shelf.search("盖板")

    assert shelf.library.read(hit.locator).text == hit.text
    assert parse_locator(hit.locator).line_start == hit.line_start


def test_marks_are_the_places_of_the_words(shelf: Shelf) -> None:
    shelf.write("a.md", "the Gate-Sync 召回率 opens")
    shelf.index()
    (hit,) = shelf.search("opening 召回 gate")

    assert [hit.text[start:end] for start, end in hit.marks] == ["Gate-Sync", "召回", "opens"]


def test_marks_point_into_the_text_as_written(shelf: Shelf) -> None:
    shelf.write("a.md", "請先開通網絡權限")
    shelf.index()
    (hit,) = shelf.search("网络")

    assert [hit.text[start:end] for start, end in hit.marks] == ["網絡"]


def test_a_rarer_word_counts_more(shelf: Shelf) -> None:
    for n in range(6):
        shelf.write(f"common{n}.md", "阀门 检查")
    shelf.write("rare.md", "密封圈 检查")
    shelf.index()

    assert shelf.found("阀门 密封圈")[0] == "rare.md"


def test_the_very_words_in_a_row_earn_a_bonus(shelf: Shelf) -> None:
    shelf.write("apart.md", "备份 每周 恢复 演练")
    shelf.write("row.md", "每周 演练 备份 恢复")
    shelf.index()
    first, second = shelf.search("备份 恢复")

    assert (first.path, "phrase" in first.why, "phrase" in second.why) == ("row.md", True, False)


@pytest.mark.parametrize(
    ("path", "content", "code"),
    [
        ("a.md", "---\ntitle: 密封圈\n---\n\n正文", "title"),
        ("a.md", "---\naliases: [密封圈]\n---\n\n正文", "title"),
        ("a.md", "---\ntags: [密封圈]\n---\n\n正文", "title"),
        ("a.md", "# 密封圈\n\n正文", "heading"),
        ("密封圈.md", "正文", "name"),
    ],
)
def test_titles_headings_and_names_are_searched(shelf: Shelf, path: str, content: str, code: str) -> None:
    shelf.write(path, content)
    shelf.write("other.md", "无关")
    shelf.index()
    (hit,) = shelf.search("密封圈")

    assert (hit.path, code in hit.why) == (path, True)


def test_a_title_outranks_the_text(shelf: Shelf) -> None:
    shelf.write("body.md", "# 其他\n\n这里说到密封圈。")
    shelf.write("title.md", "# 密封圈\n\n这里说的是别的。")
    shelf.index()
    assert shelf.found("密封圈") == ["title.md", "body.md"]


def test_for_a_keyword_every_document_comes_once_before_any_comes_twice(shelf: Shelf) -> None:
    shelf.write("many.md", "".join(f"# 节{n}\n\n阀门阀门阀门\n\n" for n in range(200)))
    shelf.write("long.md", "阀门" + "其他的话。" * 60)
    shelf.index()

    found = shelf.found("阀门", top_k=3)
    assert set(found) == {"many.md", "long.md"}


def test_for_a_question_one_document_leaves_others_a_third_of_the_hits(shelf: Shelf) -> None:
    shelf.write("many.md", "".join(f"# 节{n}\n\n阀门怎样检查\n\n" for n in range(20)))
    for n in range(5):
        shelf.write(f"one{n}.md", "阀门" + "其他的话。" * 40)
    shelf.index()

    for top_k, most in ((1, 1), (2, 2), (3, 2), (5, 4), (10, 7)):
        assert shelf.found("阀门 检查", top_k=top_k).count("many.md") == most


def test_one_document_may_fill_the_hits_where_no_other_matches(shelf: Shelf) -> None:
    shelf.write("many.md", "".join(f"# 节{n}\n\n阀门怎样检查\n\n" for n in range(20)))
    shelf.index()
    assert len(shelf.search("阀门 检查", top_k=10)) == 10


def test_ties_are_broken_by_place_in_the_base(shelf: Shelf) -> None:
    for name in "cab":
        shelf.write(f"{name}.md", "阀门")
    shelf.index()
    assert shelf.found("阀门") == ["a.md", "b.md", "c.md"]


def test_a_source_filter_is_a_part_of_a_path_or_a_glob(shelf: Shelf) -> None:
    shelf.write("手册/Pump.md", "阀门")
    shelf.write("手册/b.txt", "阀门")
    shelf.write("c.md", "阀门")
    shelf.index()

    assert shelf.found("阀门", source="手册/") == ["手册/Pump.md", "手册/b.txt"]
    assert shelf.found("阀门", source="pump") == ["手册/Pump.md"]
    assert sorted(shelf.found("阀门", source="*.md")) == ["c.md", "手册/Pump.md"]
    assert shelf.found("阀门", source="nothing") == []


def test_a_filter_looks_at_the_root_by_its_own_name_only(shelf: Shelf) -> None:
    shelf.write("a/x.md", "阀门")
    shelf.write("b.md", "阀门")
    shelf.index()
    above = shelf.docs.parent.name

    assert shelf.found("阀门", source=above) == []
    assert sorted(shelf.found("阀门", source=f"{shelf.docs.name}/")) == ["a/x.md", "b.md"]
    assert shelf.found("阀门", source=str(shelf.docs / "a")) == ["a/x.md"]
    assert shelf.found("阀门", source=str(shelf.docs / "a" / "*.md")) == ["a/x.md"]


def test_the_limits_on_characters_hold(shelf: Shelf) -> None:
    for n in range(5):
        shelf.write(f"{n}.md", f"第{n}句话说到了阀门。" * 20)
    shelf.index()

    assert all(len(hit.text) <= 40 and "阀门" in hit.text for hit in shelf.search("阀门", max_chars_per_hit=40))
    assert sum(len(hit.text) for hit in shelf.search("阀门", max_chars=100)) <= 100
    assert shelf.search("阀门", max_chars=1000).hits[0].text == shelf.search("阀门").hits[0].text


def test_no_hits_is_an_answer(shelf: Shelf) -> None:
    shelf.write("a.md", "阀门")
    shelf.index()
    answer = shelf.search("水泵")

    assert (answer.hits, answer.health.legs["lexical"].ran, answer.health.degraded) == ((), True, ())


@pytest.mark.parametrize("text", ["(", "*", '""', "——", "😀"])
def test_a_query_without_words_says_so(shelf: Shelf, text: str) -> None:
    shelf.write("a.md", "阀门 (*)")
    shelf.index()
    answer = shelf.search(text)

    assert (answer.hits, answer.health.legs["lexical"].ran) == ((), False)
    assert "no letter" in str(answer.health.degraded[0])


@pytest.mark.parametrize("text", ["", " ", "\n\t"])
def test_an_empty_query_is_an_error_with_a_next_step(shelf: Shelf, text: str) -> None:
    shelf.write("a.md", "阀门")
    shelf.index()
    with pytest.raises(QueryError, match="empty") as caught:
        shelf.search(text)
    assert "zhiku search" in caught.value.hint


@pytest.mark.parametrize("limit", ["top_k", "max_chars", "max_chars_per_hit"])
def test_limits_below_one_are_refused(shelf: Shelf, limit: str) -> None:
    shelf.write("a.md", "阀门")
    shelf.index()
    with pytest.raises(QueryError, match=f"{limit} must be at least 1"):
        shelf.search("阀门", **{limit: 0})


def test_health_counts_what_an_answer_cannot_see(shelf: Shelf) -> None:
    shelf.write("a.md", "阀门一")
    changed = shelf.write("b.md", "阀门二")
    gone = shelf.write("c.md", "阀门三")
    shelf.write("bad.pdf", b"%PDF-1.7 nothing else")
    shelf.write("empty.md", "")
    shelf.index()
    changed.write_text("别的")
    gone.unlink()
    health = shelf.search("阀门").health

    assert (health.changed_hits, health.missing_hits, health.failed_files, health.textless_files) == (1, 1, 1, 1)
    assert health.legs["lexical"].candidates == 3


def test_the_answer_as_json_has_the_documented_shape(shelf: Shelf) -> None:
    shelf.write("a.md", "# 一\n\n阀门")
    shelf.index()
    answer = json.loads(json.dumps(shelf.search("阀门").to_dict(), ensure_ascii=False))

    assert list(answer) == ["query", "bases", "mode", "hits", "budget", "health"]
    assert set(answer["hits"][0]) == set(
        "rank score relevance base doc_id path file title section page page_end line_start line_end ocr"
        " ocr_confidence hidden_text text locator file_state rerank_score why".split()
    )
    assert set(answer["health"]) == set(
        "legs pending_vectors changed_hits missing_hits failed_files textless_files reranker degraded"
        " elapsed_ms".split()
    )


def test_several_bases_have_one_ranking(shelf: Shelf, tmp_path: Path) -> None:
    for n in range(8):
        shelf.write(f"one/{n}.md", "常见的阀门")
    shelf.write("two/a.md", "密封圈 和 常见的话")
    shelf.index(shelf.docs / "one", name="one")
    shelf.index(shelf.docs / "two", name="two")
    answer = shelf.search("阀门 密封圈")

    assert answer.bases == ("one", "two")
    assert [hit.score for hit in answer] == sorted((hit.score for hit in answer), reverse=True)
    assert (answer.hits[0].base, answer.hits[1].base) == ("two", "one")


def test_a_word_that_is_rare_in_one_base_alone_is_not_rare(shelf: Shelf) -> None:
    # By its own statistics each base would put its best first; over both, 阀门 is common and 密封圈 is rare.
    for n in range(30):
        shelf.write(f"one/{n}.md", "阀门")
        shelf.write(f"two/{n}.md", "其他")
    shelf.write("one/z.md", "密封圈")
    shelf.write("two/z.md", "阀门")
    shelf.index(shelf.docs / "one", name="one")
    shelf.index(shelf.docs / "two", name="two")

    assert shelf.search("密封圈 阀门").hits[0].path == "z.md"
    assert shelf.search("密封圈 阀门").hits[0].base == "one"


def test_more_hits_than_anybody_reads_are_refused(shelf: Shelf) -> None:
    shelf.write("a.md", "阀门")
    shelf.index()
    with pytest.raises(QueryError, match="at most"):
        shelf.search("阀门", top_k=10**30)
