"""A base that is not visible does not exist: nothing that is asked is answered otherwise than without it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shelf import Shelf
from zhiku.answer import Query
from zhiku.errors import ZhikuError
from zhiku.retrieve.lines import GrepQuery
from zhiku.service.library import Library
from zhiku.service.personas import personas_of
from zhiku.service.view import View

T = TypeVar("T")
Asked = Callable[[View], Any]

SEEN = {
    "notes": {"pump.md": "# Pumps\n\nThe seal of the pump.\n\n水泵的密封圈。\n", "sub/valve.md": "A valve, a pump.\n"}
}
SEEN |= {"papers": {"wind.txt": "Wind at the pump house.\n", "pump.md": "Another pump.\n"}}
HIDDEN = {"vault": {"pump.md": "The seal of the vault.\n", "key.md": "# Keys\n\n密封圈的钥匙 is zebra.\n"}}
BASES = [None, *SEEN, *HIDDEN, "VAULT", "vaul", "pap", "", "../vault", "default"]
WORDS = ["pump", "seal", "zebra", "密封圈", "vault", "钥匙", "key.md", "wind", "*", "?", "e"]
PATHS = ["pump.md", "key.md", "vault/key.md", "valve.md", "../vault/key.md", "vault", "pum.md", "keys.md"]


class Doubles:
    """Two libraries that differ in a base that a persona does not see, and nothing else."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        docs = Shelf(folder / "with")
        for base, files in {**SEEN, **HIDDEN}.items():
            for path, text in files.items():
                docs.write(f"{base}/{path}", text)
            docs.index(docs.docs / base, name=base)
        home = docs.library.home
        profile = home / "personas" / "mei" / "profile.md"
        profile.parent.mkdir(parents=True)
        profile.write_text("## visible_domains\n- notes\n- papers\n- nobody\n")
        shutil.copytree(home, folder / "without" / "home", ignore=lambda _, names: set(HIDDEN) & set(names))
        self.libraries = [docs.library, Library(folder / "without" / "home")]
        self.views = [personas_of(library, {}).view("mei") for library in self.libraries]

    def answers(self, ask: Asked) -> list[str]:
        """Return what both say, without where they are and how long it took."""
        return [self.told(view, ask) for view in self.views]

    def told(self, view: View, ask: Asked) -> str:
        """Return what a view says, likewise."""
        try:
            answer = ask(view)
            told = (
                answer.to_dict()
                if hasattr(answer, "to_dict")
                else [getattr(e, "to_dict", lambda e=e: e)() for e in answer]
            )
        except ZhikuError as error:
            told = [error.code, str(error)]
        if isinstance(told, dict) and "health" in told:
            del told["health"]["elapsed_ms"]
        return repr(told).replace(str(self.folder / "without"), str(self.folder / "with"))


@pytest.fixture(scope="module")
def doubles(tmp_path_factory: pytest.TempPathFactory) -> Doubles:
    return Doubles(tmp_path_factory.mktemp("doubles"))


def maybe(values: st.SearchStrategy[T]) -> st.SearchStrategy[T | None]:
    return st.none() | values


words = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join)
bases = st.sampled_from(BASES)
sources = maybe(st.sampled_from([*PATHS, "*", "vault/*", "*.md", "/", "docs/*/*"]))
spans = maybe(st.tuples(st.integers(-1, 9), st.integers(-1, 9)))
locators = st.builds(
    "zhiku://{}/{}{}{}".format,
    st.sampled_from([*SEEN, *HIDDEN, "VAULT", "%76ault", "notes%2F..%2Fvault", "nobody"]),
    st.sampled_from(PATHS),
    st.sampled_from(["", "?doc=1", "?doc=2", "?doc=3", "?doc=1&of=000000000000", "?doc=2&chars=0-20"]),
    st.sampled_from(["", "#L1-3", "#page=1"]),
)


@st.composite
def calls(draw: st.DrawFn, folder: str = "") -> Asked:
    """Draw one thing that may be asked of a view."""
    base, source = draw(bases), draw(sources)
    kind = draw(st.sampled_from(["search", "grep", "read", "names", "entries", "coverage"]))
    if kind == "search":
        limits = {"top_k": draw(st.integers(1, 20)), "max_chars": draw(maybe(st.integers(1, 50)))}
        query = Query(text=draw(words), mode=draw(st.sampled_from(["lexical", "hybrid"])), source=source, **limits)
        return lambda view: view.search(query, base)
    if kind == "grep":
        lines = GrepQuery(keyword=draw(words), source=source, max_lines=draw(st.integers(1, 9)))
        return lambda view: view.grep(lines, base)
    if kind == "read":
        place = draw(locators | st.sampled_from([*PATHS, "ABSOLUTE"]))
        at = {"lines": draw(spans), "page": draw(maybe(st.integers(0, 3))), "context": draw(st.integers(0, 3))}
        return lambda view: view.read(place, base, **at)
    keyword, only_ready, topic = draw(st.sampled_from(["", "vault", "a"])), draw(st.booleans()), draw(maybe(words))
    if kind == "entries":
        return lambda view: view.entries(only_ready=only_ready, name_keyword=keyword)
    return (lambda view: view.coverage(topic)) if kind == "coverage" else View.names


@settings(max_examples=150, deadline=None)
@given(st.lists(calls(), min_size=1, max_size=6))
def test_no_sequence_of_calls_tells_that_there_is_another_base(doubles: Doubles, asked: list[Asked]) -> None:
    for ask in asked:
        told, expected = doubles.answers(ask)
        assert told == expected


def test_the_law_would_notice_a_base_that_is_not_hidden(doubles: Doubles) -> None:
    everything = [View(library) for library in doubles.libraries]
    for ask in (View.names, View.entries, lambda view: view.search(Query(text="zebra", mode="lexical"))):
        told, expected = (doubles.told(view, ask) for view in everything)
        assert told != expected
