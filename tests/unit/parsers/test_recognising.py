"""Each page that needs it is read once, by itself; what fails costs no other page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from zhiku.errors import Crashed, ParseFailed, SourceError, TimedOut
from zhiku.model import ParsedDocument, Source
from zhiku.parsers.page_reader import RECOGNISED
from zhiku.parsers.pages import WANTED
from zhiku.parsers.recognising import MAX_FAILED_RUN, RecognisingParser, Recognition
from zhiku.registry import PAGE_READER

SOURCE = Source(root="/r", path="a.pdf", size_bytes=0, mtime_ns=0, sha256="f" * 64)


class FakePool:
    """Parses as workers do: a file with some text, of whose pages some are wanted."""

    def __init__(self, wanted: list[int], errors: Mapping[int, Exception] | None = None, text: str = "") -> None:
        self.wanted = wanted
        self.errors = errors or {}
        self.text = text
        self.is_closed = False
        self.read: list[int] = []
        self.uses: set[str] = set()

    def parse(self, target: str, source: Source, data: bytes, options: Mapping[str, Any]) -> ParsedDocument:
        if target == PAGE_READER:
            self.read.append(options["page_no"])
            if error := self.errors.get(options["page_no"]):
                raise error
            return ParsedDocument(text="", blocks=(), metadata={RECOGNISED: {"lines": [options["page_no"]]}})
        self.uses.add(options["ocr"])
        if "recognised" in options:
            return ParsedDocument(text=self.text, blocks=(), metadata={"recognised": options["recognised"]})
        metadata = {WANTED: self.wanted} if self.wanted else {}
        return ParsedDocument(text=self.text, blocks=(), metadata=metadata)


class FakeCache:
    """Keeps pages in memory."""

    def __init__(self) -> None:
        self.pages: dict[tuple[str, int], dict[str, Any]] = {}

    def load(self, sha256: str, page_no: int) -> dict[str, Any] | None:
        return self.pages.get((sha256, page_no))

    def save(self, sha256: str, page_no: int, page: dict[str, Any]) -> None:
        self.pages[sha256, page_no] = page


def _parse(
    pool: FakePool, cache: FakeCache | None = None, told: list[Any] | None = None, source: Source = SOURCE
) -> Mapping[str, Any]:
    recognition = Recognition(
        pool=pool,
        cache=cache or FakeCache(),
        on_page=lambda *step: (told if told is not None else []).append(step),
        use_of=lambda source: "every page" if source.path == "forced.pdf" else "where needed",
    )
    return RecognisingParser("pdf", pool, recognition).parse(source, b"").metadata


def test_a_file_that_needs_no_ocr_is_parsed_once() -> None:
    pool = FakePool([], text="digital")
    assert _parse(pool) == {}
    assert pool.read == []


def test_wanted_pages_are_read_and_handed_on_by_number() -> None:
    pool, told = FakePool([2, 5]), []
    assert _parse(pool, told=told) == {"recognised": {"2": {"lines": [2]}, "5": {"lines": [5]}}}
    assert told == [("a.pdf", 0, 2), ("a.pdf", 1, 2)]
    assert pool.uses == {"where needed"}


def test_how_much_of_a_file_is_read_is_asked_of_each() -> None:
    pool = FakePool([2])
    _parse(pool, source=replace(SOURCE, path="forced.pdf"))
    assert pool.uses == {"every page"}


def test_a_page_that_was_read_before_is_not_read_again() -> None:
    cache, first, second = FakeCache(), FakePool([1, 2], {2: KeyboardInterrupt()}), FakePool([1, 2])
    with pytest.raises(KeyboardInterrupt):
        _parse(first, cache)
    _parse(second, cache)
    assert (first.read, second.read) == ([1, 2], [2])


@pytest.mark.parametrize("error", [ParseFailed("no"), TimedOut("late"), Crashed("dead")])
def test_a_page_that_fails_costs_no_other_page(error: SourceError) -> None:
    assert _parse(FakePool([1, 2, 3], {2: error}))["recognised"] == {
        "1": {"lines": [1]},
        "2": None,
        "3": {"lines": [3]},
    }


def test_a_file_of_which_no_page_can_be_read_fails_for_its_last_reason() -> None:
    with pytest.raises(TimedOut):
        _parse(FakePool([1, 2], {1: ParseFailed("no"), 2: TimedOut("late")}))


def test_a_file_with_text_of_its_own_does_not_fail_for_its_scans() -> None:
    assert _parse(FakePool([2], {2: ParseFailed("no")}, text="cover"))["recognised"] == {"2": None}


def test_a_file_whose_pages_fail_in_a_row_is_given_up() -> None:
    wanted = list(range(1, 101))
    pool = FakePool(wanted, {page: TimedOut("late") for page in wanted[3:]})
    recognised = _parse(pool)["recognised"]
    assert pool.read == wanted[: 3 + MAX_FAILED_RUN]
    assert len(recognised) == 100
    assert [page for page, seen in recognised.items() if seen] == ["1", "2", "3"]


def test_the_end_of_a_run_is_no_fault_of_a_page() -> None:
    pool = FakePool([1, 2], {1: Crashed("killed")}, text="cover")
    pool.is_closed = True
    with pytest.raises(Crashed):
        _parse(pool)
    assert pool.read == [1]
