"""Errors are messages with a next step, in the reader's language."""

from __future__ import annotations

import pytest

import zhiku.errors
from zhiku.errors import NotFound, ZhikuError
from zhiku.i18n import hint_of, message_of, translate

ERROR = NotFound("no base named {name!r}.", name="notes", hint="create it with: zhiku index PATH --base {name}")


def classes() -> list[type[ZhikuError]]:
    return [c for c in vars(zhiku.errors).values() if isinstance(c, type) and issubclass(c, ZhikuError)]


def test_an_error_is_a_message_and_a_hint() -> None:
    assert ERROR.message == "no base named 'notes'."
    assert ERROR.hint == "create it with: zhiku index PATH --base notes"
    assert str(ERROR) == f"{ERROR.message} Hint: {ERROR.hint}"


def test_an_error_without_a_hint_is_its_message() -> None:
    assert str(ZhikuError("gone")) == "gone"


def test_braces_in_values_are_only_text() -> None:
    assert ZhikuError("{path} is damaged.", path="{x}{0}").message == "{x}{0} is damaged."


def test_codes_are_unique() -> None:
    codes = [c.code for c in classes()]
    assert len(codes) == len(set(codes)) > 15


@pytest.mark.parametrize("error", classes())
def test_every_class_has_an_exit_code_that_is_documented(error: type[ZhikuError]) -> None:
    assert error.exit_code in {2, 3, 4, 5, 6, 7, 70}


def test_a_reader_without_a_translation_gets_english() -> None:
    assert translate("a text that nobody translated: {n}", "zh", n=3) == "a text that nobody translated: 3"


def test_messages_and_hints_can_be_had_in_english() -> None:
    assert (message_of(ERROR, "en"), hint_of(ERROR, "en")) == (ERROR.message, ERROR.hint)
