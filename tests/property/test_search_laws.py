"""What is in the documents is found."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import strategies
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shelf import Shelf
from zhiku.answer import Query
from zhiku.text.fold import fold
from zhiku.text.glossary_lines import parse_glossary

bounded = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])

TOP_K = 10
Documents = dict[str, str]


@contextmanager
def indexed(documents: Documents) -> Iterator[Shelf]:
    with TemporaryDirectory() as folder:
        shelf = Shelf(Path(folder))
        for path, text in documents.items():
            shelf.write(path, text)
        shelf.index()
        yield shelf


def texts_of(shelf: Shelf) -> dict[str, str]:
    """Return the parsed text of every document, as it is stored."""
    with shelf.base.reading() as session:
        return {
            document.source.path: "".join(piece.body for piece in session.text(document.doc_id))
            for document in session.documents()
        }


def holds(line: str, keyword: str) -> bool:
    """Answer, without any index, whether a line holds a keyword in one of its normal forms, in any case."""
    forms = {keyword, unicodedata.normalize("NFC", keyword), unicodedata.normalize("NFD", keyword)}
    return any(re.search(re.escape(form), line, re.IGNORECASE) for form in forms)


def expected_lines(texts: dict[str, str], keyword: str) -> list[tuple[str, int]]:
    return [
        (path, number)
        for path, text in texts.items()
        for number, line in enumerate(text.split("\n"), 1)
        if holds(line, keyword)
    ]


grep_texts = st.one_of(
    strategies.texts,
    st.lists(st.one_of(strategies.lines, strategies.long_lines), min_size=1, max_size=4).map("\n".join),
)


@bounded
@given(st.lists(grep_texts, min_size=1, max_size=3), st.data())
def test_grep_finds_every_substring_of_a_line_on_its_lines_and_nowhere_else(
    contents: list[str], data: st.DataObject
) -> None:
    with indexed({f"{n}.txt": text for n, text in enumerate(contents)}) as shelf:
        texts = texts_of(shelf)
        lines = [line for text in texts.values() for line in text.split("\n") if line.strip()]
        for line in data.draw(st.lists(st.sampled_from(lines), max_size=6)) if lines else []:
            start = data.draw(st.integers(0, len(line) - 1))
            keyword = line[start : start + data.draw(st.sampled_from([1, 2, 3, 10, 100, 4_500]))]
            if keyword.strip():
                found = [(path, number) for path, number, _ in shelf.grep(keyword)]
                assert sorted(found) == sorted(expected_lines(texts, keyword)), keyword


note_parts = st.one_of(
    strategies.texts,
    strategies.han_runs.map(lambda title: "# " + title),
    st.text(alphabet=strategies.COMMON_HAN, min_size=1, max_size=40),
)
notes = st.lists(note_parts, min_size=1, max_size=6).map("\n\n".join)
# Long runs without a single break, from few draws: every seam of chunks and pieces lies in them.
unbroken = st.builds(
    lambda seed, size: "".join(
        strategies.COMMON_HAN[(seed + n * n * 31 + n * 17) % len(strategies.COMMON_HAN)] for n in range(size)
    ),
    st.integers(0, 10_000),
    st.integers(300, 9_000),
)
word_bases = st.lists(st.one_of(notes, notes, unbroken), min_size=1, max_size=14)


def pairs_in(text: str) -> list[str]:
    return re.findall(r"(?=([\u4e00-\u9fff]{2}))", text)


@bounded
@given(word_bases, st.data())
def test_two_character_words_are_found_in_every_document_that_holds_one(
    contents: list[str], data: st.DataObject
) -> None:
    with indexed({f"{n:02}{'.md' if n % 2 else '.txt'}": text for n, text in enumerate(contents)}) as shelf:
        texts = texts_of(shelf)
        pairs = sorted({pair for text in texts.values() for pair in pairs_in(text)})
        for word in data.draw(st.lists(st.sampled_from(pairs), max_size=12, unique=True)) if pairs else []:
            exact = {path for path, text in texts.items() if word in text}
            assert {path for path, _, _ in shelf.grep(word)} == exact
            holders = {path for path, text in texts.items() if fold(word) in fold(text)}
            if len(holders) <= TOP_K:
                assert set(shelf.found(word, top_k=TOP_K)) >= holders, word


def test_a_word_on_every_seam_of_a_long_run_is_found() -> None:
    filler = "".join(chr(0x4E00 + n) for n in range(2_000))
    text = "".join(f"{filler[n * 7 % 1900 : n * 7 % 1900 + 13]}" for n in range(900))
    with indexed({"a.txt": text, "b.txt": "其他"}) as shelf:
        for word in sorted(set(pairs_in(text)))[::37]:
            assert set(shelf.found(word)) == {"a.txt"}
            assert len(shelf.grep(word)) == 1


def test_words_in_titles_headings_and_names_are_found_among_many_mentions() -> None:
    documents = {f"many{n}.md": "# 别的\n\n" + "说到阀门的一句话。" * 200 for n in range(7)}
    documents |= {"title.md": "---\ntitle: 阀门\n---\n\n无", "heading.md": "# 一\n\n## 阀门\n\n无", "阀门.md": "无"}
    with indexed(documents) as shelf:
        assert set(shelf.found("阀门", top_k=TOP_K)) == set(documents)


@bounded
@given(st.lists(notes, min_size=1, max_size=8), st.lists(strategies.pieces, min_size=1, max_size=4))
def test_the_same_question_has_the_same_answer(contents: list[str], words: list[str]) -> None:
    text = " ".join(words)
    if not text.strip():
        return
    documents = {f"{n}.md": content for n, content in enumerate(contents)}
    with indexed(documents) as one, indexed(documents) as other:
        first = [(hit.path, hit.score, hit.text, hit.marks) for hit in one.search(text)]
        assert first == [(hit.path, hit.score, hit.text, hit.marks) for hit in one.search(text)]
        assert first == [(hit.path, hit.score, hit.text, hit.marks) for hit in other.search(text)]


@bounded
@given(
    st.lists(notes, min_size=1, max_size=5),
    st.lists(strategies.pieces, min_size=1, max_size=3).map(" ".join),
    st.one_of(st.none(), st.integers(1, 300)),
    st.one_of(st.none(), st.integers(1, 900)),
)
def test_every_hit_keeps_its_promises(
    contents: list[str], text: str, max_chars_per_hit: int | None, max_chars: int | None
) -> None:
    if not text.strip():
        return
    with indexed({f"{n}.md": content for n, content in enumerate(contents)}) as shelf:
        query = Query(text=text, max_chars=max_chars, max_chars_per_hit=max_chars_per_hit)
        answer = shelf.library.search(query)
        stored = texts_of(shelf)
        assert [hit.rank for hit in answer] == list(range(1, len(answer) + 1))
        assert sum(len(hit.text) for hit in answer) <= (max_chars or 10**9)
        for hit in answer:
            assert 1 <= len(hit.text) <= (max_chars_per_hit or 10**9)
            assert hit.text in stored[hit.path]
            assert shelf.library.read(hit.locator).text == hit.text
            lines = stored[hit.path].split("\n")[(hit.line_start or 1) - 1 : hit.line_end]
            assert hit.text in "\n".join(lines)
            assert all(0 <= start < end <= len(hit.text) for start, end in hit.marks)


glossary_lines = st.lists(
    st.lists(st.one_of(strategies.han_runs.map(lambda run: run[:6]), strategies.pieces), min_size=2, max_size=4).map(
        lambda words: f"{words[0]} = {', '.join(words[1:])}"
    ),
    max_size=5,
).map("\n".join)


@bounded
@given(st.lists(notes, min_size=1, max_size=6), glossary_lines, st.data())
def test_a_glossary_takes_no_hit_and_no_score_from_a_query_s_own_words(
    contents: list[str], lines: str, data: st.DataObject
) -> None:
    with indexed({f"{n}.md": text for n, text in enumerate(contents)}) as shelf:
        words = [word for entry in parse_glossary(lines, "g.md").entries for word in entry.words]
        pairs = sorted({pair for text in texts_of(shelf).values() for pair in pairs_in(text)}) or ["无"]
        lines += "".join(f"\n{word} = {data.draw(st.sampled_from(pairs))}" for word in words[:2])
        asked = st.lists(st.one_of(st.sampled_from([*words, *pairs]), strategies.pieces), min_size=1, max_size=4)
        text = " ".join(data.draw(asked))
        if not text.strip():
            return
        plain = shelf.search(text, top_k=500)
        shelf.base.folder.joinpath("glossary.md").write_text(lines, "utf-8")
        assert shelf.search(text, top_k=500, expand=False).hits == plain.hits
        expanded = shelf.search(text, top_k=500)
        scores: dict[str, float] = {}
        for hit in expanded:
            scores.setdefault(hit.path, hit.score)
        found = {hit.path for hit in plain}
        assert all(scores.get(hit.path, 0.0) >= hit.score - 0.001 for hit in plain)
        assert all("glossary" in hit.why for hit in expanded if hit.path not in found)
        if not expanded.explanation["added"]:
            assert expanded.hits == plain.hits
