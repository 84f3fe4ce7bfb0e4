"""What every registered store promises (`zhiku.ports.Store`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from zhiku.errors import Busy, NotFound
from zhiku.model import (
    ANY_ENDING,
    Block,
    Chunk,
    ChunkTokens,
    LedgerEntry,
    LexicalQuery,
    Link,
    Occurrences,
    Page,
    ParsedDocument,
    Source,
)
from zhiku.ports import ReadSession, Store, WriteSession
from zhiku.registry import STORES, load

ROOT = "/docs"


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    opened: Store = load(STORES, request.param)(tmp_path)
    yield opened
    opened.close()


def source(path: str, sha256: str = "0", root: str = ROOT, mtime_ns: int = 1) -> Source:
    return Source(root=root, path=path, size_bytes=3, mtime_ns=mtime_ns, sha256=sha256 * 64)


def document(*texts: str, title: str = "", pages: tuple[Page, ...] = ()) -> tuple[ParsedDocument, list[Chunk]]:
    """Return a document with one chunk for each paragraph."""
    text = "\n\n".join(texts)
    chunks = []
    for i, body in enumerate(texts):
        start = text.index(body)
        line = text.count("\n", 0, start) + 1
        chunks.append(
            Chunk(
                text=body,
                char_start=start,
                char_end=start + len(body),
                line_start=line,
                line_end=line + body.count("\n"),
                section=("节", str(i)),
            )
        )
    blocks = tuple(Block(kind="paragraph", char_start=c.char_start, char_end=c.char_end) for c in chunks)
    parsed = ParsedDocument(
        text=text,
        blocks=blocks,
        title=title,
        pages=pages,
        metadata={"tags": ["标签"]},
        links=(Link(target="b", line=1),),
        encoding="utf-8",
        warnings=("odd",),
    )
    return parsed, chunks


def put(session: WriteSession, path: str, *texts: str, title: str = "", sha256: str = "0") -> int:
    parsed, chunks = document(*texts, title=title)
    tokens = [ChunkTokens(body=c.text.split(), title=title.split(), heading=["h"], name=["n"]) for c in chunks]
    return session.put(source(path, sha256), parsed, chunks, tokens, format_name="plain")


def fill(store: Store, **texts: str) -> dict[str, int]:
    with store.writing() as session:
        return {name: put(session, name, text) for name, text in texts.items()}


def search(session: ReadSession, *terms: str, **limits: object) -> list[int]:
    found = session.search_lexical(LexicalQuery(terms=terms), limit=100, **limits)
    return [candidate.doc_id for candidate in found]


def paths(store: Store) -> list[str]:
    with store.reading() as session:
        return [each.source.path for each in session.documents()]


def test_nothing_exists_before_something_is_written(store: Store) -> None:
    assert not store.exists()
    with pytest.raises(NotFound), store.reading():
        pass
    fill(store, a="alpha")
    assert store.exists()


def test_a_session_that_outlives_its_index_does_not_bring_it_back(store: Store) -> None:
    fill(store, a="alpha")
    with store.reading() as session:
        with store.successor() as built, built.writing() as writer:
            put(writer, "b", "beta")
        assert paths(store) == ["b"]
        assert [each.source.path for each in session.documents()] == ["a"]
    assert paths(store) == ["b"]


def test_several_threads_read_at_once(store: Store) -> None:
    fill(store, a="alpha", b="beta")

    def read(number: int) -> list[int]:
        with store.reading() as session:
            return search(session, "alpha" if number % 2 else "beta")

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(read, range(200), timeout=60))
    assert found == [found[0], found[1]] * 100


def test_a_document_is_read_as_it_was_put(store: Store) -> None:
    parsed, chunks = document("alpha beta", "gamma\ndelta", title="标题")
    tokens = [ChunkTokens(body=["x"], title=[], heading=[], name=[])] * 2
    with store.writing() as session:
        doc_id = session.put(source("sub/a.md", "7"), parsed, chunks, tokens, format_name="markdown")
    with store.reading() as session:
        (found,) = session.documents()
        stored = session.chunks(
            [candidate.chunk_id for candidate in session.search_lexical(LexicalQuery(terms=("x",)), limit=9)]
        )
        pieces = session.text(doc_id)

        assert session.document(doc_id) == found
        assert session.documents_with("7" * 64) == [found]
    assert (found.source, found.title, found.format) == (source("sub/a.md", "7"), "标题", "markdown")
    assert (found.metadata, found.links, found.warnings) == (parsed.metadata, parsed.links, parsed.warnings)
    assert (found.chars, found.chunk_count, found.page_count, found.encoding) == (len(parsed.text), 2, 0, "utf-8")
    assert sorted((each.chunk for each in stored), key=lambda c: c.char_start) == chunks
    assert "".join(piece.body for piece in pieces) == parsed.text


def test_a_document_replaces_the_one_at_its_place(store: Store) -> None:
    (before,) = fill(store, a="alpha beta").values()
    (after,) = fill(store, a="gamma").values()
    with store.reading() as session:
        assert (after, search(session, "alpha"), search(session, "gamma")) == (before, [], [before])
        assert "".join(piece.body for piece in session.text(after)) == "gamma"
        assert session.totals().documents == session.totals().chunks == 1


def test_a_touched_document_has_a_new_place_and_the_same_content(store: Store) -> None:
    (doc_id,) = fill(store, a="alpha").values()
    with store.writing() as session:
        session.touch(doc_id, source("new/b", mtime_ns=99))
        assert session.view().known_files(ROOT).keys() == {"new/b"}
    with store.reading() as session:
        found = session.document(doc_id)
        assert found is not None
        assert (found.source.path, found.source.mtime_ns, search(session, "alpha")) == ("new/b", 99, [doc_id])


def test_documents_come_by_root_and_path(store: Store) -> None:
    fill(store, b="x", a="x", c="x")
    assert paths(store) == ["a", "b", "c"]


def test_roots_are_kept_apart(store: Store) -> None:
    parsed, chunks = document("alpha")
    tokens = [ChunkTokens(body=["alpha"], title=[], heading=[], name=[])]
    with store.writing() as session:
        for root in ("/one", "/two"):
            session.put(source("a", root=root), parsed, chunks, tokens, format_name="plain")
        assert list(session.view().known_files("/one")) == list(session.view().known_files("/two")) == ["a"]
        assert session.view().known_files("/three") == {}
    assert paths(store) == ["a", "a"]


def test_names_that_are_not_utf8_are_kept(store: Store) -> None:
    fill(store, **{"bad\udcff.md": "alpha"})
    assert paths(store) == ["bad\udcff.md"]
    with store.writing() as session:
        assert list(session.view().known_files(ROOT)) == ["bad\udcff.md"]


def test_any_term_finds_a_chunk_and_rarer_ones_count_more(store: Store) -> None:
    ids = fill(store, a="common one", b="common two", c="common three", d="rare")
    with store.reading() as session:
        assert set(search(session, "common", "rare")) == set(ids.values())
        assert search(session, "common", "rare")[0] == ids["d"]
        assert search(session, "absent") == search(session) == []


def test_scores_grow_with_relevance_and_ties_go_by_id(store: Store) -> None:
    ids = fill(store, c="alpha", a="alpha", b="alpha", d="alpha alpha", e="x", f="x", g="x", h="x")
    with store.reading() as session:
        found = session.search_lexical(LexicalQuery(terms=("alpha",)), limit=10)
    assert [c.score for c in found] == sorted((c.score for c in found), reverse=True)
    assert [c.doc_id for c in found] == [ids["d"], ids["c"], ids["a"], ids["b"]]


@pytest.mark.parametrize(
    "token",
    [
        "c++",
        "gate-sync",
        "3.11",
        "don't",
        "std::vector",
        "a_b",
        "at&t",
        ".net",
        "c#",
        "召回",
        "é",
        'q"',
        "NEAR",
        "OR",
        "😀",
    ],
)
def test_a_token_is_found_as_it_is_whatever_its_characters(store: Store, token: str) -> None:
    ids = fill(store, a=f"before {token} after", b="c gate sync 3 11 don t std vector net q near")
    with store.reading() as session:
        if token != 'q"':
            assert search(session, token)[0] == ids["a"]
        assert isinstance(search(session, token), list)


def test_a_prefix_finds_tokens_that_begin_with_it(store: Store) -> None:
    ids = fill(store, a="雨量 x", b="下雨 雨", c="风")
    with store.reading() as session:
        found = session.search_lexical(LexicalQuery(prefixes=("雨",)), limit=10)
    assert {candidate.doc_id for candidate in found} == {ids["a"], ids["b"]}


def test_a_phrase_finds_tokens_in_a_row_only(store: Store) -> None:
    ids = fill(store, a="one two three", b="two one three", c="one x two")
    with store.reading() as session:
        found = session.search_lexical(LexicalQuery(phrases=(("one", "two"),)), limit=10)
    assert [candidate.doc_id for candidate in found] == [ids["a"]]


def test_where_something_is_required_a_chunk_must_hold_it_and_the_rest_ranks(store: Store) -> None:
    ids = fill(store, a="one two x", b="two one y", c="one two y", d="y y")
    query = LexicalQuery(terms=("y",), required=(("one", "two"), ("three",)))
    with store.reading() as session:
        found = session.search_lexical(query, limit=10)
    assert [candidate.doc_id for candidate in found] == [ids["c"], ids["a"]]


def test_the_last_token_of_a_phrase_may_be_a_beginning(store: Store) -> None:
    ids = fill(store, a="c 片剂 剂", b="c 片", c="c 药片", d="片剂 c")
    with store.reading() as session:
        found = session.search_lexical(LexicalQuery(phrases=(("c", "片", ANY_ENDING),)), limit=10)
    assert {candidate.doc_id for candidate in found} == {ids["a"], ids["b"]}


def test_occurrences_are_counted_by_field_and_chunk(store: Store) -> None:
    with store.writing() as session:
        doc_id = put(session, "a", "one two one", "three", title="one x")
        put(session, "b", "one")
    query = LexicalQuery(
        terms=("one", "none"), prefixes=("t",), phrases=(("one", "two"),), weights=(1.0, 10.0, 100.0, 1_000.0)
    )
    with store.reading() as session:
        ids = [stored.chunk_id for stored in session.chunks_of(doc_id)]
        found = session.occurrences(query, [*ids, 99])
        assert session.occurrences(LexicalQuery(), ids) == session.occurrences(query, []) == {}
    first = {("one",): 12.0, ("t", ANY_ENDING): 1.0, ("one", "two"): 1.0}
    second = {("one",): 10.0, ("t", ANY_ENDING): 1.0}
    assert found == {ids[0]: Occurrences(tokens=8, counts=first), ids[1]: Occurrences(tokens=6, counts=second)}


def test_weights_rank_a_field_above_another(store: Store) -> None:
    with store.writing() as session:
        body = put(session, "a", "alpha x", title="y z")
        title = put(session, "b", "x y", title="alpha z")
        put(session, "c", "x y", title="z")
    query = LexicalQuery(terms=("alpha",))
    with store.reading() as session:
        for weights, first in (((9.0, 1.0, 1.0, 1.0), body), ((1.0, 9.0, 1.0, 1.0), title)):
            weighted = LexicalQuery(terms=query.terms, weights=weights)
            assert session.search_lexical(weighted, limit=1)[0].doc_id == first


def test_a_search_can_be_bound_to_documents(store: Store) -> None:
    ids = fill(store, a="alpha", b="alpha", c="alpha")
    with store.reading() as session:
        assert search(session, "alpha", doc_ids=[ids["b"], ids["c"]]) == [ids["b"], ids["c"]]
        assert search(session, "alpha", doc_ids=[]) == []


def test_one_chunk_of_each_document_is_its_best(store: Store) -> None:
    with store.writing() as session:
        many = put(session, "a", "alpha x y z", "alpha alpha", "alpha q")
        one = put(session, "b", "alpha x")
        put(session, "c", "x")
    with store.reading() as session:
        query = LexicalQuery(terms=("alpha",))
        every = session.search_lexical(query, limit=10)
        best = session.search_lexical(query, limit=10, per_document=True)
    assert [candidate.doc_id for candidate in best] == [many, one] or [c.doc_id for c in best] == [one, many]
    assert {c.chunk_id: c.score for c in best}.items() <= {c.chunk_id: c.score for c in every}.items()
    assert best[[c.doc_id for c in best].index(many)] == next(c for c in every if c.doc_id == many)


def test_rows_of_terms_are_counted_by_chunk(store: Store) -> None:
    with store.writing() as session:
        put(session, "a", "alpha alpha", "alpha", "beta")
    with store.reading() as session:
        assert session.term_rows(["alpha", "beta", "gamma"]) == {"alpha": 2, "beta": 1, "gamma": 0}


def test_chunks_come_in_the_order_asked_and_unknown_ones_are_left_out(store: Store) -> None:
    with store.writing() as session:
        put(session, "a", "alpha", "beta", "gamma")
    with store.reading() as session:
        ids = [c.chunk_id for c in session.search_lexical(LexicalQuery(terms=("alpha", "beta", "gamma")), limit=9)]
        wanted = [max(ids), 1 << 60, min(ids)]
        assert [each.chunk_id for each in session.chunks(wanted)] == [max(ids), min(ids)]
        assert session.document(999) is None


@pytest.mark.parametrize("text", ["x" * 30_000, ("一行文字\n" * 5_000), "a\n" + "长" * 9_000 + "\nb\n", "\n" * 9_000])
def test_long_texts_come_back_whole_and_with_their_lines(store: Store, text: str) -> None:
    parsed = ParsedDocument(text=text, blocks=())
    with store.writing() as session:
        doc_id = session.put(source("a"), parsed, [], [], format_name="plain")
    with store.reading() as session:
        pieces = session.text(doc_id)
        assert list(session.texts()) == list(session.texts([doc_id])) == pieces
        middle = session.text(doc_id, len(text) // 2, len(text) // 2 + 10)
    assert "".join(piece.body for piece in pieces) == text
    for piece in pieces:
        assert text[piece.char_start :].startswith(piece.body)
        assert piece.line_start == text.count("\n", 0, piece.char_start) + 1
    found = "".join(piece.body for piece in middle)
    start = len(text) // 2 - middle[0].char_start
    assert found[start : start + 10] == text[len(text) // 2 :][:10]


def test_line_numbers_of_the_file_come_with_the_text(store: Store) -> None:
    text = "\n".join(f"line {n}" for n in range(3_000))
    numbers = tuple(range(10, 10 + 2 * 3_000, 2))
    with store.writing() as session:
        doc_id = session.put(
            source("a"), ParsedDocument(text=text, blocks=(), line_numbers=numbers), [], [], format_name="html"
        )
    with store.reading() as session:
        for piece in session.text(doc_id):
            first = piece.body.split("\n")[0]
            assert piece.file_line(0) == numbers[text[: piece.char_start].count("\n")], first


def test_pages_are_kept(store: Store) -> None:
    pages = (Page(page_no=1, char_start=0, char_end=5), Page(page_no=2, char_start=5, char_end=5))
    parsed, chunks = document("alpha", pages=pages)
    with store.writing() as session:
        doc_id = session.put(
            source("a"), parsed, chunks, [ChunkTokens(body=[], title=[], heading=[], name=[])], format_name="pdf"
        )
    with store.reading() as session:
        assert session.pages(doc_id) == [(1, 0, 5), (2, 5, 5)]
        assert session.pages(999) == []


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ("手册", ["手册/Pump.md", "手册/b.txt"]),
        ("PUMP", ["手册/Pump.md"]),
        ("*.txt", ["c.txt", "手册/b.txt"]),
        ("docs/c", ["c.txt"]),
        ("/docs/手册/*", ["手册/Pump.md", "手册/b.txt"]),
        ("none", []),
    ],
)
def test_documents_are_selected_by_a_part_of_their_place_or_a_glob(store: Store, wanted: str, found: list[str]) -> None:
    ids = fill(store, **{"手册/Pump.md": "x", "手册/b.txt": "x", "c.txt": "x"})
    with store.reading() as session:
        assert session.select(wanted) == sorted(ids[path] for path in found)


def test_totals_follow_every_change(store: Store) -> None:
    with store.writing() as session:
        put(session, "a", "alpha beta", "gamma", title="t")
        put(session, "b", "alpha")
    fill(store, b="one two three")
    with store.reading() as session:
        totals = session.totals()
    # Two chunks with h, n and t each beside their own words, one with h and n.
    assert (totals.documents, totals.chunks, totals.tokens) == (2, 3, (2 + 3) + (1 + 3) + (3 + 2))
    assert totals.chars == len("alpha beta\n\ngamma") + len("one two three")


def note(path: str, outcome: str = "failed", message: str = "m") -> LedgerEntry:
    return LedgerEntry(root=ROOT, path=path, outcome=outcome, code="c", message=message)


def ledger(store: Store) -> list[tuple[str, str, str, int]]:
    with store.reading() as session:
        return [(entry.path, entry.outcome, entry.message, entry.tries) for entry in session.ledger()]


def test_searched_documents_that_have_pages_can_be_told_from_the_others(store: Store) -> None:
    with store.writing() as session:
        pages = (Page(page_no=1, char_start=0, char_end=5),)
        words = [ChunkTokens(body=["valve"], title=[], heading=[], name=[])]
        for path, held in (("a.md", ()), ("b.pdf", pages), ("c.pdf", pages)):
            parsed, chunks = document("valve", pages=held)
            doc_id = session.put(source(path), parsed, chunks, words, format_name="pdf")
        session.hide(doc_id, "forgotten")
    with store.reading() as session:
        assert [each.source.path for each in session.paged_documents()] == ["b.pdf"]


def test_the_ledger_takes_a_file_whose_name_is_no_text_and_names_it_alike_in_the_message(store: Store) -> None:
    with store.writing() as session:
        session.add_notes(ROOT, [note("caf\udce9", message="caf\udce9 is odd: \ud800")])
    assert ledger(store) == [("caf\\xe9", "failed", "caf\\xe9 is odd: \\ud800", 1)]


def test_the_ledger_keeps_the_last_word_on_a_file(store: Store) -> None:
    with store.writing() as session:
        session.add_notes(ROOT, [note("b"), note("a", "skipped")])
        session.add_notes(ROOT, [note("b", message="other")])
        session.add_notes(ROOT, [note("b", message="other")])
    assert ledger(store) == [("a", "skipped", "m", 1), ("b", "failed", "other", 2)]
    with store.reading() as session:
        assert (session.totals().failed, session.totals().skipped, session.totals().textless) == (1, 1, 0)


def test_a_file_that_was_tried_again_counts_until_it_is_another(store: Store) -> None:
    tried = replace(note("a"), look=("a", 1, 2, 3), reader="r")
    for _ in range(2):
        with store.writing() as session:
            session.add_notes(ROOT, [tried])
    with store.reading() as session:
        (recalled,) = session.ledger(ROOT)
        assert (recalled.look, recalled.reader, recalled.tries) == (tried.look, "r", 2)
        assert session.ledger("/other") == []
    with store.writing() as session:
        session.put_notes(ROOT, [recalled])
    assert ledger(store) == [("a", "failed", "m", 2)]
    with store.writing() as session:
        session.add_notes(ROOT, [replace(tried, look=("a", 1, 2, 4))])
    assert ledger(store) == [("a", "failed", "m", 1)]


def test_notes_are_cleared_below_a_place_but_for_those_to_keep(store: Store) -> None:
    with store.writing() as session:
        session.add_notes(ROOT, map(note, ("a/x", "a/y", "a", "ab", "b")))
        session.put_notes(ROOT, [note("a/y")], within="a")
    assert [path for path, *_ in ledger(store)] == ["a/y", "ab", "b"]
    with store.writing() as session:
        session.put_notes(ROOT, [note("b")])
    assert [path for path, *_ in ledger(store)] == ["b"]


def test_the_manifest_keeps_what_was_set(store: Store) -> None:
    with store.writing() as session:
        session.set_manifest({"analyzer": "1", "chunker": "x"})
        session.set_manifest({"analyzer": "2"})
        assert session.manifest()["analyzer"] == "2"
    with store.reading() as session:
        assert (session.manifest()["analyzer"], session.manifest()["chunker"]) == ("2", "x")


class Broken(Exception):
    pass


def _failing_tokens(tokens: Sequence[ChunkTokens]) -> Sequence[ChunkTokens]:
    class Tokens(list[ChunkTokens]):
        def __iter__(self):
            yield tokens[0]
            raise Broken

    return Tokens(tokens)


def test_an_error_undoes_everything_since_the_last_checkpoint(store: Store) -> None:
    def write() -> None:
        with store.writing() as session:
            put(session, "a", "alpha")
            session.checkpoint()
            put(session, "b", "beta")
            session.add_notes(ROOT, [note("x")])
            raise Broken

    with pytest.raises(Broken):
        write()
    assert (paths(store), ledger(store)) == (["a"], [])
    with store.reading() as session:
        assert (search(session, "beta"), session.totals().documents) == ([], 1)


def test_a_document_that_fails_half_way_leaves_the_old_one_whole(store: Store) -> None:
    (before,) = fill(store, a="alpha").values()
    parsed, chunks = document("beta", "gamma")
    tokens = [ChunkTokens(body=[c.text], title=[], heading=[], name=[]) for c in chunks]
    with store.writing() as session:
        with pytest.raises(Broken):
            session.put(source("a", "9"), parsed, chunks, _failing_tokens(tokens), format_name="plain")
        put(session, "b", "delta")
    with store.reading() as session:
        assert (search(session, "alpha"), search(session, "beta"), len(search(session, "delta"))) == ([before], [], 1)
        assert "".join(piece.body for piece in session.text(before)) == "alpha"
        assert (session.totals().documents, session.totals().chunks) == (2, 2)


def test_what_is_put_is_seen_from_the_next_checkpoint_on(store: Store) -> None:
    fill(store, a="alpha")
    with store.writing() as session:
        put(session, "b", "beta")
        assert paths(store) == ["a"]
        session.checkpoint()
        assert paths(store) == ["a", "b"]


def test_a_reader_keeps_its_view(store: Store) -> None:
    fill(store, a="alpha")
    with store.reading() as session:
        assert session.totals().documents == 1
        fill(store, b="beta")
        assert (session.totals().documents, search(session, "beta")) == (1, [])


def test_there_is_one_writer(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("zhiku.stores.sqlite.connection.BUSY_TIMEOUT_MS", 50)
    with store.writing() as session:
        put(session, "a", "alpha")
        with pytest.raises(Busy), store.writing():
            pass
    assert paths(store) == ["a"]


def test_several_readers_read_at_once(store: Store) -> None:
    fill(store, a="alpha")
    with store.reading() as one, store.reading() as other:
        assert search(one, "alpha") == search(other, "alpha") != []


def test_a_closed_store_can_be_used_again(store: Store) -> None:
    fill(store, a="alpha")
    assert paths(store) == ["a"]
    store.close()
    assert paths(store) == ["a"]


@pytest.mark.parametrize("change", [lambda s: put(s, "z", "omega"), lambda s: None])
def test_settling_changes_no_answer(store: Store, change: Callable[[WriteSession], object]) -> None:
    fill(store, **{f"d{n}": f"alpha word{n} beta" for n in range(30)})
    fill(store, **{f"d{n}": f"alpha other{n}" for n in range(0, 30, 3)})
    query = LexicalQuery(terms=("alpha", "beta", "word4"))
    with store.writing() as session:
        change(session)
    with store.reading() as session:
        before = session.search_lexical(query, limit=100)
    with store.writing() as session:
        session.settle()
    with store.reading() as session:
        assert session.search_lexical(query, limit=100) == before
