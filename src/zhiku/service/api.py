"""The functions of the Python interface: the same as the command line, in a few words (see `zhiku.__all__`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from zhiku.answer import BUDGET_TOP_K, Answer, Mode, Query
from zhiku.config import DEFAULT_BASE, environment, home_from
from zhiku.service.base import Base
from zhiku.service.library import Library

if TYPE_CHECKING:
    from zhiku.ingest.embed import EmbedProgress
    from zhiku.ingest.pipeline import Announce, Progress
    from zhiku.service.indexing import IndexReport
    from zhiku.service.sync_report import SyncReport


def library(home: str | Path | None = None) -> Library:
    """Return the library of a home; without one, of ZHIKU_HOME or `~/.zhiku`."""
    return Library(home_from(environment()) if home is None else Path(home).expanduser().absolute())


def open_base(name: str = DEFAULT_BASE, *, home: str | Path | None = None) -> Base:
    """Return a base that exists. Raises `NotFound`, with the nearest name."""
    return library(home).open(name)


def index_paths(
    paths: str | Path | Sequence[str | Path] = (),
    base: str = DEFAULT_BASE,
    *,
    home: str | Path | None = None,
    embed: bool = True,
    may_send: bool = False,
    prune: bool = False,
    check: bool = False,
    ocr: bool = False,
    force_ocr: bool = False,
    glossary: str | Path | None = None,
    wait_s: float = 0.0,
    announce: Announce | None = None,
    threads: int = 1,
    jobs: int | None = None,
    progress: Progress | None = None,
    embed_progress: EmbedProgress | None = None,
) -> IndexReport:
    """Bring a base up to date with files and folders, or with all its roots; make it if there is none.

    Returns what was done for each root, and what was embedded (see `Base.index`). Raises `NotFound` for a path that
    does not exist, and `UnsupportedFormat` for a file that nothing here reads, before anything is made.
    """
    wanted = [paths] if isinstance(paths, str | Path) else list(paths)
    return library(home).index(
        wanted,
        base,
        embed=embed,
        may_send=may_send,
        prune=prune,
        check=check,
        ocr=ocr,
        force_ocr=force_ocr,
        glossary=glossary,
        wait_s=wait_s,
        announce=announce,
        threads=threads,
        jobs=jobs,
        progress=progress,
        embed_progress=embed_progress,
    )


def sync_roots(
    roots: str | Path | Sequence[str | Path] = (),
    bases: str | Sequence[str] = (),
    *,
    home: str | Path | None = None,
    dry_run: bool = False,
    embed: bool = True,
    may_send: bool = False,
    prune: bool = False,
    ocr: bool = False,
    wait_s: float = 0.0,
    announce: Callable[[str, Sequence[str]], None] | None = None,
    threads: int = 1,
    jobs: int | None = None,
    progress: Progress | None = None,
    embed_progress: EmbedProgress | None = None,
) -> SyncReport:
    """Bring the bases of library roots up to date, all or those named: each first-level folder of a root is one.

    Without `roots`, those of the settings. With `dry_run` nothing is written. `announce` is called with a base's name
    and the paths of what is going to be pruned from it. Returns what was done for each base; what keeps one from being
    brought up to date stands there and keeps no other from it. Raises `NotFound` for a root that does not exist or a
    name that no folder has, before anything is done.
    """
    return library(home).sync(
        [roots] if isinstance(roots, str | Path) else roots,
        [bases] if isinstance(bases, str) else bases,
        dry_run=dry_run,
        embed=embed,
        may_send=may_send,
        prune=prune,
        ocr=ocr,
        wait_s=wait_s,
        announce=announce,
        threads=threads,
        jobs=jobs,
        progress=progress,
        embed_progress=embed_progress,
    )


def search_bases(
    text: str,
    bases: str | Sequence[str] = (),
    *,
    home: str | Path | None = None,
    top_k: int | None = None,
    mode: Mode = "hybrid",
    min_relevance: float | None = None,
    rerank: bool | None = None,
    rerank_top_k: int | None = None,
    source: str | None = None,
    max_chars: int | None = None,
    max_chars_per_hit: int | None = None,
    max_tokens: int | None = None,
    expand: bool = True,
) -> Answer:
    """Return the best passages of the bases named, in one ranking; without a name, of `default` or the only base."""
    opened = library(home)
    query = Query(
        text=text,
        top_k=top_k or (BUDGET_TOP_K if max_tokens else opened.settings.search.top_k),
        mode=mode,
        min_relevance=min_relevance,
        rerank=rerank,
        rerank_top_k=rerank_top_k,
        source=source,
        max_chars=max_chars,
        max_chars_per_hit=max_chars_per_hit,
        max_tokens=max_tokens,
        expand=expand,
    )
    return opened.search(query, [bases] if isinstance(bases, str) else bases)
