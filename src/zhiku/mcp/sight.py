"""What the agents of a server may see."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from zhiku.environ import environment
from zhiku.service.library import Library
from zhiku.service.tasks import Tasks
from zhiku.service.view import View

if TYPE_CHECKING:
    from zhiku.service.personas import Personas


@dataclass(frozen=True, kw_only=True)
class Sight:
    """A library as far as a server shows it: some bases, those of a persona, or all."""

    library: Library
    bases: tuple[str, ...] = ()
    """Nothing but these, unless there are none."""
    persona: str = ""
    tasks: Tasks = field(default_factory=Tasks, compare=False)
    """The work that agents began."""

    def view(self) -> View:
        """Return what is visible now; settings and a persona's profile may have changed. Raises their faults."""
        self.library.refresh()
        return self.personas().view() if self.persona else View(self.library, self.bases or None)

    def personas(self) -> Personas:
        """Return the personas that may be named: all, or the one that the server is for."""
        from zhiku.service.personas import personas_of  # few servers are for personas

        return personas_of(self.library, environment(), self.persona)

    def as_persona(self, name: str) -> tuple[str, View]:
        """Return a persona's own name and what it sees of this; the default one where none is named."""
        self.library.refresh()
        personas = self.personas()
        known = personas.persona(name).name
        return known, personas.view(known, self.bases)

    def writable(self, base: str) -> str:
        """Return the name of a base that is visible, or, where all are, of one that does not exist yet."""
        view = self.view()
        if self.persona or self.bases or self.library.find(base) is not None:
            return view.named(base)
        return base
