"""Follow which elements of a page are open, as far as its text needs that; no depth of nesting is too deep."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Final, Generic, TypeVar

VOID: Final = frozenset(
    ("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr")
)
NEVER_SHOWN: Final = frozenset(
    ("script", "style", "noscript", "template", "svg", "iframe", "noembed", "noframes", "title", "rp", "rt")
)
SURROUNDINGS: Final = frozenset(("nav", "footer", "aside", "form"))
_ENDED_BY_THE_NEXT: Final = frozenset(("p", "li", "td", "th", "tr", "dt", "dd", "option"))

Note = TypeVar("Note")


class OpenElements(Generic[Note]):
    """The open elements, each with a note; `leave` is called for each that ends, innermost first."""

    def __init__(self, leave: Callable[[str, Note], None]) -> None:
        self._leave = leave
        self._open: list[tuple[str, Note]] = []
        self._names: Counter[str] = Counter()

    def end_implied(self, name: str) -> None:
        """End what the start of an element of this name ends."""
        if name in _ENDED_BY_THE_NEXT and self._open and self._open[-1][0] == name:
            self._close_to(len(self._open) - 1)

    def start(self, name: str, note: Note) -> None:
        """Open an element that has an end."""
        self._open.append((name, note))
        self._names[name] += 1

    def end(self, name: str) -> None:
        """End the innermost element of this name and all within; nothing if there is none."""
        if not self._names[name]:
            return
        depth = len(self._open) - 1
        while self._open[depth][0] != name:
            depth -= 1
        self._close_to(depth)

    def end_all(self) -> None:
        """End what is open at the end of the page."""
        self._close_to(0)

    def _close_to(self, depth: int) -> None:
        while len(self._open) > depth:
            name, note = self._open.pop()
            self._names[name] -= 1
            self._leave(name, note)
