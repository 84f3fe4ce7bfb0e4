"""The values of zhiku's own options, checked where they enter."""

# ruff: noqa: ARG002 - click decides what the methods are given

from __future__ import annotations

from typing import Any

import click

from zhiku.cli.usage import SEE_HELP
from zhiku.errors import UsageError


class Whole(click.ParamType[int]):
    """A whole number from `lowest` on."""

    name = "integer"

    def __init__(self, lowest: int = 1) -> None:
        self.lowest = lowest

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        return "N"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        try:
            number = int(value)
        except ValueError:
            number = self.lowest - 1
        if number < self.lowest:
            raise UsageError(
                "{option} must be a whole number from {lowest} on, not {value!r}.",
                option=_name_of(param),
                lowest=self.lowest,
                value=value,
                command=ctx.command_path if ctx else "zhiku",
                hint=SEE_HELP,
            )
        return number


class Share(click.ParamType[float]):
    """A number from 0 to 1, also written as a percentage; hits show theirs so."""

    name = "share"

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        return "X"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        text = str(value).strip()
        try:
            number = float(text[:-1]) / 100 if text.endswith("%") else float(text)
        except ValueError:
            number = -1.0
        if not 0 <= number <= 1:  # so that "nan" is refused too
            raise UsageError(
                "{option} must be a number from 0 to 1, not {value!r}.",
                option=_name_of(param),
                value=value,
                hint="write {option} 0.4 or {option} 40%",
            )
        return number


class OneOf(click.ParamType[str]):
    """One of some words."""

    name = "choice"

    def __init__(self, *words: str) -> None:
        self.words = words

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        return "|".join(self.words)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        word = str(value).lower()
        if word not in self.words:
            raise UsageError(
                "{option} cannot be {value!r}.",
                option=_name_of(param),
                value=value,
                words=", ".join(self.words),
                hint="choose one of: {words}",
            )
        return word

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:
        from click.shell_completion import CompletionItem  # only a shell asks

        return [CompletionItem(word) for word in self.words if word.startswith(incomplete)]


class LineRange(click.ParamType[tuple[int, int]]):
    """Lines as 10-40, 10, 10- or -40; becomes (first, last), both inclusive."""

    name = "lines"
    END = 1 << 62

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        return "A-B"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, int]:
        if isinstance(value, tuple):
            return value
        first, dash, last = str(value).strip().partition("-")
        numbers = [text for text in (first, last) if text]
        if numbers and all(text.isdecimal() for text in numbers):
            start = int(first or 1)
            end = int(last) if last else self.END if dash else start
            if 1 <= start <= end:
                return start, end
        raise UsageError(
            "{option} cannot be {value!r}: lines count from 1, and the first comes first.",
            option=_name_of(param),
            value=value,
            hint="write --lines 10-40, --lines 10, --lines 10- or --lines -40",
        )


def _name_of(param: click.Parameter | None) -> str:
    return max(param.opts, key=len) if param is not None else ""
