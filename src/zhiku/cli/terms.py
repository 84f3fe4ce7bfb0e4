"""The command about glossaries: terms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from zhiku.cli import options, render
from zhiku.cli.columns import clean_line
from zhiku.cli.command import Command, session_of
from zhiku.cli.health import told
from zhiku.cli.screen import joined
from zhiku.cli.values import OneOf, Whole
from zhiku.errors import UsageError

if TYPE_CHECKING:
    from zhiku.cli.screen import Screen
    from zhiku.cli.session import Session
    from zhiku.service.terms import Terms
    from zhiku.text.glossary import Entry
    from zhiku.text.glossary_check import Finding

NO_TERMS = 1
SOMETHING_FOUND = 4
MAX_LISTED = 20
SUGGESTED = 200

_EXAMPLES = """\
zhiku terms
zhiku terms --base work --format json
zhiku terms --file terms.md
zhiku terms suggest --output terms.md"""

FINDINGS = {
    "duplicate": "More than once: {count}",
    "circle": "In a circle, which one line says better: {count}",
    "no_entry": "Aliases without a line of their own, which find their term all the same: {count}",
    "not_found": "In no document: {count}",
}


@click.command(
    cls=Command,
    epilog=_EXAMPLES,
    help="Show the terms of a base's glossary and check them: lines that cannot be used, words that stand more than"
    " once, circles, aliases without a line of their own, and words that no document holds. The exit code is 4 where"
    " lines should be changed, 1 where there is no term. With suggest: terms that the texts themselves explain, as a"
    " glossary to be looked through; nothing uses it.",
)
@click.argument("action", type=OneOf("suggest"), required=False, metavar="[suggest]")
@options.base
@click.option("--file", metavar="FILE", help="Check this file instead of the base's glossary.")
@click.option("--output", metavar="FILE", help="Write what is suggested to this file, which must not exist yet.")
@click.option("--limit", type=Whole(), help="How many terms are suggested at most; 200, unless named.")
@options.formats("text", "json")
@click.pass_context
def terms(ctx: click.Context, /, action: str | None, name: str | None, form: str, **given: Any) -> int:
    for option in ("file",) if action else ("output", "limit"):
        if given[option] is not None:
            raise UsageError(
                "--{option} means nothing here.", option=option, hint="see how it is called: zhiku terms --help"
            )
    session = session_of(ctx)
    if action:
        return _suggest(session, name, form, given["limit"] or SUGGESTED, given["output"])
    found = session.library().terms(name, given["file"])
    if form == "json":
        render.out_json(found.to_dict())
    else:
        render.out_lines(_lines(found, session.screen))
        for line in _notes(found, session.errors):
            render.note(line)
    return SOMETHING_FOUND if not found.is_sound else 0 if found.glossary.entries else NO_TERMS


def _suggest(session: Session, name: str | None, form: str, limit: int, output: str | None) -> int:
    from zhiku.service.suggesting import as_glossary, write_new

    (base,) = session.library().resolve([name] if name else [])
    found = base.suggest_terms(limit)
    lines = list(as_glossary(found, base.name))
    if found and output:
        write_new(Path(output), lines)
        render.note(
            session.errors.tr("{count} terms are written to {path}. Look through them.", count=len(found), path=output)
        )
    if form == "json":
        render.out_json({"base": base.name, "suggestions": [each.to_dict() for each in found]})
    elif found and not output:
        render.out_lines(lines)
    if not found:
        render.note(session.errors.tr("The texts of base {name} suggest no term.", name=base.name))
    return 0 if found else NO_TERMS


def _lines(found: Terms, screen: Screen) -> Iterator[str]:
    several = len(found.glossary.paths) > 1
    for path in found.glossary.paths:
        entries = [entry for entry in found.glossary.entries if entry.path == path]
        if several or entries:
            yield screen.style(screen.tr("{path}: {count} terms", path=path, count=len(entries)), "bold")
        for entry in entries:
            term, *aliases = map(clean_line, entry.words)
            yield f"  {term} = {', '.join(aliases)}"
    for kind, template in FINDINGS.items():
        if findings := found.of(kind):
            yield screen.tr(template, count=len(findings))
            yield from (f"- {_place(finding, screen, several=several)}" for finding in findings[:MAX_LISTED])
            if (more := len(findings) - MAX_LISTED) > 0:
                yield screen.tr("… and {count} more: zhiku terms --format json", count=more)


def _place(finding: Finding, screen: Screen, *, several: bool) -> str:
    words = (" → " if finding.kind == "circle" else ", ").join(map(clean_line, finding.words))
    return joined([words, f"({screen.tr(', ').join(_numbers(finding.entries, several=several))})"], " ")


def _numbers(entries: Sequence[Entry], *, several: bool) -> Iterator[str]:
    for entry in entries:
        yield f"{Path(entry.path).name}:{entry.line}" if several else f"L{entry.line}"


def _notes(found: Terms, screen: Screen) -> Iterator[str]:
    for fault in found.faults:
        yield from told(fault, screen)
    if not found.glossary.entries:
        yield screen.tr("There is no term. Name a file of lines TERM = ALIAS: zhiku index --glossary FILE")
    elif not found.was_asked:
        yield screen.tr("No documents were asked for the words: name a base that holds some with -b.")
