"""What somebody may see of a library: some of its bases, or all, asked as if there were no others."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from zhiku.answer import Answer, Query
from zhiku.config import base_key
from zhiku.errors import Busy, ConfigError, IndexStateError, NotFound, UsageError, ZhikuError
from zhiku.locator import SCHEME, parse_locator
from zhiku.service.base import Base
from zhiku.service.coverage import TOPIC_HITS, BaseEntry, Coverage, coverage_of, entry_of, topic_of
from zhiku.service.library import Library, no_such_base

if TYPE_CHECKING:
    from zhiku.retrieve.lines import GrepAnswer, GrepQuery
    from zhiku.retrieve.read import Excerpt

_T = TypeVar("_T")

_FAULTS = (IndexStateError, Busy, ConfigError, NotFound)
"""What may be wrong with one base, and is no reason not to ask the others."""


class View:
    """A library as far as it is visible. A base that is not visible is treated as one that does not exist.

    Bases and settings may be changed by others meanwhile, and several threads may ask at once.
    """

    def __init__(
        self, library: Library, visible: Collection[str] | None = None, nothing: ZhikuError | None = None
    ) -> None:
        """Take the names of the bases that may be seen, in any case; None for all there are.

        `nothing` is what is raised where none of these exists.
        """
        self._library = library
        self._nothing: ZhikuError = nothing or NotFound("no base is visible here.")
        self._visible = None if visible is None else frozenset(map(base_key, visible))

    def names(self) -> list[str]:
        """Return the names of the visible bases, sorted."""
        return [name for name in self._library.names() if self._visible is None or base_key(name) in self._visible]

    def seen(self) -> list[str]:
        """Return the names of the visible bases; raise `NotFound` where there is none."""
        if names := self.names():
            return names
        if self._visible is None:
            raise NotFound("there is no base yet.", hint="index a folder first: zhiku index PATH")
        raise self._nothing.with_traceback(None)  # which would grow with each time it is raised

    def search(self, query: Query, base: str | None = None) -> Answer:
        """Search one base, or all in one ranking; those that cannot answer are told in the answer's health.

        Raises `NotFound` for a base that is not there, and the error of a base where no other can answer.
        """
        answer, faults = self._ask(base, lambda names: self._library.search(query, names))
        health = replace(answer.health, degraded=(*faults, *answer.health.degraded))
        return replace(answer, health=health) if faults else answer

    def grep(self, query: GrepQuery, base: str | None = None) -> GrepAnswer:
        """Return the lines that hold a keyword; likewise."""
        answer, faults = self._ask(base, lambda names: self._library.grep(query, names))
        return replace(answer, degraded=faults)

    def read(
        self,
        place: str,
        base: str | None = None,
        *,
        lines: tuple[int, int] | None = None,
        page: int | None = None,
        context: int = 0,
    ) -> Excerpt:
        """Return the text at a locator, which names its base, or of a document; see `Library.read`.

        Where no base is named, a path may be of any, but must mean one document only.
        """
        self._library.refresh()
        if place.startswith(SCHEME):
            base = parse_locator(place).base
        name = self.named(base) if base else self._holder_of(place)
        return self._library.read(place, name, lines=lines, page=page, context=context)

    def entries(self, *, only_ready: bool = False, name_keyword: str = "") -> list[BaseEntry]:
        """Return a line for each base, by name: all, or only those that can answer or whose name holds a word."""
        self._library.refresh()
        wanted = base_key(name_keyword.strip())
        entries = [entry_of(base) for base in self._bases() if wanted in base_key(base.name)]
        return [entry for entry in entries if entry.ready or not only_ready]

    def coverage(self, topic: str | None = None) -> Coverage:
        """Return what each base holds and what of it cannot be seen; with a topic, also what is found of that."""
        self._library.refresh()
        bases = tuple(coverage_of(base) for base in self._bases())
        found = None
        if topic is not None:
            found = topic_of(self.search(Query(text=topic, top_k=TOPIC_HITS)))
        return Coverage(bases=bases, topic=found)

    def _ask(self, base: str | None, ask: Callable[[Sequence[str]], _T]) -> tuple[_T, tuple[ZhikuError, ...]]:
        """Return what a base, or all that can, answer, and why others cannot."""
        self._library.refresh()
        if base:
            return ask([self.named(base)]), ()
        able, faults = self._try(self.seen(), self._open)
        if able:
            with suppress(*_FAULTS):
                return ask(able), faults
            # Which base is to blame shows when each is asked by itself; the one ranking is over the others.
            able, more = self._try(able, lambda name: ask([name]))
            faults = (*faults, *more)
        if not able:
            raise faults[0]
        return ask(able), faults

    def _try(self, names: Sequence[str], use: Callable[[str], object]) -> tuple[list[str], tuple[ZhikuError, ...]]:
        able: list[str] = []
        faults: list[ZhikuError] = []
        for name in names:
            try:
                use(name)
                able.append(name)
            except _FAULTS as error:
                faults.append(error)
        return able, tuple(faults)

    def _open(self, name: str) -> None:
        with self._library.open(name).reading():
            pass

    def _holder_of(self, path: str) -> str:
        """Return which of the bases has the document that a path means."""
        from zhiku.retrieve.read import find_document  # a search must not pay for the import

        names = self.seen()
        if len(names) == 1:
            return names[0]

        def find(name: str) -> None:
            with self._library.open(name).reading() as session:
                find_document(session, path)

        able, faults = self._try(names, find)
        if len(able) == 1:
            return able[0]
        if able:
            raise UsageError(
                "{path!r} means documents of several bases: {known}.",
                path=path,
                known=", ".join(able),
                hint="name the base, or give a locator",
            )
        raise _likeliest(path, faults)

    def _bases(self) -> Iterator[Base]:
        for name in self.names():
            with suppress(NotFound):  # it was removed between two looks
                yield self._library.open(name)

    def named(self, name: str) -> str:
        """Return the visible base that a name means, in any case. Raises `NotFound`."""
        names = self.names()
        for known in names:
            if base_key(known) == base_key(name):
                return known
        raise no_such_base(name, names)


def _likeliest(path: str, faults: Sequence[ZhikuError]) -> ZhikuError:
    """Return why a document is not found: that a base could not be looked into, else with the name most like it."""
    import difflib  # only a path that means nothing needs likeness

    if unknown := [fault for fault in faults if not isinstance(fault, NotFound)]:
        return unknown[0]
    known = {str(fault.params["close"]): fault for fault in faults if "close" in fault.params}
    close = difflib.get_close_matches(path, known, n=1, cutoff=0)
    return known[close[0]] if close else faults[0]
