"""What a base holds, where it comes from, and what could not be read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any

from zhiku.config import BaseSettings
from zhiku.model import LedgerEntry, Totals
from zhiku.ports import ReadSession
from zhiku.registry import FORMAT_ENDINGS, is_cut_at_names
from zhiku.service.ledger import PageCounts, count_pages
from zhiku.service.meaning import FINGERPRINT, NONE, Embedders
from zhiku.service.roots import Losses, find_losses
from zhiku.text.glossary import Glossary

MAX_DOCUMENTS_SEEN = 2_000

_NOTHING = Totals(documents=0, deprecated=0, chunks=0, tokens=0, chars=0, failed=0, skipped=0, textless=0)


@dataclass(frozen=True, kw_only=True)
class Status:
    """What a base holds, and what it could not read."""

    name: str
    folder: str
    intro: str
    roots: tuple[str, ...]
    losses: Losses
    """What became of its roots; of single files only where somebody asked."""
    totals: Totals
    embedder_name: str
    """What embeds the base, as in its settings; `none` where it is searched by words only."""
    embedder: str | None
    """The fingerprint of what made the vectors that are there."""
    ledger: tuple[LedgerEntry, ...]
    pages: PageCounts = field(default_factory=PageCounts)
    """Of all searched documents; empty where nobody asked."""
    in_part: int = 0
    """Searched documents some of whose pages hold no text that could be read, likewise."""
    glossary: Glossary = field(default_factory=Glossary)
    index_bytes: int
    lacks_code_extra: bool = False
    """Whether it holds source code in lines that the extra `code`, which is not installed, would cut at functions."""
    changed_at: str
    """When the last document went in, ISO 8601 in UTC; empty for an empty base."""

    @property
    def pending_vectors(self) -> int:
        """Return how many chunks wait for a vector; none does in a base that is searched by words only."""
        return 0 if self.embedder_name == NONE else self.totals.pending_vectors

    def noted(self, outcome: str) -> list[LedgerEntry]:
        """Return the ledger's entries of one outcome: failed, skipped, textless or unembedded."""
        return [entry for entry in self.ledger if entry.outcome == outcome]

    def summary(self) -> dict[str, Any]:
        """Return what a list of bases says of this one, for JSON."""
        return {
            "name": self.name,
            "intro": self.intro,
            "documents": self.totals.documents,
            "deprecated": self.totals.deprecated,
            "chunks": self.totals.chunks,
            "chars": self.totals.chars,
            "embedder": self.embedder,
            "pending_vectors": self.pending_vectors,
            "terms": len(self.glossary),
            "roots": list(self.roots),
            "missing_roots": list(self.losses.missing_roots),
            "changed_at": self.changed_at or None,
        }

    def to_dict(self) -> dict[str, Any]:
        """Return everything, for JSON."""
        details = {"folder": self.folder, "tokens": self.totals.tokens, "index_bytes": self.index_bytes}
        details |= {"pages": asdict(self.pages), "in_part": self.in_part}
        shortcomings = [str(error) for error in self.glossary.shortcomings(self.name)]
        details |= {"glossary": {"files": list(self.glossary.paths), "shortcomings": shortcomings}}
        losses = self.losses
        details |= {"emptied_roots": list(losses.emptied_roots), "dropped_roots": list(losses.dropped_roots)}
        details |= {"missing": list(losses.missing)}
        details |= {"pruned": losses.pruned, "forgotten": losses.forgotten}
        noted = {name: _entries(self.noted(name)) for name in ("failed", "skipped", "textless", "unembedded")}
        return self.summary() | details | noted


@dataclass(frozen=True, kw_only=True)
class BasePlace:
    """Which base a status is of."""

    name: str
    folder: Path
    settings: BaseSettings
    glossary: Glossary


def status_of(base: BasePlace, session: ReadSession | None, embedders: Embedders, *, look: bool) -> Status:
    """Return the status of a base; without a session, of one that holds nothing yet.

    With `look`, every file is looked for, so that what is gone can be told, and pages are counted.
    """
    settings = base.settings
    manifest = session.manifest() if session else {}
    losses = find_losses(settings.roots, session, look=look)
    pages, in_part = _counted_pages(session) if session and look else (PageCounts(), 0)
    return Status(
        name=base.name,
        folder=str(base.folder),
        intro=settings.intro,
        roots=settings.roots,
        losses=losses,
        totals=session.totals() if session else _NOTHING,
        embedder_name=embedders.name_for(settings, manifest),
        embedder=manifest.get(FINGERPRINT),
        ledger=tuple(session.ledger()) if session else (),
        pages=pages,
        glossary=base.glossary,
        in_part=in_part,
        index_bytes=sum(path.stat().st_size for path in base.folder.glob("index*.sqlite3*")),
        lacks_code_extra=session is not None and _lacks_code_extra(session),
        changed_at=manifest.get("changed_at", ""),
    )


def _counted_pages(session: ReadSession) -> tuple[PageCounts, int]:
    """Return how many pages there are, and how many documents some of whose pages could not be read."""
    pages, in_part = PageCounts(), 0
    for document in session.paged_documents():
        if counts := count_pages(session, document):
            pages += counts
            in_part += bool(counts.without and document.chunk_count)
    return pages, in_part


def _lacks_code_extra(session: ReadSession) -> bool:
    """Answer by the first documents: to look at all of a large base would take seconds, for a word of advice."""
    return any(
        document.format == "plain" and ending in FORMAT_ENDINGS["code"] and not is_cut_at_names(ending)
        for document in islice(session.documents(), MAX_DOCUMENTS_SEEN)
        for ending in [PurePosixPath(document.source.path).suffix.lower()]
    )


def _entries(entries: Sequence[LedgerEntry]) -> list[dict[str, Any]]:
    found = []
    for entry in entries:
        values = asdict(entry)
        del values["outcome"]
        found.append(values)
    return found
