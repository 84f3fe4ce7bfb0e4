"""The section of a persona's `profile.md` that names the bases it may see."""

from __future__ import annotations

import re
from dataclasses import dataclass

from zhiku.config import base_key, check_base_name
from zhiku.errors import ConfigError, ZhikuError

PROFILE_FILE = "profile.md"
SECTION = "visible_domains"

_HEADING = re.compile(r" {0,3}(#{1,6})(?![^ \t])")
_ITEM = re.compile(r" {0,3}[-*+][ \t]+(\S.*)")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
# What is commented out must not make a base visible; a comment that nothing ends goes on to the end.
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)


@dataclass(frozen=True, kw_only=True)
class Profile:
    """The bases that a profile declares, in its order, and what in it cannot be used. Nothing else is visible."""

    bases: tuple[str, ...] = ()
    problems: tuple[ZhikuError, ...] = ()


def parse_profile(text: str, name: str) -> Profile:
    """Return what a profile says for the persona `name`: the items of lists below `## visible_domains`.

    The section ends at the next heading. What is in comments or fenced blocks says nothing.
    """
    bases: dict[str, str] = {}
    problems: list[ZhikuError] = []
    has_section = False
    for number, line in _section_lines(text):
        has_section = True
        if not line.strip():
            continue
        item = _ITEM.fullmatch(line.rstrip())
        if item is None:
            problems.append(_no_item(number, name))
            continue
        try:
            base = check_base_name(item[1])
        except ConfigError:
            problems.append(_no_name(number, name, item[1]))
            continue
        bases.setdefault(base_key(base), base)
    if not bases:
        problems.append(_nothing_declared(name, has_section=has_section))
    return Profile(bases=tuple(bases.values()), problems=tuple(problems))


def _section_lines(text: str) -> list[tuple[int, str]]:
    """Return the lines below the section's heading, that of the heading as an empty one, with their numbers."""
    blanked = _COMMENT.sub(lambda match: "\n" * match[0].count("\n"), text)
    found: list[tuple[int, str]] = []
    fence = ""
    is_inside = False
    for number, line in enumerate(blanked.splitlines(), start=1):
        mark = _FENCE.match(line)
        if mark and not fence:
            fence = mark[1]
        elif mark and mark[1].startswith(fence) and line.strip() == mark[1]:
            fence = ""
        elif not fence and (heading := _HEADING.match(line)):
            title = line[heading.end() :].strip().rstrip("#").rstrip()
            is_inside = heading[1] == "##" and title.casefold() == SECTION
            line = ""
        elif fence:
            continue
        if is_inside:
            found.append((number, line))
    return found


def _no_item(line: int, name: str) -> ConfigError:
    return ConfigError(
        "line {line} of the profile of persona {name!r} is no item of a list.",
        line=line,
        name=name,
        hint="write one name a line: - NAME",
    )


def _no_name(line: int, name: str, value: str) -> ConfigError:
    return ConfigError(
        "line {line} of the profile of persona {name!r} names no base: {value!r} cannot be the name of one.",
        line=line,
        name=name,
        value=value,
        hint="write one name a line: - NAME",
    )


def _nothing_declared(name: str, *, has_section: bool) -> ConfigError:
    if has_section:
        return ConfigError(
            "persona {name!r} sees no base: its profile names none below ## visible_domains.",
            name=name,
            hint="write one name a line: - NAME",
        )
    return ConfigError(
        "persona {name!r} sees no base: its profile has no section ## visible_domains.",
        name=name,
        hint="add the section, with one name a line: - NAME",
    )
