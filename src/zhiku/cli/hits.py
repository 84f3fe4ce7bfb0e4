"""The hits of a search as text, Markdown or paths."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from zhiku.cli.columns import clean, clean_line, cut, fold, width, wrap
from zhiku.cli.places import cautions, chain, lines_or_pages
from zhiku.cli.screen import Screen, joined

if TYPE_CHECKING:
    from zhiku.answer import Answer, Hit

INDENT = "   "
MAX_LINES = 12
"""What a reader at a terminal sees of a passage; a few lines more are shown rather than announced."""
SPARE_LINES = 3
LINES_BEFORE_MARK = 2

WHY = {
    "words": "words in the text",
    "phrase": "the very words in a row",
    "title": "words in the title",
    "heading": "words in the headings",
    "name": "words in the file's name",
    "meaning": "near in meaning",
    "glossary": "other words for it in the glossary",
}
_MARKDOWN_SIGNS = re.compile(r"([\\`*_\[\]<>#|])")


def as_text(answer: Answer, screen: Screen, *, whole: bool, explain: bool) -> Iterator[str]:
    """Yield the lines of all hits. Passages are shortened on a terminal unless `whole`."""
    for hit in answer:
        if hit.rank > 1:
            yield ""
        yield _head(hit, screen)
        yield from _place(hit, screen, with_base=len(answer.bases) > 1)
        if explain:
            yield from _explained(hit, screen)
        yield from _passage(hit, screen, whole)


def _head(hit: Hit, screen: Screen) -> str:
    number = f"{hit.rank}. "
    # A score says nothing by itself; it stands where nothing better is known.
    known = hit.relevance if hit.rerank_score is None else hit.rerank_score
    score = f"{hit.score:.2f}" if known is None else f"{min(known, 0.99):.0%}"  # nothing is certain
    title = clean_line(hit.title or hit.path.rpartition("/")[2])
    if screen.columns:
        title = cut(title, screen.columns - len(number) - len(score) - 2)
    return f"{screen.style(number + title, 'bold')}  {screen.style(score, 'dim')}"


def _place(hit: Hit, screen: Screen, *, with_base: bool) -> Iterator[str]:
    where = lines_or_pages(screen, (hit.line_start, hit.line_end), (hit.page, hit.page_end), ocr=hit.ocr)
    base = f"[{hit.base}]" if with_base else ""
    path, section, note = clean_line(hit.path), clean_line(chain(hit.section)), cautions(screen, hit)
    tail = joined([where, base])
    linked = screen.link(path, hit.file)
    warned = screen.style(note, "warn")
    whole_line = joined([f"{path} › {section}" if section else path, tail, note])
    if not screen.columns or width(INDENT + whole_line) <= screen.columns:
        yield INDENT + joined([f"{linked} › {section}" if section else linked, tail, warned])
        return
    yield INDENT + joined([linked, tail, warned])
    for start, end in wrap(f"› {section}", screen.columns - len(INDENT)) if section else ():
        yield INDENT + f"› {section}"[start:end]


def _explained(hit: Hit, screen: Screen) -> Iterator[str]:
    reasons = screen.tr(", ").join(screen.tr(WHY[code]) if code in WHY else code for code in hit.why)
    told = [screen.tr("why: {reasons}", reasons=reasons)] if reasons else []
    if hit.rerank_score is not None:
        told.append(_reranked(hit, screen))
    if "words" in hit.explanation:
        told.append(_score(hit, screen))
    for line in told:
        for part in fold(line, screen.columns - len(INDENT) if screen.columns else None):
            yield INDENT + screen.style(part, "dim")
    yield INDENT + screen.style(hit.locator, "dim")


def _reranked(hit: Hit, screen: Screen) -> str:
    """Return what a reranker made of a hit."""
    told = {"place": int(hit.explanation["place"]), "rerank": hit.rerank_score, "score": hit.score}
    return screen.tr("score {score:.2f}: reranked {rerank:.3f}, found in place {place}", **told)


def _score(hit: Hit, screen: Screen) -> str:
    """Return what the score of the search itself is made of (docs/search.md)."""
    parts = {**hit.explanation, "score": hit.explanation["words"] + hit.explanation["meaning"]}
    if "cosine" not in parts:
        return screen.tr("score {score:.2f}: words {words:.2f}, meaning unknown: it has no vector yet", **parts)
    return screen.tr(
        "score {score:.2f}: words {words:.2f} + meaning {meaning:.2f} ({standing:+.1f} standard deviations from the"
        " mean; cosine {cosine:.3f}); holds {share:.0%} of the words",
        **parts,
    )


def _passage(hit: Hit, screen: Screen, whole: bool) -> Iterator[str]:
    spans = wrap(hit.text, screen.columns - len(INDENT) if screen.columns else None)
    first, last = 0, len(spans)
    if screen.columns and not whole and len(spans) > MAX_LINES + SPARE_LINES:
        first, last = _window(spans, hit.marks)
    if first:
        yield INDENT + screen.style(screen.tr("… {count} lines above", count=first), "dim")
    for start, end in spans[first:last]:
        yield (INDENT + screen.marked(hit.text, start, end, hit.marks)).rstrip()
    if last < len(spans):
        yield INDENT + screen.style(screen.tr("… {count} lines below", count=len(spans) - last), "dim")


def _window(spans: list[tuple[int, int]], marks: tuple[tuple[int, int], ...]) -> tuple[int, int]:
    """Return the first and last line to show: from the top, or from just above the first mark further down."""
    marked = next((i for i, (_, end) in enumerate(spans) if marks and marks[0][0] < end), 0)
    first = 0 if marked < MAX_LINES else marked - LINES_BEFORE_MARK
    first = min(first, len(spans) - MAX_LINES)
    return first, first + MAX_LINES


def as_markdown(answer: Answer, screen: Screen) -> Iterator[str]:
    """Yield the lines of all hits in Markdown: a heading, the place, and the passage as a quotation."""
    for hit in answer:
        if hit.rank > 1:
            yield ""
        yield f"### {hit.rank}. {_escaped(hit.title or hit.path.rpartition('/')[2])}"
        yield ""
        where = lines_or_pages(screen, (hit.line_start, hit.line_end), (hit.page, hit.page_end), ocr=hit.ocr)
        base = _escaped(hit.base) if len(answer.bases) > 1 else ""
        path = f"`{clean_line(hit.path)}`"
        yield joined([path, _escaped(chain(hit.section)), where, base, cautions(screen, hit)], " · ")
        yield f"<{clean_line(hit.locator)}>"
        yield ""
        for line in clean(hit.text).split("\n"):
            yield f"> {line}".rstrip()


def _escaped(text: str) -> str:
    return _MARKDOWN_SIGNS.sub(r"\\\1", clean_line(text))


def files(answer: Answer) -> list[str]:
    """Return the files of the hits, each once, best first."""
    return list(dict.fromkeys(hit.file for hit in answer))
