"""What agents may change, where the user lets them: bases that lie below roots of the user's own, and nothing else."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from zhiku.config import base_key, check_base_name, load_base_settings
from zhiku.errors import NotFound, UsageError, ZhikuError
from zhiku.retrieve.freshness import file_of
from zhiku.service.base import Base
from zhiku.service.forgetting import Forgetting, find_documents
from zhiku.service.glossaries import GLOSSARY_FOLDER
from zhiku.service.library import Library
from zhiku.service.library_root import read_library_root
from zhiku.service.recognition import check_ocr_is_installed
from zhiku.service.sync_report import SyncedBase
from zhiku.service.tasks import Monitor

IngestMode = Literal["incremental", "rebuild"]
WAIT_S = 10.0
"""For another process that writes the base."""
MAX_FAILED = 20
"""So many files that failed are named; all are counted."""


@dataclass(frozen=True, kw_only=True)
class Ingest:
    """What is to be read into a base, once it is known that it may be."""

    base: str
    source: Path
    """Real, and below a root of the base or a folder of a library root that is for it."""
    mode: IngestMode = "incremental"
    glossary: Path | None = None
    ocr: bool = False

    def run(self, library: Library, monitor: Monitor) -> Mapping[str, Any]:
        """Do it, and return what was done. A base that is new to its library root is brought up to date as a whole."""
        name = library.find(self.base)
        options: dict[str, Any] = {
            "ocr": self.ocr,
            "wait_s": WAIT_S,
            "progress": monitor.files,
            "embed_progress": monitor.chunks,
        }
        if name is None or not _is_within(self.source, _roots_of(library.open(name))):
            synced = library.sync((), [self.base], **options)
            if synced.interrupted or not synced.bases:
                raise KeyboardInterrupt
            done = synced.bases[0]
            if self.glossary:
                library.index([self.source], self.base, glossary=self.glossary, **options)
        elif self.mode == "rebuild":
            if self.glossary:
                library.index([self.source], name, glossary=self.glossary, embed=False, **options)
            done = SyncedBase(name=name, report=library.open(name).rebuild(**options).report)
        else:
            report = library.index([self.source], name, glossary=self.glossary, **options)
            done = SyncedBase(name=name, report=report)
        return _told(done)


def check_ingest(
    library: Library, base: str, source: str, *, mode: IngestMode = "incremental", glossary: str = "", ocr: bool = False
) -> Ingest:
    """Return what is to be done, before it is done.

    Raises `UsageError` for what is not below a root that the user has configured for the base, links resolved, and
    `NotFound` for what does not exist.
    """
    library.refresh()
    check_base_name(base)
    if ocr:
        check_ocr_is_installed()
    roots = writable_roots(library, base)
    if not roots:
        raise NotFound(
            "no root is configured for base {name!r}, so that nothing may be read into it.",
            name=base,
            hint="make it first: zhiku index PATH --base {name}; or make a folder of that name in a library root",
        )
    return Ingest(
        base=library.find(base) or base,
        source=_below(source, roots),
        mode=mode,
        glossary=_below(glossary, [*roots, *_glossary_folders(library)]) if glossary else None,
        ocr=ocr,
    )


def writable_roots(library: Library, base: str) -> list[Path]:
    """Return the real paths of a base's roots, and of the folders of library roots that are for it."""
    name = library.find(base)
    own = _roots_of(library.open(name)) if name is not None else []
    folders = [
        folder.path
        for root in _library_roots(library)
        for folder in read_library_root(root).folders
        if base_key(folder.base) == base_key(base)
    ]
    return list(dict.fromkeys([*own, *folders]))


def forget_in(library: Library, base: Base, *, rel_path: str = "", doc_id: int = 0) -> Forgetting:
    """Take documents of a base out of search: one by its id, or what is at or below a path within a root of the base.

    Raises `NotFound`, and `UsageError` for what is not below a root, or is all of one.
    """
    library.refresh()
    roots = _roots_of(base)
    with base.reading() as session:
        if doc_id:
            documents = find_documents(session, base.name, [str(doc_id)])
        else:
            documents = find_documents(session, base.name, [_named(rel_path, roots)])
    outside = [each for each in documents if not _is_within(Path(os.path.realpath(file_of(each))), roots)]
    if outside:
        raise _not_below(str(file_of(outside[0])), roots)
    return base.forget(*(str(each.doc_id) for each in documents), wait_s=WAIT_S)


def _named(rel_path: str, roots: Sequence[Path]) -> str:
    """Return what a path within a root stands for: its absolute path where there is such a thing, else the path."""
    path = Path(rel_path)
    if path.is_absolute() or ".." in path.parts or path == Path():
        raise UsageError(
            "{path!r} is no path within a root of the base.",
            path=rel_path,
            hint="give it as a search does: folder/file",
        )
    return next((str(root / path) for root in roots if (root / path).exists()), rel_path)


def _below(given: str, roots: Sequence[Path]) -> Path:
    """Return the real path of something that exists at or below one of these; a relative one is looked for in each."""
    path = Path(given).expanduser()
    candidates = [path] if path.is_absolute() else [root / path for root in roots]
    existing = [Path(os.path.realpath(each)) for each in candidates if each.exists()]
    if not existing:
        raise NotFound("{path} does not exist.", path=given, hint="give a path below: {roots}", roots=_listed(roots))
    if not _is_within(existing[0], roots):
        raise _not_below(given, roots)
    return existing[0]


def _not_below(path: str, roots: Sequence[Path]) -> UsageError:
    return UsageError(
        "{path} is not below a root that is configured for this base.",
        path=path,
        roots=_listed(roots),
        hint="its roots are: {roots}; the user adds another with: zhiku index PATH --base NAME",
    )


def _listed(roots: Sequence[Path]) -> str:
    return ", ".join(map(str, roots))


def _is_within(path: Path, roots: Sequence[Path]) -> bool:
    return any(path.is_relative_to(root) for root in roots)


def _roots_of(base: Base) -> list[Path]:
    return [Path(os.path.realpath(root)) for root in load_base_settings(base.folder).roots]


def _library_roots(library: Library) -> list[Path]:
    expanded = [Path(os.path.expanduser(root)) for root in library.settings.library.roots]  # noqa: PTH111 - see sync
    return [Path(os.path.realpath(root)) for root in expanded if root.is_dir()]


def _glossary_folders(library: Library) -> list[Path]:
    return [root / GLOSSARY_FOLDER for root in _library_roots(library)]


def _told(done: SyncedBase) -> dict[str, Any]:
    """Return what was done as numbers by name, and what failed."""
    if done.error is not None:
        raise done.error
    names = {"new": "added", "changed": "changed", "moved": "moved", "unchanged": "unchanged", "missing": "gone"}
    failed = [{"path": entry.path, "code": entry.code, "message": entry.message} for entry in done.failed[:MAX_FAILED]]
    failure: ZhikuError | None = done.failure
    return {
        **{told: done.count(name) for told, name in names.items()},
        "chunks": done.count("chunks"),
        "embedded": done.embedded,
        "failed": len(done.failed),
        "failures": failed,
        "note": str(failure) if failure else "",
        "interrupted": done.interrupted,
    }
