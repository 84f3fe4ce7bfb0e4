"""The lines of `_domains.md`, which name the bases of folders that are to be called otherwise than the folder."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field

from zhiku.errors import SourceError

DOMAINS_FILE = "_domains.md"

# A folder's name may hold = and #, which the name of a base never does.
_LINE = re.compile(r"(?:-\s+)?(?P<folder>.*?\S)\s*=\s*(?P<name>[^=#]*[^=#\s])\s*(?:#.*)?")


@dataclass(frozen=True)
class NamedFolder:
    """What one line says. `line` counts from 1; the base's name is as it was written, which may be none."""

    folder: str
    base: str
    line: int

    def __str__(self) -> str:
        mark = "- " if self.folder[:1] in "#-" else ""  # as it stands, it would be a comment or the item of a list
        return f"{mark}{self.folder} = {self.base}"


@dataclass(frozen=True, kw_only=True)
class Domains:
    """What the file says, by the composed name of the folder."""

    named: Mapping[str, NamedFolder] = field(default_factory=dict)
    problems: tuple[SourceError, ...] = ()

    def of(self, folder: str) -> NamedFolder | None:
        """Return what is said of a folder, in any normal form."""
        return self.named.get(composed(folder))


def parse_domains(text: str, path: str) -> Domains:
    """Return what the lines `folder = name` say; a line that says something else is a problem, and no more.

    A leading `- `, blank lines, and comments from `#` on are allowed. `path` names the file in problems.
    """
    named: dict[str, NamedFolder] = {}
    problems: list[SourceError] = []
    for number, line in enumerate(text.removeprefix("\ufeff").splitlines(), start=1):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        match = _LINE.fullmatch(line)
        if match is None:
            problems.append(_malformed(path, number))
            continue
        folder = composed(match["folder"])
        if folder in named:
            problems.append(_repeated(path, number, named[folder]))
        else:
            named[folder] = NamedFolder(folder, match["name"], number)
    return Domains(named=named, problems=tuple(problems))


def composed(name: str) -> str:
    """Return a folder's name in one normal form, for systems keep it in different ones."""
    return unicodedata.normalize("NFC", name)


def _malformed(path: str, line: int) -> SourceError:
    return SourceError(
        "{path}, line {line}: this names no folder's base.",
        path=path,
        line=line,
        hint="write it as: FOLDER = NAME",
    )


def _repeated(path: str, line: int, first: NamedFolder) -> SourceError:
    return SourceError(
        "{path}, line {line}: folder {folder!r} is named in line {first} already.",
        path=path,
        line=line,
        folder=first.folder,
        first=first.line,
        hint="leave one of them out",
    )
