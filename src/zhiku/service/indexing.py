"""Indexing roots into a base: from settings to the write flow, with the adapters it needs."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import overload

from zhiku.config import BaseSettings, IndexSettings
from zhiku.errors import ManifestMismatch
from zhiku.ingest.ahead import Parsers
from zhiku.ingest.pipeline import Report, Tools, update_root
from zhiku.ingest.rules import DiscoverRules
from zhiku.model import LedgerEntry
from zhiku.parsers.limits import needs_worker
from zhiku.parsers.plain import ENDINGS as PLAIN_ENDINGS
from zhiku.parsers.pool import PooledParser, WorkerPool
from zhiku.ports import Store, WriteSession
from zhiku.registry import BINARY_FORMATS, CHUNKERS, FORMAT_ENDINGS, format_of, load
from zhiku.service.base import Target
from zhiku.service.embedding import Embedding
from zhiku.text.analyze import ANALYZER_VERSION
from zhiku.text.decode import looks_like_text

Progress = Callable[[int, int, str], None]
"""Called with files done, files in all, and the path that comes next."""


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

    @overload
    def __getitem__(self, index: int) -> RootReport: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[RootReport]: ...

    def __getitem__(self, index: int | slice) -> RootReport | Sequence[RootReport]:
        return self.roots[index]

    def __len__(self) -> int:
        return len(self.roots)

    @property
    def interrupted(self) -> bool:
        """Return whether Ctrl-C ended the run early."""
        by_root = any(each.report.interrupted for each in self.roots)
        return by_root or (self.embedding is not None and self.embedding.report.interrupted)


def index_targets(
    store: Store,
    targets: Sequence[Target],
    settings: BaseSettings,
    limits: IndexSettings,
    jobs: int,
    progress: Progress | None,
) -> list[RootReport]:
    """Bring a base up to date with the targets, one after the other; Ctrl-C ends after the current file."""
    reports = []
    with store.writing() as session, WorkerPool() as pool:
        tools = _tools(settings, limits, pool, jobs)
        session.set_manifest(_checked_manifest(session.manifest(), tools))
        for target in targets:
            report = _update(session, target, tools, progress)
            reports.append(RootReport(target=target, report=report))
            if report.read or report.moved:
                session.set_manifest({"changed_at": datetime.now(UTC).isoformat(timespec="seconds")})
            session.checkpoint()
            if report.interrupted:
                break
        else:
            session.settle()
    return reports


def _update(session: WriteSession, target: Target, tools: Tools, progress: Progress | None) -> Report:
    if not os.path.lexists(target.root):
        # What is indexed of it stays, and so does what the ledger says of its files.
        entry = LedgerEntry(
            root=str(target.root), path="", outcome="failed", code="root_missing", message=str(target.root)
        )
        return Report(failed=[entry])
    # A root that is one file has the folder around it as its place.
    folder = target.root if target.root.is_dir() else target.root.parent
    options = {"progress": progress} if progress else {}
    return update_root(session, folder, tools, within=target.part, **options)


def default_jobs() -> int:
    """Return half of the cores that this process may use, at least 1: the other half stores what was parsed."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, usable // 2)


def _tools(settings: BaseSettings, limits: IndexSettings, pool: WorkerPool, jobs: int) -> Tools:
    endings = frozenset().union(*FORMAT_ENDINGS.values(), PLAIN_ENDINGS)
    rules = DiscoverRules(
        endings=endings,
        text_endings=endings.difference(*(FORMAT_ENDINGS[name] for name in BINARY_FORMATS)),
        looks_like_text=looks_like_text,
        max_text_bytes=limits.max_text_bytes,
        max_pdf_bytes=limits.max_pdf_bytes,
        max_other_bytes=limits.max_other_bytes,
        include=settings.include,
        exclude=settings.exclude,
    )
    return Tools(
        rules=rules,
        chunker=load(CHUNKERS, settings.chunker)(),
        parsers=Parsers(
            format_of=format_of,
            parser_for=cache(lambda name: PooledParser(name, pool)),
            needs_worker=needs_worker,
            jobs=jobs,
        ),
    )


def _checked_manifest(known: Mapping[str, str], tools: Tools) -> dict[str, str]:
    wanted = {"analyzer": ANALYZER_VERSION, "chunker": tools.chunker.version}
    for key, value in wanted.items():
        if known.get(key, value) != value:
            raise ManifestMismatch(
                "the index was built with {key} {built}; this zhiku has {value}.",
                key=key,
                built=known[key],
                value=value,
                hint="make the base anew: zhiku delete BASE, then index again",
            )
    return wanted
