"""The command about personas: which there are, and what each sees."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from zhiku.cli import options, render
from zhiku.cli.command import Command, session_of
from zhiku.cli.health import told
from zhiku.cli.screen import joined
from zhiku.environ import environment

if TYPE_CHECKING:
    from zhiku.cli.screen import Screen
    from zhiku.service.personas import Persona, Personas

PERSONA_COLUMNS = ("persona", "sees")


@click.command(cls=Command, help="List personas, and the bases that each may see.")
@options.formats("text", "json")
@click.pass_context
def personas(ctx: click.Context, form: str) -> None:
    from zhiku.service.personas import personas_of

    session = session_of(ctx)
    known = personas_of(session.library(), environment())
    found = [known.persona(name) for name in known.names()]
    default = known.default_name()
    if form == "json":
        listed = [persona.to_dict() for persona in found]
        render.out_json({"folder": str(known.folder), "default": default, "personas": listed})
        return
    if found:
        render.out_lines(_table(found, default, session.screen))
    for line in _notes(known, found, default, session.errors):
        render.note(line)


def _table(found: Sequence[Persona], default: str | None, screen: Screen) -> Iterator[str]:
    from zhiku.cli.bases import table

    nothing = screen.tr("(nothing)")
    rows = [
        (
            joined([persona.name, screen.tr("(default)") if persona.name == default else ""], " "),
            ", ".join(persona.visible) or nothing,
        )
        for persona in found
    ]
    lines = table([tuple(screen.tr(word) for word in PERSONA_COLUMNS), *rows])
    yield screen.style(next(lines), "dim")
    yield from lines


def _notes(known: Personas, found: Sequence[Persona], default: str | None, screen: Screen) -> Iterator[str]:
    if not found:
        yield screen.tr("There is no persona yet. Make one: {folder}/NAME/profile.md", folder=known.folder)
    for persona in found:
        for problem in persona.problems:
            yield from told(problem, screen)
        if persona.unknown:
            names = ", ".join(persona.unknown)
            yield screen.tr(
                "Note: the profile of persona {name!r} names bases that do not exist: {names}.",
                name=persona.name,
                names=names,
            )
    if known.default and default is None:
        yield screen.tr("Note: ZHIKU_DEFAULT_PERSONA names {name!r}, which is no persona.", name=known.default)
