"""Show the numbers of spreadsheets as their formats say (ECMA-376 part 1, 18.8.30 and 18.8.31)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Context, Decimal
from functools import lru_cache
from typing import Final, NamedTuple

from zhiku.text.cell_dates import DATE_PARTS, is_in_calendar, show_date

BUILTIN_FORMATS: Final = {
    1: "0",
    2: "0.00",
    3: "#,##0",
    4: "#,##0.00",
    9: "0%",
    10: "0.00%",
    11: "0.00E+00",
    14: "yyyy-mm-dd",  # shown as the reader's system has it, so in the one way that cannot be misread
    15: "d-mmm-yy",
    16: "d-mmm",
    17: "mmm-yy",
    18: "h:mm AM/PM",
    19: "h:mm:ss AM/PM",
    20: "h:mm",
    21: "h:mm:ss",
    22: "yyyy-mm-dd h:mm",
    37: "#,##0;-#,##0",
    38: "#,##0;-#,##0",
    39: "#,##0.00;-#,##0.00",
    40: "#,##0.00;-#,##0.00",
    45: "mm:ss",
    46: "[h]:mm:ss",
    47: "mm:ss.0",
    48: "0.0E+0",
    # Those of Chinese systems (18.8.30, zh-cn).
    **dict.fromkeys((27, 36, 50, 52, 57), 'yyyy"年"m"月"'),
    **dict.fromkeys((28, 29, 51, 53, 54, 58), 'm"月"d"日"'),
    30: "m-d-yy",
    31: 'yyyy"年"m"月"d"日"',
    32: 'h"时"mm"分"',
    33: 'h"时"mm"分"ss"秒"',
    **dict.fromkeys((34, 55), '上午/下午h"时"mm"分"'),
    **dict.fromkeys((35, 56), '上午/下午h"时"mm"分"ss"秒"'),
}
"""The formats that files name by number alone; others are General."""

_MAX_FORMAT_CHARS: Final = 255  # Excel takes no longer one
_SYSTEM_FORMATS: Final = {"[$-F800]": "yyyy-mm-dd", "[$-F400]": "h:mm:ss"}

_PART: Final = re.compile(
    r"""(?P<literal>"[^"]*"?|\\.)|(?P<skip>[_*].)|(?P<general>General)
    |\[\$(?P<currency>[^\]-]*)[^\]]*\]|\[(?P<elapsed>h+|m+|s+)\]|(?P<bracket>\[[^\]]*\])
    |(?P<half>AM/PM|A/P|上午/下午)|(?P<exponent>E[+-]0+)|(?P<date>y+|m+|d+|h+|s+|a{3,4}|e+)
    |(?P<end>;)|(?P<digit>[0#?])|(?P<other>.)""",
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)
_OTHERS: Final = {"@": "text", ".": "point", ",": "comma", "%": "percent", "/": "slash"}
_SHOWN_AS_WRITTEN: Final = frozenset(("literal", "percent", "slash"))
_MANY_DIGITS: Final = Context(prec=64)
_MAX_DECIMALS: Final = 30  # Excel shows no more
_MAX_EXACT: Final = 1e15
"""Larger numbers have more digits than are kept of them."""


class Part(NamedTuple):
    """A piece of a format: its kind, the name of a group above, and its text."""

    kind: str
    text: str


Section = tuple[Part, ...]


@lru_cache(maxsize=4096)  # the same dates and amounts stand in many rows
def show_number(value: float, code: str, *, from_1904: bool = False) -> str:
    """Return a number as a format shows it: a date, a percentage, an amount; General for what is not understood."""
    sections = _sections(_SYSTEM_FORMATS.get(code[:8].upper(), code)[:_MAX_FORMAT_CHARS])
    section, shown = _choose(sections, value)
    kinds = [part.kind for part in section]
    if DATE_PARTS.intersection(kinds):
        return show_date(value, section, from_1904) if is_in_calendar(value, from_1904) else show_general(value)
    if "general" in kinds or ("text" in kinds and "digit" not in kinds):
        return "".join(show_general(shown) if part.kind in ("general", "text") else _literal(part) for part in section)
    if "digit" not in kinds:
        return "".join(map(_literal, section)).strip()
    is_fraction = "slash" in kinds[kinds.index("digit") :]
    if is_fraction or abs(value) >= _MAX_EXACT:
        return show_general(value)
    return _show_digits(shown, section).strip()


def show_general(value: float) -> str:
    """Return a number as it is shown where no format is set: with at most 15 digits."""
    return f"{value:.15g}".upper()


@lru_cache(maxsize=1024)
def _sections(code: str) -> tuple[Section, ...]:
    """Return the parts of a format for positive and negative numbers and zero, as far as it has them.

    One with conditions of its own is taken for General.
    """
    sections: list[list[Part]] = [[]]
    for match in _PART.finditer(code):
        kind, text = match.lastgroup or "other", match[0]
        if kind == "end":
            sections.append([])
        elif (part := _part(kind, text, match["currency"])) is not None:
            sections[-1].append(part)
    if any(part.kind == "condition" for section in sections for part in section):
        return ((Part("general", ""),),)
    return tuple(tuple(section) for section in sections[:3])


def _part(kind: str, text: str, currency: str | None) -> Part | None:
    if kind == "literal":
        return Part("literal", text[1:] if text[0] == "\\" else text.strip('"'))
    if kind == "currency":
        return Part("literal", currency or "")
    if kind == "skip":
        return Part("literal", " " if text[0] == "_" else "")
    if kind == "bracket":  # a colour says nothing; a condition is not understood
        return Part("condition", text) if text[1:2] in ("<", ">", "=") else None
    return Part(_OTHERS.get(text, "literal") if kind == "other" else kind, text)


def _choose(sections: Sequence[Section], value: float) -> tuple[Section, float]:
    """Return the section for a number and what it shows: one for negative numbers shows them without their sign."""
    if not any(sections):
        is_hidden = len(sections) > 1  # ;;; shows nothing at all
        return ((Part("literal", ""),) if is_hidden else (Part("general", ""),)), value
    if value < 0 and len(sections) > 1:
        return sections[1] or (Part("literal", ""),), -value
    if value == 0 and len(sections) > 2:
        return sections[2] or (Part("literal", ""),), value
    return sections[0] or (Part("literal", ""),), value


def _literal(part: Part) -> str:
    return part.text if part.kind in _SHOWN_AS_WRITTEN else ""


def _show_digits(value: float, section: Section) -> str:
    kinds = [part.kind for part in section]
    point = kinds.index("point") if "point" in kinds else len(section)
    decimals = "".join(part.text for part in section[point:] if part.kind == "digit")
    if "exponent" in kinds:
        return _show_exponent(value, section, len(decimals))
    shape = "".join({"digit": "0", "comma": ","}.get(kind, ".") for kind in kinds)
    thousands = sum(map(len, re.findall(r"(?<=0),++(?!0)", shape)))
    whole, rest = _rounded(value * 100 ** kinds.count("percent"), thousands, decimals)
    least = sum(part.text == "0" for part in section[:point] if part.kind == "digit")
    whole = whole.lstrip("0").rjust(least, "0")
    is_negative = value < 0 and any(digit in "123456789" for digit in whole + rest)
    is_grouped = "0,0" in shape
    if is_grouped:
        whole = re.sub(r"(?<=\d)(?=(?:\d{3})+$)", ",", whole)
    shown = _fill(section[:point], whole, is_grouped)
    behind = "".join(map(_literal, section[point:]))
    return ("-" if is_negative else "") + shown + (f".{rest}" if rest else "") + behind


def _rounded(value: float, thousands: int, decimals: str) -> tuple[str, str]:
    """Return the digits before and behind the point, without a sign."""
    exact = abs(Decimal(f"{value:.15g}")).scaleb(-3 * thousands)
    places = min(len(decimals), _MAX_DECIMALS)
    shown = exact.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP, _MANY_DIGITS)
    whole, _, rest = f"{shown:f}".partition(".")
    least = decimals.rfind("0") + 1
    return whole, rest[:least] + rest[least:].rstrip("0")


def _show_exponent(value: float, section: Section, decimals: int) -> str:
    mantissa, _, exponent = f"{value:.{min(decimals, _MAX_DECIMALS)}E}".partition("E")
    wanted = next(part.text for part in section if part.kind == "exponent")
    sign = "-" if exponent[0] == "-" else "+" if wanted[1] == "+" else ""
    return f"{mantissa}E{sign}{exponent[1:].lstrip('0').rjust(len(wanted) - 2, '0')}"


def _fill(section: Section, digits: str, is_grouped: bool) -> str:
    """Put digits into their places: from the right, all that are left into the first."""
    shown: list[str] = []
    places = sum(part.kind == "digit" for part in section)
    if not places:
        shown.append(digits)
    for part in reversed(section):
        if part.kind != "digit":
            shown.append(_literal(part))
            continue
        places -= 1
        if not places:
            shown.append(digits)
        elif not is_grouped:
            shown.append(digits[-1:])
            digits = digits[:-1]
    return "".join(reversed(shown))
