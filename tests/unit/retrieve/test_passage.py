"""What of a chunk is shown."""

from __future__ import annotations

from typing import cast

import pytest

from zhiku.model import Chunk, Document, Source, StoredChunk, TextPiece
from zhiku.ports import ReadSession
from zhiku.retrieve.passage import Passage, build_passage, find_matches
from zhiku.text.analyze import Analyzer


class Session:
    """A read session over one text in pieces of some characters."""

    def __init__(self, text: str, size: int = 20) -> None:
        self._pieces = [
            TextPiece(doc_id=1, char_start=at, line_start=text.count("\n", 0, at) + 1, body=text[at : at + size])
            for at in range(0, len(text), size)
        ]

    def text(self, doc_id: int, char_start: int = 0, char_end: int | None = None) -> list[TextPiece]:
        end = 1 << 60 if char_end is None else char_end
        return [p for p in self._pieces if p.char_start < end and p.char_start + len(p.body) > char_start]


def passage(text: str, word: str, *, focus: bool = True, max_chars: int | None = None, before: str = "") -> Passage:
    whole = before + text
    source = Source(root="/r", path="a.md", size_bytes=0, mtime_ns=0, sha256="")
    document = Document(
        doc_id=1,
        source=source,
        title="",
        format="plain",
        encoding="",
        chars=0,
        chunk_count=1,
        page_count=0,
        indexed_at="",
    )
    chunk = Chunk(
        text=text,
        char_start=len(before),
        char_end=len(whole),
        line_start=before.count("\n") + 1,
        line_end=whole.count("\n") + 1,
    )
    analyzer = Analyzer()
    tokens = frozenset(analyzer.tokens(word))
    stored = StoredChunk(chunk_id=1, document=document, chunk=chunk)
    session = cast(ReadSession, Session(whole))
    found = build_passage(session, stored, find_matches(analyzer, text, tokens).marks, focus=focus, max_chars=max_chars)
    assert whole[found.char_start : found.char_end] == found.text
    return found


def test_marks_that_touch_are_one() -> None:
    text = "见召回率。"
    assert find_matches(Analyzer(), text, frozenset({"召回", "回率"})) == (((1, 4),), {"召回", "回率"})


def test_a_single_character_is_marked_within_words() -> None:
    assert find_matches(Analyzer(), "下雨，雨量", frozenset({"雨"})).marks == ((1, 2), (3, 4))


def test_a_passage_for_a_keyword_begins_with_its_paragraph() -> None:
    found = passage("前段一\n\n前段二\n\n这里说到阀门。\n\n后段", "阀门")
    assert (found.text, found.line_start, found.line_end) == ("这里说到阀门。\n\n后段", 5, 7)


def test_a_passage_for_a_question_is_the_whole_chunk() -> None:
    assert passage("前段\n\n阀门\n\n后段", "阀门", focus=False).text == "前段\n\n阀门\n\n后段"


def test_a_match_in_the_title_alone_shows_the_chunk_from_its_beginning() -> None:
    assert passage("前段\n\n后段", "阀门").text == "前段\n\n后段"


def test_lines_are_counted_from_the_beginning_of_the_document() -> None:
    found = passage("一\n二\n\n阀门", "阀门", before="零\n" * 10)
    assert (found.line_start, found.line_end) == (14, 14)


@pytest.mark.parametrize("max_chars", [1, 2, 5, 10, 30, 60, 200])
def test_a_limit_holds_and_keeps_the_match_in_sight(max_chars: int) -> None:
    text = "很长的前文，没有什么可看。" * 20 + "这里说到阀门，要每周检查。" + "很长的后文。" * 20
    found = passage(text, "阀门", max_chars=max_chars)

    assert 1 <= len(found.text) <= max_chars
    if max_chars >= 10:
        assert [found.text[start:end] for start, end in found.marks] == ["阀门"]


@pytest.mark.parametrize("max_chars", range(1, 12))
def test_any_limit_can_be_kept_whatever_the_blanks(max_chars: int) -> None:
    found = passage("甲\n\n \n\n\n乙 \u3000 \n\n\n\n阀门\n\n\n\n\n\n丙", "阀门", focus=False, max_chars=max_chars)
    assert len(found.text) <= max_chars


def test_marks_are_relative_to_what_is_shown() -> None:
    found = passage("阀门在前。\n\n别处。\n\n又是阀门。", "阀门", focus=False, max_chars=8)
    assert all(found.text[start:end] in "阀门" for start, end in found.marks)
