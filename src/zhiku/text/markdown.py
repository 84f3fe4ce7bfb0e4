"""Turn the inline markup of a note (CommonMark, GitHub tables, Obsidian) into the text that a reader sees.

No function adds or removes a line, so line n of what is seen is line n of the file. Each pass is linear.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import Final
from urllib.parse import unquote

from zhiku.model import Link
from zhiku.text.markup import decode_entities

# Text without any of these is what it looks like.
_MARKED: Final = re.compile(r"[`*_~=\[\]<>&\\$%#^]|https?:")
_BACKTICKS: Final = re.compile(r"\\?`+")
_MATH: Final = re.compile(r"\$\$[^$]+\$\$|(?<![\\$\w])\$(?=[^\s$])[^$\n]+(?<!\s)\$(?![\d$])")
_ESCAPE: Final = re.compile(r"\\([!-/:-@\[-`{-~])")
_WIKILINK: Final = re.compile(r"(?<!\\)(!?)\[\[([^\[\]|\n]*)(?:\|([^\[\]\n]*))?\]\]")
_AUTOLINK: Final = re.compile(r"<((?:[a-zA-Z][a-zA-Z0-9+.-]{1,31}:|[\w.+-]{1,64}@)[^\s<>\x00]*)>")
_BARE_URL: Final = re.compile(r"(?:https?|ftp)://[^\s<>\x00-\x1f()\[\]，。；、）】》”]+")
_INLINE_TAG: Final = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9-]*)(\s[^<>]*|/)?>")
_DEFINITION: Final = re.compile(
    r"^ {0,3}\[(?!\^)([^\[\]\n]+)\]:[ \t]*<?([^\s<>]+)>?[ \t]*"
    r"""(?:"[^"\n]*"|'[^'\n]*'|\([^()\n]*\))?[ \t]*$""",
    re.MULTILINE,
)
_BRACKET: Final = re.compile(r"!?\[|\]")
_DESTINATION: Final = re.compile(
    r"""\(\s*+(?:<([^<>\n]*+)>|((?:[^\s()\\<]|\\.|\((?:[^\s()\\]|\\.)*+\))*+))"""
    r"""(?:\s++(?:"[^"]*+"|'[^']*+'|\([^()]*+\)))?+\s*+\)"""
)
_LABEL: Final = re.compile(r"\[([^\[\]\n]*+)\]")
_SCHEME: Final = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]+:|//")
_EMPHASIS: Final = re.compile(r"(?<![*_~=])(?:\*{1,3}|_{1,3}|~~|==)(?![*_~=])")
_BLOCK_ID: Final = re.compile(r"(?:(?<=\s)|^)\^(?=[\d-]*[A-Za-z])[A-Za-z0-9-]+[ \t]*$", re.M)
_ENTITY: Final = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,31});")
_TAG: Final = re.compile(r"(?:^|(?<=[\s(（，。、；：]))#([\w/-]*[^\W\d][\w/-]*)")
_SIZE: Final = re.compile(r"\d+(?:x\d+)?")
_HELD: Final = re.compile("\x00(\\d+)\x00")

_TAG_NAMES: Final = """
a abbr b bdi bdo big blockquote br center cite code dd del details dfn div dl dt em figcaption figure font h1
h2 h3 h4 h5 h6 hr i img input ins kbd label li mark nobr ol p picture pre q rp rt ruby s samp small source
span strike strong sub summary sup table tbody td tfoot th thead time tr tt u ul var video wbr
"""
_HTML_TAGS: Final = frozenset(_TAG_NAMES.split())


class InlineCleaner:
    """Clean the leaf blocks of one document, in order, and collect the links and tags that are met."""

    def __init__(self, text: str) -> None:
        self.links: list[Link] = []
        self.tags: dict[str, None] = {}
        self._definitions: dict[str, str] = {}
        if "]:" in text:
            for match in _DEFINITION.finditer(text):
                self._definitions.setdefault(match.group(1).lower(), match.group(2))

    def clean(self, text: str, line: int) -> str:
        """Return what a reader sees of the inline text that begins on `line` (1-based)."""
        if not _MARKED.search(text):
            return text
        # Before the wikilinks, whose visible text may end in "^id".
        leaf = _Leaf(_BLOCK_ID.sub("", text) if "^" in text else text, line)
        if "`" in text or "$" in text:
            leaf.hold_literals()
        if "<!--" in leaf.text or "%%" in leaf.text:
            leaf.text = _drop_between(_drop_between(leaf.text, "<!--", "-->"), "%%", "%%")
        if "[" in leaf.text:
            self._clean_wikilinks(leaf)
        if "\\" in leaf.text:
            leaf.text = _ESCAPE.sub(lambda match: leaf.hold(match.group(1)), leaf.text)
        if "[" in leaf.text:
            self._clean_links(leaf)
        _clean_marks(leaf)
        if "#" in leaf.text:
            self.tags.update(dict.fromkeys(tag.strip("/") for tag in _TAG.findall(leaf.text)))
        if "&" in leaf.text:
            leaf.text = _ENTITY.sub(_decode_entity, leaf.text)
        return leaf.restored(leaf.text)

    def _clean_wikilinks(self, leaf: _Leaf) -> None:
        def replace(match: re.Match[str]) -> str:
            bang, target, alias = match.groups()
            if alias is not None:
                target = target.removesuffix("\\")  # in a table the bar is written \|
            alias = (alias or "").strip()
            path, _, anchor = (part.strip() for part in target.partition("#"))
            line = leaf.line_at(match.start())
            self.links.append(Link(target=path, anchor=anchor, alias=alias, embed=bool(bang), line=line))
            is_size = bang and _SIZE.fullmatch(alias)
            steps = (part.strip() for part in target.split("#"))
            return alias if alias and not is_size else " > ".join(step for step in steps if step)

        leaf.text = _WIKILINK.sub(replace, leaf.text)

    def _clean_links(self, leaf: _Leaf) -> None:
        if self._definitions:
            leaf.text = _DEFINITION.sub("", leaf.text)
        edits: list[tuple[int, int]] = []
        for start, close, end, target in self._iter_links(leaf.text):
            is_image = leaf.text[start] == "!"
            opening_end = start + 1 + is_image
            edits += [(start, opening_end), (close, end)]
            if not _SCHEME.match(target):
                path, _, anchor = unquote(leaf.restored(target)).partition("#")
                alias = " ".join(leaf.restored(leaf.text[opening_end:close]).split())
                line = leaf.line_at(start)
                self.links.append(Link(target=path, anchor=anchor, alias=alias, embed=is_image, line=line))
        leaf.text = _cut(leaf.text, sorted(edits))

    def _iter_links(self, text: str) -> Iterator[tuple[int, int, int, str]]:
        """Yield start, closing bracket, end and target of each link, the inner before the outer."""
        open_brackets: list[int] = []
        done = 0
        for bracket in _BRACKET.finditer(text):
            if bracket.start() < done:
                continue
            if bracket.group() != "]":
                open_brackets.append(bracket.start())
            elif open_brackets:
                start = open_brackets.pop()
                end, target = self._target_at(text, start, bracket.start())
                if end:
                    done = end
                    yield start, bracket.start(), end, target

    def _target_at(self, text: str, start: int, close: int) -> tuple[int, str]:
        after = close + 1
        if text.startswith("(", after) and (match := _DESTINATION.match(text, after)):
            return match.end(), match.group(1) or match.group(2) or ""
        if not self._definitions:
            return 0, ""
        label = text[text.index("[", start) + 1 : close] if close - start < 1000 else ""
        end = after
        if text.startswith("[", after) and (match := _LABEL.match(text, after)):
            label, end = match.group(1) or label, match.end()
        target = self._definitions.get(label.lower())
        return (end, target) if target else (0, "")


class _Leaf:
    """The text of one leaf block while it is cleaned; literals wait outside of it, behind numbered marks.

    A mark is a number between two NULs, which decoded text never holds.
    """

    def __init__(self, text: str, line: int) -> None:
        self.text = text
        self._line = line
        self._held: list[str] = []
        self._line_ends: list[int] | None = None
        self._measured = ""

    def hold(self, literal: str) -> str:
        """Put a literal aside and return its mark; line ends stay in the text."""
        marks = []
        for part in literal.split("\n"):
            marks.append(f"\x00{len(self._held)}\x00")
            self._held.append(part)
        return "\n".join(marks)

    def hold_literals(self) -> None:
        """Put code spans, without their backticks, and formulas aside."""
        parts: list[str] = []
        done = 0
        for start, end, width in _iter_code_spans(self.text):
            parts.append(self._hold_math(self.text[done:start]))
            parts.append(self.hold(self.text[start + width : end - width]))
            done = end
        parts.append(self._hold_math(self.text[done:]))
        self.text = "".join(parts)

    def _hold_math(self, text: str) -> str:
        return _MATH.sub(lambda match: self.hold(match.group()), text) if "$" in text else text

    def line_at(self, pos: int) -> int:
        """Return the line of the file that a position of the present text is on."""
        if self._line_ends is None or self._measured is not self.text:
            self._measured = self.text
            self._line_ends = [match.start() for match in re.finditer("\n", self.text)]
        return self._line + bisect_right(self._line_ends, pos)

    def restored(self, text: str) -> str:
        """Return `text` with its literals in place of their marks."""
        return _HELD.sub(lambda match: self._held[int(match.group(1))], text) if "\x00" in text else text


def _iter_code_spans(text: str) -> Iterator[tuple[int, int, int]]:
    """Yield start, end and number of backticks of each code span (CommonMark 0.31, section 6.1)."""
    runs = [
        (match.start() + match.group().startswith("\\"), match.end(), match.group()[0] == "\\")
        for match in _BACKTICKS.finditer(text)
    ]
    # For each run, the next one of the same width; built from the end, so that each is looked at once.
    following: list[int] = [0] * len(runs)
    last: dict[int, int] = {}
    for number in range(len(runs) - 1, -1, -1):
        start, end, _ = runs[number]
        following[number] = last.get(end - start, 0)
        last[end - start] = number
    number = 0
    while number < len(runs):
        start, end, is_escaped = runs[number]
        closing = 0 if is_escaped else following[number]
        if closing:
            yield start, runs[closing][1], end - start
        number = (closing or number) + 1


def _drop_between(text: str, opening: str, closing: str) -> str:
    """Return `text` without what stands between the two marks, line ends excepted; an unclosed one stays."""
    parts: list[str] = []
    done = 0
    while (start := text.find(opening, done)) >= 0:
        end = text.find(closing, start + len(opening))
        if end < 0:
            break
        parts += [text[done:start], "\n" * text.count("\n", start, end)]
        done = end + len(closing)
    return "".join(parts) + text[done:] if done else text


def _clean_marks(leaf: _Leaf) -> None:
    text = leaf.text
    if "<" in text:
        text = _AUTOLINK.sub(lambda match: leaf.hold(match.group(1)), text)
        text = _INLINE_TAG.sub(_drop_tag, text)
    if "://" in text:
        text = _BARE_URL.sub(lambda match: leaf.hold(leaf.restored(match.group())), text)
    if "*" in text or "_" in text or "~~" in text or "==" in text:
        text = _cut(text, _find_emphasis(text))
    leaf.text = text


def _drop_tag(match: re.Match[str]) -> str:
    is_end, name, attributes = match.groups()
    # <T>, <your-name> and <a few words> are what the author wants to be read; browsers would hide them.
    is_said = not attributes or (attributes.strip(" /") and "=" not in attributes)
    if not is_end and is_said and name.lower() not in _HTML_TAGS:
        return match.group()
    return " " if name.lower() == "br" else "\n" * match.group().count("\n")


def _find_emphasis(text: str) -> list[tuple[int, int]]:
    """Return the spans of the marks around emphasised words, where the marks are clearly that."""
    spans: list[tuple[int, int]] = []
    opened: dict[str, tuple[int, int]] = {}
    for match in _EMPHASIS.finditer(text):
        mark = match.group()
        before, after = text[match.start() - 1 : match.start()], text[match.end() : match.end() + 1]
        if _is_inside_word(before, after, mark):
            continue
        if before and not before.isspace() and mark in opened:
            spans += [opened.pop(mark), match.span()]
        elif after and not after.isspace() and after not in "/.,;:!?)，。；：！？）、":
            opened[mark] = match.span()
    return sorted(spans)


def _is_inside_word(before: str, after: str, mark: str) -> bool:
    if not (before.isalnum() and after.isalnum()):
        return False
    # Chinese has no spaces to stand around emphasis: 很**重要**的.
    return mark[0] == "_" or (before.isascii() and after.isascii())


def _decode_entity(match: re.Match[str]) -> str:
    decoded = decode_entities(match.group())
    return " " if decoded.isspace() or decoded == "\x00" else decoded


def _cut(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """Return `text` without the spans, which are in order; their line ends stay."""
    parts: list[str] = []
    done = 0
    for start, end in spans:
        parts += [text[done:start], "\n" * text.count("\n", start, end)]
        done = end
    return "".join(parts) + text[done:] if done else text
