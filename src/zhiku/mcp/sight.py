"""What the agents of a server may see."""

from __future__ import annotations

from dataclasses import dataclass

from zhiku.environ import environment
from zhiku.service.library import Library
from zhiku.service.view import View


@dataclass(frozen=True, kw_only=True)
class Sight:
    """A library as far as a server shows it: some bases, those of a persona, or all."""

    library: Library
    bases: tuple[str, ...] = ()
    """Nothing but these, unless there are none."""
    persona: str = ""

    def view(self) -> View:
        """Return what is visible now; settings and a persona's profile may have changed. Raises their faults."""
        self.library.refresh()
        if self.persona:
            from zhiku.service.personas import personas_of  # few servers are for a persona

            return personas_of(self.library, environment()).view(self.persona)
        return View(self.library, self.bases or None)
