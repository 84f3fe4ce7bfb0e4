"""Indexing roots into a base: from settings to the write flow, with the adapters it needs."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import overload

from zhiku import __version__
from zhiku.config import BaseSettings, IndexSettings
from zhiku.errors import ManifestMismatch
from zhiku.ingest.ahead import Parsers
from zhiku.ingest.changes import NoFiles
from zhiku.ingest.embed import EmbedReport
from zhiku.ingest.pipeline import Options, Tools, update_root
from zhiku.ingest.preview import preview_root
from zhiku.ingest.report import Report
from zhiku.ingest.rules import DiscoverRules
from zhiku.ingest.weigh import Estimate, Weighing
from zhiku.model import LedgerEntry
from zhiku.parsers.limits import OCR_LIMITS, needs_worker
from zhiku.parsers.plain import ENDINGS as PLAIN_ENDINGS
from zhiku.parsers.pool import WorkerPool
from zhiku.ports import ReadSession, Store, WriteSession
from zhiku.registry import BINARY_FORMATS, FORMAT_ENDINGS, chunker_of, format_of
from zhiku.service.embedding import Embedding, Prospect, Sending
from zhiku.service.recognition import (
    OcrWish,
    PageProgress,
    PageReading,
    general_use,
    parser_for,
    wish_in,
    wish_of,
)
from zhiku.service.roots import folder_of, is_missed
from zhiku.service.targets import Target
from zhiku.text.analyze import ANALYZER_VERSION
from zhiku.text.decode import looks_like_text


@dataclass(frozen=True, kw_only=True)
class RootReport:
    """What a run did for one target."""

    target: Target
    report: Report


@dataclass(frozen=True, kw_only=True)
class IndexReport(Sequence[RootReport]):
    """What a run did: a sequence of its roots' reports, and what was embedded."""

    roots: tuple[RootReport, ...]
    embedding: Embedding | None = None
    """None where nothing was to be embedded: it was not asked for, or the base is searched by words only."""
    sending: Sending | None = None
    """Of a preview: where text would be sent; None where nothing leaves the process."""
    estimate: Estimate | None = None
    """Likewise: how much."""
    is_concurrent: bool = True
    """Whether the file system lets searches go on without waiting while a run writes."""

    @overload
    def __getitem__(self, index: int) -> RootReport: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[RootReport]: ...

    def __getitem__(self, index: int | slice) -> RootReport | Sequence[RootReport]:
        return self.roots[index]

    def __len__(self) -> int:
        return len(self.roots)

    @property
    def doomed(self) -> list[str]:
        """Return the paths of what a prune would deprecate."""
        return [str(each.target.root / path) for each in self for path in (*each.report.gone, *each.report.left_out)]

    @property
    def interrupted(self) -> bool:
        """Return whether Ctrl-C ended the run early."""
        by_root = any(each.report.interrupted for each in self.roots)
        return by_root or (self.embedding is not None and self.embedding.report.interrupted)


@dataclass(frozen=True, kw_only=True)
class Work:
    """How a base is brought up to date, beyond what its settings say."""

    home: Path
    """The folder of zhiku's own files, which are no documents."""
    limits: IndexSettings
    jobs: int = 1
    options: Options = field(default_factory=Options)
    """For each target; its part of the root comes from there."""
    every_page: bool = False
    """Whether OCR reads every page, also of files that are as they were; only with OCR."""
    before_migration: Callable[[], object] | None = None
    """Called before an index of an older schema is brought up to date."""


def index_targets(store: Store, targets: Sequence[Target], settings: BaseSettings, work: Work) -> IndexReport:
    """Bring a base up to date with the targets, one after the other; Ctrl-C ends after the current file."""
    reports = []
    progress = PageProgress(work.options.progress)
    options = replace(work.options, progress=progress)
    with (
        store.writing(work.before_migration) as session,
        WorkerPool() as pool,
        WorkerPool(OCR_LIMITS) as page_pool,
    ):
        session.set_manifest(_checked_manifest(session.manifest(), settings, store.path.parent.name))
        wish = wish_of(session, general_use(settings, every_page=work.every_page))
        reading = PageReading(store.path.parent, page_pool, progress.on_page, wish) if wish.is_wanted else None
        tools = _tools(settings, work, wish, pool, reading)
        for target in targets:
            report = _update(session, target, tools, options, wish)
            reports.append(RootReport(target=target, report=report))
            if report.changes:
                session.set_manifest({"changed_at": datetime.now(UTC).isoformat(timespec="seconds")})
            session.checkpoint()
            if report.interrupted:
                break
            if reading:
                reading.drop_old(session.view())
        else:
            session.settle()
        is_concurrent = session.is_concurrent()
    return IndexReport(roots=tuple(reports), is_concurrent=is_concurrent)


def preview_targets(
    session: ReadSession | None, targets: Sequence[Target], settings: BaseSettings, work: Work, prospect: Prospect
) -> IndexReport:
    """Return what `index_targets` would report, without writing anything; None stands for a base that is not there.

    Where something would be sent, it is counted, for which files are parsed.
    """
    wish = wish_in(session, general_use(settings))
    reports = []
    with WorkerPool() as pool:
        tools = _tools(settings, work, wish, pool, None)
        weighing = None
        if prospect.embedder:
            weighing = Weighing(session, prospect.embedder, tools.chunker, with_ocr=wish.is_wanted)
        for target in targets:
            folder = folder_of(target.root, session)
            if folder is None:
                report = _root_missing(target, session)
            else:
                again = wish.to_read_again(session.documents() if session else (), folder)
                options = replace(work.options, within=target.part, again=again)
                report = preview_root(session or NoFiles(), folder, tools, options, weighing)
            reports.append(RootReport(target=target, report=report))
    return IndexReport(
        roots=tuple(reports),
        embedding=Embedding(report=EmbedReport(failure=prospect.failure)) if prospect.failure else None,
        sending=prospect.sending,
        estimate=weighing.estimate() if weighing else None,
    )


def _update(session: WriteSession, target: Target, tools: Tools, options: Options, wish: OcrWish) -> Report:
    view = session.view()
    folder = folder_of(target.root, view)
    if folder is None:
        return _root_missing(target, view)
    if wish.use != "no":
        options = replace(options, again=wish.to_read_again(view.documents(), folder))
    return update_root(session, folder, tools, replace(options, within=target.part))


def _root_missing(target: Target, session: ReadSession | None) -> Report:
    # What is indexed of it stays, and so does what the ledger says of its files.
    if not is_missed(target.root, session):
        return Report()
    root = str(target.root)
    return Report(failed=[LedgerEntry(root=root, path="", outcome="failed", code="root_missing", message=root)])


def default_jobs() -> int:
    """Return half of the cores that this process may use, at least 1: the other half stores what was parsed."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, usable // 2)


def _tools(settings: BaseSettings, work: Work, wish: OcrWish, pool: WorkerPool, reading: PageReading | None) -> Tools:
    return Tools(
        rules=_rules(settings, work),
        chunker=chunker_of(settings),
        reader=f"zhiku {__version__}{wish.reader}",
        parsers=Parsers(
            format_of=format_of,
            parser_for=cache(lambda name: parser_for(name, settings, pool, reading)),
            needs_worker=needs_worker,
            jobs=work.jobs,
        ),
    )


def _rules(settings: BaseSettings, work: Work) -> DiscoverRules:
    limits = work.limits
    endings = frozenset().union(*FORMAT_ENDINGS.values(), PLAIN_ENDINGS)
    if not settings.ocr:
        endings -= FORMAT_ENDINGS["image"]
    return DiscoverRules(
        endings=endings,
        text_endings=endings.difference(*(FORMAT_ENDINGS[name] for name in BINARY_FORMATS)),
        looks_like_text=looks_like_text,
        max_text_bytes=limits.max_text_bytes,
        max_pdf_bytes=limits.max_pdf_bytes,
        max_other_bytes=limits.max_other_bytes,
        include=settings.include,
        exclude=settings.exclude,
        closed=frozenset({os.path.realpath(work.home)}),
    )


def manifest_of(settings: BaseSettings) -> dict[str, str]:
    """Return what builds an index by words with these settings."""
    return {"analyzer": ANALYZER_VERSION, "chunker": chunker_of(settings).version}


def _checked_manifest(known: Mapping[str, str], settings: BaseSettings, base: str) -> dict[str, str]:
    wanted = manifest_of(settings)
    for key, value in wanted.items():
        if known.get(key, value) != value:
            raise ManifestMismatch(
                "the index was built with {key} {built}; this zhiku has {value}.",
                key=key,
                built=known[key],
                value=value,
                base=base,
                hint="build it anew, while the old one answers: zhiku rebuild --base {base}",
            )
    return wanted
