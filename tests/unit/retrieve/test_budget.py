"""Passages for a number of tokens: neighbours as one, nothing twice, no document alone."""

from __future__ import annotations

from itertools import pairwise

import pytest

from shelf import Shelf
from zhiku.answer import Answer
from zhiku.errors import QueryError
from zhiku.locator import parse_locator
from zhiku.model import Chunk, Document, Source, StoredChunk
from zhiku.retrieve.budget import Packer, Weighed, place_tokens
from zhiku.retrieve.present import Ranked
from zhiku.text.analyze import Analyzer
from zhiku.text.measure import estimate_chat_tokens


def paragraph(number: int, count: int = 12) -> str:
    """Return a paragraph of some 250 tokens of its own."""
    return "".join(
        f"第{number}号井的阀门在第{number * 100 + i}天检查，编号{number * 7919 + i * 104729}。" for i in range(count)
    )


def tokens(answer: Answer) -> int:
    return sum(estimate_chat_tokens(hit.text) for hit in answer)


def test_passages_fill_the_budget_and_not_more(shelf: Shelf) -> None:
    for number in range(1, 30):
        shelf.write(f"{number}.md", paragraph(number))
    shelf.index()
    sizes = []
    for max_tokens in (100, 500, 1_000, 2_000):
        answer = shelf.search("阀门 检查", max_tokens=max_tokens, top_k=100)
        assert answer.budget is not None
        assert tokens(answer) <= answer.budget.tokens <= max_tokens
        assert answer.budget.tokens > 0.8 * max_tokens
        sizes.append(len(answer))
    assert sizes == sorted(set(sizes))


def test_neighbours_are_one_passage_and_say_nothing_twice(shelf: Shelf) -> None:
    text = "".join(f"这是第{n}句关于阀门检查的话，它和别的话不一样。" for n in range(120))
    shelf.write("long.md", text)
    shelf.index()
    chunks = shelf.search("阀门 检查", top_k=100).hits
    assert len(chunks) > 4
    answer = shelf.search("阀门 检查", top_k=100, max_tokens=20_000)
    (hit,) = answer.hits
    assert hit.text == text
    assert shelf.base.read(hit.locator).text == text
    assert answer.budget is not None
    assert answer.budget.more_passages == 0


def test_a_passage_between_two_others_joins_them(shelf: Shelf) -> None:
    shelf.write("long.md", "\n\n".join(paragraph(n) for n in range(1, 9)))
    shelf.index()
    spans = []
    for max_tokens in range(300, 4_000, 100):
        hits = shelf.search("阀门 井 检查 编号", top_k=100, max_tokens=max_tokens).hits
        places = sorted((parse_locator(hit.locator).char_start, parse_locator(hit.locator).char_end) for hit in hits)
        assert all(end < start for (_, end), (start, _) in pairwise(places))
        spans.append(len(places))
    assert spans[-1] == 1


def test_what_is_said_twice_is_shown_once(shelf: Shelf) -> None:
    shelf.write("a.md", paragraph(1))
    shelf.write("copy/b.md", paragraph(1))
    shelf.write("edited.md", paragraph(1).replace("第100天", "第100日"))
    shelf.write("other.md", paragraph(2))
    shelf.index()
    answer = shelf.search("阀门 检查", max_tokens=5_000)
    assert len(answer) == 2
    assert answer.budget is not None
    assert (answer.budget.more_passages, answer.budget.more_tokens) == (0, 0)


def test_one_long_document_does_not_take_all(shelf: Shelf) -> None:
    shelf.write("long.md", "\n\n".join(f"# {n}\n\n{paragraph(n)} 阀门阀门" for n in range(1, 30)))
    for number in range(40, 44):
        shelf.write(f"{number}.md", paragraph(number))
    shelf.index()
    answer = shelf.search("阀门 检查", max_tokens=2_000, top_k=100)
    long = sum(estimate_chat_tokens(hit.text) for hit in answer if hit.path == "long.md")
    assert {hit.path for hit in answer} > {"40.md", "41.md", "42.md"}
    assert 0 < long <= 1_000
    alone = shelf.search("阀门 检查", max_tokens=2_000, top_k=100, source="long.md")
    assert tokens(alone) > 1_500


def test_how_much_more_there_is_is_told(shelf: Shelf) -> None:
    for number in range(1, 11):
        shelf.write(f"{number}.md", paragraph(number))
    shelf.index()
    answer = shelf.search("阀门 检查", max_tokens=1_000, top_k=100)
    told = answer.to_dict()["budget"]
    shown = sum(1 for hit in answer if hit.text == paragraph(int(hit.path[:-3])))
    assert told["max_tokens"] == 1_000
    assert 10 - shown - 1 <= told["more_passages"] == told["more_documents"] <= 10 - shown
    assert told["more_tokens"] > 150 * told["more_passages"]
    assert shelf.search("阀门").to_dict()["budget"] is None


def test_a_passage_that_does_not_fit_is_cut_around_the_words(shelf: Shelf) -> None:
    shelf.write("a.md", "前言。" * 60 + "密封圈在这里。" + "后记。" * 60)
    shelf.index()
    (hit,) = shelf.search("密封圈 在哪里", max_tokens=80).hits
    assert "密封圈" in hit.text
    assert estimate_chat_tokens(hit.text) <= 80
    assert shelf.base.read(hit.locator).text == hit.text
    (hit,) = shelf.search("密封圈 在哪里", max_tokens=5).hits
    assert 0 < estimate_chat_tokens(hit.text) <= 5


def test_a_keyword_shows_every_document_before_one_is_shown_twice(shelf: Shelf) -> None:
    shelf.write("long.md", "\n\n".join(f"# {n}\n\n{paragraph(n)} 阀门阀门阀门" for n in range(1, 9)))
    for number in range(40, 44):
        shelf.write(f"{number}.md", paragraph(number, 4))
    shelf.index()
    found = [hit.path for hit in shelf.search("阀门", max_tokens=900, top_k=100)]
    assert sorted(set(found)) == ["40.md", "41.md", "42.md", "43.md", "long.md"]


def test_there_are_at_most_top_k_passages(shelf: Shelf) -> None:
    for number in range(1, 10):
        shelf.write(f"{number}.md", paragraph(number))
    shelf.index()
    answer = shelf.search("阀门 检查", max_tokens=9_000, top_k=3)
    assert len(answer) == 3
    assert answer.budget is not None
    assert answer.budget.more_passages == 6


def test_a_budget_of_nothing_is_refused(shelf: Shelf) -> None:
    shelf.write("a.md", "阀门")
    shelf.index()
    with pytest.raises(QueryError, match="max_tokens must be at least 1"):
        shelf.search("阀门", max_tokens=0)


def weighed(number: int, relevance: float | None) -> Weighed:
    """Return the only passage of a document of its own."""
    text = paragraph(number, 4)
    document = Document(
        doc_id=number,
        source=Source(root="/r", path=f"{number}.md", size_bytes=0, mtime_ns=0, sha256=""),
        title="",
        format="plain",
        encoding="utf-8",
        chars=len(text),
        chunk_count=1,
        page_count=0,
        indexed_at="",
    )
    chunk = Chunk(text=text, char_start=0, char_end=len(text), line_start=1, line_end=1)
    ranked = Ranked(base="b", chunk_id=number, doc_id=number, score=1.0)
    stored = StoredChunk(chunk_id=number, document=document, chunk=chunk)
    return Weighed(ranked, stored, relevance, place=number)


def pack(*candidates: Weighed, max_tokens: int = 9_000) -> tuple[list[int], list[int]]:
    """Return the numbers of the passages that are chosen, and of those left out."""
    packer = Packer(max_tokens, 100, Analyzer())
    left_out = packer.pack(candidates)
    return [group.best.ranked.chunk_id for group in packer._groups], [each.ranked.chunk_id for each in left_out]


def test_what_is_unlikely_to_answer_takes_no_tokens() -> None:
    assert pack(weighed(1, 0.9), weighed(2, 0.19), weighed(3, None), weighed(4, 0.2)) == ([1, 3, 4], [])


def test_where_nothing_is_likely_only_the_nearest_are_taken() -> None:
    assert pack(*(weighed(number, 0.1) for number in range(1, 9))) == ([1, 2, 3], [])


def test_places_count() -> None:
    one = weighed(1, 0.9)
    size = estimate_chat_tokens(one.stored.chunk.text)
    assert pack(one, max_tokens=size + place_tokens(one.stored)) == ([1], [])
    packer = Packer(size + place_tokens(one.stored) - 1, 100, Analyzer())
    packer.pack([one])
    (group,) = packer._groups
    assert group.max_tokens == size - 1
