"""Bring the bases of library roots up to date, one after the other; what keeps one from it keeps no other."""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zhiku.config import CONFIG_FILE, BaseSettings, base_key, load_base_settings, save_base_settings
from zhiku.errors import ConfigError, NotFound, SourceError, Unreadable, UsageError, ZhikuError
from zhiku.paths import is_gone
from zhiku.service.base import Base
from zhiku.service.library_root import INTRO_FILE, BaseFolder, LibraryRoot, read_intro, read_library_root
from zhiku.service.recognition import check_ocr_is_installed
from zhiku.service.roots import find_losses
from zhiku.service.sync_report import GoneRoot, SyncedBase, SyncReport
from zhiku.service.targets import as_paths, check_paths

if TYPE_CHECKING:
    from zhiku.service.embedding import Sending
    from zhiku.service.library import Library

INTRO_PATTERN = f"/{INTRO_FILE}"
"""What keeps a folder's `intro.md` out of its base; the base says it as its intro."""

PREVIEWED = frozenset({"ocr", "jobs", "progress"})
"""The options of a run that a dry one has, too."""

Agree = Callable[[Mapping[str, "Sending"]], Collection[str]]
"""Called with what embedding some bases would send, by name; returns those of which somebody agrees to it."""


def sync_roots(
    library: Library,
    roots: Sequence[str | Path] = (),
    names: Sequence[str] = (),
    *,
    dry_run: bool = False,
    agree: Agree | None = None,
    **options: Any,
) -> SyncReport:
    """Bring every base of the library roots up to date, or those that `names` mean, and return what was done.

    Without `roots`, those of the settings. With `dry_run` nothing is written, and the report says what would be done.
    The options are those of `Base.index`, of which `announce` is given the base's name too, and `progress` paths with
    the base's name before them. Without `may_send`, `agree` is asked once, before anything is done. Raises
    `UsageError` where no root is named, `NotFound` for a root that does not exist or a name that no folder has. Ctrl-C
    ends the run; what is done stays, and the report says so.
    """
    if options.get("ocr"):
        check_ocr_is_installed()
    read = _read(library, roots)
    wanted = _grouped(library, read)
    gone, unread = _gone_roots(library, [root.path for root in read if root.is_readable], wanted)
    if names:
        keys = {base_key(name) for name in names}
        if all(root.is_readable for root in read):  # else nobody knows what the others hold, and they are told anyway
            _check_names(names, [*wanted, *(each.base for each in gone), *(each.name for each in unread)])
        wanted = {name: folders for name, folders in wanted.items() if base_key(name) in keys}
        gone = [each for each in gone if base_key(each.base) in keys]
        unread = [each for each in unread if base_key(each.name) in keys]
    embeds = options.get("embed", True) and not dry_run
    may_send = _may_send(library, wanted, agree, options) if embeds else ()
    done: list[SyncedBase] = []
    interrupted = False
    try:
        for name, folders in wanted.items():
            done.append((_preview if dry_run else _sync)(library, name, folders, options))
            _stop_if_interrupted(done[-1])
        for i in range(len(done) if embeds else 0):
            done[i] = _embed(library, done[i], {**options, "may_send": done[i].name in may_send})
            _stop_if_interrupted(done[i])
    except KeyboardInterrupt:
        interrupted = True
    return SyncReport(
        roots=tuple(read), bases=(*done, *unread), gone=tuple(gone), dry_run=dry_run, interrupted=interrupted
    )


def _may_send(
    library: Library, names: Iterable[str], agree: Agree | None, options: Mapping[str, Any]
) -> Collection[str]:
    """Return the bases whose text may be sent to where none of it was sent before."""
    sendings: dict[str, Sending] = {}
    for name in names:
        with suppress(ZhikuError):  # it is told when the base's turn comes
            if sending := library.sending(name):
                sendings[name] = sending
    if options.get("may_send"):
        return sendings.keys()
    return agree(sendings) if agree and sendings else ()


def _stop_if_interrupted(base: SyncedBase) -> None:
    """Raise again what a base's run was told and took for its own end: it is the end of all."""
    if base.interrupted:
        raise KeyboardInterrupt


def _read(library: Library, given: Sequence[str | Path]) -> list[LibraryRoot]:
    """Read each library root once, in the order they are named."""
    paths = _given(given) if given else _configured(library)
    real = dict.fromkeys(Path(os.path.realpath(path)) for path in paths)
    return [_missing(path) if is_gone(path) else read_library_root(path) for path in real]


def _given(paths: Sequence[str | Path]) -> list[Path]:
    found = as_paths(paths)
    check_paths(found)
    for path in found:
        if not path.is_dir():
            raise UsageError(
                "{path} is no folder.", path=path, hint="a library root holds a folder for each base; name that"
            )
    return found


def _configured(library: Library) -> list[Path]:
    config = library.home / CONFIG_FILE
    roots = library.settings.library.roots
    if not roots:
        raise UsageError(
            "no library root is named.",
            path=config,
            hint='name one: zhiku sync FOLDER; or for good, in {path} below [library]: roots = ["FOLDER"]',
        )
    expanded = [Path(os.path.expanduser(root)) for root in roots]  # noqa: PTH111 - Path's own fails for ~nobody
    for root, path in zip(roots, expanded, strict=True):
        if not path.is_absolute():
            raise ConfigError(
                "{path}: the library root {root!r} is not absolute.",
                path=config,
                root=root,
                hint="write all of its path; ~ is your own folder",
            )
    return expanded


def _missing(path: Path) -> LibraryRoot:
    problem = Unreadable(
        "the library root {path} is gone; what is indexed of it stays.",
        path=path,
        hint="connect its drive, or take it out of the settings",
    )
    return LibraryRoot(path=path, problems=(problem,), is_readable=False)


def _grouped(library: Library, roots: Iterable[LibraryRoot]) -> dict[str, list[BaseFolder]]:
    """Return the folders by the name of their base, those with a base that is there already by its name."""
    by_key: dict[str, list[BaseFolder]] = {}
    for root in roots:
        for folder in root.folders:
            by_key.setdefault(base_key(folder.base), []).append(folder)
    return {library.find(key) or by_key[key][0].base: by_key[key] for key in sorted(by_key)}


def _check_names(names: Sequence[str], known: Sequence[str]) -> None:
    keys = {base_key(name): name for name in known}
    for name in names:
        if base_key(name) not in keys:
            close = difflib.get_close_matches(base_key(name), keys, n=1, cutoff=0.5)
            raise NotFound(
                "no folder of the library roots belongs to base {name!r}.",
                name=name,
                nearest=keys[close[0]] if close else "",
                hint="did you mean {nearest!r}?" if close else "see which bases there are: zhiku sync --dry-run",
            )


def _gone_roots(
    library: Library, roots: Sequence[Path], wanted: Mapping[str, object]
) -> tuple[list[GoneRoot], list[SyncedBase]]:
    """Return the roots of bases below these library roots that are gone, and the bases that cannot say theirs."""
    gone: list[GoneRoot] = []
    unread = []
    for base in library.bases():
        try:
            gone += _gone_of(base, roots)
        except ZhikuError as error:
            if base.name not in wanted:  # else it is told when its turn comes
                unread.append(SyncedBase(name=base.name, error=error))
    return gone, unread


def _gone_of(base: Base, roots: Sequence[Path]) -> Iterator[GoneRoot]:
    if not base.exists():
        return
    with base.reading() as session:
        for path in find_losses(load_base_settings(base.folder).roots, session, look=False).missing_roots:
            count = sum(known.is_searched for known in session.known_files(path).values())
            if count and any(Path(path).is_relative_to(root) for root in roots):
                yield GoneRoot(base=base.name, path=path, documents=count)


def _sync(library: Library, name: str, folders: Sequence[BaseFolder], options: Mapping[str, Any]) -> SyncedBase:
    intro, problems = _intro_of(folders)
    synced = SyncedBase(name=name, folders=tuple(folders), problems=problems)
    try:
        with closing(library.open_or_create(name)) as base:
            if any(folder.has_intro for folder in folders):
                synced = replace(synced, takes_intro=_take_intro(base, intro, options.get("wait_s", 0.0)))
            report = base.index([folder.path for folder in folders], **_options_for(name, options))
        return replace(synced, report=report)
    except ZhikuError as error:
        return replace(synced, error=error)


def _embed(library: Library, synced: SyncedBase, options: Mapping[str, Any]) -> SyncedBase:
    """Embed what a base lacks; it takes much longer than its words, which those of other bases do not wait for."""
    if synced.report is None:
        return synced
    work = {name: options[name] for name in ("may_send", "wait_s", "threads") if name in options}
    try:
        with closing(library.open(synced.name)) as base:
            embedding = base.embed(progress=options.get("embed_progress"), **work)
    except ZhikuError as error:
        return replace(synced, error=error)
    return replace(synced, report=replace(synced.report, embedding=embedding))


def _preview(library: Library, name: str, folders: Sequence[BaseFolder], options: Mapping[str, Any]) -> SyncedBase:
    """Return what `_sync` would, and write nothing; what would be pruned is announced all the same."""
    intro, problems = _intro_of(folders)
    synced = SyncedBase(name=name, folders=tuple(folders), problems=problems)
    exclude = [INTRO_PATTERN] if any(folder.has_intro for folder in folders) else []
    try:
        if exclude:
            before = load_base_settings(library.open(name).folder) if library.find(name) else BaseSettings()
            synced = replace(synced, takes_intro=_with_intro(before, intro) != before)
        wanted = {key: value for key, value in _options_for(name, options).items() if key in PREVIEWED}
        wanted["embed"] = options.get("embed", True)
        report = library.preview([folder.path for folder in folders], name, exclude=exclude, **wanted)
    except ZhikuError as error:
        return replace(synced, error=error)
    if options.get("prune") and (announce := options.get("announce")) and report.doomed:
        announce(name, report.doomed)
    return replace(synced, report=report)


def _intro_of(folders: Sequence[BaseFolder]) -> tuple[str, tuple[SourceError, ...]]:
    """Return the first text that the folders have about their base, and why others cannot be read."""
    texts, problems = [], []
    for folder in folders:
        if folder.has_intro:
            try:
                texts.append(read_intro(folder.path))
            except SourceError as error:
                problems.append(error)
    return next(filter(None, texts), ""), tuple(problems)


def _take_intro(base: Base, intro: str, wait_s: float) -> bool:
    """Make `intro` the base's own and keep its file out of the base; return whether the settings were changed."""
    if _with_intro(before := load_base_settings(base.folder), intro) == before:
        return False
    with base.locked(wait_s):
        save_base_settings(base.folder, _with_intro(load_base_settings(base.folder), intro))
    return True


def _with_intro(settings: BaseSettings, intro: str) -> BaseSettings:
    exclude = dict.fromkeys((*settings.exclude, INTRO_PATTERN))
    return replace(settings, intro=intro or settings.intro, exclude=tuple(exclude))


def _options_for(name: str, options: Mapping[str, Any]) -> dict[str, Any]:
    made = {name: value for name, value in options.items() if name not in ("threads", "embed_progress", "may_send")}
    made["embed"] = False  # that comes when the words of all bases are stored
    if progress := options.get("progress"):
        made["progress"] = lambda done, total, path: progress(done, total, f"{name}/{path}")
    if announce := options.get("announce"):
        made["announce"] = partial(announce, name)
    return made
