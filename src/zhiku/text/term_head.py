"""Where a Chinese term begins inside a run of characters that ends with it.

Nothing is written between the words of a sentence, but a term stands in many sentences: what precedes it differs from
one to the other, so that it begins where one character more makes the run much rarer. Of several such places the one
counts most that makes the term about as long as such names are.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection
from typing import NamedTuple

HAN = "\u3007\u3400-\u4dbf\u4e00-\u9fff"
"""Han characters, for a class of a regular expression."""

MAX_HAN = 12
SPREAD = 0.4
"""By how much the lengths of terms vary, in logarithms."""
WHOLE = 1.5
"""How much more it weighs that a run is the term as a whole, which a mark or a blank before it says."""
MIN_WEIGHT = 0.5
"""Below it nothing tells where the term begins. These three were chosen on the pairs of evals/README.md."""

_LEADING = re.compile(
    r"^.*(?:的|了|称为|称作|叫做|叫作|名为|也就是|使用|采用|通过|用于|基于|属于|成为|作为|转换成|转换为|转成|包括|例如|比如|以及|或者|还是|如果"
    r"|带有|具有|提供|支持|启用|禁用|所有|整个|其他|其它|一个|一种|一些|这个|这种|那个|所谓|可以|可能|应该|需要|对于|关于|根据|针对|按照"
    r"|成立|创建|位于|来自|导致|点击|单击|进行|每[个项种次]|是|在(?!线|职|读|途))"
)
"""Up to here it is the sentence around a term."""
_NO_BEGINNING = re.compile(
    r"^(?:[是与及或把被将让给该此其也都而并若则即于些之年月日]|由(?!于|来)|和(?!平|声|谐|弦)|从(?!属|业|众)|向(?!量|导|日)|会(?!议|话|员|计)|当(?!前|地)"
    r"|对(?![象话称数偶抗比齐等流]))+"
)
_NO_END = re.compile(r"[的了是在和与及或把被将为也都且这那等时后前中里上下]$")


def head_of(run: str, aliases: Collection[str], count: Callable[[str], int]) -> str | None:
    """Return the term at the end of a run of Han that has these aliases there; None where nothing tells.

    `count` tells how often a run of Han occurs in all texts.
    """
    run = _NO_BEGINNING.sub("", _LEADING.sub("", run))
    sizes = range(2, min(MAX_HAN, len(run)) + 1)
    if not sizes or _NO_END.search(run):
        return None
    counts = [count(run[-size:]) for size in sizes]
    counts.append(count(run[-sizes.stop :]) if sizes.stop <= len(run) else 1)
    best, term = MIN_WEIGHT, None
    for i, size in enumerate(sizes):
        end = run[-size:]
        is_all = size == len(run)  # what stands before is a mark, a blank, or no part of a term
        if end[0] == "·" or _NO_BEGINNING.match(end):
            continue
        fit = sum(_fit(end, alias) for alias in aliases if are_alike_in_size(end, alias))
        weight = math.log(1 + max(1, counts[i]) / max(1, counts[i + 1])) * fit * (WHOLE if is_all else 1)
        if weight > best and (is_all or counts[i] > 1):
            best, term = weight, end
    return term


def are_alike_in_size(han: str, other: str) -> bool:
    """Return whether two names may say the same, by their lengths; two Han names always may."""
    size = _size_beside(other)
    return _is_han(other) or size.least <= len(han) <= size.most


def _fit(han: str, other: str) -> float:
    """Return how usual the length of a Han name is for the other one, 1 at best."""
    usual = len(other) if _is_han(other) else _size_beside(other).usual
    return math.exp(-((math.log(len(han) / usual) / SPREAD) ** 2) / 2)


def _is_han(name: str) -> bool:
    return re.match(f"[{HAN}]", name) is not None


class _Size(NamedTuple):
    """How many Han characters a name has."""

    least: float
    usual: float
    most: float


def _size_beside(latin: str) -> _Size:
    words = re.split(r"[ -]", latin)
    if len(words) > 1:
        return _Size(1.5 * len(words), 2.1 * len(words), 4.5 * len(words))
    return _Size(4 / 3 * len(latin), 1.8 * len(latin), 2.7 * len(latin)) if latin.isupper() else _Size(2, 2.8, 5)
