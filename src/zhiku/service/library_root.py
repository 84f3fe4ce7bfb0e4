"""A library root: a folder whose first-level folders are each a base. Reads one; changes nothing."""

from __future__ import annotations

import errno
import os
import re
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import Literal

from zhiku.config import MAX_NAME_CHARS, check_base_name
from zhiku.errors import ConfigError, SourceError, TooLarge, Unreadable
from zhiku.ingest.links import is_link
from zhiku.ingest.regular import read_head
from zhiku.ingest.rules import TOOL_FOLDERS, Skipped, looks_hidden
from zhiku.service.domains import DOMAINS_FILE, Domains, NamedFolder, composed, parse_domains
from zhiku.service.glossaries import beside
from zhiku.text.decode import decode
from zhiku.text.frontmatter import read_frontmatter

INTRO_FILE = "intro.md"
MAX_INTRO_CHARS = 2_000
MAX_FILE_BYTES = 1_000_000
"""More than anybody writes into one of these files by hand."""


@dataclass(frozen=True, kw_only=True)
class BaseFolder:
    """A first-level folder, and the base it belongs to. `path` is real."""

    base: str
    path: Path
    has_intro: bool = False
    glossary: Path | None = None


@dataclass(frozen=True, kw_only=True)
class LibraryRoot:
    """What a library root holds. `path` is real; paths of what is skipped are relative to it."""

    path: Path
    folders: tuple[BaseFolder, ...] = ()
    problems: tuple[SourceError, ...] = ()
    """Why folders, or all of the root, cannot be bases, and lines of `_domains.md` that cannot be used."""
    skipped: tuple[Skipped, ...] = ()
    """Links that are not followed."""
    loose_files: int = 0
    """Files that lie in the root itself and so in no base; a README is none."""
    unused: tuple[NamedFolder, ...] = ()
    """Lines of `_domains.md` about folders that are not there."""
    is_readable: bool = True


def read_library_root(path: Path) -> LibraryRoot:
    """Return what a folder that exists holds; one that cannot be read is a problem and holds nothing."""
    root = Path(os.path.realpath(path))
    try:
        with os.scandir(root) as listing:
            entries = sorted(listing, key=attrgetter("name"))
        return _Reader(root).read(entries)
    except OSError as error:
        return LibraryRoot(path=root, problems=(_unreadable(error, root),), is_readable=False)
    except SourceError as error:  # without its names, folders would end in bases that nobody wanted
        return LibraryRoot(path=root, problems=(error,), is_readable=False)


def read_intro(folder: Path) -> str:
    """Return what a folder's `intro.md` says of its base: its text without frontmatter, cut to `MAX_INTRO_CHARS`.

    Raises `SourceError` where it cannot be read.
    """
    lines = read_own(folder / INTRO_FILE, folder).split("\n")
    text = "\n".join(lines[read_frontmatter(lines).line_count :]).strip()
    return text[:MAX_INTRO_CHARS].rstrip()


class _Reader:
    def __init__(self, root: Path) -> None:
        self._root = root
        self._domains = _read_domains(root)

    def read(self, entries: list[os.DirEntry[str]]) -> LibraryRoot:
        wanted = [entry for entry in entries if not _is_left_out(entry.name)]
        outcomes = [self._judge(entry) for entry in wanted]
        names = {composed(entry.name) for entry in wanted}
        return LibraryRoot(
            path=self._root,
            folders=tuple(each for each in outcomes if isinstance(each, BaseFolder)),
            problems=(*self._domains.problems, *(each for each in outcomes if isinstance(each, SourceError))),
            skipped=tuple(each for each in outcomes if isinstance(each, Skipped)),
            loose_files=outcomes.count("loose"),
            unused=tuple(line for line in self._domains.named.values() if line.folder not in names),
        )

    def _judge(self, entry: os.DirEntry[str]) -> BaseFolder | SourceError | Skipped | Literal["loose", "readme"]:
        try:
            real = Path(os.path.realpath(entry.path, strict=True))
        except OSError as error:
            leads_nowhere = error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)
            return Skipped(entry.name, "link_broken") if leads_nowhere else _unreadable(error, entry.path)
        if not real.is_dir():
            return "readme" if entry.name.casefold().startswith("readme") else "loose"
        if is_link(entry) and (skipped := self._why_not_followed(entry.name, real)):
            return skipped
        said = self._domains.of(entry.name)
        try:
            base = check_base_name(said.base if said else entry.name)
        except ConfigError:
            return _nameless(self._root / DOMAINS_FILE, entry.name, said)
        return BaseFolder(
            base=base,
            path=real,
            has_intro=os.path.lexists(real / INTRO_FILE),
            glossary=next(iter(beside(self._root, base)), None),
        )

    def _why_not_followed(self, name: str, real: Path) -> Skipped | None:
        if not real.is_relative_to(self._root):
            return Skipped(name, "link_outside")
        inside = real.relative_to(self._root)
        if not inside.parts:
            return Skipped(name, "link_loop")
        # What lies in another base's folder is found there; what is hidden, like `_store/notes`, only through the link.
        return None if _is_left_out(inside.parts[0]) else Skipped(name, "link_duplicate", inside.as_posix())


def _is_left_out(name: str) -> bool:
    return looks_hidden(name) or name in TOOL_FOLDERS


def _read_domains(root: Path) -> Domains:
    path = root / DOMAINS_FILE
    return parse_domains(read_own(path, root), str(path)) if os.path.lexists(path) else Domains()


def read_own(path: Path, root: Path | None) -> str:
    """Return the text of a file that really lies below `root`, where one is named. Raises `SourceError`."""
    try:
        real = Path(os.path.realpath(path, strict=True))
        if root is not None and not real.is_relative_to(os.path.realpath(root)):
            raise Unreadable(
                "{path} is a link out of its root; it is not read.", path=path, hint="put the file itself there"
            )
        data = read_head(str(real), MAX_FILE_BYTES + 1)
    except OSError as error:
        raise _unreadable(error, path) from error
    if len(data) > MAX_FILE_BYTES:
        raise TooLarge("{path} is larger than {limit:,} bytes.", path=path, limit=MAX_FILE_BYTES, hint="shorten it")
    return decode(data, path=str(path)).text


def _unreadable(error: OSError, path: str | Path) -> SourceError:
    return Unreadable(
        "{path} cannot be read: {cause}.",
        path=error.filename or path,
        cause=error.strerror or str(error),
        hint="check its permissions, then run the same command again",
    )


def _nameless(domains: Path, folder: str, said: NamedFolder | None) -> SourceError:
    name = said.base if said else folder
    wanted = re.sub(r"[^\w-]+", "-", composed(name)).strip("-")[:MAX_NAME_CHARS] or "NAME"
    return SourceError(
        "folder {folder!r} is left out: {name!r} cannot be the name of a base.",
        folder=folder,
        name=name,
        domains=domains,
        number=said.line if said else 0,
        line=str(NamedFolder(composed(folder), wanted, 0)),
        hint="write in line {number} of {domains}: {line}" if said else "add a line to {domains}: {line}",
    )
