"""One base: bringing it up to date, and asking it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from zhiku.answer import DEFAULT_TOP_K, Answer, Mode, Query
from zhiku.config import BASE_FILE, BaseSettings, Settings, load_base_settings, save_base_settings
from zhiku.errors import ManifestMismatch, NotFound, UsageError
from zhiku.locator import SCHEME, parse_locator
from zhiku.model import Document
from zhiku.paths import private_umask, writer_lock
from zhiku.ports import ReadSession, Store
from zhiku.registry import STORES, load
from zhiku.retrieve.meaning import Meaning
from zhiku.retrieve.search import search
from zhiku.service.meaning import Embedders, meaning_of
from zhiku.text.analyze import ANALYZER_VERSION, Analyzer

if TYPE_CHECKING:
    from zhiku.ingest.embed import EmbedProgress
    from zhiku.retrieve.grep import LineMatch
    from zhiku.retrieve.read import Excerpt
    from zhiku.service.indexing import IndexReport, Progress
    from zhiku.service.status import Status


@dataclass(frozen=True, kw_only=True)
class Target:
    """A root, and the part of it to bring up to date: the whole, a folder in it, or one file."""

    root: Path
    part: Path


class Base:
    """A named, isolated index over some roots. Get one from `zhiku.open`."""

    def __init__(self, name: str, folder: Path, settings: Settings, analyzer: Analyzer, embedders: Embedders) -> None:
        self.name = name
        self.folder = folder
        self._settings = settings
        self._analyzer = analyzer
        self._embedders = embedders
        self._store: Store = load(STORES, "sqlite")(folder)

    def index(
        self,
        paths: Sequence[str | Path] = (),
        *,
        embed: bool = True,
        threads: int = 1,
        jobs: int | None = None,
        progress: Progress | None = None,
        embed_progress: EmbedProgress | None = None,
    ) -> IndexReport:
        """Bring the base up to date with `paths`, or with all its roots: first its words, then, with `embed`, vectors.

        A path inside a root updates that part; any other becomes a root of its own. Files are never written to. The
        base can be searched by words as soon as these are stored; `threads` are the cores that embedding may use,
        `jobs` how many PDFs and other files that need a process of their own are parsed at once (half the cores).
        Raises `NotFound` for a path that does not exist, `UsageError` for one above a root, `Busy` while another
        process writes the base. Where the embedder fails, the words stay, and the report says why.
        """
        from zhiku.service.embedding import embed_base  # a search must not pay for the parsers' import
        from zhiku.service.indexing import IndexReport, default_jobs, index_targets

        targets = self.targets(as_paths(paths))
        with private_umask(), writer_lock(self.folder):
            settings = self._with_roots(targets)
            self._embedders.name_for(settings, {})  # a name that is wrong is told before the work, not after it
            limits = self._settings.index
            roots = index_targets(self._store, targets, settings, limits, jobs or default_jobs(), progress)
            if not embed or any(each.report.interrupted for each in roots):
                return IndexReport(roots=tuple(roots))
            embedding = embed_base(self._store, settings, self._embedders, threads, embed_progress)
            return IndexReport(roots=tuple(roots), embedding=embedding)

    def targets(self, paths: Sequence[Path]) -> list[Target]:
        """Return what indexing `paths` means here, without doing it."""
        roots = [Path(root) for root in load_base_settings(self.folder).roots]
        if not paths and not roots:
            raise UsageError(
                "base {name!r} has no root yet.",
                name=self.name,
                hint="name a folder: zhiku index PATH --base {name}",
            )
        check_paths(paths)
        targets: list[Target] = []
        # A folder comes before what it holds, which then is a part of it and need not be walked twice.
        for real in sorted((Path(os.path.realpath(path)) for path in paths), key=lambda path: len(path.parts)):
            if not any(real.is_relative_to(target.part) for target in targets):
                targets.append(_target(self.name, real, [*roots, *(target.root for target in targets)]))
        return targets or [Target(root=root, part=root) for root in roots]

    def exists(self) -> bool:
        """Return whether anything was ever indexed here."""
        return self._store.exists()

    @contextmanager
    def reading(self) -> Iterator[ReadSession]:
        """Open one consistent view of the base. Raises `IndexStateError` where the index cannot answer."""
        if not self._store.exists():
            raise NotFound(
                "base {name!r} holds nothing yet.",
                name=self.name,
                hint="index something: zhiku index PATH --base {name}",
            )
        with self._store.reading() as session:
            self._check_manifest(session)
            yield session

    def meaning(self, session: ReadSession) -> Meaning:
        """Return how the base can be searched by meaning; nothing is loaded for it."""
        return meaning_of(self.name, load_base_settings(self.folder), session.manifest(), self._embedders)

    def search(
        self,
        text: str,
        *,
        top_k: int = DEFAULT_TOP_K,
        mode: Mode = "hybrid",
        min_relevance: float | None = None,
        source: str | None = None,
        max_chars: int | None = None,
        max_chars_per_hit: int | None = None,
    ) -> Answer:
        """Return the best passages for a question or some words, best first."""
        query = Query(
            text=text,
            top_k=top_k,
            mode=mode,
            min_relevance=min_relevance,
            source=source,
            max_chars=max_chars,
            max_chars_per_hit=max_chars_per_hit,
        )
        with self.reading() as session:
            meanings = {} if mode == "lexical" else {self.name: self.meaning(session)}
            return search({self.name: session}, query, self._analyzer, meanings)

    def grep(
        self, keyword: str, *, case_sensitive: bool = False, source: str | None = None
    ) -> Iterator[tuple[Document, LineMatch]]:
        """Yield every line that holds exactly `keyword`, with its document."""
        from zhiku.retrieve.grep import grep  # a search must not pay for the import

        with self.reading() as session:
            documents: dict[int, Document | None] = {}
            for match in grep(session, keyword, case_sensitive=case_sensitive, source=source):
                if match.doc_id not in documents:
                    documents[match.doc_id] = session.document(match.doc_id)
                if document := documents[match.doc_id]:
                    yield document, match

    def read(
        self, place: str, *, lines: tuple[int, int] | None = None, page: int | None = None, context: int = 0
    ) -> Excerpt:
        """Return the text at a locator, or a document's text by its path."""
        from zhiku.retrieve.read import find_document, read_document, read_locator  # as above

        with self.reading() as session:
            if place.startswith(SCHEME) and lines is None and page is None:
                return read_locator(session, parse_locator(place), context=context)
            path = parse_locator(place).path if place.startswith(SCHEME) else place
            document = find_document(session, path)
            return read_document(session, self.name, document, lines=lines, page=page, context=context)

    def documents(self) -> list[Document]:
        """Return every document, by root and path."""
        with self.reading() as session:
            return list(session.documents())

    def status(self) -> Status:
        """Return what the base holds and what it could not read; a base that holds nothing yet has a status too."""
        from zhiku.service.status import status_of  # as above

        settings = load_base_settings(self.folder)
        if not self._store.exists():
            return status_of(self.name, self.folder, settings, None, self._embedders)
        with self.reading() as session:
            return status_of(self.name, self.folder, settings, session, self._embedders)

    def close(self) -> None:
        """Close what is open; the base can still be used afterwards."""
        self._store.close()

    def _with_roots(self, targets: Sequence[Target]) -> BaseSettings:
        settings = load_base_settings(self.folder)
        fresh = dict.fromkeys(str(target.root) for target in targets if str(target.root) not in settings.roots)
        if fresh or not (self.folder / BASE_FILE).exists():
            settings = replace(settings, roots=(*settings.roots, *fresh))
            save_base_settings(self.folder, settings)
        return settings

    def _check_manifest(self, session: ReadSession) -> None:
        built_by = session.manifest().get("analyzer", ANALYZER_VERSION)
        if built_by != ANALYZER_VERSION:
            raise ManifestMismatch(
                "base {name!r} was indexed by analyzer {built}; this zhiku has {known}.",
                name=self.name,
                built=built_by,
                known=ANALYZER_VERSION,
                hint="make it anew: zhiku delete {name}, then zhiku index PATH --base {name}",
            )


def check_paths(paths: Sequence[Path]) -> None:
    """Raise `NotFound` for the first of the paths that does not exist."""
    for path in paths:
        if not path.exists():  # a link to nowhere is nothing that could be a root
            raise NotFound(
                "{path} does not exist.",
                path=path,
                hint="check the spelling; see what is there: ls {parent}",
                parent=path.absolute().parent,
            )


def as_paths(paths: Sequence[str | Path]) -> list[Path]:
    """Return what was given as paths. Raises `UsageError` for an empty one, which would mean the current folder."""
    if any(not str(path) for path in paths):
        raise UsageError("a path is empty.", hint="name a folder; the current one is: zhiku index .")
    return [Path(path) for path in paths]


def _target(base: str, real: Path, roots: Sequence[Path]) -> Target:
    for root in roots:
        if real == root or real.is_relative_to(root):
            return Target(root=root, part=real)
        if root.is_relative_to(real):
            raise UsageError(
                "{path} holds {root}, which base {name!r} has as a root already.",
                path=real,
                root=root,
                name=base,
                hint="index it into another base: zhiku index {path} --base OTHER",
            )
    return Target(root=real, part=real)
