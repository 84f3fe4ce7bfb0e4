"""The command doctor: whether bases find what they hold."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from zhiku.cli import options, render
from zhiku.cli.admin import chosen_bases
from zhiku.cli.command import Command, session_of
from zhiku.cli.reports import aligned
from zhiku.cli.screen import Screen
from zhiku.cli.session import Session
from zhiku.errors import Busy, IndexStateError, ZhikuError

if TYPE_CHECKING:
    from zhiku.service.base import Base
    from zhiku.service.doctor import Diagnosis, LegHealth

SOMETHING_FOUND = 4

_EXAMPLES = """\
zhiku doctor
zhiku doctor -b work --format json
zhiku doctor --repair -b work"""


@click.command(
    cls=Command,
    epilog=_EXAMPLES,
    help="Check that bases find what they hold: each way of searching is asked for sentences taken from the base, and"
    " the index is searched for damage. Says which way is blind, and what mends it. Nothing is changed, unless by"
    " --repair, which makes full text and vectors' packs anew from the record, without reading or embedding a file.",
)
@click.option("--repair", is_flag=True, help="Mend what can be mended from the record first, then check.")
@options.bases
@options.wait
@options.formats("text", "json")
@click.pass_context
def doctor(ctx: click.Context, repair: bool, wait: bool, names: tuple[str, ...], form: str) -> int:
    from zhiku.service.doctor import diagnose

    session = session_of(ctx)
    found: list[Diagnosis] = []
    code = 0
    for i, base in enumerate(chosen_bases(session, names)):
        if repair and base.exists() and (failure := _repair(base, session, wait)):
            code = failure.exit_code
        diagnosis = diagnose(base)
        found.append(diagnosis)
        if form == "text":
            render.out_lines(["", *_lines(diagnosis, session.screen)][0 if i else 1 :])
    if form == "json":
        render.out_json({"bases": [diagnosis.to_dict() for diagnosis in found]})
    return code or (SOMETHING_FOUND if any(diagnosis.findings for diagnosis in found) else 0)


def _repair(base: Base, session: Session, wait: bool) -> ZhikuError | None:
    try:
        done = base.repair(wait_s=math.inf if wait else 0.0)
    except (IndexStateError, Busy) as error:
        render.error(error, session.language)
        return error
    render.note(
        session.errors.tr(
            "Base {name}: words and vectors made anew for {count} chunks.", name=base.name, count=done.chunks
        )
    )
    return None


def _lines(diagnosis: Diagnosis, screen: Screen) -> Iterator[str]:
    yield screen.style(diagnosis.name, "bold")
    yield from screen.folded(_details(diagnosis, screen))


def _details(diagnosis: Diagnosis, screen: Screen) -> Iterator[str]:
    yield from aligned(list(_legs(diagnosis, screen)))
    for finding in diagnosis.findings:
        error = finding.error
        yield "  " + screen.tr("Problem: {reason}", reason=screen.tr(error.template, **error.params))
        if error.hint_template:
            yield "  " + screen.tr("Next: {advice}", advice=screen.tr(error.hint_template, **error.params))
    if diagnosis.totals is None and not diagnosis.findings:
        advice = screen.tr("name a folder: zhiku index PATH --base {name}", name=diagnosis.name)
        yield "  " + screen.tr("Next: {advice}", advice=advice)


def _legs(diagnosis: Diagnosis, screen: Screen) -> Iterator[tuple[str, str]]:
    yield screen.tr("by words"), _health(diagnosis.legs["lexical"], screen)
    yield screen.tr("by meaning"), _health(diagnosis.legs["vector"], screen)
    yield screen.tr("by keyword"), _health(diagnosis.legs["exact"], screen)
    if diagnosis.terms:
        yield screen.tr("glossary"), screen.tr("{count} terms", count=diagnosis.terms)
    if diagnosis.totals and (count := diagnosis.totals.failed):
        files = screen.tr("{count} files; see: zhiku status -b {name}", count=count, name=diagnosis.name)
        yield screen.tr("not read"), files


def _health(leg: LegHealth, screen: Screen) -> str:
    if leg.state == "damaged":
        return screen.tr("damaged")
    if leg.state == "off":
        return screen.tr("off")
    if leg.state == "unknown":
        return screen.tr("not asked")
    counts = screen.tr("finds {found} of {asked} sentences", found=leg.found, asked=leg.asked) if leg.asked else ""
    if leg.state == "ok":
        return screen.tr("ok: {counts}", counts=counts)
    return screen.tr("blind: {counts}", counts=counts) if counts else screen.tr("blind")
