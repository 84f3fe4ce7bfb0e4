"""How much text one document may give: a small archive may hold a great deal of it."""

from __future__ import annotations

from typing import Final

from zhiku.errors import TooLarge

MAX_CHARS: Final = 20_000_000


class CharBudget:
    """Counts the characters of one document."""

    def __init__(self, path: str) -> None:
        self._path = path
        self.spent = 0

    def spend(self, chars: int) -> None:
        """Count characters of the text; raise `TooLarge` where there are too many."""
        self.spent += chars
        if self.spent > MAX_CHARS:
            raise TooLarge(
                "{path} has too much text: {chars:,} characters.",
                path=self._path,
                chars=self.spent,
                hint="split it into several files",
            )
