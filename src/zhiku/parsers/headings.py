"""Find the headings of plain-text formats by their look; nothing is interpreted, included or executed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

MAX_LEVEL: Final = 6


@dataclass(frozen=True)
class Heading:
    """A heading as a span of the text: level 1 to 6 and the title without markup."""

    char_start: int
    char_end: int
    level: int
    title: str


HeadingFinder = Callable[[str], Iterator[Heading]]
"""Yields a text's headings in order; their spans do not overlap."""

# Every pattern is tied to the start of a line and reads it once or twice, so the cost is linear.
_RST = re.compile(
    r"^(?:(?P<over>([=\-`:'\"~^_*+#<>.])\2{2,}+)[ \t]*+\n[ \t]*+)?"
    r"(?P<title>\S[^\n]*+)\n(?P<under>([=\-`:'\"~^_*+#<>.])\5{2,}+)[ \t]*+$",
    re.MULTILINE,
)
_ADORNMENT = re.compile(r"([=\-`:'\"~^_*+#<>.])\1*")
_ORG = re.compile(
    r"^(?P<marks>\*+) +(?:(?:TODO|DONE) +)?(?P<title>\S[^\n]*)$",
    re.MULTILINE,
)
_ORG_TAGS = re.compile(r"[ \t]:[\w@#%:]+:$")
_ADOC = re.compile(
    r"^(?:(?P<fence>(?P<mark>[-.+/])(?P=mark){3,})[ \t]*|(?P<marks>={1,6}) +(?P<title>\S[^\n]*))$",
    re.MULTILINE,
)
_TEX = re.compile(
    r"^[ \t]*\\(?P<command>part|chapter|section|subsection|subsubsection|paragraph)\*?[ \t]*(?:\[[^\]\n]*\])?"
    r"\{(?P<title>[^{}\n]*+(?:\{[^{}\n]*+\}[^{}\n]*+)*+)\}",
    re.MULTILINE,
)
_TEX_RANKS: Final = ("part", "chapter", "section", "subsection", "subsubsection", "paragraph")
_TEX_MARKUP = re.compile(r"\\[A-Za-z]+\*?[ \t]*|[{}]")
_CHAPTER = re.compile(
    r"^[ \t\u3000]*(?P<title>第 ?[0-9０-９一二三四五六七八九十百千零〇两兩]{1,8} ?"
    r"(?P<unit>[卷部篇编編章回节節])(?P<gap>[ \t\u3000:：、.．·—-]{0,8})(?P<name>[^\n]{0,36}))$",
    re.MULTILINE,
)
_CHAPTER_RANKS: Final = {
    **dict.fromkeys("卷部篇编編", 0),
    **dict.fromkeys("章回", 1),
    **dict.fromkeys("节節", 2),
}
_MAX_CHAPTER_CHARS: Final = 40
_SENTENCE_ENDS: Final = tuple("。，；：！？…、,;!?")
_LEADERS = re.compile(r"[.…·．]{3,}|……|\t *\d+ *$")


def find_rst(text: str) -> Iterator[Heading]:
    """Yield reStructuredText titles; the levels follow the order in which their adornments first appear."""
    styles: list[str] = []
    for match in _RST.finditer(text):
        over, title, under = match["over"] or "", match["title"].rstrip(), match["under"]
        # A paragraph of several lines above a rule is no title, nor is a rule above a rule.
        if _ADORNMENT.fullmatch(title) or not (over or _is_first_of_paragraph(text, match.start())):
            continue
        if len(under) < min(len(title), 4) or (over and over[0] != under[0]):
            continue
        style = (over[:1] + under[0]) if over else under[0]
        if style not in styles:
            styles.append(style)
        yield Heading(match.start(), match.end(), min(styles.index(style) + 1, MAX_LEVEL), title)


def find_org(text: str) -> Iterator[Heading]:
    """Yield Org headlines without their keyword and tags."""
    for match in _ORG.finditer(text):
        title = _ORG_TAGS.sub("", match["title"].rstrip()).rstrip()
        yield Heading(match.start(), match.end(), min(len(match["marks"]), MAX_LEVEL), title)


def find_adoc(text: str) -> Iterator[Heading]:
    """Yield AsciiDoc section titles outside of listings."""
    fence = ""
    for match in _ADOC.finditer(text):
        if match["fence"]:
            if not fence:
                fence = match["fence"]
            elif fence == match["fence"]:
                fence = ""
        elif not fence:
            yield Heading(match.start(), match.end(), len(match["marks"]), match["title"].rstrip(" \t="))


def find_tex(text: str) -> Iterator[Heading]:
    """Yield LaTeX sectioning commands; the highest one that the file uses is level 1."""
    matches = list(_TEX.finditer(text))
    top = min((_TEX_RANKS.index(match["command"]) for match in matches), default=0)
    for match in matches:
        title = " ".join(_TEX_MARKUP.sub("", match["title"]).replace("~", " ").split())
        level = _TEX_RANKS.index(match["command"]) - top + 1
        yield Heading(match.start(), match.end(), level, title)


def find_chapters(text: str) -> Iterator[Heading]:
    """Yield the lines of Chinese prose that name a chapter: 第十二章 标题; a 节 is below, a 卷 above it."""
    if "第" not in text:
        return
    matches = [match for match in _CHAPTER.finditer(text) if _is_chapter(text, match)]
    shift = 1 if any(_CHAPTER_RANKS[match["unit"]] == 0 for match in matches) else 0
    for match in matches:
        level = _CHAPTER_RANKS[match["unit"]] + shift
        yield Heading(match.start(), match.end(), level, " ".join(match["title"].split()))


def _is_chapter(text: str, match: re.Match[str]) -> bool:
    name = match["name"].rstrip()
    if len(match["title"]) > _MAX_CHAPTER_CHARS or name.endswith(_SENTENCE_ENDS) or _LEADERS.search(name):
        return False
    if match["gap"] or not name:
        return True
    # 第三章介绍… may be a sentence that a line break cut: believed only where it stands alone.
    return _is_first_of_paragraph(text, match.start()) and _is_last_of_paragraph(text, match.end())


def _is_first_of_paragraph(text: str, start: int) -> bool:
    above = text.rfind("\n", 0, max(start - 1, 0)) + 1
    return start == 0 or not text[above:start].strip()


def _is_last_of_paragraph(text: str, end: int) -> bool:
    below = text.find("\n", end + 1)
    return not text[end : below if below >= 0 else len(text)].strip()
