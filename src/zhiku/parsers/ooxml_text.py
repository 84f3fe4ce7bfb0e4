"""Which characters of an Office document a reader sees: no codes of fields, no hidden text, one of two alternatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from zhiku.parsers.char_budget import CharBudget
from zhiku.parsers.xml_walk import Attributes, attribute
from zhiku.text.symbol_fonts import symbol_text

OFF: Final = frozenset(("0", "false", "off"))
"""How an attribute says no (ECMA-376 part 1, 22.9.2.7)."""

# Line ends inside the markup are blanks; a soft hyphen shows only at the end of a line.
_CLEAN: Final = str.maketrans({"\n": " ", "\r": " ", "\u00ad": ""})
_SIGNS: Final = {
    "w:tab": "\t",
    "w:ptab": "\t",
    "w:br": "\n",
    "w:cr": "\n",
    "w:noBreakHyphen": "-",
    "a:br": "\n",
    # Numbers of an equation must not run together: 1/2, x^2.
    "m:den": "/",
    "m:sup": "^",
    "m:sub": "_",
}


class TextReader:
    """Hands each piece of text that is shown to `write`, in order."""

    def __init__(self, path: str, write: Callable[[str], None]) -> None:
        self.has_hidden_text = False
        self._budget = CharBudget(path)
        self._write = write
        self._in_text = False
        self._is_hidden = False
        self._fields: list[bool] = []  # for each open field, whether its code is being read
        self._open_codes = 0
        self._alternatives: list[int | None] = []  # characters before each open one; None: one of it has text

    def starts(self) -> dict[str, Callable[[Attributes], bool | None]]:
        """Return what is done where an element begins."""
        return {name: self._sign(sign) for name, sign in _SIGNS.items()} | {
            "w:r": self._start_run,
            "w:vanish": self._hide,
            "w:t": self._start_text,
            "a:t": self._start_text,
            "m:t": self._start_text,
            "w:sym": self._add_symbol,
            "w:fldChar": self._mark_field,
            "mc:AlternateContent": self._start_alternatives,
            "mc:Choice": self._start_choice,
            "mc:Fallback": self._start_choice,
        }

    def ends(self) -> dict[str, Callable[[], None]]:
        """Return what is done where an element ends."""
        return {
            "w:r": self._end_run,
            "w:t": self._end_text,
            "a:t": self._end_text,
            "m:t": self._end_text,
            "mc:Choice": self._end_choice,
            "mc:AlternateContent": self._end_alternatives,
        }

    def add_characters(self, text: str) -> None:
        """Add characters as they stand in the file, if they stand in text."""
        if self._in_text:
            self.add(text.translate(_CLEAN))

    def add(self, text: str) -> None:
        """Add text, if it is shown; raise TooLarge where there is too much of it."""
        if self._is_hidden:
            self.has_hidden_text = self.has_hidden_text or not text.isspace()
        elif not self._open_codes:
            self.count(len(text))
            self._write(text)

    def count(self, chars: int) -> None:
        """Count characters of the text, labels of lists included; raise TooLarge where there are too many."""
        self._budget.spend(chars)

    def end_codes(self) -> None:
        """End the codes of open fields, as paragraphs do: one without an end would hide all that follows."""
        if self._open_codes:
            self._fields = [False] * len(self._fields)
            self._open_codes = 0

    def _sign(self, sign: str) -> Callable[[Attributes], None]:
        return lambda _: self.add(sign)

    def _start_run(self, _: Attributes) -> None:
        self._is_hidden = False

    def _end_run(self) -> None:
        self._is_hidden = False

    def _hide(self, attributes: Attributes) -> None:
        self._is_hidden = attribute(attributes, "val") not in OFF

    def _start_text(self, _: Attributes) -> None:
        self._in_text = True

    def _end_text(self) -> None:
        self._in_text = False

    def _add_symbol(self, attributes: Attributes) -> None:
        try:
            code = int(attribute(attributes, "char")[:6], 16)
        except ValueError:
            return
        self.add(symbol_text(attribute(attributes, "font"), code))

    def _mark_field(self, attributes: Attributes) -> None:
        kind = attribute(attributes, "fldCharType")
        if kind == "begin":
            self._fields.append(True)
            self._open_codes += 1
        elif self._fields and kind in ("separate", "end"):
            self._open_codes -= self._fields.pop()
            if kind == "separate":
                self._fields.append(False)

    def _start_alternatives(self, _: Attributes) -> None:
        self._alternatives.append(self._budget.spent)

    def _start_choice(self, _: Attributes) -> bool:
        """Pass over an alternative if one before it had text: each holds the same in another form."""
        return bool(self._alternatives) and self._alternatives[-1] is None

    def _end_choice(self) -> None:
        before = self._alternatives[-1] if self._alternatives else None
        if before is not None and self._budget.spent > before:
            self._alternatives[-1] = None

    def _end_alternatives(self) -> None:
        self._alternatives.pop()
