"""The library: all bases that one home holds."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zhiku.answer import Answer, Query
from zhiku.config import (
    CONFIG_FILE,
    DEFAULT_BASE,
    Settings,
    base_key,
    check_base_name,
    environment,
    load_base_settings,
    load_settings,
)
from zhiku.errors import ConfigError, NotFound, UsageError
from zhiku.locator import SCHEME, parse_locator
from zhiku.paths import Look, look_at, make_private_dir, writer_lock
from zhiku.retrieve.search import search
from zhiku.service.base import Base
from zhiku.service.endpoints import EmbedOptions, Endpoints
from zhiku.service.glossaries import named_file
from zhiku.service.meaning import Embedders
from zhiku.service.reranking import Rerankers
from zhiku.service.targets import as_paths, check_paths
from zhiku.text.analyze import Analyzer

if TYPE_CHECKING:
    from zhiku.retrieve.lines import GrepAnswer, GrepQuery
    from zhiku.retrieve.read import Excerpt
    from zhiku.service.embedding import Sending
    from zhiku.service.indexing import IndexReport
    from zhiku.service.sync_report import SyncReport
    from zhiku.service.terms import Terms

BASES_FOLDER = "bases"


class Library:
    """Opens, lists and removes bases, and searches several at once. Several threads may ask one library at once."""

    def __init__(self, home: Path, endpoint: EmbedOptions | None = None) -> None:
        """Take the home, and which endpoint embeds, where a command names one."""
        self.home = home
        self._seen: Look = look_at(home / CONFIG_FILE)
        self.settings: Settings = load_settings(home)
        self._opened: dict[str, Base] = {}
        self._lock = threading.Lock()  # over what is open
        self._analyzer = Analyzer()
        self._endpoint = endpoint or EmbedOptions()
        endpoints = self._endpoints()
        self._embedders = Embedders(home, environment().get("ZHIKU_EMBEDDER", ""), endpoints)
        self._rerankers = Rerankers(home, self.settings, endpoints, self._embedders)

    def reload(self) -> None:
        """Read the user's settings anew, for the bases that are opened from now on. Raises `ConfigError`."""
        seen = look_at(self.home / CONFIG_FILE)
        before, self.settings = self.settings, load_settings(self.home)
        self._seen = seen
        endpoints = self._endpoints()
        if before.models != self.settings.models:
            self._embedders.use(endpoints)
        if before != self.settings:
            self._rerankers = Rerankers(self.home, self.settings, endpoints, self._embedders)
            with self._lock:
                self._opened.clear()

    def refresh(self) -> None:
        """Do the same if their file has changed since it was read."""
        if look_at(self.home / CONFIG_FILE) != self._seen:
            self.reload()

    def _endpoints(self) -> Endpoints:
        return Endpoints(self.settings.models, environment(), self._endpoint, self.home)

    def names(self) -> list[str]:
        """Return the names of all bases, sorted."""
        folder = self.home / BASES_FOLDER
        if not folder.is_dir():
            return []
        return sorted(path.name for path in folder.iterdir() if path.is_dir() and not path.name.startswith("."))

    def bases(self) -> Iterator[Base]:
        """Yield every base."""
        return (self._base(name) for name in self.names())

    def find(self, name: str) -> str | None:
        """Return the name of the base that `name` means, in any case and normal form; None if there is none."""
        wanted = base_key(name)
        return next((known for known in self.names() if base_key(known) == wanted), None)

    def open(self, name: str) -> Base:
        """Return the base of this name, in any case. Raises `NotFound` with the nearest name."""
        if (known_name := self.find(name)) is not None:
            return self._base(known_name)
        raise no_such_base(name, self.names())

    def open_or_create(self, name: str) -> Base:
        """Return the base of this name; make it if there is none. Raises `ConfigError` for what cannot be a name."""
        if (known := self.find(name)) is not None:
            return self._base(known)
        checked = check_base_name(name)
        make_private_dir(self.home / BASES_FOLDER / checked)
        return self._base(checked)

    def resolve(self, names: Sequence[str] = ()) -> list[Base]:
        """Return the bases that are meant: those named, else `default`, else the only one."""
        if names:
            return list({base.name: base for base in map(self.open, names)}.values())
        known = self.names()
        if DEFAULT_BASE in known:
            return [self._base(DEFAULT_BASE)]
        if len(known) == 1:
            return [self._base(known[0])]
        if not known:
            raise NotFound("there is no base yet.", hint="index a folder first: zhiku index PATH")
        raise UsageError(
            "several bases exist and none is named.", known=", ".join(known), hint="name one with -b: {known}"
        )

    def search(self, query: Query, names: Sequence[str] = ()) -> Answer:
        """Search the bases that `names` mean in one ranking."""
        bases = self.resolve(names)
        query, reranking = self._rerankers.prepare(query)
        with ExitStack() as stack:
            sessions = {base.name: stack.enter_context(base.reading()) for base in bases}
            by_meaning = [] if query.mode == "lexical" else bases
            meanings = {base.name: base.meaning(sessions[base.name], query.mode) for base in by_meaning}
            by_glossary = bases if query.asks_glossaries else []
            glossaries = {base.name: base.glossary(sessions[base.name]) for base in by_glossary}
            return search(sessions, query, self._analyzer, meanings, reranking, glossaries)

    def terms(self, name: str | None = None, file: str | Path | None = None) -> Terms:
        """Return the terms of the base that `name` means, or of a file, checked; see `Base.terms`.

        A file is checked by itself where no base is named and there is not just the one.
        """
        from zhiku.service.terms import check_terms, terms_of_file  # a search must not pay for the import

        if file is not None and name is None and DEFAULT_BASE not in (known := self.names()) and len(known) != 1:
            return check_terms(terms_of_file(file), None, None, self._analyzer)
        return self.resolve([name] if name else [])[0].terms(file)

    def index(self, paths: Sequence[str | Path] = (), name: str = DEFAULT_BASE, **options: Any) -> IndexReport:
        """Bring a base up to date with `paths`, or with all its roots, and make it if there is none.

        No base is made for paths that do not exist. Raises `UnsupportedFormat` for a file that nothing here reads. See
        `Base.index`, also for the options.
        """
        self._check_new(paths, name, options)
        return self.open_or_create(name).index(paths, **options)

    def sending(self, name: str = DEFAULT_BASE) -> Sending | None:
        """Return what `Base.sending` does, also for a base that does not exist yet."""
        return self._base(self.find(name) or check_base_name(name)).sending()

    def preview(self, paths: Sequence[str | Path] = (), name: str = DEFAULT_BASE, **options: Any) -> IndexReport:
        """Return what `index` would report, and write nothing; see `Base.preview`."""
        self._check_new(paths, name, options)
        return self._base(self.find(name) or check_base_name(name)).preview(paths, **options)

    def _check_new(self, paths: Sequence[str | Path], name: str, options: Mapping[str, Any]) -> None:
        """Raise what keeps a base that does not exist from being made, and what no run could read."""
        named_file(options.get("glossary") or "")
        if self.find(name) is None:
            check_base_name(name)
            if not paths:
                raise NotFound(
                    "no base named {name!r}.",
                    name=name,
                    hint="create it with: zhiku index PATH --base {name}",
                )
            check_paths(as_paths(paths))
        from zhiku.service.named import check_named_files  # a search must not pay for the import

        has_ocr = options.get("ocr") or options.get("force_ocr")
        if not has_ocr and (known := self.find(name)):
            has_ocr = load_base_settings(self.open(known).folder).ocr
        check_named_files(as_paths(paths), with_ocr=bool(has_ocr))

    def sync(self, roots: Sequence[str | Path] = (), names: Sequence[str] = (), **options: Any) -> SyncReport:
        """Bring the bases of library roots up to date. See `zhiku.service.sync.sync_roots`, also for the options."""
        from zhiku.service.sync import sync_roots  # a search must not pay for the import

        return sync_roots(self, roots, names, **options)

    def grep(self, query: GrepQuery, names: Sequence[str] = ()) -> GrepAnswer:
        """Return the lines that hold a keyword, in the bases that `names` mean, within the query's limits."""
        from zhiku.retrieve.lines import search_lines  # a search must not pay for the import

        bases = self.resolve(names)
        with ExitStack() as stack:
            sessions = {base.name: stack.enter_context(base.reading()) for base in bases}
            return search_lines(sessions, query)

    def read(
        self,
        place: str,
        name: str | None = None,
        *,
        lines: tuple[int, int] | None = None,
        page: int | None = None,
        context: int = 0,
    ) -> Excerpt:
        """Return the text at a locator, which names its base, or a document of the base that `name` means."""
        names = [parse_locator(place).base] if place.startswith(SCHEME) else [name] if name else []
        bases = self.resolve(names)
        return bases[0].read(place, lines=lines, page=page, context=context)

    def delete(self, name: str, *, wait_s: float = 0.0) -> None:
        """Remove a base: its index and settings, never a document.

        Raises `Busy` where it is still being written after `wait_s` seconds.
        """
        import shutil  # its import costs a search a tenth of a start of Python

        base = self.open(name)
        # Out of the way in one step: what cannot be removed whole must not be left half.
        doomed = base.folder.with_name(f".{base.folder.name}.deleted")
        try:
            with writer_lock(base.folder, wait_s):
                base.close()
            base.folder.replace(doomed)
            shutil.rmtree(doomed)
        except OSError as error:
            raise ConfigError(
                "{path} cannot be removed: {cause}.",
                path=error.filename or base.folder,
                cause=error.strerror,
                hint="check its permissions, then run the same command again",
            ) from error

    def _base(self, name: str) -> Base:
        """Return the base of exactly this name, the same each time: what it has open or in memory serves all."""
        with self._lock:
            if name not in self._opened:
                folder = self.home / BASES_FOLDER / name
                made = Base(name, folder, self.settings, self._analyzer, self._embedders, self._rerankers)
                self._opened[name] = made
            return self._opened[name]


def no_such_base(name: str, known: Sequence[str]) -> NotFound:
    """Return the error for a name that none of these bases has, with the nearest that one has."""
    import difflib  # a search that finds its base needs no likeness

    close = difflib.get_close_matches(base_key(name), [base_key(k) for k in known], n=1, cutoff=0.5)
    if close:
        nearest = next(k for k in known if base_key(k) == close[0])
        return NotFound("no base named {name!r}.", name=name, nearest=nearest, hint="did you mean {nearest!r}?")
    return NotFound("no base named {name!r}.", name=name, hint="create it with: zhiku index PATH --base {name}")
