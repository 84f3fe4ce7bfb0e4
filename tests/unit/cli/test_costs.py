"""Which day an option means."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from zhiku.cli.costs import Day
from zhiku.errors import UsageError


def test_a_day_is_a_date_or_so_many_days_with_today() -> None:
    assert Day().convert("2026-11-01", None, None) == date(2026, 11, 1)
    today = date.today()
    assert Day().convert("7d", None, None) in (today - timedelta(6), today - timedelta(5))  # midnight may pass between
    assert Day().convert("1d", None, None) >= today


@pytest.mark.parametrize("text", ["yesterday", "0d", "-1d", "7", "999999999999d", "2026-13-01", ""])
def test_anything_else_is_an_error_that_says_how(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        Day().convert(text, None, None)
    assert "7d" in caught.value.hint
