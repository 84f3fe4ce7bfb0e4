"""Making a base's index anew: beside the one that answers, which stays until the new one is whole."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from zhiku.config import BaseSettings
from zhiku.errors import Damaged, IndexStateError, NotFound
from zhiku.ingest.record import tokens_of
from zhiku.ports import Store, WriteSession
from zhiku.service.embedding import Embedding
from zhiku.service.indexing import IndexReport, Work, index_targets, manifest_of
from zhiku.service.targets import Target
from zhiku.text.analyze import ANALYZER_VERSION, Analyzer

log = logging.getLogger(__name__)

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Rebuild:
    """What a rebuild did."""

    report: IndexReport
    from_nothing: bool
    """Whether the old record could not be read: then documents have new ids, and what was forgotten is not."""


@dataclass(frozen=True, kw_only=True)
class Repair:
    """What a repair did. Counts are chunks."""

    chunks: int
    pending_vectors: int
    """Without a vector now, because theirs was damaged, or because they never had one."""


def rebuild_index(
    store: Store,
    targets: Sequence[Target],
    settings: BaseSettings,
    work: Work,
    embed: Callable[[Store], Embedding | None],
) -> Rebuild:
    """Read every file anew into another index, and put that in the place of this one.

    Documents keep their ids, and equal texts their vectors. A document whose file cannot be read now keeps its text
    as it was. On any error, Ctrl-C included, the index stays as it is.
    """
    fresh = replace(work, options=replace(work.options, reparse=True))
    try:
        return _rebuild(store, store.path if store.exists() else None, targets, settings, fresh, embed)
    except (_Unusable, NotFound) as error:
        log.warning("the record of the index cannot be used: %s", error)
        return _rebuild(store, None, targets, settings, fresh, embed)


class _Unusable(Exception):
    """The record of the old index is damaged."""


def _rebuild(
    store: Store,
    origin: Path | None,
    targets: Sequence[Target],
    settings: BaseSettings,
    work: Work,
    embed: Callable[[Store], Embedding | None],
) -> Rebuild:
    is_lost = origin is None and store.exists()
    with _begun(store, origin) as built:
        with built.writing() as session:
            session.set_manifest(manifest_of(settings))
        report = index_targets(built, targets, settings, work)
        if report.interrupted:
            raise KeyboardInterrupt
        with built.writing() as session:
            put_words(session)
        embedding = embed(built)
        if embedding is not None and embedding.failure:
            raise embedding.failure
        if embedding is not None and embedding.report.interrupted:
            raise KeyboardInterrupt
        check_built(built)
    return Rebuild(report=replace(report, embedding=embedding), from_nothing=is_lost)


@contextmanager
def _begun(store: Store, origin: Path | None) -> Iterator[Store]:
    """Yield another index with the record at `origin`, or an empty one. Raises `_Unusable` where that is damaged."""
    with ExitStack() as stack:
        try:
            built = stack.enter_context(store.successor(origin, record_only=origin is not None))
            if origin is not None:
                with built.reading() as session:
                    for fault in session.check():
                        if fault.part == "tables":
                            raise fault.error
        except Damaged as error:
            raise _Unusable(error.message) from error
        yield built


def repair_index(store: Store) -> Repair:
    """Make full text and packs of vectors anew from the record; no file is read and nothing is embedded.

    Raises `Damaged` where the record itself is damaged; the index stays as it is then.
    """
    try:
        with store.successor(store.path, record_only=True) as built:
            with built.writing() as session:
                session.set_manifest({"analyzer": ANALYZER_VERSION})
                put_words(session)
            check_built(built)
            with built.reading() as reader:
                totals = reader.totals()
    except Damaged as error:
        hint = "build it anew from the files: zhiku rebuild --base {base}"
        raise Damaged(error.template, hint=hint, **{**error.params, "path": store.path}) from error
    return Repair(chunks=totals.chunks, pending_vectors=totals.pending_vectors)


def restore_index(store: Store, snapshot: Path, before: Callable[[], T]) -> T:
    """Put a copy of an index in the place of this one; it is brought to the schema of today and checked first.

    `before` is called when nothing can keep it from that any more, and what it returns is returned. Raises `Damaged`
    where the copy is.
    """
    try:
        with store.successor(snapshot) as built:
            with built.writing():
                pass
            check_built(built)
            return before()
    except (Damaged, NotFound) as error:
        raise Damaged(
            "the snapshot {path} is damaged: {cause}",
            path=snapshot,
            cause=error.message,
            base=store.path.parent.name,
            hint="choose another: zhiku snapshot --list --base {base}",
        ) from error


def put_words(session: WriteSession) -> None:
    """Make every active document of the record searchable by its words that is not yet."""
    analyzer = Analyzer(bulk=True)
    view = session.view()
    for doc_id in session.untokened():
        session.put_tokens(doc_id, tokens_of(view, doc_id, analyzer))
    session.settle()


def check_built(built: Store) -> None:
    """Raise the first fault of an index before it takes another's place."""
    with built.reading() as session:
        faults: list[IndexStateError] = [fault.error for fault in session.check()]
    if faults:
        raise faults[0]
