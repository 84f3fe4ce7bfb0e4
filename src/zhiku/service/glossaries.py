"""Where a base's glossaries lie, and what they say now: a file that changed is read again."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from zhiku.config import BASE_FILE, base_key, load_base_settings
from zhiku.errors import NotFound, SourceError, ZhikuError
from zhiku.paths import Look, look_at
from zhiku.text.glossary import Glossary, merge_glossaries

GLOSSARY_FOLDER = "_glossary"
"""Beside the folders of a library root; holds `<base>.md`."""
GLOSSARY_FILE = "glossary.md"
"""In a base's own folder."""


class Glossaries:
    """Reads glossaries, and keeps what they say until a file changes."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[Look, Glossary]] = {}

    def of(self, name: str, folder: Path, roots: Iterable[str], library_roots: Iterable[str] = ()) -> Glossary:
        """Return what all glossaries of a base say together.

        Those are the one that its settings name, its own in its folder, and `_glossary/<base>.md` beside a root of it,
        or in a library root around one. Raises nothing: what cannot be read is among the faults.
        """
        parts: list[Glossary] = []
        try:
            parts += [self._read(path, None) if look_at(path) else _gone(path, name) for path in _named(folder)]
        except ZhikuError as error:
            parts.append(Glossary(faults=(error,)))
        if look_at(own := folder / GLOSSARY_FILE):
            parts.append(self._read(own, folder))
        parts += [self._read(path, root) for root in _around(roots, library_roots) for path in beside(root, name)]
        return merge_glossaries(parts)

    def _read(self, path: Path, root: Path | None) -> Glossary:
        look = look_at(path)
        known = self._known.get(str(path))
        if look and known and known[0] == look:
            return known[1]
        try:
            glossary = _parsed(path, root)
        except SourceError as error:
            return Glossary(paths=(str(path),), faults=(error,))
        self._known[str(path)] = (look, glossary)
        return glossary


def read_glossary(path: Path) -> Glossary:
    """Return what one file says. What keeps it from being read is among the faults."""
    return Glossaries()._read(path, None)


def named_file(name: str | Path) -> str:
    """Return the absolute path of a file that is to be a base's glossary; nothing for an empty name.

    Raises `NotFound` where there is none, and the `SourceError` of one that cannot be read.
    """
    if not str(name).strip():
        return ""
    path = Path(os.path.abspath(Path(name).expanduser()))  # noqa: PTH100 - a link is kept, so that it can lead elsewhere
    if not path.is_file():
        raise NotFound("{path} is no file.", path=path, hint="name a file of lines: TERM = ALIAS, ALIAS")
    if faults := read_glossary(path).faults:
        raise faults[0]
    return str(path)


def beside(root: Path, name: str) -> list[Path]:
    """Return the glossaries of a base in a library root: one at most, unless names differ in nothing but their case."""
    folder = root / GLOSSARY_FOLDER
    if not folder.is_dir() or not Path(os.path.realpath(folder)).is_relative_to(os.path.realpath(root)):
        return []
    return [path for path in sorted(folder.iterdir()) if path.suffix == ".md" and base_key(path.stem) == base_key(name)]


def _named(folder: Path) -> Iterator[Path]:
    """Yield the file that a base's settings name."""
    try:
        # Few bases name one, and to read TOML costs a search by words a tenth of its time.
        if b"glossary" not in (folder / BASE_FILE).read_bytes():
            return
    except OSError:
        return
    if path := load_base_settings(folder).glossary:
        yield Path(path)


def _gone(path: Path, base: str) -> Glossary:
    error = SourceError(
        "the glossary {path} is gone.",
        path=path,
        base=base,
        hint="put it back, or name another: zhiku index --base {base} --glossary FILE",
    )
    return Glossary(paths=(str(path),), faults=(error,))


def _around(roots: Iterable[str], library_roots: Iterable[str]) -> Iterator[Path]:
    paths = [Path(root) for root in roots]
    libraries = [Path(os.path.realpath(os.path.expanduser(root))) for root in library_roots]  # noqa: PTH111 - see sync
    wanted = [path.parent for path in paths]
    wanted += [library for library in libraries if any(path.is_relative_to(library) for path in paths)]
    yield from dict.fromkeys(wanted)


def _parsed(path: Path, root: Path | None) -> Glossary:
    from zhiku.service.library_root import read_own  # most bases have no glossary
    from zhiku.text.glossary_lines import parse_glossary

    return parse_glossary(read_own(path, root), str(path))
