"""What became of the files that a base remembers: unchanged, changed, moved, gone, or not there before.

A file is first judged by its size and times, without being opened; one of these is the time at which its status last
changed, which no program can set back (on Windows it is the time of creation, and `--check` is what finds a change
under an old time). Only what differs is read and judged by its bytes.

Most files of most runs are as they were. These are compared as rows of the record with what the walk finds, and nothing
else is made of them: a run over unchanged files takes about as long as looking at them does.
"""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePath
from typing import Literal, Protocol

from zhiku.ingest.rules import Found, Skipped
from zhiku.model import FileLook, KnownFile, LedgerEntry, Source
from zhiku.paths import is_gone


class FileRecord(Protocol):
    """The part of a read session that remembers files."""

    def settled_files(self, root: str, /) -> Iterator[FileLook]:
        """Yield what the searched files of a root looked like, about in the order of a walk."""
        ...

    def textless_files(self, root: str, /) -> list[str]:
        """Return the paths of the searched files of a root that hold no text."""
        ...

    def known_files(self, root: str, /) -> dict[str, KnownFile]:
        """Return what is remembered of a root's files, by path."""
        ...

    def files_with(self, sha256: str, /) -> list[KnownFile]:
        """Return what is remembered of the files of exactly this content."""
        ...


class NoFiles:
    """The record of a base that does not exist yet."""

    def settled_files(self, _root: str, /) -> Iterator[FileLook]:
        """Yield nothing."""
        return iter(())

    def textless_files(self, _root: str, /) -> list[str]:
        """Return nothing."""
        return []

    def known_files(self, _root: str, /) -> dict[str, KnownFile]:
        """Return nothing."""
        return {}

    def files_with(self, _sha256: str, /) -> list[KnownFile]:
        """Return nothing."""
        return []

    def ledger(self, _root: str, /) -> list[LedgerEntry]:
        """Return nothing."""
        return []


@dataclass(frozen=True, slots=True)
class Change:
    """What became of one file."""

    kind: Literal["same", "changed", "moved", "new", "forgotten"]
    known: KnownFile | None = None
    """What is remembered of it, under its old path if it was moved."""

    def needs_parsing(self, format_name: str) -> bool:
        """Return whether a run stores the document anew, and not only what became of its file."""
        return self.known is None or self.kind == "changed" or self.known.format != format_name


@dataclass(frozen=True, kw_only=True)
class Gone:
    """What is remembered and was not found."""

    missing: tuple[KnownFile, ...]
    """Its file does not exist."""
    left_out: tuple[KnownFile, ...]
    """Its file exists, and a rule leaves it out now."""


class Changes:
    """Judges the files of one root against what a base remembers."""

    def __init__(
        self, root: str, record: FileRecord, *, check: bool = False, again: frozenset[str] = frozenset()
    ) -> None:
        """With `check`, no file is taken for unchanged before it was read; none of those in `again` is in any case."""
        self._root = root
        self._record = record
        self._check = check
        self.again = again
        # What was passed over in the record before the walk came to it, by path; in the end, what it never came to.
        self._passed: dict[str, FileLook] = {}
        self._rest = record.settled_files(root)
        self.settled = 0
        self._found: set[str] = set()
        self._moved: set[str] = set()

    @cached_property
    def known(self) -> dict[str, KnownFile]:
        """Return what is remembered of the root's files, by path; only a run that finds a difference asks for it."""
        return self._record.known_files(self._root)

    def differing(self, items: Iterable[Found | Skipped]) -> Iterator[Found | Skipped]:
        """Pass on what a walk finds, but for settled files: those that are searched and look as they did are counted.

        To be called once, with the whole walk.
        """
        rest, passed = self._rest, self._passed
        for item in items:
            # Documents stand in the record in the order of the walks that found them: mostly the next row is the one.
            look = next(rest, None)
            if look == item and not self._check and item.path not in self.again:
                self.settled += 1
                continue
            if look is not None:
                passed[look[0]] = look
            if isinstance(item, Found):
                is_settled = self._take(item.path) == item and not self._check and item.path not in self.again
                if is_settled:
                    self.settled += 1
                    continue
                self._found.add(item.path)
            yield item

    def _take(self, path: str) -> FileLook | None:
        if look := self._passed.pop(path, None):
            return look
        for look in self._rest:
            if look[0] == path:
                return look
            self._passed[look[0]] = look
        return None

    def excuse(self, paths: Iterable[str]) -> None:
        """Say of paths that they are not gone, since they could not be looked for."""
        self._found.update(paths)

    def at_or_below(self, part: str) -> Iterator[str]:
        """Yield the remembered paths of a file or folder; of all of the root, if the path is empty."""
        return (path for path in self.known if _is_at_or_below(path, part))

    def forgotten(self, item: Found) -> Change | None:
        """Return what became of a file if the user had it forgotten: then it is not read."""
        known = self.known.get(item.path)
        return Change("forgotten", known) if known is not None and known.forgotten else None

    def by_content(self, source: Source) -> Change:
        """Return what became of a file that was read."""
        known = self.known.get(source.path)
        if known is not None:
            return Change("same" if known.sha256 == source.sha256 else "changed", known)
        old = self._moved_from(source)
        if old is None:
            return Change("new")
        if old.root == self._root:
            self._moved.add(old.path)
        return Change("moved", old)

    def settled_textless(self, part: str) -> list[str]:
        """Return the paths at or below `part` of settled files that hold no text."""
        self._drain()
        textless = (path for path in self._record.textless_files(self._root) if _is_at_or_below(path, part))
        return sorted(path for path in textless if path not in self._passed and path not in self._found)

    def gone(self, part: str) -> Gone:
        """Return what is searched, at or below `part`, and was not found."""
        self._drain()
        missing: list[KnownFile] = []
        left_out: list[KnownFile] = []
        for path in sorted(self._passed):
            if _is_at_or_below(path, part) and path not in self._found and path not in self._moved:
                file = Path(self._root, path)
                (missing if is_gone(file) or file.is_dir() else left_out).append(self.known[path])
        return Gone(missing=tuple(missing), left_out=tuple(left_out))

    def _drain(self) -> None:
        self._passed |= {look[0]: look for look in self._rest}

    def _moved_from(self, source: Source) -> KnownFile | None:
        """Return the file of this very content that is gone from where it was; one of the same name before others."""
        twins = [known for known in self._record.files_with(source.sha256) if self._has_left(known, source)]
        name = PurePath(source.path).name
        return min(twins, key=lambda known: (PurePath(known.path).name != name, known.doc_id), default=None)

    def _has_left(self, known: KnownFile, source: Source) -> bool:
        if known.root == self._root and (known.path in self._found or known.path in self._moved):
            return False
        old, new = Path(known.root, known.path), Path(source.root, source.path)
        if is_gone(old):
            return True
        # A file system that does not tell case, or normal forms, finds the new name by the old one.
        return _same_letters(old, new) and old.samefile(new) and not _is_listed(old, Path(known.root))


def _is_at_or_below(path: str, part: str) -> bool:
    return not part or path == part or path.startswith(part + "/")


def _same_letters(one: Path, other: Path) -> bool:
    """Answer whether two paths differ at most in case and normal form."""
    keys = [unicodedata.normalize("NFC", os.fspath(path)).casefold() for path in (one, other)]
    return keys[0] == keys[1]


def _is_listed(path: Path, root: Path) -> bool:
    """Answer whether a path below a root is spelled as its folders list it."""
    while path != root and path != path.parent:
        if path.name not in {entry.name for entry in path.parent.iterdir()}:
            return False
        path = path.parent
    return True
