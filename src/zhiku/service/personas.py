"""Personas: named voices, each with the bases it may see, as files of the user's."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zhiku.config import base_key, check_base_name
from zhiku.errors import ConfigError, NotFound, UsageError, ZhikuError
from zhiku.ingest.regular import read_head
from zhiku.service.library import Library
from zhiku.service.profile import PROFILE_FILE, Profile, parse_profile
from zhiku.service.view import View

PERSONAS_FOLDER = "personas"
MAX_PROFILE_BYTES = 1_000_000


@dataclass(frozen=True, kw_only=True)
class Persona:
    """A persona and what it sees now."""

    name: str
    file: str
    """Its profile, absolute."""
    visible: tuple[str, ...]
    """The bases that it sees, by their own names."""
    unknown: tuple[str, ...]
    """Bases that its profile names and that do not exist."""
    problems: tuple[ZhikuError, ...]
    """What in its profile cannot be used."""

    def to_dict(self) -> dict[str, Any]:
        """Return the persona as every door gives it in JSON."""
        return {
            "name": self.name,
            "file": self.file,
            "visible": list(self.visible),
            "unknown": list(self.unknown),
            "problems": [str(problem) for problem in self.problems],
        }


class Personas:
    """The personas of a folder over a library. Profiles are read whenever they are needed: edits apply at once."""

    def __init__(self, library: Library, folder: Path, default: str = "", only: str = "") -> None:
        """Take where the personas are, and the name of the one that is meant where none is named.

        `only` names one that is the default, and beside which there is none.
        """
        self.folder = folder
        self.default = only or default
        self._only = only
        self._library = library

    def names(self) -> list[str]:
        """Return the names of all personas, sorted; hidden folders are none."""
        if not self.folder.is_dir():
            return []
        found = sorted(path.name for path in self.folder.iterdir() if path.name[0] != "." and path.is_dir())
        return [name for name in found if base_key(name) == base_key(self._only)] if self._only else found

    def default_name(self) -> str | None:
        """Return the name of the default persona; None where there is none of that name."""
        return self._same(self.default)

    def persona(self, name: str = "") -> Persona:
        """Return the persona of this name, in any case and normal form, or the default one.

        What is wrong with its profile stands in it. Raises `NotFound`, with the nearest name, or `UsageError` where
        none is named and none is the default.
        """
        name = self._named(name)
        profile = self._profile(name)
        bases = {base_key(base): base for base in self._library.names()}
        return Persona(
            name=name,
            file=str(self.folder / name / PROFILE_FILE),
            visible=tuple(bases[base_key(base)] for base in profile.bases if base_key(base) in bases),
            unknown=tuple(base for base in profile.bases if base_key(base) not in bases),
            problems=profile.problems,
        )

    def view(self, name: str = "", within: Collection[str] = ()) -> View:
        """Return what a persona sees now, of some bases or of all; see `persona`.

        Where that is nothing, asking the view says why.
        """
        persona = self.persona(name)
        keys = set(map(base_key, within))
        visible = [base for base in persona.visible if not keys or base_key(base) in keys]
        return View(self._library, visible, _sees_nothing(persona))

    def _named(self, name: str) -> str:
        wanted = name or self.default
        known = self.names()
        if not wanted:
            raise UsageError(
                "no persona is named, and none is the default.",
                known=", ".join(known) or "-",
                hint="name one (there is: {known}), or set ZHIKU_DEFAULT_PERSONA",
            )
        if (same := self._same(wanted)) is None:
            raise self._no_such_persona(wanted, known)
        return same

    def _same(self, name: str) -> str | None:
        """Return the persona that a name means; where two differ by case alone, the one that is written so."""
        same = [known for known in self.names() if base_key(known) == base_key(name)]
        return name if name in same else next(iter(same), None)

    def _no_such_persona(self, name: str, known: list[str]) -> NotFound:
        import difflib  # only a mistake pays for it

        if close := difflib.get_close_matches(name, known, n=1, cutoff=0.5):
            return NotFound("no persona named {name!r}.", name=name, close=close[0], hint="did you mean {close!r}?")
        return NotFound(
            "no persona named {name!r}.",
            name=name,
            folder=self.folder,
            hint="each is a folder in {folder} with a profile.md; see them: zhiku personas",
        )

    def _profile(self, name: str) -> Profile:
        try:
            _check_name(name)
            return parse_profile(self._text(name), name)
        except ConfigError as error:
            return Profile(problems=(error,))

    def _text(self, name: str) -> str:
        path = self.folder / name / PROFILE_FILE
        # A link may lead to another persona, but what decides what is visible must not lie elsewhere.
        if not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(self.folder)):
            raise ConfigError(
                "persona {name!r} sees no base: its profile is a link that leads out of {folder}.",
                name=name,
                folder=self.folder,
                hint="put the file itself there",
            )
        try:
            data = read_head(str(path), MAX_PROFILE_BYTES + 1)
        except OSError as error:
            raise ConfigError(
                "persona {name!r} sees no base: {path} cannot be read: {cause}.",
                name=name,
                path=path,
                cause=error.strerror,
                hint="write into it the names of bases, one a line (- NAME), below ## visible_domains",
            ) from error
        if len(data) > MAX_PROFILE_BYTES:
            raise ConfigError(
                "persona {name!r} sees no base: {path} is larger than {limit:,} bytes.",
                name=name,
                path=path,
                limit=MAX_PROFILE_BYTES,
                hint="shorten it",
            )
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise ConfigError(
                "persona {name!r} sees no base: {path} is not UTF-8.", name=name, path=path, hint="save it as UTF-8"
            ) from error


def personas_of(library: Library, environ: Mapping[str, str], only: str = "") -> Personas:
    """Return the personas of ZHIKU_PERSONA_DIR, else of the library's home; ZHIKU_DEFAULT_PERSONA is the default.

    With `only`, there is no other one.
    """
    told = environ.get("ZHIKU_PERSONA_DIR", "")
    folder = Path(told).expanduser().absolute() if told else library.home / PERSONAS_FOLDER
    return Personas(library, folder, environ.get("ZHIKU_DEFAULT_PERSONA", ""), only)


def _check_name(name: str) -> None:
    try:
        check_base_name(name)
    except ConfigError as error:
        raise ConfigError(
            "{name!r} cannot be the name of a persona.",
            name=name,
            hint="use letters, digits, _ and -, at most 64 characters",
        ) from error


def _sees_nothing(persona: Persona) -> ZhikuError | None:
    """Return why a persona sees no base; None where it does."""
    if persona.visible:
        return None
    if persona.unknown:
        return NotFound(
            "persona {name!r} sees no base: those that its profile names do not exist ({unknown}).",
            name=persona.name,
            unknown=", ".join(persona.unknown),
            hint="see which do: zhiku list",
        )
    return persona.problems[-1]
