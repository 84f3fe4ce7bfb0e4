"""Show the dates and times of spreadsheets, which are numbers of days, as their formats say."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final, Protocol

DATE_PARTS: Final = frozenset(("date", "elapsed", "half"))
"""The kinds of parts that make a format one of dates."""

_DAYS_TO_9999: Final = 2_958_466
_MONTHS: Final = "January February March April May June July August September October November December".split()
_DAYS: Final = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
_CHINESE_DAYS: Final = "一二三四五六日"


class FormatPart(Protocol):
    """A piece of a format (see `zhiku.text.cell_format.Part`)."""

    @property
    def kind(self) -> str:
        """Return what it is."""
        ...

    @property
    def text(self) -> str:
        """Return it as written."""
        ...


def is_in_calendar(value: float, from_1904: bool) -> bool:
    """Answer whether a number of days is a date that spreadsheets have."""
    return 0 <= value < _DAYS_TO_9999 - (1462 if from_1904 else 0)


def to_date(value: float, *, from_1904: bool, digits: int = 0) -> datetime:
    """Return the date of a number of days, rounded to seconds or so many digits of them."""
    # Excel has a 29 February 1900, so that only later days count from 30 December (ECMA-376 part 1, 18.17.4.1).
    start = datetime(1904, 1, 1) if from_1904 else datetime(1899, 12, 31 if value < 60 else 30)
    ticks = round(value * 86_400 * 10**digits)
    return start + timedelta(microseconds=ticks * 10 ** (6 - digits))


def show_date(value: float, section: Sequence[FormatPart], from_1904: bool) -> str:
    """Return a number of days as a format shows it."""
    digits = min(sum(part.kind == "digit" for part in section), 6)  # a fraction of seconds
    date = to_date(value, from_1904=from_1904, digits=digits)
    by_halves = any(part.kind == "half" for part in section)
    shown = []
    for i, part in enumerate(section):
        if part.kind == "elapsed":
            shown.append(_elapsed(value, part.text.strip("[]")))
        elif part.kind == "half":
            morning, afternoon = part.text.split("/")
            shown.append(morning if date.hour < 12 else afternoon)
        elif part.kind == "point" and digits:
            shown.append(f".{date.microsecond:06d}"[: digits + 1])
        elif part.kind == "date":
            word = part.text.lower()
            is_minute = word in ("m", "mm") and _is_minute(section, i)
            shown.append(_minute(date, word) if is_minute else _show_part(date, word, by_halves))
        elif part.kind not in ("digit", "text"):
            shown.append(part.text)
    return "".join(shown).strip()


def _is_minute(section: Sequence[FormatPart], at: int) -> bool:
    """Answer whether an `m` is one of minutes: behind hours or before seconds."""
    before = next((part for part in reversed(section[:at]) if part.kind in ("date", "elapsed")), None)
    after = next((part for part in section[at + 1 :] if part.kind in ("date", "elapsed")), None)
    behind_hours = before is not None and before.text.strip("[]").lower().startswith("h")
    return behind_hours or (after is not None and after.text.strip("[]").lower().startswith("s"))


def _minute(date: datetime, word: str) -> str:
    return f"{date.minute:0{len(word)}d}"


def _show_part(date: datetime, word: str, by_halves: bool) -> str:
    kind, size = word[0], len(word)
    if kind in "ye":
        return f"{date.year % 100:02d}" if size < 3 and kind == "y" else f"{date.year:04d}"
    if kind == "m":
        name = _MONTHS[date.month - 1]
        return f"{date.month:0{size}d}" if size < 3 else {3: name[:3], 5: name[0]}.get(size, name)
    if kind == "d":
        name = _DAYS[date.weekday()]
        return f"{date.day:0{size}d}" if size < 3 else name[:3] if size == 3 else name
    if kind == "a":
        return ("" if size == 3 else "星期") + _CHINESE_DAYS[date.weekday()]
    if kind == "h":
        return f"{(date.hour + 11) % 12 + 1 if by_halves else date.hour:0{min(size, 2)}d}"
    return f"{date.second:0{min(size, 2)}d}" if kind == "s" else ""


def _elapsed(value: float, word: str) -> str:
    seconds = round(value * 86_400)
    count = seconds // {"h": 3600, "m": 60, "s": 1}[word[0].lower()]
    return f"{count:0{len(word)}d}"
